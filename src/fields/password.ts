import { TEXT_COLUMN, textSchema, validateCharacters, validateLengths } from './characters.ts';
import type { Field, FieldType } from './field-type.ts';

const MIN_LENGTH = 8;
const MAX_LENGTH = 200;

/** The field type `password`. `authn/` hashes the value before it is stored; responses never contain it. */
export const password: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'password',
  label: 'Password',
  summary: 'A secret of 8 to 200 characters. Always write-only; only its Argon2id hash is stored.',
  options: ['minLength', 'maxLength'],
  kind: undefined,
  widensTo: [],
  form: 'password',
  example: 'correct horse battery staple',
  jsonSchema: (field) => ({ ...textSchema(field, MAX_LENGTH), minLength: field.minLength ?? MIN_LENGTH, writeOnly: true }),
  validateOptions: validatePasswordOptions,
  validateValue: validateCharacters,
} satisfies FieldType);

function validatePasswordOptions(field: Field): { option: string; detail: string }[] {
  const mistakes = validateLengths(field, { min: MIN_LENGTH, defaultMaxLength: MAX_LENGTH, max: MAX_LENGTH });
  if (field.default !== undefined) mistakes.push({ option: 'default', detail: 'expected none: a default password would not be secret' });
  return mistakes;
}
