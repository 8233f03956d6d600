import { type Json, parseDecimal } from '../operators/index.ts';
import { validateBounds, validateWithin } from './bounds.ts';
import type { Field, FieldType } from './field-type.ts';

const USUAL_SCALE = 2;
const MOST_DIGITS = 18;
const LIMIT = 10n ** BigInt(MOST_DIGITS);

/** Exact decimal numbers, such as amounts of money. */
export const decimal: FieldType = Object.freeze({
  name: 'decimal',
  label: 'Decimal number',
  summary:
    'An exact number of at most 18 digits, `scale` of them (2 unless said) after the point. Given as text ("12.30") or as a JSON number; shown as text. Never rounded.',
  options: ['min', 'max', 'scale'],
  kind: 'decimal',
  column: 'integer',
  widensTo: [],
  form: 'number',
  example: '12.30',
  jsonSchema: (field) => ({ type: ['string', 'number'], maxLength: 40, description: expectation(field) }),
  checkOptions: (field) => {
    const { scale } = field;
    if (scale !== undefined && scale > MOST_DIGITS) {
      return [{ option: 'scale', detail: `expected 0 to ${MOST_DIGITS}, given ${scale}` }];
    }
    return validateBounds(field, ordered(field));
  },
  checkValue: (value, field) => validateWithin(value, field, ordered(field)),
  toCanonical: (value, field) => {
    const scaled = toScaled(value, field);
    return scaled === undefined ? value : fromScaled(scaled, field);
  },
  add: sumOf,
  toColumn: toScaled,
  fromColumn: (stored, field) => fromScaled(BigInt(stored as bigint | number | string), field),
} satisfies FieldType);

function ordered(field: Field): { expected: string; read: typeof toScaled } {
  return { expected: expectation(field), read: toScaled };
}

function expectation(field: Field): string {
  const scale = field.scale ?? USUAL_SCALE;
  return `a decimal number such as "12.30" of at most ${MOST_DIGITS} digits, ${scale} of them after the point`;
}

// 12.3 at scale 2 is 1230n. Undefined where the value is no decimal, or has more places or digits than fit.
function toScaled(value: Json, field: Field): bigint | undefined {
  const scale = field.scale ?? USUAL_SCALE;
  const read = parseDecimal(value);
  if (read === undefined || read.scale > scale) return undefined;
  const scaled = read.unscaled * 10n ** BigInt(scale - read.scale);
  return scaled > -LIMIT && scaled < LIMIT ? scaled : undefined;
}

// A sum with too many digits is rejected like any other value with too many digits.
function sumOf(stored: Json, amount: Json, field: Field): string | undefined {
  const [from, by] = [toScaled(stored, field), toScaled(amount, field)];
  return from === undefined || by === undefined ? undefined : fromScaled(from + by, field);
}

function fromScaled(scaled: bigint, field: Field): string {
  const scale = field.scale ?? USUAL_SCALE;
  const digits = (scaled < 0n ? -scaled : scaled).toString().padStart(scale + 1, '0');
  const sign = scaled < 0n ? '-' : '';
  return scale === 0 ? `${sign}${digits}` : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
