import type { Definitions } from '../resources/index.ts';
import type { Database, Transaction, TransactionOptions } from '../storage/index.ts';
import type { PolicyStore, Snapshot } from './policy-store.ts';

/** A database whose transactions begin with the snapshot of the current revision. */
export interface RevisionedDatabase extends Database {
  /**
   * Runs a transaction with the snapshot of its revision and with prefetched data. The query of the revision and the queries of `prefetch`
   * are sent together; if the definitions have changed, `prefetch` runs again under the new ones.
   */
  transactionAtRevision<Data, T>(
    prefetch: Prefetch<Data>,
    work: (unit: AtRevision<Data>) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
}

/** Loads data under the definitions of the last known revision, which may be outdated. */
export type Prefetch<Data> = (tx: Transaction, definitions: Definitions) => Promise<Data>;

/** A transaction, its snapshot, and the prefetched data. */
export interface AtRevision<Data> {
  readonly tx: Transaction;
  readonly snapshot: Snapshot;
  readonly data: Data;
}

/**
 * Wraps a database so that every transaction first loads the definitions of its revision. Another process may have changed the tables,
 * and statements for outdated definitions would miss columns.
 */
export function withRevisions(database: Database, store: PolicyStore): RevisionedDatabase {
  async function begin<Data>(tx: Transaction, prefetch: Prefetch<Data>): Promise<AtRevision<Data>> {
    const expected = store.definitions;
    // The revision is read first: prefetched data must not be older than the revision that the commit validates.
    const reading = store.snapshot(tx);
    const prefetching = prefetch(tx, expected);
    // Both must settle before the connection is used for something else. A failure of `prefetch` under outdated definitions does not matter.
    const snapshot = await awaitBeside(reading, prefetching);
    return { tx, snapshot, data: await (snapshot.definitions === expected ? prefetching : prefetch(tx, snapshot.definitions)) };
  }

  return {
    dialect: database.dialect,
    backups: database.backups,
    get healthy() {
      return database.healthy;
    },
    get fault() {
      return database.fault;
    },
    probe: () => database.probe(),
    get metrics() {
      return database.metrics;
    },
    transaction: (work, options) =>
      database.transaction(async (tx) => {
        await store.snapshot(tx);
        return work(tx);
      }, options),
    transactionAtRevision(prefetch, work, options) {
      let isRetry = false;
      return database.transaction(async (tx) => {
        // A failed statement fails all statements sent behind it, so a retry waits for the definitions before it prefetches.
        if (isRetry) await store.snapshot(tx);
        isRetry = true;
        return work(await begin(tx, prefetch));
      }, options);
    },
    close: () => database.close(),
  };
}

/**
 * Awaits `first`, and does not return or throw before `second` has settled. The caller handles a failure of `second`. Takes half as long as
 * `Promise.allSettled`: every request calls it.
 */
export async function awaitBeside<T>(first: Promise<T>, second: Promise<unknown>): Promise<T> {
  const settling = second.then(ignore, ignore);
  try {
    return await first;
  } finally {
    await settling;
  }
}

const ignore = (): void => undefined;
