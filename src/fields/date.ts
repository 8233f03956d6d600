import { canonicalAs, type Json } from '../operators/index.ts';
import { validateBounds, validateWithin } from './bounds.ts';
import { TEXT_COLUMN } from './characters.ts';
import type { FieldType } from './field-type.ts';

// Dates stand in the order of their texts.
const ordered = {
  expected: 'a date such as 2026-01-31',
  read: (value: Json): string | undefined => canonicalAs('date', value) as string | undefined,
};

/** A calendar date without a time. */
export const date: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'date',
  label: 'Date',
  summary: 'A calendar date, `YYYY-MM-DD`, without time and time zone.',
  options: ['min', 'max'],
  kind: 'date',
  widensTo: ['string', 'text'],
  form: 'date',
  example: '2026-01-31',
  jsonSchema: () => ({ type: 'string', format: 'date' }),
  checkOptions: (field) => validateBounds(field, ordered),
  checkValue: (value, field) => validateWithin(value, field, ordered),
  toColumn: ordered.read,
} satisfies FieldType);
