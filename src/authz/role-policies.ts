/** Loads the policies of roles when a decision first needs them. */
import type { Transaction } from '../storage/index.ts';
import type { AssignmentCache } from './assignment-cache.ts';
import type { Snapshot } from './load-snapshot.ts';
import { hasRows, type PolicySnapshot, pendingRolesOf } from './policies/index.ts';
import { addLoaded, addLoadedAt, isUnchanged, loadRole, type RoleLoad } from './role-load.ts';

/** Returns a snapshot with the policies of a role, or of all roles if `role` is absent. A promise if they have to be loaded. */
export type WithRoles = (tx: Transaction, snapshot: Snapshot, role?: string) => Snapshot | Promise<Snapshot>;

/** The policies of some roles are not loaded. The unit of work ends and runs again when they are, so that it holds no connection meanwhile. */
export class RolesNeeded extends Error {
  override name = 'RolesNeeded';
  readonly roles: readonly string[];

  constructor(roles: readonly string[]) {
    super(`the policies of roles have to be loaded first: ${roles.join(', ')}`);
    this.roles = roles;
  }
}

/** A role whose policies are to be loaded, and an earlier load of them that was not kept. */
export interface RoleQuery {
  readonly role: string;
  readonly earlier: RoleLoad | undefined;
}

/** The snapshot that a policy store keeps. */
export interface KeptSnapshot {
  /** Returns the snapshot of the same revision with the roles that were loaded by now. */
  latestOf(snapshot: Snapshot): Snapshot;
  /** Keeps a snapshot with further roles, unless another revision is current. */
  keep(completed: Snapshot): void;
}

/** Functions that add policies of roles to a snapshot. */
export interface RolePolicies {
  /**
   * Returns a snapshot with the policies of a role, which the transaction loads if it is not retryable.
   *
   * @throws RolesNeeded if they have to be loaded before a retryable transaction
   */
  readonly withRoles: WithRoles;
  /** Returns a snapshot with the policies of a role. The transaction loads them if they are not loaded. */
  readonly loadRoles: WithRoles;
  /**
   * Loads the policies of a role, in a transaction that changes none, and keeps them if the revision did not change meanwhile. The next call
   * can use the returned load, with the changes since then: otherwise changes that are more frequent than a load takes would discard every
   * load. Returns undefined if the next call has to load everything again.
   */
  loadPendingRole(tx: Transaction, at: Snapshot, query: RoleQuery): Promise<RoleLoad | undefined>;
  /** Marks a transaction whose caller runs the unit of work again after `RolesNeeded`. */
  markRetryable(tx: Transaction): void;
}

/** Creates the functions that add the policies of a role to a snapshot, or those of all roles. */
export function createRolePolicies(cache: AssignmentCache, kept: KeptSnapshot): RolePolicies {
  const retryable = new WeakSet<Transaction>();

  /**
   * Loads the policies, and keeps them if the revision did not change meanwhile. If it did, they may belong to the later revision, and the commit of the
   * transaction fails.
   */
  async function loadNow(tx: Transaction, snapshot: Snapshot, role: string | undefined): Promise<Snapshot> {
    const load = await loadRole(tx, kept.latestOf(snapshot), role);
    // Another transaction may have loaded another role meanwhile.
    const latest = kept.latestOf(snapshot);
    const completed = replacePolicies(cache, latest, addLoaded(latest.policies, load));
    if (isUnchanged(load)) kept.keep(completed);
    return completed;
  }

  function loadedOf(snapshot: Snapshot, role: string | undefined): Snapshot | undefined {
    if (isLoaded(snapshot, role)) return snapshot;
    const latest = kept.latestOf(snapshot);
    return isLoaded(latest, role) ? latest : undefined;
  }

  const loadRoles: WithRoles = (tx, snapshot, role) => loadedOf(snapshot, role) ?? loadNow(tx, snapshot, role);
  return {
    withRoles(tx, snapshot, role) {
      const loaded = loadedOf(snapshot, role);
      if (loaded !== undefined) return loaded;
      if (retryable.has(tx)) throw new RolesNeeded(pendingRolesOf(kept.latestOf(snapshot).policies, role));
      return loadNow(tx, snapshot, role);
    },
    loadRoles,
    async loadPendingRole(tx, at, { role, earlier }) {
      const to = kept.latestOf(at);
      if (isLoaded(to, role)) return undefined;
      const load = earlier ?? (await loadRole(tx, to, role));
      const policies = await addLoadedAt(tx, to, load);
      // Another transaction may have loaded another role meanwhile, which must not become pending again.
      const isComplete = policies !== undefined && kept.latestOf(at) === to && hasAllOf(policies, to.policies);
      if (isComplete) kept.keep(replacePolicies(cache, to, policies));
      return !isComplete && load === earlier ? undefined : load;
    },
    markRetryable: (tx) => void retryable.add(tx),
  };
}

/** Returns a snapshot of the same revision with other policies. */
function replacePolicies(cache: AssignmentCache, snapshot: Snapshot, policies: PolicySnapshot): Snapshot {
  return Object.freeze({ ...snapshot, policies, assignments: cache.at({ revision: snapshot.revision, policies: policies.policies }) });
}

/** Returns true if a snapshot has the policies of all roles that another has, and its damaged rows. */
function hasAllOf({ damaged, pendingRoles }: PolicySnapshot, other: PolicySnapshot): boolean {
  return hasRows(damaged, other.damaged) && [...pendingRoles].every((role) => other.pendingRoles.has(role));
}

function isLoaded({ policies }: Snapshot, role: string | undefined): boolean {
  return pendingRolesOf(policies, role).length === 0;
}
