import type { Prefetch } from '../../authz/index.ts';
import { Problem } from '../../errors.ts';
import type { ApiRequest } from '../../request/index.ts';
import type { StoredRecord } from '../../resources/index.ts';
import { loadDeletedRecord, loadRecord, type RowLock } from '../../storage/index.ts';
import type { Found, RequestContext } from '../request-context.ts';

/** For actions that act on no stored record, or on many. */
export async function loadNothing(): Promise<Found> {
  return [];
}

/** How a record is held that an action is about to act on. */
const LOCKS: ReadonlyMap<string, RowLock> = new Map([
  ['update', 'noKeyUpdate'],
  ['delete', 'update'],
  ['restore', 'noKeyUpdate'],
]);

/** The record that the request names. An id that no record has finds none: the decision must not depend on what exists. */
export async function loadById(context: RequestContext): Promise<Found> {
  return context.prefetched ?? loadBy(context, loadRecord);
}

/** Returns a function that loads the record of a read before the caller is known; undefined for other actions. */
export function prefetchFor({ action, resource: name, id }: ApiRequest): Prefetch<Found> | undefined {
  if (action !== 'read' || id === undefined) return undefined;
  return async (tx, definitions) => {
    const resource = definitions.get(name);
    return resource === undefined || resource.internal ? [] : toFound(await loadRecord(tx, resource, id));
  };
}

/** The deleted record that the request names. The id of one that there is finds none: it is no deleted record. */
export async function loadDeletedById(context: RequestContext): Promise<Found> {
  return loadBy(context, loadDeletedRecord);
}

async function loadBy(context: RequestContext, load: typeof loadRecord): Promise<Found> {
  if (context.request.id === undefined) throw new Problem('REQUEST_MALFORMED', 'expected an id');
  const record = await load(context.tx, context.resource, { id: context.request.id, lock: LOCKS.get(context.request.action) });
  return toFound(record);
}

function toFound(record: StoredRecord | undefined): Found {
  return record === undefined ? [] : [record];
}
