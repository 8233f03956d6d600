import type { Json } from '../operators/index.ts';
import { boundsSchema, validateBounds } from './bounds.ts';
import type { FieldType } from './field-type.ts';

const whole = {
  expected: 'a whole number between -9007199254740991 and 9007199254740991',
  parse: (value: Json): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined),
};

/** The field type `integer`. */
export const integer: FieldType = Object.freeze({
  name: 'integer',
  label: 'Whole number',
  summary:
    'A whole number between -9007199254740991 and 9007199254740991, the range that JSON numbers represent exactly. A JSON number with more than 15 digits and a fraction may be rounded to a whole one before it is validated.',
  options: ['min', 'max'],
  kind: 'number',
  whole: true,
  column: 'integer',
  widensTo: [],
  form: 'number',
  example: 42,
  jsonSchema: (field) => ({
    type: 'integer',
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    ...boundsSchema(field),
  }),
  validateOptions: (field) => validateBounds(field, whole),
  // -0 becomes 0: only some columns can store -0.
  toCanonical: (value) => (value === 0 ? 0 : value),
  // A sum that is not exact is outside the schema's bounds and is rejected there.
  add: (stored, amount) => (whole.parse(amount) === undefined ? undefined : Number(stored) + Number(amount)),
  toColumn: whole.parse,
  fromColumn: (stored) => Number(stored),
} satisfies FieldType);
