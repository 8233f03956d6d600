import { TEXT_COLUMN } from './characters.ts';
import type { FieldType } from './field-type.ts';

const LONGEST = 254;

// The pattern that HTML gives to <input type=email>, with at least one dot in the domain.
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+$/i;

/** An email address. */
export const email: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'email',
  label: 'Email address',
  summary: 'An email address of at most 254 characters; kept and compared in lower case.',
  options: [],
  kind: 'text',
  widensTo: ['string', 'text'],
  form: 'input',
  example: 'ada@example.org',
  jsonSchema: () => ({ type: 'string', format: 'email', maxLength: LONGEST }),
  checkValue: (value) =>
    typeof value === 'string' && value.length <= LONGEST && EMAIL.test(value)
      ? undefined
      : 'expected an email address such as ada@example.org',
  toCanonical: (value) => (typeof value === 'string' ? value.toLowerCase() : value),
} satisfies FieldType);
