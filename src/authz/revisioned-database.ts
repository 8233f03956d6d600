import { Problem } from '../errors.ts';
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
import { createRoleLoading, type RoleLoading } from './role-loading.ts';
import { RolesNeeded } from './role-policies.ts';

/** A database whose transactions begin with the snapshot of the current revision, and run again if it lacks policies that they need. */
export interface RevisionedDatabase extends Database {
  /** Loads the policies that transactions wait for. */
  readonly roleLoading: RoleLoading;
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

type Work<T> = (tx: Transaction) => Promise<T>;

/** Maximum loads of policies for one transaction. If policies change during a load, another one may follow. */
const MAX_LOADS = 10;

/**
 * Wraps a database so that every transaction first loads the definitions of its revision. Another process may have changed the tables,
 * and statements for outdated definitions would miss columns.
 */
export function withRevisions(database: Database, store: PolicyStore, log?: Log): RevisionedDatabase {
  const roleLoading = createRoleLoading({ database, policyStore: store, log });
  const run = createRuns({ database, store, roleLoading });
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
    roleLoading,
    transaction: (work, options) =>
      run(async (tx) => {
        await store.pendingSnapshot(tx);
        return work(tx);
      }, options),
    transactionAtRevision(prefetch, work, options) {
      let hasFailed = false;
      return run(async (tx) => {
        // A failed statement fails all statements sent behind it, so a retry after a failure waits for the definitions before it prefetches.
        if (hasFailed) await store.pendingSnapshot(tx);
        try {
          return await work(await beginAtRevision(store, tx, prefetch));
        } catch (error) {
          hasFailed = true;
          throw error;
        }
      }, options);
    },
    close: () => database.close(),
  };
}

/** Loads the snapshot of the current revision with the rows of prefetched queries. */
async function beginAtRevision(store: PolicyStore, tx: Transaction, prefetch: Prefetch): Promise<AtRevision> {
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

/** The components that run transactions. */
interface RunDeps {
  readonly database: Database;
  readonly store: PolicyStore;
  readonly roleLoading: RoleLoading;
}

/** Creates the function that runs a transaction. One without a time limit may take hours, and loads the policies that it needs itself. */
function createRuns({ database, store, roleLoading }: RunDeps): Database['transaction'] {
  /** Runs a transaction. If it needs policies that are not loaded, waits for their load and runs it again. */
  async function runAgain<T>(work: Work<T>, options: TransactionOptions | undefined): Promise<T> {
    const begin: Work<T> = (tx) => {
      store.markRetryable(tx);
      return work(tx);
    };
    for (let loads = 0; ; loads++) {
      try {
        return await database.transaction(begin, options);
      } catch (error) {
        if (!(error instanceof RolesNeeded)) throw error;
        if (loads === MAX_LOADS) throw new Problem('STORAGE_BUSY', 'policies changed each time while they were loaded', { retryAfter: 1 });
        await roleLoading.load(error.roles);
      }
    }
  }

  return (work, options) => (options?.unlimited || !store.mayLackRoles() ? database.transaction(work, options) : runAgain(work, options));
}
