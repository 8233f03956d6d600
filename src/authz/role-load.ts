/** Loads the policies of a role, and applies the changes that commit during the load. */
import {
  isInHistory,
  loadChanges,
  loadPoliciesOfRoles,
  loadRevision,
  loadRoleAssignments,
  type Revision,
  type Transaction,
} from '../storage/index.ts';
import { addMissingPolicies, type Snapshot } from './load-snapshot.ts';
import {
  changePolicies,
  hasRows,
  type LoadedRolePolicies,
  type LoadedRoles,
  missingPoliciesOf,
  type PolicyChanges,
  type PolicySnapshot,
  pendingRolesOf,
  replacesRow,
  unchangedAssignments,
  unchangedPolicies,
  withLoadedRoles,
  withRolePolicies,
} from './policies/index.ts';

/** Assignments and policies that were loaded for a snapshot. If the revision changed during the load, some of them may belong to a later one. */
export interface RoleLoad {
  readonly at: Snapshot;
  /** The assignments to roles; undefined if `at` has them. */
  readonly assignments: LoadedRolePolicies | undefined;
  /** The policies of `at` with the assignments to roles, without what was loaded for the role. */
  readonly before: PolicySnapshot;
  readonly loaded: LoadedRoles;
  /** The revision after the load. */
  readonly readUpTo: Revision;
}

/** Returns true if the revision was the same after the load. */
export function isUnchanged({ at, readUpTo }: RoleLoad): boolean {
  return readUpTo.stamp === at.revision.stamp;
}

/** Loads the policies of a role, or of all roles if it is absent, and before them the assignments to roles. */
export async function loadRole(tx: Transaction, at: Snapshot, role: string | undefined): Promise<RoleLoad> {
  const assignments = at.policies.hasRolePolicies ? undefined : await loadRoleAssignments(tx);
  const before = assignments === undefined ? at.policies : withRolePolicies(at.policies, assignments);
  const roles = pendingRolesOf(before, role);
  const { policies, damaged } = await loadPoliciesOfRoles(tx, missingPoliciesOf(before, roles));
  return { at, assignments, before, loaded: { roles, policies, damaged }, readUpTo: await loadRevision(tx) };
}

/** Adds what was loaded to a snapshot of the same revision. */
export function addLoaded(snapshot: PolicySnapshot, { before, loaded }: RoleLoad): PolicySnapshot {
  return withLoadedRoles(snapshot.hasRolePolicies ? snapshot : before, loaded);
}

/**
 * Returns a snapshot of the same or a later revision with what was loaded, to which the changes between the two revisions are applied. Returns
 * undefined if everything has to be loaded again: the history does not have the changes or the revision up to which the load has read, the definitions
 * or the damaged rows differ, a policy that a role gets is damaged, or the revision changed while such a policy was loaded.
 */
export async function addLoadedAt(tx: Transaction, to: Snapshot, load: RoleLoad): Promise<PolicySnapshot | undefined> {
  const { at, loaded, readUpTo } = load;
  if (at.revision.stamp === to.revision.stamp) return isUnchanged(load) ? addLoaded(to.policies, load) : undefined;
  // After a failover, the new server may lack the last revisions, and no change replaces the rows that were read from them.
  if (at.definitions !== to.definitions || !(await isInHistory(tx, readUpTo, to.revision))) return undefined;
  const changes = await loadChanges(tx, at.revision, to.revision);
  if (changes === undefined) return undefined;
  const base = withLoadedRoles(unchangedBefore(load, changes), unchangedPolicies(loaded, changes));
  // Rows that were damaged before the load may be intact at the later revision.
  if (!hasRows(to.policies.damaged, at.policies.damaged) || base.damaged.some((row) => replacesRow(changes, row))) return undefined;
  const needed = await addMissingPolicies(tx, base, { changes, to: to.revision });
  return needed && changePolicies(base, needed);
}

/** Returns the policies before the load of the role. Assignments that seemed damaged are left out if a change replaces them. */
function unchangedBefore({ at, assignments, before }: RoleLoad, changes: PolicyChanges): PolicySnapshot {
  const isDamaged = assignments !== undefined && assignments.damaged.length > 0;
  return isDamaged ? withRolePolicies(at.policies, unchangedAssignments(assignments, changes)) : before;
}
