/** Lookups that a request sends together with those of its caller. Their rows are not locked. */
import { isObject } from '../operators/index.ts';
import type { ApiRequest } from '../request/index.ts';
import type { Definitions } from '../resources/index.ts';
import { type FirstRows, hasChecksums, loadingById, lookupsForInsertion, type Statement, type Transaction } from '../storage/index.ts';
import type { Prefetched } from './request-context.ts';

/** The lookups of a request. */
interface Prefetching {
  readonly queries: readonly Statement[];
  /** Reads the first row of each query. Returns undefined without lookups: the steps of the request then load its rows. */
  read(rows: FirstRows): Prefetched | undefined;
}

/** The lookups of a request without any. */
export const NO_PREFETCHING: Prefetching = Object.freeze({ queries: [], read: () => undefined });

/**
 * Returns the lookups of a request: of the record that it reads or updates, or of the records on which a create depends. An update compares the version at its
 * commit, and a create locks there what it references. Other actions lock their records, or find them later. So does an update of a record with a checksum: a
 * login locks its user, so that a change of the password ends the session.
 */
export function prefetch(tx: Transaction, definitions: Definitions, { resource: name, action, id, data }: ApiRequest): Prefetching {
  const resource = definitions.get(name);
  if (resource === undefined || resource.internal) return NO_PREFETCHING;
  if (id !== undefined && (action === 'read' || (action === 'update' && tx.canBeOptimistic && !hasChecksums(resource))))
    return { queries: [loadingById(tx, resource, id)], read: ([row]) => ({ row: row ?? null }) };
  const lookups =
    action === 'create' && tx.canBeOptimistic && isObject(data) ? lookupsForInsertion(tx, { resource, definitions }, data) : undefined;
  return lookups === undefined ? NO_PREFETCHING : { queries: lookups.queries, read: (rows) => ({ found: lookups.read(rows) }) };
}
