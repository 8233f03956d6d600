import { type Json, parseDecimal } from '../operators/index.ts';
import { isOutOfRange, validateBounds, validateWithin } from './bounds.ts';
import type { Field, FieldType } from './field-type.ts';

const DEFAULT_SCALE = 2;
const MAX_DIGITS = 18;
const LIMIT = 10n ** BigInt(MAX_DIGITS);
/** Maximum digits of a JSON number. One with more may be rounded when JSON is parsed. */
const EXACT_DIGITS = 15;
const EXACT_LIMIT = 10n ** BigInt(EXACT_DIGITS);

/** The field type `decimal`. Columns store integers: the value multiplied by 10^scale. */
export const decimal: FieldType = Object.freeze({
  name: 'decimal',
  label: 'Decimal number',
  summary:
    'An exact number of at most 18 digits, with `scale` digits (default 2) after the point. Accepted as a text ("12.30") or as a JSON number of at most 15 digits, with those of `scale`; returned as a text. A text is never rounded; a JSON number with more digits may be, before it is validated.',
  options: ['min', 'max', 'scale'],
  kind: 'decimal',
  column: 'integer',
  widensTo: [],
  form: 'number',
  example: '12.30',
  jsonSchema: (field) => ({ type: ['string', 'number'], maxLength: 40, description: expectation(field) }),
  responseSchema: (field) => ({ type: 'string', description: expectation(field) }),
  validateOptions: (field) => {
    const { scale } = field;
    if (scale !== undefined && scale > MAX_DIGITS) {
      return [{ option: 'scale', detail: `expected 0 to ${MAX_DIGITS}, given ${scale}` }];
    }
    return validateBounds(field, ordered(field));
  },
  validateValue: (value, field) => validateWithin(value, field, ordered(field)),
  isOutOfRange: (value, field) => isOutOfRange(value, field, ordered(field)),
  toCanonical: (value, field) => {
    const scaled = toScaled(value, field);
    return scaled === undefined ? value : fromScaled(scaled, field);
  },
  add: addDecimals,
  toColumn: toScaled,
  fromColumn: (stored, field) => fromScaled(BigInt(stored as bigint | number | string), field),
} satisfies FieldType);

function ordered(field: Field): { expected: string; parse: typeof toScaled } {
  return { expected: expectation(field), parse: toScaled };
}

function expectation(field: Field): string {
  const scale = field.scale ?? DEFAULT_SCALE;
  return `a decimal number such as "12.30" of at most ${MAX_DIGITS} digits (${EXACT_DIGITS} as a JSON number), ${scale} of them after the point`;
}

// Returns the value multiplied by 10^scale: 1230n for 12.3 at scale 2. Returns undefined if the value is not a decimal or has too many digits.
function toScaled(value: Json, field: Field): bigint | undefined {
  const scale = field.scale ?? DEFAULT_SCALE;
  const read = parseDecimal(value);
  if (read === undefined || read.scale > scale) return undefined;
  const scaled = read.unscaled * 10n ** BigInt(scale - read.scale);
  const limit = typeof value === 'number' ? EXACT_LIMIT : LIMIT;
  return scaled > -limit && scaled < limit ? scaled : undefined;
}

// The digits of the sum are not checked here: validation rejects a sum with too many digits.
function addDecimals(stored: Json, amount: Json, field: Field): string | undefined {
  const [from, by] = [toScaled(stored, field), toScaled(amount, field)];
  return from === undefined || by === undefined ? undefined : fromScaled(from + by, field);
}

function fromScaled(scaled: bigint, field: Field): string {
  const scale = field.scale ?? DEFAULT_SCALE;
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(scale + 1, '0');
  const sign = scaled < 0n ? '-' : '';
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
