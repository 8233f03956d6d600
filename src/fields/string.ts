import { TEXT_COLUMN, textSchema, validateCharacters, validateLengths } from './characters.ts';
import type { FieldType } from './field-type.ts';

const DEFAULT_MAX_LENGTH = 1000;
const MAX_LENGTH = 10_000;

/** The field type `string`. */
export const string: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'string',
  label: 'Text',
  summary: 'A short text of at most 1,000 characters, or `maxLength`, which can be up to 10,000.',
  options: ['minLength', 'maxLength', 'pattern'],
  kind: 'text',
  widensTo: ['text'],
  form: 'input',
  example: 'Harbour reopens',
  jsonSchema: (field) => textSchema(field, DEFAULT_MAX_LENGTH),
  validateOptions: (field) => validateLengths(field, { defaultMaxLength: DEFAULT_MAX_LENGTH, max: MAX_LENGTH }),
  validateValue: validateCharacters,
} satisfies FieldType);
