import { RecordLink } from '../RecordName.tsx';
import { referencedResource } from '../referenced-resource.ts';
import { FieldValue } from './FieldValue.tsx';
import type { Field } from './form-values.ts';

/** The value of a field; of a reference, the name of the record. */
export function NamedValue({ field, value }: { readonly field: Field; readonly value: unknown }) {
  const resource = referencedResource(field);
  if (resource === undefined || typeof value !== 'string') return <FieldValue field={field} value={value} />;
  return <RecordLink resource={resource} id={value} />;
}
