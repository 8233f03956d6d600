import { TEXT_COLUMN, textSchema, validateCharacters, validateLengths } from './characters.ts';
import type { FieldType } from './field-type.ts';

const USUAL = 100_000;
const MOST = 1_000_000;

/** Long text. */
export const text: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'text',
  label: 'Long text',
  summary: 'Long text: at most 100,000 characters, or as `maxLength` says, up to 1,000,000.',
  options: ['minLength', 'maxLength', 'pattern'],
  kind: 'text',
  widensTo: [],
  form: 'textarea',
  example: 'The harbour reopened on Monday after three weeks of repairs.',
  jsonSchema: (field) => textSchema(field, USUAL),
  checkOptions: (field) => validateLengths(field, { usual: USUAL, most: MOST }),
  checkValue: validateCharacters,
} satisfies FieldType);
