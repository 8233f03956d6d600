import { TEXT_COLUMN, validateCharacters } from './characters.ts';
import type { Field, FieldType } from './field-type.ts';

const MAX_VALUES = 200;
const MAX_VALUE_LENGTH = 100;

/** The field type `enum`. */
export const enumeration: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'enum',
  label: 'One of a list',
  summary: 'One of the texts in `values` (at most 200, each of at most 100 characters).',
  options: ['values'],
  kind: 'text',
  widensTo: ['string', 'text'],
  form: 'select',
  example: 'draft',
  jsonSchema: (field) => ({ type: 'string', enum: field.values ?? [] }),
  validateOptions: validateEnumValues,
} satisfies FieldType);

function validateEnumValues(field: Field): { option: string; detail: string }[] {
  const values = field.values ?? [];
  if (values.length === 0) return [{ option: 'values', detail: 'expected a list of at least one text' }];
  if (values.length > MAX_VALUES) return [{ option: 'values', detail: `expected at most ${MAX_VALUES}, given ${values.length}` }];
  const mistakes: { option: string; detail: string }[] = [];
  for (const [index, value] of values.entries()) {
    const shown = JSON.stringify(value.slice(0, MAX_VALUE_LENGTH));
    const wrong = validateCharacters(value);
    if (wrong !== undefined) mistakes.push({ option: 'values', detail: `${wrong}, given ${shown}` });
    if (value === '' || value.length > MAX_VALUE_LENGTH) {
      mistakes.push({ option: 'values', detail: `expected 1 to ${MAX_VALUE_LENGTH} characters, given ${shown}` });
    }
    if (values.indexOf(value) !== index) mistakes.push({ option: 'values', detail: `expected each value once, given ${shown} again` });
  }
  return mistakes;
}
