import type { Field, FieldType } from './field-type.ts';
import { uuid } from './uuid.ts';

/** The field type `reference`. */
export const reference: FieldType = Object.freeze({
  ...uuid,
  name: 'reference',
  label: 'Reference',
  summary:
    'The id of an existing record of the resource in `to`. `onDelete` is the behaviour when that record is deleted: `restrict` (default), `cascade` or `setNull`. With `hierarchy`, the field refers to the parent of the record.',
  options: ['to', 'onDelete', 'hierarchy'],
  // The column has a foreign key, which a wider type would have to drop.
  widensTo: [],
  form: 'reference',
  validateOptions: validateReferenceOptions,
} satisfies FieldType);

function validateReferenceOptions(field: Field): { option: string; detail: string }[] {
  const mistakes: { option: string; detail: string }[] = [];
  if (field.to === undefined) mistakes.push({ option: 'to', detail: 'expected the name of a resource, given none' });
  if (field.onDelete === 'setNull' && field.required) {
    mistakes.push({ option: 'onDelete', detail: 'expected restrict or cascade, because the field is required, given setNull' });
  }
  if (field.hierarchy === true && field.required) {
    mistakes.push({ option: 'hierarchy', detail: 'expected an optional field, because a record at the top has no parent, given required' });
  }
  if (field.hierarchy === true && field.writeOnly) {
    mistakes.push({ option: 'hierarchy', detail: 'expected a field that conditions can read, given writeOnly' });
  }
  return mistakes;
}
