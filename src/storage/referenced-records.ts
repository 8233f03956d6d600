import type { Principal, ReferencedRecords } from '../authz/context/index.ts';
import { type ContextGroup, type Path, UNRESOLVED } from '../conditions/index.ts';
import { type JsonObject, ownValue } from '../operators/index.ts';
import { type Definitions, fieldAt, type Resource, type StoredRecord } from '../resources/index.ts';
import type { Transaction } from './contract.ts';
import { loadUndamagedRecords } from './records.ts';

/** The paths that conditions read, and the principal and record that they start from. */
export interface ReferenceQuery {
  readonly paths: readonly Path[];
  readonly principal: Pick<Principal, 'attributes'>;
  readonly resource: Resource;
  readonly record: JsonObject | typeof UNRESOLVED | undefined;
}

const NONE: ReferencedRecords = new Map();

/**
 * Loads the records that the principal and the record reference, if `paths` read fields of the referenced records. A damaged record counts as
 * missing, so comparisons with its fields are unknown.
 */
export async function loadReferenced(tx: Transaction, definitions: Definitions, query: ReferenceQuery): Promise<ReferencedRecords> {
  const { paths, principal, resource, record } = query;
  if (paths.length === 0) return NONE;
  const ofUser = followedReferences('user', definitions, { of: definitions.get('User'), paths });
  const ofRecord = record === UNRESOLVED ? [] : followedReferences('resource', definitions, { of: resource, paths });
  const referenced = new Map<string, StoredRecord>();
  for (const reach of [...ofUser, ...ofRecord]) {
    const id = ownValue(reach.group === 'user' ? principal.attributes : record, reach.field);
    const found = typeof id === 'string' ? (await loadUndamagedRecords(tx, reach.target, [id])).get(id) : undefined;
    if (found !== undefined) referenced.set(reach.key, found);
  }
  return referenced;
}

/**
 * Loads the records that `records` reference, with one statement per reference field, and returns a function that gives the referenced
 * records of one record. Loads no references of the principal.
 */
export async function loadReferencedOfEach(
  tx: Transaction,
  definitions: Definitions,
  { paths, resource, records }: { readonly paths: readonly Path[]; readonly resource: Resource; readonly records: readonly StoredRecord[] },
): Promise<(record: StoredRecord) => ReferencedRecords> {
  const references = followedReferences('resource', definitions, { of: resource, paths });
  if (references.length === 0) return () => NONE;
  const found = new Map<string, ReadonlyMap<string, StoredRecord>>();
  for (const { key, field, target } of references) {
    const ids = new Set(records.map((record) => record[field]).filter((id) => typeof id === 'string'));
    found.set(key, await loadUndamagedRecords(tx, target, [...ids]));
  }
  return (record) =>
    new Map(
      references.flatMap(({ key, field }) => {
        const other = found.get(key)?.get(String(record[field]));
        return other === undefined ? [] : [[key, other] as const];
      }),
    );
}

/** A reference that paths follow. */
interface FollowedReference {
  readonly group: ContextGroup;
  readonly field: string;
  /** The group and the field, such as `resource.authorId`. */
  readonly key: string;
  readonly target: Resource;
}

function followedReferences(
  group: 'user' | 'resource',
  definitions: Definitions,
  { of, paths }: { readonly of: Resource | undefined; readonly paths: readonly Path[] },
): readonly FollowedReference[] {
  const references = new Map<string, FollowedReference>();
  for (const path of paths) {
    const reached = path.group === group && of !== undefined ? fieldAt(definitions, of, path.keys) : undefined;
    if (reached?.via === undefined) continue;
    const field = reached.via.name;
    const key = `${group}.${field}`;
    references.set(key, { group, field, key, target: reached.of });
  }
  return [...references.values()];
}
