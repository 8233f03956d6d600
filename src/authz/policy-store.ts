/**
 * The policies, assignments and definitions in force. A transaction gets the snapshot of the revision that it reads first, so a
 * revoke that has committed applies to every transaction that begins after it.
 */
import { memoize } from '../memoize.ts';
import type { Definitions } from '../resources/index.ts';
import { loadRevision, type Revision, type Transaction } from '../storage/index.ts';
import { createAssignmentCache } from './assignment-cache.ts';
import { createDamageLog } from './damage-log.ts';
import { type Loaded, loadSnapshotOf, type Snapshot, type SnapshotOptions } from './load-snapshot.ts';
import { type DamagedRow, pendingRolesOf } from './policies/index.ts';
import { createRolePolicies, type RolePolicies } from './role-policies.ts';

/** Keeps the snapshot of the newest revision read. */
export interface PolicyStore extends RolePolicies {
  /** Returns the snapshot of the current revision, read once per transaction, and adds the revision to the read set of `tx`. */
  snapshot(tx: Transaction): Promise<Snapshot>;
  /** Returns the same snapshot. The policies of some roles may have to be loaded: `withRoles` does before a decision about the role. */
  pendingSnapshot(tx: Transaction): Promise<Snapshot>;
  /** Returns the snapshot of the revision that `tx` has read, as `pendingSnapshot` does. A promise if it has to be loaded. */
  snapshotOf(tx: Transaction, revision: Revision): Snapshot | Promise<Snapshot>;
  /** Returns the snapshot as changed by `tx` itself. It is not kept, because `tx` may be rolled back. */
  snapshotAfterChange(tx: Transaction): Promise<Snapshot>;
  /**
   * Replaces the definitions and drops the snapshot, because rules are compiled against definitions. `migrate` calls it in the transaction
   * that changes the tables.
   */
  replaceDefinitions(definitions: Definitions): void;
  readonly definitions: Definitions;
  /** Returns true if a transaction may need policies of roles that have to be loaded. */
  mayLackRoles(): boolean;
  /** Returns the roles whose policies have to be loaded before a decision about the role. */
  pendingRoles(): readonly string[];
  /** Returns the number of the newest revision read; undefined before a revision is read. */
  revision(): number | undefined;
  /** Returns the damaged policies and assignments that were found at that revision. */
  damaged(): readonly DamagedRow[];
}

/** Limits of the policy store. */
export interface PolicyStoreOptions extends SnapshotOptions {
  /** Maximum number of users and assignments in the assignment cache, and of policies and rules that only users have. */
  readonly maxAssignments: number;
  /** Called once for each damaged row that is found, until it is repaired. */
  readonly onDamage?: ((row: DamagedRow) => void) | undefined;
}

/** Creates the policy store. Policies are loaded with the first transaction, without the time limit of its caller: all callers need them. */
export function createPolicyStore(initial: Definitions, options: PolicyStoreOptions): PolicyStore {
  const damages = createDamageLog(options.onDamage);
  const cache = createAssignmentCache(options.maxAssignments, damages.add);
  const snapshots = new WeakMap<Transaction, Promise<Snapshot>>();
  const held = { definitions: initial };
  let [current, newest]: [Snapshot?, number?] = [];
  const load = (tx: Transaction, base: Snapshot | undefined, revision: Revision): Promise<Loaded> =>
    tx.withoutTimeLimit(() => loadSnapshotOf(tx, { revision, base }, { held, options, cache }));
  const snapshotOf = (tx: Transaction, revision: Revision): Snapshot | Promise<Snapshot> =>
    current?.revision.stamp === revision.stamp ? asRead(tx, current) : loadSnapshot(tx, revision, current);
  async function loadSnapshot(tx: Transaction, revision: Revision, base: Snapshot | undefined): Promise<Snapshot> {
    const { snapshot, changed } = await load(tx, base, revision);
    // A concurrent transaction may have replaced `base` by a newer snapshot.
    if (current === base) {
      [current, newest] = [snapshot, snapshot.revision.number];
      cache.moveTo(snapshot.revision, changed);
      damages.replace(snapshot.policies.damaged);
    }
    return asRead(tx, snapshot);
  }
  const roles = createRolePolicies(cache, {
    latestOf: (snapshot) => (current?.revision.stamp === snapshot.revision.stamp ? current : snapshot),
    keep(completed) {
      if (current?.revision.stamp !== completed.revision.stamp) return;
      current = completed;
      damages.replace(completed.policies.damaged);
    },
  });
  const pendingSnapshot = (tx: Transaction) => memoize(snapshots, tx, async () => snapshotOf(tx, await loadRevision(tx)));
  return {
    get definitions() {
      return held.definitions;
    },
    mayLackRoles: () => current === undefined || current.policies.pendingRoles.size > 0,
    pendingRoles: () => (current === undefined ? [] : pendingRolesOf(current.policies)),
    revision: () => newest,
    damaged: damages.rows,
    replaceDefinitions: (next) => {
      [held.definitions, current] = [next, undefined];
    },
    snapshot: async (tx) => roles.withRoles(tx, await pendingSnapshot(tx)),
    pendingSnapshot,
    snapshotOf,
    ...roles,
    snapshotAfterChange: async (tx) => {
      const revision = await loadRevision(tx);
      return roles.loadRoles(tx, current?.revision.stamp === revision.stamp ? current : (await load(tx, current, revision)).snapshot);
    },
  };
}

/** Adds the revision of a snapshot to the read set of a transaction. */
function asRead(tx: Transaction, snapshot: Snapshot): Snapshot {
  tx.addToReadSet({ revision: snapshot.revision.stamp, watch: snapshot.policies.watch });
  return snapshot;
}
