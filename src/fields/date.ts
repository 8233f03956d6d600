import { canonicalAs, type Json } from '../operators/index.ts';
import { isOutOfRange, validateBounds, validateWithin } from './bounds.ts';
import { TEXT_COLUMN } from './characters.ts';
import type { FieldType } from './field-type.ts';

// The texts of dates sort in the order of time.
const ordered = {
  expected: 'a date such as 2026-01-31',
  parse: (value: Json): string | undefined => canonicalAs('date', value) as string | undefined,
};

/** The field type `date`. */
export const date: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'date',
  label: 'Date',
  summary: 'A calendar date, `YYYY-MM-DD`, without a time and time zone.',
  options: ['min', 'max'],
  kind: 'date',
  widensTo: ['string', 'text'],
  form: 'date',
  example: '2026-01-31',
  jsonSchema: () => ({ type: 'string', format: 'date' }),
  validateOptions: (field) => validateBounds(field, ordered),
  validateValue: (value, field) => validateWithin(value, field, ordered),
  isOutOfRange: (value, field) => isOutOfRange(value, field, ordered),
  toColumn: ordered.parse,
} satisfies FieldType);
