/** Lookups that the requests of a unit of work send together with those of their caller. Their rows are not locked. */
import { isObject } from '../operators/index.ts';
import type { ApiRequest } from '../request/index.ts';
import type { Definitions } from '../resources/index.ts';
import {
  type FirstRows,
  hasChecksums,
  loadingById,
  lookupsForInsertions,
  type Statement,
  type SubmittedRecord,
  type Transaction,
} from '../storage/index.ts';
import type { Prefetched } from './request-context.ts';

/** The lookups of a unit of work. */
interface Prefetching {
  readonly queries: readonly Statement[];
  /** Reads the first row of each query. Returns undefined without lookups: the steps of the requests then load their rows. */
  read(rows: FirstRows): Prefetched | undefined;
}

/** The lookups of a unit of work without any. */
export const NO_PREFETCHING: Prefetching = Object.freeze({ queries: [], read: () => undefined });

/** Maximum creates of a batch that lock nothing before its commit. */
const MAX_CREATES = 100;

/**
 * Returns the lookups of requests: of the record that a single one reads or updates, or of the records on which creates depend. An update compares the version
 * at its commit, and a create locks there what it references. Other actions lock their records, or find them later. So does an update of a record with a
 * checksum: a login locks its user, so that a change of the password ends the session.
 */
export function prefetch(tx: Transaction, definitions: Definitions, requests: readonly ApiRequest[]): Prefetching {
  const [request, ...others] = requests;
  if (request === undefined) return NO_PREFETCHING;
  if (request.action === 'create') return prefetchForCreates(tx, definitions, requests);
  const resource = definitions.get(request.resource);
  if (others.length > 0 || request.id === undefined || resource === undefined || resource.internal) return NO_PREFETCHING;
  const isPrefetched = request.action === 'read' || (request.action === 'update' && tx.canBeOptimistic && !hasChecksums(resource));
  return isPrefetched ? { queries: [loadingById(tx, resource, request.id)], read: ([row]) => ({ row: row ?? null }) } : NO_PREFETCHING;
}

function prefetchForCreates(tx: Transaction, definitions: Definitions, requests: readonly ApiRequest[]): Prefetching {
  const needsLocks = tx.validatesReads && !tx.canBeOptimistic;
  if (needsLocks || requests.length > MAX_CREATES) return NO_PREFETCHING;
  const records: SubmittedRecord[] = [];
  for (const { action, resource: name, data } of requests) {
    const resource = definitions.get(name);
    if (action !== 'create' || !isObject(data) || resource === undefined || resource.internal) return NO_PREFETCHING;
    records.push({ resource, values: data });
  }
  const lookups = lookupsForInsertions(tx, definitions, records);
  if (lookups === undefined) return NO_PREFETCHING;
  // If later requests could read a new record, it is inserted at once.
  const readsNew = (): boolean => records.length > 1 && records.some(({ resource }) => tx.watched(resource.name) !== undefined);
  return { queries: lookups.queries, read: (rows) => (readsNew() ? undefined : { found: lookups.read(rows) }) };
}
