/** Loads the policies of a role, and applies the changes that commit during the load. */
import { loadChanges, loadPoliciesOfRoles, loadRevision, loadRoleAssignments, type Transaction } from '../storage/index.ts';
import { addMissingPolicies, type Snapshot } from './load-snapshot.ts';
import {
  changePolicies,
  type LoadedRoles,
  missingPoliciesOf,
  type PolicySnapshot,
  pendingRolesOf,
  withLoadedRoles,
  withRolePolicies,
} from './policies/index.ts';

/** Assignments and policies that were loaded for a snapshot. If the revision changed during the load, some of them may belong to a later one. */
export interface RoleLoad {
  readonly at: Snapshot;
  /** The policies of `at` with the assignments to roles, without what was loaded for the role. */
  readonly before: PolicySnapshot;
  readonly loaded: LoadedRoles;
  /** True if the revision was the same after the load. */
  readonly isCurrent: boolean;
}

/** Loads the policies of a role, or of all roles if it is absent, and before them the assignments to roles. */
export async function loadRole(tx: Transaction, at: Snapshot, role: string | undefined): Promise<RoleLoad> {
  const before = at.policies.hasRolePolicies ? at.policies : withRolePolicies(at.policies, await loadRoleAssignments(tx));
  const roles = pendingRolesOf(before, role);
  const { policies, damaged } = await loadPoliciesOfRoles(tx, missingPoliciesOf(before, roles));
  const { stamp } = await loadRevision(tx);
  return { at, before, loaded: { roles, policies, damaged }, isCurrent: stamp === at.revision.stamp };
}

/** Adds what was loaded to a snapshot of the same revision. */
export function addLoaded(snapshot: PolicySnapshot, { before, loaded }: RoleLoad): PolicySnapshot {
  return withLoadedRoles(snapshot.hasRolePolicies ? snapshot : before, loaded);
}

/**
 * Returns a snapshot of the same or a later revision with what was loaded, to which the changes between the two revisions are applied. Returns
 * undefined if everything has to be loaded again: the history does not have the changes, or a row is damaged.
 */
export async function addLoadedAt(tx: Transaction, to: Snapshot, load: RoleLoad): Promise<PolicySnapshot | undefined> {
  const { at, before, loaded, isCurrent } = load;
  if (at.revision.stamp === to.revision.stamp) return isCurrent ? addLoaded(to.policies, load) : undefined;
  const changes = at.definitions === to.definitions ? await loadChanges(tx, at.revision, to.revision) : undefined;
  if (changes === undefined) return undefined;
  // A policy that changed meanwhile may have been loaded after its change, and the snapshot would then count its rules twice. One that was
  // deleted seems to be missing.
  const unchanged = new Map([...loaded.policies].filter(([id]) => !changes.policies.has(id)));
  const damaged = loaded.damaged.filter(({ id }) => !changes.policies.has(id));
  const base = withLoadedRoles(before, { ...loaded, policies: unchanged, damaged });
  // Changes cannot be applied to a snapshot with damaged rows.
  const needed = base.damaged.length > 0 ? undefined : await addMissingPolicies(tx, base, { changes, to: to.revision });
  return needed && changePolicies(base, needed);
}
