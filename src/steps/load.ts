import { hash } from 'node:crypto';
import type { Condition } from '../condition/index.ts';
import { Problem } from '../errors.ts';
import type { ApiRequest } from '../request/index.ts';
import { type Definitions, readFilter, type StoredRecord } from '../resource/index.ts';
import { findMatches, loadDeletedRecord, loadRecord, type RowLock, type Transaction } from '../storage/index.ts';
import { decideOrRefuse } from './decide.ts';
import type { Found, Job } from './job.ts';
import { readForCreate } from './values.ts';

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

/** Up to two records that the filter matches: enough to know none, one or several. */
export async function loadByFilter(job: Job): Promise<Found> {
  const filter = job.request.filter ?? [];
  if (filter.length === 0) throw new Problem('REQUEST_MALFORMED', 'expected a filter with at least one field');
  const condition = await readOwnFilter(job, filter);
  // Of many at once with one filter, the first creates and the others find.
  if (job.request.action === 'createIfNotExists') await job.tx.lock(`${job.resource.name} ${digest(condition)}`);
  return findMatches(job.tx, job.resource, { condition, limit: 2, toChange: job.request.action === 'updateIfExists' });
}

function digest(condition: Condition): string {
  return hash('sha256', JSON.stringify(condition), 'base64url');
}

/** Who is denied does not learn from a filter which fields there are: a mistake in it is told after the decision. */
async function readOwnFilter(job: Job, filter: NonNullable<Job['request']['filter']>): Promise<Condition> {
  try {
    return readFilter(job.resource, filter, { typed: true, member: 'filter' });
  } catch (error) {
    const [proposal] = job.request.action === 'createIfNotExists' ? readForCreate(job) : [];
    await decideOrRefuse(job, { record: proposal?.record });
    throw error;
  }
}
