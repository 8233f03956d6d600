import type { Json } from '../operators/index.ts';
import { boundsSchema, validateBounds } from './bounds.ts';
import type { FieldType } from './field-type.ts';

const whole = {
  expected: 'a whole number between -9007199254740991 and 9007199254740991',
  read: (value: Json): number | undefined => (Number.isSafeInteger(value) ? (value as number) : undefined),
};

/** Whole numbers. */
export const integer: FieldType = Object.freeze({
  name: 'integer',
  label: 'Whole number',
  summary: 'A whole number that JSON carries exactly: between -9007199254740991 and 9007199254740991.',
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
  checkOptions: (field) => validateBounds(field, whole),
  // -0 and 0 are one value; no column would keep them apart alike on every database.
  toCanonical: (value) => (value === 0 ? 0 : value),
  // A sum that is no longer exact lies outside the schema's bounds.
  add: (stored, amount) => (whole.read(amount) === undefined ? undefined : Number(stored) + Number(amount)),
  toColumn: whole.read,
  fromColumn: (stored) => Number(stored),
} satisfies FieldType);
