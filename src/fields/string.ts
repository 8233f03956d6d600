import { TEXT_COLUMN, textSchema, validateCharacters, validateLengths } from './characters.ts';
import type { FieldType } from './field-type.ts';

const USUAL = 1000;
const MOST = 10_000;

/** Short text. */
export const string: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'string',
  label: 'Text',
  summary: 'Short text: at most 1,000 characters, or as `maxLength` says, up to 10,000.',
  options: ['minLength', 'maxLength', 'pattern'],
  kind: 'text',
  widensTo: ['text'],
  form: 'input',
  example: 'Harbour reopens',
  jsonSchema: (field) => textSchema(field, USUAL),
  checkOptions: (field) => validateLengths(field, { usual: USUAL, most: MOST }),
  checkValue: validateCharacters,
} satisfies FieldType);
