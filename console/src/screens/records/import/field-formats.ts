/** The form of the values that a column must have. */
import type { Field } from '../../../components/record-form/form-values.ts';
import { dataTexts } from '../../../texts/data.ts';

const { formats, required } = dataTexts.importing.mapping;

type ImportedField = Pick<Field, 'type' | 'of' | 'to' | 'values' | 'required' | 'readOnly'>;

/** Returns the form of the values of a field, and that it is required; undefined for texts in any form, and for fields that the service sets. */
export function describeField(field: ImportedField | undefined): string | undefined {
  if (field === undefined || field.readOnly) return undefined;
  const parts = [formatOf(field), field.required ? required : undefined].filter((part) => part !== undefined);
  return parts.length === 0 ? undefined : parts.join(', ');
}

function formatOf({ type, of, to = '', values = [] }: ImportedField): string | undefined {
  switch (type) {
    case 'reference':
      return formats.reference(to);
    case 'enum':
      return formats.enum(values);
    case 'list':
      return of !== undefined && ['integer', 'number'].includes(of.type) ? formats.listOfNumbers : formats.list;
    default:
      return PLAIN.get(type);
  }
}

const PLAIN: ReadonlyMap<string, string> = new Map(
  Object.entries(formats).flatMap(([type, format]) => (typeof format === 'string' ? [[type, format] as const] : [])),
);
