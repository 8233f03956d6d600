import type { Json } from '../operators/index.ts';
import { boundsSchema, validateBounds } from './bounds.ts';
import type { FieldType } from './field-type.ts';

const finite = {
  expected: 'a finite number',
  read: (value: Json): number | undefined => (Number.isFinite(value) ? (value as number) : undefined),
};

/** Floating point numbers. */
export const number: FieldType = Object.freeze({
  name: 'number',
  label: 'Number',
  summary: 'A number in double precision; for money use `decimal`.',
  options: ['min', 'max'],
  kind: 'number',
  column: 'real',
  widensTo: [],
  form: 'number',
  example: 3.14,
  jsonSchema: (field) => ({ type: 'number', ...boundsSchema(field) }),
  checkOptions: (field) => validateBounds(field, finite),
  // -0 and 0 are one value; no column would keep them apart alike on every database.
  toCanonical: (value) => (value === 0 ? 0 : value),
  add: (stored, amount) => (finite.read(amount) === undefined ? undefined : finite.read(Number(stored) + Number(amount))),
  toColumn: finite.read,
  fromColumn: (stored) => Number(stored),
} satisfies FieldType);
