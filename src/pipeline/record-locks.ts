/**
 * Locks of the records that a batch changes. It changes them in the order of its requests, and holds the lock of each changed row until its end. Two batches
 * that change the same records in opposite orders would wait for each other on PostgreSQL, until the server fails one of them. So a batch first takes a lock
 * for each record, in one order for all batches.
 */
import { READ_ONLY_ACTIONS } from '../actions.ts';
import { Problem } from '../errors.ts';
import type { BatchItem } from '../request/index.ts';
import type { Transaction } from '../storage/index.ts';

/** The locks of a batch. */
export interface RecordLocks {
  /** The first request that changes one of the records; undefined if the batch takes no locks. */
  readonly before: BatchItem | undefined;
  readonly names: readonly string[];
}

/**
 * Maximum locks of a batch. The server has room for 64 locks for each of its connections, by default. Batches that change more records run again after they
 * have waited for each other.
 */
const MAX_LOCKS = 50;

const NO_LOCKS: RecordLocks = { before: undefined, names: [] };

/** Finds the locks of a batch. A batch that changes fewer than two records by their ids needs none. */
export function findRecordLocks(items: readonly BatchItem[]): RecordLocks {
  const changes = items.filter((item) => lockNameOf(item) !== undefined);
  const names = new Set(changes.map(lockNameOf).filter((name) => name !== undefined));
  return names.size < 2 || names.size > MAX_LOCKS ? NO_LOCKS : { before: changes[0], names: [...names] };
}

/** Takes the locks before the first request that changes one of the records: earlier ones may read for seconds. */
export async function lockBefore({ tx, locks }: { readonly tx: Transaction; readonly locks: RecordLocks }, item: BatchItem): Promise<void> {
  if (item === locks.before) await tx.lock(...locks.names);
}

/** Returns the name of the lock for a request; undefined if it changes no record, or finds it by other fields than the id. */
function lockNameOf({ request }: BatchItem): string | undefined {
  if (request instanceof Problem || READ_ONLY_ACTIONS.has(request.action) || request.dryRun === true) return undefined;
  const { resource, id, filter = [] } = request;
  const value = id ?? filter.find(({ field, operator }) => field === 'id' && operator === 'eq')?.value;
  // A reference to an earlier request is not an id yet. Its record is often new, so other batches do not change it.
  return typeof value === 'string' && !value.startsWith('$') ? `record ${resource} ${value}` : undefined;
}
