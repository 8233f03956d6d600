import type { Principal, ReferencedRecords } from '../../authz/context/index.ts';
import { type Path, UNRESOLVED } from '../../conditions/index.ts';
import { type JsonObject, ownValue } from '../../operators/index.ts';
import { type Definitions, fieldAt, type Resource, type StoredRecord } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import { loadStampedRecords } from '../records.ts';
import type { ChangedRecord, RecordSource } from './changed-record.ts';
import type { RecordRead } from './relation-reads.ts';

/** The paths that conditions read, and the principal and record that they start from. */
export interface ReferenceQuery {
  readonly paths: readonly Path[];
  readonly principal: Pick<Principal, 'attributes'>;
  readonly resource: Resource;
  readonly record: JsonObject | typeof UNRESOLVED | undefined;
  /** The changed record that is decided, if any. It is read wherever a path leads back to it. */
  readonly changed?: ChangedRecord | undefined;
  /** Receives each record that was looked up, so that a decision can add it to its read set. */
  readonly onRead?: OnRead | undefined;
}

/** Receives a record that was looked up by its id, or its absence. */
export type OnRead = (read: RecordRead) => void;

/** Returns a function that adds records to the read set of a unit of work; undefined if the read set is not validated. */
export function readSetOf(tx: Transaction): OnRead | undefined {
  return tx.validatesReads ? (read) => tx.addToReadSet({ relations: { records: [read] } }) : undefined;
}

const NONE: ReferencedRecords = new Map();

/**
 * Loads the records that the principal and the record reach through references, if `paths` read their fields. A damaged record counts as
 * missing, so comparisons with its fields are unknown.
 */
export async function loadReferenced(tx: Transaction, definitions: Definitions, query: ReferenceQuery): Promise<ReferencedRecords> {
  const { paths, principal, resource, record, changed, onRead } = query;
  if (paths.length === 0) return NONE;
  const ofUser = followedReferences('user', definitions, { of: definitions.get('User'), paths });
  const ofRecord = record === UNRESOLVED ? [] : followedReferences('resource', definitions, { of: resource, paths });
  const starts: Readonly<Record<string, JsonObject | undefined>> = {
    user: principal.attributes,
    resource: record === UNRESOLVED ? undefined : record,
  };
  const referenced = new Map<string, StoredRecord>();
  for (const { key, from, field, target, fields } of [...ofUser, ...ofRecord]) {
    const id = ownValue(referenced.get(from) ?? starts[from], field);
    if (typeof id !== 'string') continue;
    const { records, stamps } = await loadStampedRecords(tx, target, { ids: [id], fields, changed });
    onRead?.({ resource: target, id, stamp: stamps.get(id) ?? null });
    const found = records.get(id);
    if (found !== undefined) referenced.set(key, found);
  }
  return referenced;
}

/**
 * Loads the records that `records` reach through references, with one statement per reference of a path, and returns a function that gives
 * the referenced records of one record, and passes them to `onRead`. Loads no references of the principal.
 */
export async function loadReferencedOfEach(
  { tx, definitions, changed }: RecordSource,
  { paths, resource, records }: { readonly paths: readonly Path[]; readonly resource: Resource; readonly records: readonly StoredRecord[] },
): Promise<(record: StoredRecord, onRead?: OnRead) => ReferencedRecords> {
  const references = followedReferences('resource', definitions, { of: resource, paths });
  if (references.length === 0) return () => NONE;
  const found = new Map<string, Awaited<ReturnType<typeof loadStampedRecords>>>();
  for (const { key, from, field, target, fields } of references) {
    const referring = from === 'resource' ? records : [...(found.get(from)?.records.values() ?? [])];
    const ids = new Set(referring.map((record) => record[field]).filter((id) => typeof id === 'string'));
    found.set(key, await loadStampedRecords(tx, target, { ids: [...ids], fields, changed }));
  }
  return (record, onRead) => {
    const referenced = new Map<string, StoredRecord>();
    for (const { key, from, field, target } of references) {
      const id = (from === 'resource' ? record : referenced.get(from))?.[field];
      if (typeof id !== 'string') continue;
      onRead?.({ resource: target, id, stamp: found.get(key)?.stamps.get(id) ?? null });
      const other = found.get(key)?.records.get(id);
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
  /** The fields of the target that paths read. */
  readonly fields: ReadonlySet<string>;
}

/** Returns the references that paths follow, each after the reference that leads to it. */
function followedReferences(
  group: 'user' | 'resource',
  definitions: Definitions,
  { of, paths }: { readonly of: Resource | undefined; readonly paths: readonly Path[] },
): readonly FollowedReference[] {
  const references = new Map<string, FollowedReference & { readonly fields: Set<string> }>();
  for (const path of paths) {
    const reached = path.group === group && of !== undefined ? fieldAt(definitions, of, path.keys) : undefined;
    let from: string = group;
    for (const [index, { field, target }] of (reached?.via ?? []).entries()) {
      const key = `${from}.${field.name}`;
      const known = references.get(key) ?? { key, from, field: field.name, target, fields: new Set<string>() };
      references.set(key, known);
      known.fields.add(path.keys[index + 1] ?? '');
      from = key;
    }
  }
  return [...references.values()];
}
