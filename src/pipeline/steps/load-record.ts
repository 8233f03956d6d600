import { Problem } from '../../errors.ts';
import type { Resource, Row, StoredRecord } from '../../resources/index.ts';
import { hasChecksums, loadDeletedRecord, loadRecord, type RowLock, unlessDamaged } from '../../storage/index.ts';
import type { Found, RequestContext } from '../request-context.ts';

/** Row locks that actions take when they load their record. */
const LOCKS: ReadonlyMap<string, RowLock> = new Map([
  ['update', 'noKeyUpdate'],
  ['delete', 'update'],
  ['restore', 'noKeyUpdate'],
]);

/** Actions that search for referencing records before they write. */
const SEARCHES: ReadonlySet<string> = new Set(['delete', 'restore']);

/**
 * Loads the record of the request, and locks it if it was not prefetched. Returns no record for an unknown id and refuses nothing, because the
 * decision must not depend on which records exist.
 */
export function loadById(context: RequestContext): Found | Promise<Found> {
  const { prefetched, resource } = context;
  const row = prefetched?.row;
  return (row === undefined ? undefined : readUndamaged(resource, row)) ?? loadBy(context, loadRecord);
}

/** Loads the soft-deleted record of the request. Returns no record if the record is not deleted. */
export function loadDeletedById(context: RequestContext): Promise<Found> {
  return loadBy(context, loadDeletedRecord);
}

async function loadBy(context: RequestContext, load: typeof loadRecord): Promise<Found> {
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
    if (isDamaged(resource, error)) return [];
    throw error;
  }
}

/** Returns the record of a row; undefined if the row has to be loaded again, because its checksum is wrong. */
function readUndamaged(resource: Resource, row: Row | null): Found | undefined {
  if (row === null) return [];
  try {
    return unlessDamaged(resource, [row]);
  } catch (error) {
    if (isDamaged(resource, error)) return [];
    throw error;
  }
}

function isDamaged(resource: Resource, error: unknown): boolean {
  return hasChecksums(resource) && error instanceof Problem && error.code === 'STORAGE_DAMAGED';
}
