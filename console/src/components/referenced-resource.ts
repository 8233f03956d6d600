import type { Schemas } from '../api/client.ts';

/** The automatic fields with the id of the user who created or deleted a record. */
export const AUTHOR_FIELDS: ReadonlySet<string> = new Set(['createdBy', 'deletedBy']);

type Field = Pick<Schemas['api.FieldDescription'], 'name' | 'to' | 'of' | 'readOnly'>;

/** Returns the resource whose records a field refers to; undefined if it is no reference. */
export function referencedResource({ name, to, of, readOnly }: Field): string | undefined {
  return to ?? of?.to ?? (readOnly && AUTHOR_FIELDS.has(name) ? 'User' : undefined);
}
