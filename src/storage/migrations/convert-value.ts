import type { Field } from '../../fields/index.ts';
import { type Json, parseDecimal } from '../../operators/index.ts';
import { typeOf, validateFieldValue } from '../../resources/index.ts';

/** What becomes of a value: its canonical form in the new type (absent: none), or that it has none. */
export type ConvertedValue = { readonly fits: true; readonly value?: Json } | { readonly fits: false };

const LOST: ConvertedValue = Object.freeze({ fits: false });
const NOTHING: ConvertedValue = Object.freeze({ fits: true });

/** Why values of one field can never become those of another; undefined where each has its chance. */
export function describeImpossibleConversion(before: Field, after: Field): string | undefined {
  const isHash = [before.type, after.type].includes('password');
  return isHash ? 'what is kept of a password is a hash, which can neither be read nor be made of something else' : undefined;
}

/**
 * A value in another type, exactly or not at all: nothing is rounded, cut or guessed. What comes out is what could be written
 * today, its options (`maxLength`, `values`, …) included.
 */
export function convertValue(value: Json, before: Field, after: Field): ConvertedValue {
  if (before.type === 'list' && Array.isArray(value) && after.type !== 'list' && after.type !== 'json') {
    if (value.length === 0) return NOTHING;
    return value.length === 1 ? convertValue(value[0] as Json, before.of ?? before, after) : LOST;
  }
  const candidate = toCandidate(value, before, after);
  if (candidate === undefined || validateFieldValue(after, candidate).length > 0) return LOST;
  return { fits: true, value: typeOf(after).toCanonical?.(candidate, after) ?? candidate };
}

/** The one thing that the value could mean in the new type, yet unchecked. */
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

/** What every type with a text column takes: text as it is, anything else as JSON writes it. */
function toText(value: Json): Json {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A text that is meant as a number: one with zeros in front is a postcode or an article's number. */
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?$/;

/** Only where the number is exactly what the text says. */
function toNumber(value: Json): Json | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  const said = typeof value === 'string' && NUMBER.test(value) ? parseDecimal(value) : undefined;
  const read = said === undefined ? undefined : parseDecimal(Number(value));
  return read !== undefined && said?.unscaled === read.unscaled && said.scale === read.scale ? Number(value) : undefined;
}

function toDecimal(value: Json): Json | undefined {
  if (typeof value !== 'string') return typeof value === 'number' ? value : undefined;
  if (!NUMBER.test(value)) return undefined;
  return value.includes('.') ? trimZeros(value) : value;
}

/** Removes trailing zeros after the decimal point that exceed a smaller scale. By index: an unanchored pattern would take quadratic time. */
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

/** Of an instant only where nothing but the day would be left out. */
function toDate(value: Json, before: Field): Json | undefined {
  if (typeof value !== 'string') return undefined;
  return before.type === 'timestamp' && value.endsWith(MIDNIGHT) ? value.slice(0, -MIDNIGHT.length) : value;
}

/** A day begins at midnight, UTC, as it ends there when it goes back. */
function toTimestamp(value: Json, before: Field): Json | undefined {
  if (typeof value !== 'string') return undefined;
  return before.type === 'date' ? value + MIDNIGHT : value;
}
