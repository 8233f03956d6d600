import { Problem } from '../../errors.ts';
import type { ApiRequest } from '../../request/index.ts';
import type { Definitions, StoredRecord } from '../../resources/index.ts';
import { loadDeletedRecord, loadRecord, type RowLock, type Transaction } from '../../storage/index.ts';
import type { Found, Job } from '../step-context.ts';

/** For actions that act on no stored record, or on many. */
export async function loadNothing(): Promise<Found> {
  return [];
}

/** How a record is held that an action is about to act on. */
const LOCKS: ReadonlyMap<string, RowLock> = new Map([
  ['update', 'change'],
  ['delete', 'remove'],
  ['restore', 'change'],
]);

/** The record that the request names. An id that no record has finds none: the decision must not depend on what exists. */
export async function loadById(job: Job): Promise<Found> {
  return job.foreseen ?? loadBy(job, loadRecord);
}

/** What `loadById` finds for a read, asked for before anything else is known: who asks, and what is decided, makes no difference to it. */
export function foreseeRead(
  tx: Transaction,
  definitions: Definitions,
  { action, resource: name, id }: ApiRequest,
): Promise<Found> | undefined {
  const resource = action === 'read' ? definitions.get(name) : undefined;
  if (resource === undefined || resource.internal || id === undefined) return undefined;
  return loadRecord(tx, resource, id).then(toFound);
}

/** The deleted record that the request names. The id of one that there is finds none: it is no deleted record. */
export async function loadDeletedById(job: Job): Promise<Found> {
  return loadBy(job, loadDeletedRecord);
}

async function loadBy(job: Job, load: typeof loadRecord): Promise<Found> {
  if (job.request.id === undefined) throw new Problem('REQUEST_MALFORMED', 'expected an id');
  const record = await load(job.tx, job.resource, { id: job.request.id, lock: LOCKS.get(job.request.action) });
  return toFound(record);
}

function toFound(record: StoredRecord | undefined): Found {
  return record === undefined ? [] : [record];
}
