/**
 * The policies, assignments and definitions in force. A transaction gets the snapshot of the revision that it reads first, so a
 * revoke that has committed applies to every transaction that begins after it.
 */
import { memoize } from '../memoize.ts';
import type { Definitions, Resource } from '../resources/index.ts';
import {
  type Database,
  loadChanges,
  loadOtherDefinitions,
  loadPolicyState,
  loadRevision,
  type Revision,
  type Transaction,
} from '../storage/index.ts';
import { type AssignmentCache, createAssignmentCache, type UserAssignments } from './assignment-cache.ts';
import { changePolicies, compilePolicies, type PolicyLimits, type PolicySnapshot } from './policies/index.ts';

/** Definitions, policies and assignments at one revision. Frozen. */
export interface Snapshot {
  readonly revision: Revision;
  readonly definitions: Definitions;
  readonly policies: PolicySnapshot;
  readonly assignments: UserAssignments;
  /** The definition of `User`, which `user.…` in conditions refers to. */
  readonly user: Resource;
}

/** Keeps the snapshot of the newest revision read. */
export interface PolicyStore {
  /** Returns the snapshot of the revision that `tx` reads first, and adds the revision to the read set of `tx`. */
  snapshot(tx: Transaction): Promise<Snapshot>;
  /** Returns the snapshot as changed by `tx` itself. It is not kept, because `tx` may be rolled back. */
  snapshotAfterChange(tx: Transaction): Promise<Snapshot>;
  /** Puts other definitions in force. `migrate` calls it in the transaction that changes the tables; the next transaction compiles all policies. */
  replaceDefinitions(definitions: Definitions): void;
  readonly definitions: Definitions;
  /** Returns the number of the newest revision read; undefined before the first. */
  revision(): number | undefined;
}

/** Limits of the policy store. */
export interface PolicyStoreOptions extends PolicyLimits {
  /** Maximum number of users and assignments in the assignment cache. */
  readonly maxAssignments: number;
}

/** A new snapshot, and the users whose assignments it changes; all users if `users` is undefined. */
interface Loaded {
  readonly snapshot: Snapshot;
  readonly users: ReadonlySet<string> | undefined;
}

/** Creates the policy store. Policies are loaded with the first transaction. */
export function createPolicyStore(initial: Definitions, options: PolicyStoreOptions): PolicyStore {
  const cache = createAssignmentCache(options.maxAssignments);
  const snapshots = new WeakMap<Transaction, Promise<Snapshot>>();
  let definitions = initial;
  let current: Snapshot | undefined;

  /** Loads only the changes since `base` if the policy history has them; otherwise everything. */
  async function load(tx: Transaction, base: Snapshot | undefined, revision: Revision): Promise<Loaded> {
    const others = await loadOtherDefinitions(tx, definitions);
    const known = others === undefined && base?.definitions === definitions ? base : undefined;
    const changes = known && (await loadChanges(tx, known.revision, revision));
    if (changes) return { snapshot: toSnapshot(changePolicies(known.policies, changes), revision, cache), users: changes.users };
    definitions = others ?? definitions;
    const state = await loadPolicyState(tx);
    // Several statements read one state only if the revision is the same after the last.
    const now = await loadRevision(tx);
    if (now.stamp !== revision.stamp) return load(tx, base, now);
    return { snapshot: toSnapshot(compilePolicies(state, definitions, options), revision, cache), users: undefined };
  }

  async function snapshotOf(tx: Transaction): Promise<Snapshot> {
    const revision = await loadRevision(tx);
    const base = current;
    const { snapshot, users } = base?.revision.stamp === revision.stamp ? { snapshot: base } : await load(tx, base, revision);
    // A concurrent transaction may have replaced `base` by a newer snapshot.
    if (current === base && snapshot !== base) {
      current = snapshot;
      newest = snapshot.revision.number;
      cache.moveTo(snapshot.revision, users);
    }
    tx.addToReadSet({ revision: snapshot.revision.stamp });
    return snapshot;
  }

  let newest: number | undefined;
  return {
    get definitions() {
      return definitions;
    },
    revision: () => newest,
    replaceDefinitions: (next) => {
      [definitions, current] = [next, undefined];
    },
    snapshot: (tx) => memoize(snapshots, tx, () => snapshotOf(tx)),
    snapshotAfterChange: async (tx) => {
      const revision = await loadRevision(tx);
      return current?.revision.stamp === revision.stamp ? current : (await load(tx, current, revision)).snapshot;
    },
  };
}

/** A database whose transactions begin under the definitions in force. */
export interface RevisionedDatabase extends Database {
  /**
   * Runs a transaction with the snapshot of its revision and with prefetched data. The query of the revision and the queries of `prefetch`
   * are sent together; if the definitions turn out to have changed, `prefetch` runs again.
   */
  transactionAtRevision<Data, T>(prefetch: Prefetch<Data>, work: (unit: AtRevision<Data>) => Promise<T>): Promise<T>;
}

/** Loads data under definitions that may turn out to be outdated. */
export type Prefetch<Data> = (tx: Transaction, definitions: Definitions) => Promise<Data>;

/** A transaction, its snapshot, and the prefetched data. */
export interface AtRevision<Data> {
  readonly tx: Transaction;
  readonly snapshot: Snapshot;
  readonly data: Data;
}

/**
 * Wraps a database so that every transaction first puts the definitions of its revision in force. Another process may have
 * changed the tables, and statements for outdated definitions would miss columns.
 */
export function withRevisions(database: Database, store: PolicyStore): RevisionedDatabase {
  async function begin<Data>(tx: Transaction, prefetch: Prefetch<Data>): Promise<AtRevision<Data>> {
    const expected = store.definitions;
    // In this order: prefetched data must not be older than the revision, which the commit validates.
    const reading = store.snapshot(tx);
    const prefetching = prefetch(tx, expected);
    // Both must settle before the connection is used for something else. A failure of `prefetch` under outdated definitions does not matter.
    await Promise.allSettled([reading, prefetching]);
    const snapshot = await reading;
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
    transactionAtRevision(prefetch, work) {
      let isRetry = false;
      return database.transaction(async (tx) => {
        // A failed statement fails all statements sent behind it, so a retry waits for the definitions before it prefetches.
        if (isRetry) await store.snapshot(tx);
        isRetry = true;
        return work(await begin(tx, prefetch));
      });
    },
    close: () => database.close(),
  };
}

function toSnapshot(policies: PolicySnapshot, revision: Revision, cache: AssignmentCache): Snapshot {
  const { definitions } = policies.compileOptions;
  const user = definitions.get('User');
  if (user === undefined) throw new Error('the definition of User is built in and cannot be absent');
  return Object.freeze({ revision, definitions, policies, assignments: cache.at(revision), user });
}
