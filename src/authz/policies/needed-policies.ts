/**
 * The policies that a snapshot needs: those of roles, and those whose conditions may read other records, because writers of these records
 * depend on them before any user makes a request. The others are loaded with the assignments of users.
 */
import type { PolicyChanges } from './policy.ts';
import type { PolicySnapshot } from './policy-snapshot.ts';
import { policyMayReadOthers } from './watched-records.ts';

/** Returns the ids of the policies that roles get, and that neither the snapshot nor the changes have. */
export function missingPolicies({ policies }: PolicySnapshot, changes: PolicyChanges): readonly string[] {
  return [...idsOfRoles(changes)].filter((id) => !policies.has(id) && !changes.policies.has(id));
}

/** Leaves out of changes the policies that the snapshot does not need. The changes still name each changed policy. */
export function toNeededChanges<Changes extends PolicyChanges>({ policies, rolesByPolicy }: PolicySnapshot, changes: Changes): Changes {
  const ofRoles = idsOfRoles(changes);
  const needed = [...changes.policies].map(([id, policy]) => {
    const isNeeded = policies.has(id) || ofRoles.has(id) || rolesByPolicy.has(id) || (policy !== undefined && policyMayReadOthers(policy));
    return [id, isNeeded ? policy : undefined] as const;
  });
  return { ...changes, policies: new Map(needed) };
}

function idsOfRoles({ rolePolicies }: PolicyChanges): ReadonlySet<string> {
  return new Set([...rolePolicies.values()].flatMap((assignment) => assignment?.policyId ?? []));
}
