import { canonicalAs, type Json } from '../operators/index.ts';
import { isOutOfRange, validateBounds, validateWithin } from './bounds.ts';
import { TEXT_COLUMN } from './characters.ts';
import type { FieldType } from './field-type.ts';

// The texts of canonical timestamps sort in the order of time.
const ordered = {
  expected: 'an instant with its offset, such as 2026-01-31T09:00:00Z',
  parse: (value: Json): string | undefined => canonicalAs('timestamp', value) as string | undefined,
};

/** The field type `timestamp`. */
export const timestamp: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'timestamp',
  label: 'Date and time',
  summary:
    'A point in time in ISO 8601 with `Z` or an offset; requests may leave out the seconds. Stored and returned in UTC with milliseconds; smaller fractions are truncated.',
  options: ['min', 'max'],
  kind: 'timestamp',
  widensTo: ['string', 'text'],
  form: 'datetime',
  example: '2026-01-31T09:00:00.000Z',
  jsonSchema: () => ({ type: 'string', format: 'date-time' }),
  validateOptions: (field) => validateBounds(field, ordered),
  validateValue: (value, field) => validateWithin(value, field, ordered),
  isOutOfRange: (value, field) => isOutOfRange(value, field, ordered),
  toCanonical: (value) => ordered.parse(value) ?? value,
  toColumn: ordered.parse,
} satisfies FieldType);
