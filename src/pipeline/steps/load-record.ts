/**
 * The steps that load the record of a request by its id. They return no record for an unknown id and refuse nothing, because the decision must not
 * depend on which records exist.
 */
import { Problem } from '../../errors.ts';
import type { Resource, Row, StoredRecord } from '../../resources/index.ts';
import { hasChecksums, loadDeletedRecord, loadRecord, type RowLock, unlessDamaged } from '../../storage/index.ts';
import type { Found, RequestContext } from '../request-context.ts';

/** Loads the record without a lock, if it was not prefetched. */
export function loadToRead(context: RequestContext): Found | Promise<Found> {
  return prefetchedRecord(context) ?? loadBy(context, loadRecord);
}

/** Loads and locks the record, if it was not prefetched. */
export function loadToUpdate(context: RequestContext): Found | Promise<Found> {
  return prefetchedRecord(context) ?? loadBy(context, loadRecord, { lock: 'noKeyUpdate' });
}

/** Loads and locks the record. The action searches for referencing records before it writes. */
export function loadToDelete(context: RequestContext): Found | Promise<Found> {
  return prefetchedRecord(context) ?? loadBy(context, loadRecord, { lock: 'update', beforeSearch: true });
}

/** Loads and locks the soft-deleted record. Returns no record if the record is not deleted. */
export function loadToRestore(context: RequestContext): Promise<Found> {
  return loadBy(context, loadDeletedRecord, { lock: 'noKeyUpdate', beforeSearch: true });
}

function prefetchedRecord({ prefetched, resource }: RequestContext): Found | undefined {
  const row = prefetched?.row;
  return row === undefined ? undefined : readUndamaged(resource, row);
}

interface Locking {
  readonly lock?: RowLock;
  /** True if the action searches for referencing records before it writes. */
  readonly beforeSearch?: boolean;
}

async function loadBy({ request, tx, resource }: RequestContext, load: typeof loadRecord, locking: Locking = {}): Promise<Found> {
  const { id } = request;
  if (id === undefined) throw new Problem('REQUEST_MALFORMED', 'expected an id');
  return findUndamaged(resource, load(tx, resource, { id, ...locking }));
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
