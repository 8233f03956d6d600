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
import { createNewestSnapshot, type NewestSnapshot } from './newest-snapshot.ts';
import type { DamagedRow } from './policies/index.ts';
import { createRolePolicies, type RolePolicies } from './role-policies.ts';

/** Keeps the snapshot of the newest revision read. */
export interface PolicyStore extends RolePolicies {
  /** Returns the snapshot of the current revision, read once per transaction, and adds the revision to the read set of `tx`. */
  snapshot(tx: Transaction): Promise<Snapshot>;
  /** Returns the same snapshot. The policies of some roles may have to be loaded: `withRoles` does before a decision about the role. */
  pendingSnapshot(tx: Transaction): Promise<Snapshot>;
  /** Returns the snapshot of the revision that `tx` has read, as `pendingSnapshot` does. A promise if it has to be loaded. */
  snapshotOf(tx: Transaction, revision: Revision): Snapshot | Promise<Snapshot>;
  /** Returns the snapshot as changed by `tx` itself. It is not kept before `keepChange`, because `tx` may be rolled back. */
  snapshotAfterChange(tx: Transaction): Promise<Snapshot>;
  /** Keeps the snapshot that `snapshotAfterChange` returned to a transaction. Call it after the commit, so that later transactions need not load it. */
  keepChange(tx: Transaction): void;
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
  const newest = createNewestSnapshot(cache, damages);
  const load = (tx: Transaction, base: Snapshot | undefined, revision: Revision): Promise<Loaded> =>
    tx.withoutTimeLimit(() => loadSnapshotOf(tx, { revision, base }, { held, options, cache }));
  const snapshotOf = (tx: Transaction, revision: Revision): Snapshot | Promise<Snapshot> => {
    const current = newest.current();
    return current?.revision.stamp === revision.stamp ? asRead(tx, current) : loadSnapshot(tx, revision, current);
  };
  async function loadSnapshot(tx: Transaction, revision: Revision, base: Snapshot | undefined): Promise<Snapshot> {
    const loaded = await load(tx, base, revision);
    newest.replace(base, loaded);
    return asRead(tx, loaded.snapshot);
  }
  const roles = createRolePolicies(cache, newest);
  const pendingRoles = () => newest.current()?.policies.pendingRoles;
  const pendingSnapshot = (tx: Transaction) => memoize(snapshots, tx, async () => snapshotOf(tx, await loadRevision(tx)));
  return {
    get definitions() {
      return held.definitions;
    },
    mayLackRoles: () => pendingRoles()?.size !== 0,
    pendingRoles: () => [...(pendingRoles() ?? [])],
    revision: newest.revision,
    damaged: damages.rows,
    replaceDefinitions: (next) => {
      held.definitions = next;
      newest.clear();
    },
    snapshot: async (tx) => roles.withRoles(tx, await pendingSnapshot(tx)),
    pendingSnapshot,
    snapshotOf,
    ...roles,
    ...createChanges({ newest, roles, load }),
  };
}

/** The parts of a policy store that snapshots of changes need. */
interface ChangeDeps {
  readonly newest: NewestSnapshot;
  readonly roles: RolePolicies;
  load(tx: Transaction, base: Snapshot | undefined, revision: Revision): Promise<Loaded>;
}

/** Creates the functions that load the snapshot of a change before its commit, and keep it after the commit. */
function createChanges({ newest, roles, load }: ChangeDeps): Pick<PolicyStore, 'snapshotAfterChange' | 'keepChange'> {
  const changes = new WeakMap<Transaction, { readonly base: Snapshot | undefined; readonly loaded: Loaded }>();
  return {
    async snapshotAfterChange(tx) {
      const revision = await loadRevision(tx);
      const base = newest.current();
      if (base?.revision.stamp === revision.stamp) return roles.loadRoles(tx, base);
      const loaded = await load(tx, base, revision);
      changes.set(tx, { base, loaded });
      return roles.loadRoles(tx, loaded.snapshot);
    },
    keepChange(tx) {
      const change = changes.get(tx);
      if (change !== undefined) newest.replace(change.base, change.loaded);
    },
  };
}

/** Adds the revision of a snapshot to the read set of a transaction. */
function asRead(tx: Transaction, snapshot: Snapshot): Snapshot {
  tx.addToReadSet({ revision: snapshot.revision.stamp, watch: snapshot.policies.watch });
  return snapshot;
}
