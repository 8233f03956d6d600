/** The records that a decision reads in addition to the principal and the record. */
import type { Ancestors, Related, RelatedRecord, Some } from '../../conditions/index.ts';
import type { Json, JsonObject } from '../../operators/index.ts';

/**
 * Records that the principal and the record reach through references, by the path of the last reference: `resource.authorId` → the fields of
 * that user, `resource.authorId.teamId` → the fields of the user's team. The caller loads the records that the conditions read before it creates
 * a scope; any other record counts as missing.
 */
export type ReferencedRecords = ReadonlyMap<string, JsonObject>;

/** The related records, the records of lists, and the ancestors that have been loaded. */
export interface RelatedRecords {
  /** Returns the records whose fields equal `values`, in the order of `on`, and at least one more than the limit if there are more; `unknown` if they are not loaded. */
  find(related: Related, values: readonly Json[]): readonly RelatedRecord[] | 'unknown';
  /** Returns the record of an item of a list; undefined if there is none, `unknown` if it is not loaded. */
  item(some: Some, id: string): RelatedRecord | undefined | 'unknown';
  /** Returns a record and its ancestors; `unknown` if they are not loaded. */
  ancestors(resource: string, id: string): Ancestors | 'unknown';
}
