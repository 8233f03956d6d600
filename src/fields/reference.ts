import type { Field, FieldType } from './field-type.ts';
import { uuid } from './uuid.ts';

/** The id of a record of another resource. */
export const reference: FieldType = Object.freeze({
  ...uuid,
  name: 'reference',
  label: 'Reference',
  summary:
    'The id of an existing record of the resource named in `to`; `onDelete` (`restrict` unless said, `cascade`, `setNull`) is what happens when that record goes.',
  options: ['to', 'onDelete'],
  // The column carries a foreign key, which a wider type would have to shed.
  widensTo: [],
  form: 'reference',
  checkOptions: checkReference,
} satisfies FieldType);

function checkReference(field: Field): { option: string; detail: string }[] {
  const mistakes: { option: string; detail: string }[] = [];
  if (field.to === undefined) mistakes.push({ option: 'to', detail: 'expected the name of a resource, given none' });
  if (field.onDelete === 'setNull' && field.required) {
    mistakes.push({ option: 'onDelete', detail: 'expected restrict or cascade, because the field is required, given setNull' });
  }
  return mistakes;
}
