import type { Definitions } from '../resources/index.ts';
import {
  CURRENT_REVISION,
  type Database,
  type FirstRows,
  type Log,
  type Query,
  type Transaction,
  type TransactionOptions,
  toRevision,
} from '../storage/index.ts';
import type { Snapshot } from './load-snapshot.ts';
import type { PolicyStore } from './policy-store.ts';

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

/** A transaction, its snapshot, in which the policies of some roles may be pending, and the first row of each prefetched query. */
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
      const snapshot = await store.pendingSnapshot(tx);
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
        await store.pendingSnapshot(tx);
        return work(tx);
      }, options),
    transactionAtRevision(prefetch, work, options) {
      let isRetry = false;
      return database.transaction(async (tx) => {
        // A failed statement fails all statements sent behind it, so a retry waits for the definitions before it prefetches.
        if (isRetry) await store.pendingSnapshot(tx);
        isRetry = true;
        return work(await begin(tx, prefetch));
      }, options);
    },
    close: () => database.close(),
  };
}

/** The components that load the policies of pending roles. */
export interface RoleLoadingDeps {
  readonly database: Database;
  readonly policyStore: PolicyStore;
  readonly log?: Log | undefined;
}

/** Loads the policies of pending roles in the background. */
export interface RoleLoading {
  /** Begins to load. If it fails, the next request that needs the policies loads them. */
  start(): void;
  /** Waits for the end of the load. */
  close(): Promise<void>;
}

/**
 * Creates the load of the policies of pending roles beside the first requests, so that later requests need not wait for them and a damaged
 * policy makes the service unready.
 */
export function createRoleLoading({ database, policyStore, log }: RoleLoadingDeps): RoleLoading {
  let loading: Promise<void> | undefined;
  /** Loads one role after the other, so that a request waits for its own role only. */
  async function load(): Promise<void> {
    for (const role of policyStore.pendingRoles()) {
      await database.transaction(async (tx) => policyStore.withRoles(tx, await policyStore.pendingSnapshot(tx), role), {
        beginsLong: true,
      });
    }
  }

  return {
    start() {
      loading = load().catch((error: unknown) => {
        log?.(`the policies of roles will be loaded with the requests that need them: ${error instanceof Error ? error.message : error}`);
      });
    },
    close: async () => loading,
  };
}
