/** Loads the policies of roles when a decision first needs them. */
import { loadPoliciesOfRoles, loadRevision, type Transaction } from '../storage/index.ts';
import type { AssignmentCache } from './assignment-cache.ts';
import type { Snapshot } from './load-snapshot.ts';
import { missingPoliciesOf, pendingRolesOf, withLoadedRoles } from './policies/index.ts';

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
    const before = kept.latestOf(snapshot).policies;
    const roles = pendingRolesOf(before, role);
    const loaded = await loadPoliciesOfRoles(tx, missingPoliciesOf(before, roles));
    const { stamp } = await loadRevision(tx);
    const { revision, ...others } = kept.latestOf(snapshot);
    const policies = withLoadedRoles(others.policies, { roles, policies: loaded.policies.values(), damaged: loaded.damaged });
    const assignments = cache.at({ revision, policies: policies.policies });
    const completed = Object.freeze({ ...others, revision, policies, assignments });
    if (stamp === revision.stamp) kept.keep(completed);
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
    markRetryable: (tx) => void retryable.add(tx),
  };
}

function isLoaded({ policies }: Snapshot, role: string | undefined): boolean {
  return pendingRolesOf(policies, role).length === 0;
}
