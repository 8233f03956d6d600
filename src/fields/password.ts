import { TEXT_COLUMN, textSchema, validateCharacters, validateLengths } from './characters.ts';
import type { Field, FieldType } from './field-type.ts';

const LEAST = 8;
const MOST = 200;

/** A password: hashed by `identity/` before it is stored, never shown. */
export const password: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'password',
  label: 'Password',
  summary: 'A secret of 8 to 200 characters, always write-only; only its argon2id hash is kept.',
  options: ['minLength', 'maxLength'],
  kind: undefined,
  widensTo: [],
  form: 'password',
  example: 'correct horse battery staple',
  jsonSchema: (field) => ({ ...textSchema(field, MOST), minLength: field.minLength ?? LEAST, writeOnly: true }),
  checkOptions: checkPassword,
  checkValue: validateCharacters,
} satisfies FieldType);

function checkPassword(field: Field): { option: string; detail: string }[] {
  const mistakes = validateLengths(field, { least: LEAST, usual: MOST, most: MOST });
  if (field.default !== undefined) mistakes.push({ option: 'default', detail: 'expected none: a password that everyone has is no secret' });
  return mistakes;
}
