import { TEXT_COLUMN, validateCharacters } from './characters.ts';
import type { Field, FieldType } from './field-type.ts';

const MOST_VALUES = 200;
const LONGEST_VALUE = 100;

/** One of the texts that the definition lists. */
export const enumeration: FieldType = Object.freeze({
  ...TEXT_COLUMN,
  name: 'enum',
  label: 'One of a list',
  summary: 'One of the texts listed in `values` (at most 200 of at most 100 characters).',
  options: ['values'],
  kind: 'text',
  widensTo: ['string', 'text'],
  form: 'select',
  example: 'draft',
  jsonSchema: (field) => ({ type: 'string', enum: field.values ?? [] }),
  checkOptions: checkValues,
} satisfies FieldType);

function checkValues(field: Field): { option: string; detail: string }[] {
  const values = field.values ?? [];
  if (values.length === 0) return [{ option: 'values', detail: 'expected a list of at least one text' }];
  if (values.length > MOST_VALUES) return [{ option: 'values', detail: `expected at most ${MOST_VALUES}, given ${values.length}` }];
  const mistakes: { option: string; detail: string }[] = [];
  for (const [index, value] of values.entries()) {
    const shown = JSON.stringify(value.slice(0, LONGEST_VALUE));
    const wrong = validateCharacters(value);
    if (wrong !== undefined) mistakes.push({ option: 'values', detail: `${wrong}, given ${shown}` });
    if (value === '' || value.length > LONGEST_VALUE) {
      mistakes.push({ option: 'values', detail: `expected 1 to ${LONGEST_VALUE} characters, given ${shown}` });
    }
    if (values.indexOf(value) !== index) mistakes.push({ option: 'values', detail: `expected each value once, given ${shown} again` });
  }
  return mistakes;
}
