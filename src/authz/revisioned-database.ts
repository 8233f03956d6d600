import type { Definitions } from '../resources/index.ts';
import {
  CURRENT_REVISION,
  type Database,
  type FirstRows,
  type Query,
  type Transaction,
  type TransactionOptions,
  toRevision,
} from '../storage/index.ts';
import type { PolicyStore, Snapshot } from './policy-store.ts';

/** A database whose transactions begin with the snapshot of the current revision. */
export interface RevisionedDatabase extends Database {
  /** Runs a transaction with the snapshot of its revision and the rows of prefetched queries, which are sent together with that of the revision. */
  transactionAtRevision<T>(prefetch: Prefetch, work: (unit: AtRevision) => Promise<T>, options?: TransactionOptions): Promise<T>;
}

/**
 * Returns queries whose first rows a transaction needs at its beginning. Called with the definitions of the last known revision, and again if
 * they are outdated.
 */
export type Prefetch = (tx: Transaction, definitions: Definitions) => readonly (Query | undefined)[];

/** A transaction, its snapshot, and the first row of each prefetched query. */
export interface AtRevision {
  readonly tx: Transaction;
  readonly snapshot: Snapshot;
  readonly rows: FirstRows;
}

/**
 * Wraps a database so that every transaction first loads the definitions of its revision. Another process may have changed the tables,
 * and statements for outdated definitions would miss columns.
 */
export function withRevisions(database: Database, store: PolicyStore): RevisionedDatabase {
  async function begin(tx: Transaction, prefetch: Prefetch): Promise<AtRevision> {
    const expected = store.definitions;
    let rows: FirstRows;
    try {
      // The revision is read first: prefetched data must not be older than the revision that the commit validates.
      rows = await tx.oneOfEach([CURRENT_REVISION, ...prefetch(tx, expected)]);
    } catch (error) {
      const snapshot = await store.snapshot(tx);
      if (snapshot.definitions === expected) throw error;
      return { tx, snapshot, rows: await tx.oneOfEach(prefetch(tx, snapshot.definitions)) };
    }
    const snapshot = await store.snapshotOf(tx, toRevision(rows[0]));
    return {
      tx,
      snapshot,
      rows: snapshot.definitions === expected ? rows.slice(1) : await tx.oneOfEach(prefetch(tx, snapshot.definitions)),
    };
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
