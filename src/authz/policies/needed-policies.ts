/**
 * The policies that a snapshot needs: those of roles, and those whose conditions may read other records, because writers of these records
 * depend on them before any user makes a request. The others are loaded with the assignments of users.
 */
import type { Policy, PolicyChanges } from './policy.ts';
import type { PolicySnapshot } from './policy-snapshot.ts';
import { policyMayReadOthers } from './watched-records.ts';

/** Returns the ids of the policies that roles get, and that neither the snapshot nor the changes have. */
export function missingPolicies({ policies, hasRolePolicies }: PolicySnapshot, changes: PolicyChanges): readonly string[] {
  const needed = hasRolePolicies ? idsOfRoles(changes.rolePolicies) : NONE;
  return [...needed].filter((id) => !policies.has(id) && !changes.policies.has(id));
}

/**
 * Leaves out of changes what the snapshot does not need: policies, and the assignments to roles if it has none yet, because all are loaded
 * together. The changes still name each changed policy.
 */
export function toNeededChanges<Changes extends PolicyChanges>(before: PolicySnapshot, changes: Changes): Changes {
  const rolePolicies = before.hasRolePolicies ? changes.rolePolicies : NO_CHANGES;
  const ofRoles = idsOfRoles(rolePolicies);
  const isNeeded = (id: string, policy: Policy | undefined): boolean =>
    before.policies.has(id) || ofRoles.has(id) || before.rolesByPolicy.has(id) || (policy !== undefined && policyMayReadOthers(policy));
  const needed = [...changes.policies].map(([id, policy]) => [id, isNeeded(id, policy) ? policy : undefined] as const);
  return { ...changes, policies: new Map(needed), rolePolicies };
}

const NONE: ReadonlySet<string> = new Set();
const NO_CHANGES: PolicyChanges['rolePolicies'] = new Map();

function idsOfRoles(rolePolicies: PolicyChanges['rolePolicies']): ReadonlySet<string> {
  return new Set([...rolePolicies.values()].flatMap((assignment) => assignment?.policyId ?? []));
}
