import { TEXT_COLUMN } from './characters.ts';
import type { FieldType } from './field-type.ts';

const MAX_LENGTH = 254;

// The pattern of HTML's <input type=email>, with at least one dot in the domain.
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i;

/** The field type `email`. */
export const email: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'email',
  label: 'Email address',
  summary: 'An email address of at most 254 characters. Stored and compared in lower case.',
  options: [],
  kind: 'text',
  widensTo: ['string', 'text'],
  form: 'input',
  example: 'ada@example.org',
  // Without `format`: its definition lacks values that are accepted, such as `a..b@example.org`.
  jsonSchema: () => ({ type: 'string', maxLength: MAX_LENGTH, description: 'an email address' }),
  validateValue: (value) =>
    typeof value === 'string' && value.length <= MAX_LENGTH && EMAIL.test(value)
      ? undefined
      : 'expected an email address such as ada@example.org',
  toCanonical: (value) => (typeof value === 'string' ? value.toLowerCase() : value),
} satisfies FieldType);
