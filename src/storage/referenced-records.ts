import type { Principal, ReferencedRecords } from '../authz/context/index.ts';
import { type ContextGroup, type Path, UNRESOLVED } from '../conditions/index.ts';
import { type JsonObject, ownValue } from '../operators/index.ts';
import { type Definitions, fieldAt, type Resource, type StoredRecord } from '../resources/index.ts';
import type { Transaction } from './contract.ts';
import { loadRecords } from './records.ts';

/** Who and what refers, and which paths of theirs conditions read. */
export interface ReferenceQuery {
  readonly paths: readonly Path[];
  readonly principal: Pick<Principal, 'attributes'>;
  readonly resource: Resource;
  readonly record: JsonObject | typeof UNRESOLVED | undefined;
}

const NONE: ReferencedRecords = new Map();

/** The records that principal and record refer to, as far as `paths` lead into them. Nothing is read where none does. */
export async function loadReferenced(tx: Transaction, definitions: Definitions, referring: ReferenceQuery): Promise<ReferencedRecords> {
  const { paths, principal, resource, record } = referring;
  if (paths.length === 0) return NONE;
  const ofUser = followedReferences('user', definitions, { of: definitions.get('User'), paths });
  const ofRecord = record === UNRESOLVED ? [] : followedReferences('resource', definitions, { of: resource, paths });
  const referred = new Map<string, StoredRecord>();
  for (const reach of [...ofUser, ...ofRecord]) {
    const id = ownValue(reach.group === 'user' ? principal.attributes : record, reach.field);
    const found = typeof id === 'string' ? (await loadRecords(tx, reach.target, [id])).get(id) : undefined;
    if (found !== undefined) referred.set(reach.key, found);
  }
  return referred;
}

/** What many records of one resource refer to, with one statement for each reference; nothing of the user. */
export async function loadReferencedOfEach(
  tx: Transaction,
  definitions: Definitions,
  { paths, resource, records }: { readonly paths: readonly Path[]; readonly resource: Resource; readonly records: readonly StoredRecord[] },
): Promise<(record: StoredRecord) => ReferencedRecords> {
  const reaches = followedReferences('resource', definitions, { of: resource, paths });
  if (reaches.length === 0) return () => NONE;
  const found = new Map<string, ReadonlyMap<string, StoredRecord>>();
  for (const { key, field, target } of reaches) {
    const ids = new Set(records.map((record) => record[field]).filter((id) => typeof id === 'string'));
    found.set(key, await loadRecords(tx, target, [...ids]));
  }
  return (record) =>
    new Map(
      reaches.flatMap(({ key, field }) => {
        const other = found.get(key)?.get(String(record[field]));
        return other === undefined ? [] : [[key, other] as const];
      }),
    );
}

/** One reference that paths follow. */
interface FollowedReference {
  readonly group: ContextGroup;
  readonly field: string;
  /** `resource.authorId` */
  readonly key: string;
  readonly target: Resource;
}

function followedReferences(
  group: 'user' | 'resource',
  definitions: Definitions,
  { of, paths }: { readonly of: Resource | undefined; readonly paths: readonly Path[] },
): readonly FollowedReference[] {
  const reaches = new Map<string, FollowedReference>();
  for (const path of paths) {
    const reached = path.group === group && of !== undefined ? fieldAt(definitions, of, path.keys) : undefined;
    if (reached?.via === undefined) continue;
    const field = reached.via.name;
    const key = `${group}.${field}`;
    reaches.set(key, { group, field, key, target: reached.of });
  }
  return [...reaches.values()];
}
