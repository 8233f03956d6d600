import type { Principal, ReferencedRecords } from '../authz/context/index.ts';
import { type Path, UNRESOLVED } from '../conditions/index.ts';
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
 * Loads the records that the principal and the record reach through references, if `paths` read their fields. A damaged record counts as
 * missing, so comparisons with its fields are unknown.
 */
export async function loadReferenced(tx: Transaction, definitions: Definitions, query: ReferenceQuery): Promise<ReferencedRecords> {
  const { paths, principal, resource, record } = query;
  if (paths.length === 0) return NONE;
  const ofUser = followedReferences('user', definitions, { of: definitions.get('User'), paths });
  const ofRecord = record === UNRESOLVED ? [] : followedReferences('resource', definitions, { of: resource, paths });
  const starts: Readonly<Record<string, JsonObject | undefined>> = {
    user: principal.attributes,
    resource: record === UNRESOLVED ? undefined : record,
  };
  const referenced = new Map<string, StoredRecord>();
  for (const { key, from, field, target } of [...ofUser, ...ofRecord]) {
    const id = ownValue(referenced.get(from) ?? starts[from], field);
    const found = typeof id === 'string' ? (await loadUndamagedRecords(tx, target, [id])).get(id) : undefined;
    if (found !== undefined) referenced.set(key, found);
  }
  return referenced;
}

/**
 * Loads the records that `records` reach through references, with one statement per reference of a path, and returns a function that gives
 * the referenced records of one record. Loads no references of the principal.
 */
export async function loadReferencedOfEach(
  tx: Transaction,
  definitions: Definitions,
  { paths, resource, records }: { readonly paths: readonly Path[]; readonly resource: Resource; readonly records: readonly StoredRecord[] },
): Promise<(record: StoredRecord) => ReferencedRecords> {
  const references = followedReferences('resource', definitions, { of: resource, paths });
  if (references.length === 0) return () => NONE;
  const found = new Map<string, ReadonlyMap<string, StoredRecord>>();
  for (const { key, from, field, target } of references) {
    const referring = from === 'resource' ? records : [...(found.get(from)?.values() ?? [])];
    const ids = new Set(referring.map((record) => record[field]).filter((id) => typeof id === 'string'));
    found.set(key, await loadUndamagedRecords(tx, target, [...ids]));
  }
  return (record) => {
    const referenced = new Map<string, StoredRecord>();
    for (const { key, from, field } of references) {
      const referring = from === 'resource' ? record : referenced.get(from);
      const other = found.get(key)?.get(String(referring?.[field]));
      if (other !== undefined) referenced.set(key, other);
    }
    return referenced;
  };
}

/** A reference that paths follow. */
interface FollowedReference {
  /** The path of the reference, such as `resource.authorId.teamId`. */
  readonly key: string;
  /** The path of the record that has the reference: `resource.authorId`, or the group. */
  readonly from: string;
  readonly field: string;
  readonly target: Resource;
}

/** Returns the references that paths follow, each after the reference that leads to it. */
function followedReferences(
  group: 'user' | 'resource',
  definitions: Definitions,
  { of, paths }: { readonly of: Resource | undefined; readonly paths: readonly Path[] },
): readonly FollowedReference[] {
  const references = new Map<string, FollowedReference>();
  for (const path of paths) {
    const reached = path.group === group && of !== undefined ? fieldAt(definitions, of, path.keys) : undefined;
    let from: string = group;
    for (const { field, target } of reached?.via ?? []) {
      const key = `${from}.${field.name}`;
      references.set(key, { key, from, field: field.name, target });
      from = key;
    }
  }
  return [...references.values()];
}
