import type { Field } from '../../fields/index.ts';
import { type Json, parseDecimal, toDecimalText } from '../../operators/index.ts';
import { toStoredValue, validateFieldValue } from '../../resources/index.ts';

/** The result of converting a value: its canonical form in the new type (absent if there is no value), or `fits: false`. */
export type ConvertedValue = { readonly fits: true; readonly value?: Json } | { readonly fits: false };

const LOST: ConvertedValue = Object.freeze({ fits: false });
const NO_VALUE: ConvertedValue = Object.freeze({ fits: true });

/** Returns the reason why no value of `before` can be converted to `after`; undefined if some values can be converted. */
export function describeImpossibleConversion(before: Field, after: Field): string | undefined {
  const isHash = [before.type, after.type].includes('password');
  return isHash ? 'passwords are stored as hashes, which cannot be converted to or from another type' : undefined;
}

/**
 * Converts a value to another type, exactly or not at all: values are never rounded, truncated or guessed. The result is valid under
 * the options of the new field (`maxLength`, `values`, …).
 */
export function convertValue(value: Json, before: Field, after: Field): ConvertedValue {
  if (before.type === 'list' && Array.isArray(value) && after.type !== 'list' && after.type !== 'json') {
    if (value.length === 0) return NO_VALUE;
    return value.length === 1 ? convertValue(value[0] as Json, before.of ?? before, after) : LOST;
  }
  const candidate = toCandidate(value, before, after);
  if (candidate === undefined || validateFieldValue(after, candidate).length > 0) return LOST;
  return { fits: true, value: toStoredValue(after, candidate) };
}

/** Returns the only possible equivalent in the new type, not yet validated. */
function toCandidate(value: Json, before: Field, after: Field): Json | undefined {
  if (after.type === 'list') return toItems(value, before, after);
  return (CANDIDATES.get(after.type) ?? toText)(value, before);
}

function toItems(value: Json, before: Field, after: Field): Json | undefined {
  const item = after.of ?? after;
  const items = (Array.isArray(value) ? value : [value]).map((each: Json) => toCandidate(each, before.of ?? before, item));
  return items.every((each) => each !== undefined) ? items : undefined;
}

const CANDIDATES: ReadonlyMap<string, (value: Json, before: Field) => Json | undefined> = new Map([
  ['integer', toNumber],
  ['number', toNumber],
  ['decimal', toDecimal],
  ['boolean', toBoolean],
  ['date', toDate],
  ['timestamp', toTimestamp],
  ['json', (value) => value],
]);

/** Converts a value for types with a text column: text stays as it is, other values become JSON. */
function toText(value: Json): Json {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Matches a decimal number without leading zeros: a text with leading zeros is more likely a postcode or an article number. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/** Converts a value to a number; a text only if a floating-point number represents it exactly. */
function toNumber(value: Json): Json | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  const written = typeof value === 'string' && NUMBER.test(value) ? parseDecimal(value) : undefined;
  const stored = written === undefined ? undefined : parseDecimal(Number(value));
  return stored !== undefined && written?.unscaled === stored.unscaled && written.scale === stored.scale ? Number(value) : undefined;
}

function toDecimal(value: Json): Json | undefined {
  if (typeof value !== 'string') {
    // As a text, because a decimal refuses a number that JSON may have rounded.
    const read = parseDecimal(value);
    return read && toDecimalText(read);
  }
  if (!NUMBER.test(value)) return undefined;
  return value.includes('.') ? trimZeros(value) : value;
}

/** Removes trailing zeros after the decimal point. Searches from the end, because a pattern that is not anchored takes quadratic time. */
function trimZeros(text: string): string {
  let end = text.length;
  while (text.charAt(end - 1) === '0') end--;
  return text.slice(0, text.charAt(end - 1) === '.' ? end - 1 : end);
}

function toBoolean(value: Json): Json | undefined {
  if (value === true || value === 'true' || value === 1) return true;
  return value === false || value === 'false' || value === 0 ? false : undefined;
}

const MIDNIGHT = 'T00:00:00.000Z';

/** Returns the day of a timestamp at midnight UTC. Returns any other text as it is. */
function toDate(value: Json, before: Field): Json | undefined {
  if (typeof value !== 'string') return undefined;
  return before.type === 'timestamp' && value.endsWith(MIDNIGHT) ? value.slice(0, -MIDNIGHT.length) : value;
}

/** Matches a fraction of a second that milliseconds cannot represent. */
const SHORTER_THAN_MILLISECOND = /\.\d{3}\d{0,5}[1-9]/;

/** Converts a date to the timestamp of its midnight UTC. Returns any other text as it is, unless a timestamp would truncate it. */
function toTimestamp(value: Json, before: Field): Json | undefined {
  if (typeof value !== 'string' || SHORTER_THAN_MILLISECOND.test(value)) return undefined;
  return before.type === 'date' ? value + MIDNIGHT : value;
}
