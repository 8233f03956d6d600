/** Loads the policies of roles when a decision first needs them, once for all requests that wait for them. */
import { loadPoliciesOfRoles, loadRevision, type Transaction } from '../storage/index.ts';
import type { AssignmentCache } from './assignment-cache.ts';
import type { Snapshot } from './load-snapshot.ts';
import { missingPoliciesOf, pendingRolesOf, withLoadedRoles } from './policies/index.ts';

/** Returns a snapshot with the policies of a role, or of all roles if `role` is absent. A promise if they have to be loaded. */
export type WithRoles = (tx: Transaction, snapshot: Snapshot, role?: string) => Snapshot | Promise<Snapshot>;

/** The snapshot that a policy store keeps. */
export interface KeptSnapshot {
  /** Returns the snapshot of the same revision with the roles that were loaded by now. */
  latestOf(snapshot: Snapshot): Snapshot;
  /** Keeps a snapshot with further roles, unless another revision is current. */
  keep(completed: Snapshot): void;
}

/** Creates the function that adds the policies of a role to a snapshot, or those of all roles. */
export function createWithRoles(cache: AssignmentCache, kept: KeptSnapshot): WithRoles {
  let running: Promise<unknown> | undefined;

  /** Loads policies. Keeps them only if the revision is unchanged after the read: otherwise they may belong to a later one, and no commit succeeds. */
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

  /** Loads policies in a long attempt, if no other one has loaded them meanwhile. A commit batch of SQLite must not wait for another transaction. */
  async function loadOnce(tx: Transaction, snapshot: Snapshot, role: string | undefined): Promise<Snapshot> {
    while (running !== undefined) {
      await running;
      const latest = kept.latestOf(snapshot);
      if (isLoaded(latest, role)) return latest;
    }
    const loading = loadNow(tx, snapshot, role);
    running = loading.then(
      () => (running = undefined),
      () => (running = undefined),
    );
    return loading;
  }

  return (tx, snapshot, role) => {
    if (isLoaded(snapshot, role)) return snapshot;
    const latest = kept.latestOf(snapshot);
    if (isLoaded(latest, role)) return latest;
    return tx.attempt === 'long' ? loadOnce(tx, snapshot, role) : loadNow(tx, snapshot, role);
  };
}

function isLoaded({ policies }: Snapshot, role: string | undefined): boolean {
  return pendingRolesOf(policies, role).length === 0;
}
