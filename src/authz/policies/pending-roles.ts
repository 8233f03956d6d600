/**
 * Roles whose policies a snapshot does not have yet. They are loaded when a decision first needs the role, and before them the assignments of all
 * roles: a start with a hundred thousand policies would otherwise compare all of them with their checksums before its first request.
 */

import { PersistentMap } from './persistent-map.ts';
import type { DamagedRow, Policy, RolePolicy } from './policy.ts';
import { countNames, findPolicy, indexAssignments, indexByRole, type PolicySnapshot } from './policy-snapshot.ts';

/** Returns the pending roles among one role, or among all roles if it is absent. */
export function pendingRolesOf({ pendingRoles }: PolicySnapshot, role?: string): readonly string[] {
  if (pendingRoles.size === 0) return [];
  if (role === undefined) return [...pendingRoles];
  return pendingRoles.has(role) ? [role] : [];
}

/** Returns the ids of the policies of roles that a snapshot does not have. */
export function missingPoliciesOf({ rolePolicies, policies }: PolicySnapshot, roles: readonly string[]): readonly string[] {
  const missing = new Set<string>();
  for (const [, { role, policyId }] of rolePolicies.entries()) {
    if (roles.includes(role) && findPolicy(policies, policyId) === undefined) missing.add(policyId);
  }
  return [...missing];
}

/** The assignments to roles, active or not, that were loaded and compared with their checksums. */
export interface LoadedRolePolicies {
  /** If a row is damaged, also assignments of a policy that denies everything to every role. */
  readonly rolePolicies: readonly RolePolicy[];
  readonly damaged: readonly DamagedRow[];
}

/** Returns a snapshot of the same revision that has the assignments to roles. A role stays pending if it has an active one. */
export function withRolePolicies(before: PolicySnapshot, { rolePolicies, damaged }: LoadedRolePolicies): PolicySnapshot {
  return Object.freeze({
    ...before,
    hasRolePolicies: true,
    ...indexAssignments(rolePolicies),
    pendingRoles: new Set(rolePolicies.filter(({ isActive }) => isActive).map(({ role }) => role)),
    damaged: [...before.damaged, ...damaged],
  });
}

/** Policies of roles that were loaded and compared with their checksums at the revision of a snapshot. */
export interface LoadedRoles {
  readonly roles: readonly string[];
  /** The policies by id; for a damaged policy, the policy that denies everything. */
  readonly policies: ReadonlyMap<string, Policy>;
  readonly damaged: readonly DamagedRow[];
}

/** Returns a snapshot of the same revision that has the policies of further roles. It must have the assignments to roles. */
export function withLoadedRoles(before: PolicySnapshot, { roles, policies: loaded, damaged }: LoadedRoles): PolicySnapshot {
  const all = new Map(before.policies.entries());
  for (const [id, policy] of loaded) if (policy.isActive) all.set(id, policy);
  const policies = PersistentMap.of(all);
  const pendingRoles = new Set([...before.pendingRoles].filter((role) => !roles.includes(role)));
  return Object.freeze({
    ...before,
    policies,
    pendingRoles,
    byRole: indexByRole(policies, before.rolePolicies.values()),
    named: countNames(all.values()),
    damaged: [...before.damaged, ...damaged],
    // Resources that no rule named before may be named now, and the cached rules of the two have other keys.
    memo: Object.freeze({ ...before.memo, buckets: new Map(), roleIndexes: new Map() }),
  });
}

/** Throws if the policies of a role, or of any role if it is absent, are not loaded: a decision without them could allow what a DENY refuses. */
export function requireRoles(snapshot: PolicySnapshot, role?: string): void {
  const [pending] = pendingRolesOf(snapshot, role);
  if (pending !== undefined) throw new Error(`the policies of the role ${pending} are not loaded`);
}
