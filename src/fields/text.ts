import { TEXT_COLUMN, textSchema, validateCharacters, validateLengths } from './characters.ts';
import type { FieldType } from './field-type.ts';

const DEFAULT_MAX_LENGTH = 100_000;
const MAX_LENGTH = 1_000_000;

/** The field type `text`. */
export const text: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'text',
  label: 'Long text',
  summary: 'A long text of at most 100,000 characters, or `maxLength`, which can be up to 1,000,000.',
  options: ['minLength', 'maxLength', 'pattern'],
  kind: 'text',
  widensTo: [],
  form: 'textarea',
  example: 'The harbour reopened on Monday after three weeks of repairs.',
  jsonSchema: (field) => textSchema(field, DEFAULT_MAX_LENGTH),
  validateOptions: (field) => validateLengths(field, { defaultMaxLength: DEFAULT_MAX_LENGTH, max: MAX_LENGTH }),
  validateValue: validateCharacters,
} satisfies FieldType);
