import type { Prefetch } from '../../authz/index.ts';
import { Problem } from '../../errors.ts';
import type { ApiRequest } from '../../request/index.ts';
import type { Resource, StoredRecord } from '../../resources/index.ts';
import { hasChecksums, loadDeletedRecord, loadRecord, type RowLock } from '../../storage/index.ts';
import type { Found, RequestContext } from '../request-context.ts';

/** Row locks that actions take when they load their record. */
const LOCKS: ReadonlyMap<string, RowLock> = new Map([
  ['update', 'noKeyUpdate'],
  ['delete', 'update'],
  ['restore', 'noKeyUpdate'],
]);

/** Actions that search for referencing records before they write. */
const SEARCHES: ReadonlySet<string> = new Set(['delete', 'restore']);

/** Loads the record of the request. Returns no record for an unknown id and refuses nothing, because the decision must not depend on which records exist. */
export async function loadById(context: RequestContext): Promise<Found> {
  return context.prefetched ?? loadBy(context, loadRecord);
}

/** Returns a function that loads the record of a read before the caller is known; undefined for other actions. */
export function prefetchFor({ action, resource: name, id }: ApiRequest): Prefetch<Found> | undefined {
  if (action !== 'read' || id === undefined) return undefined;
  return (tx, definitions) => {
    const resource = definitions.get(name);
    return resource === undefined || resource.internal ? Promise.resolve([]) : findUndamaged(resource, loadRecord(tx, resource, id));
  };
}

/** Loads the soft-deleted record of the request. Returns no record if the record is not deleted. */
export async function loadDeletedById(context: RequestContext): Promise<Found> {
  return loadBy(context, loadDeletedRecord);
}

function loadBy(context: RequestContext, load: typeof loadRecord): Promise<Found> {
  if (context.request.id === undefined) throw new Problem('REQUEST_MALFORMED', 'expected an id');
  const { id, action } = context.request;
  return findUndamaged(
    context.resource,
    load(context.tx, context.resource, { id, lock: LOCKS.get(action), beforeSearch: SEARCHES.has(action) }),
  );
}

/** Returns the loaded record. Returns no record if its checksum is wrong: `validateRecord` refuses it after the decision. */
async function findUndamaged(resource: Resource, loading: Promise<StoredRecord | undefined>): Promise<Found> {
  try {
    const record = await loading;
    return record === undefined ? [] : [record];
  } catch (error) {
    if (hasChecksums(resource) && error instanceof Problem && error.code === 'STORAGE_DAMAGED') return [];
    throw error;
  }
}
