import type { Json } from '../operators/index.ts';
import { boundsSchema, validateBounds } from './bounds.ts';
import type { FieldType } from './field-type.ts';

const finite = {
  expected: 'a finite number',
  parse: (value: Json): number | undefined => (Number.isFinite(value) ? (value as number) : undefined),
};

/** The field type `number`. */
export const number: FieldType = Object.freeze({
  name: 'number',
  label: 'Number',
  summary: 'A double-precision floating-point number. For amounts of money use `decimal`.',
  options: ['min', 'max'],
  kind: 'number',
  column: 'real',
  widensTo: [],
  form: 'number',
  example: 3.14,
  jsonSchema: (field) => ({ type: 'number', ...boundsSchema(field) }),
  validateOptions: (field) => validateBounds(field, finite),
  // -0 becomes 0: only some columns can store -0.
  toCanonical: (value) => (value === 0 ? 0 : value),
  add: (stored, amount) => (finite.parse(amount) === undefined ? undefined : finite.parse(Number(stored) + Number(amount))),
  toColumn: finite.parse,
  fromColumn: (stored) => Number(stored),
} satisfies FieldType);
