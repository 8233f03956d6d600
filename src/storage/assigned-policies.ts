import type { AssignableRole, Policy, RolePolicy, UserPolicy } from '../policy/index.ts';
import { sql } from '../sql/index.ts';
import { loadRolePolicies, loadUserPolicies } from './assignments.ts';
import type { Transaction } from './database.ts';
import { loadPolicies } from './policies.ts';

/** A policy that is assigned, and how. */
export interface AssignedPolicy {
  readonly policy: Policy;
  readonly assignment: UserPolicy | RolePolicy;
}

/** The policies assigned to a user and, where a role is given, to that role: active, inactive and expired ones alike. */
export async function listUserPolicies(tx: Transaction, userId: string, role?: AssignableRole): Promise<readonly AssignedPolicy[]> {
  const own = await loadUserPolicies(tx, sql`"userId" = ${userId}`);
  const policies = await loadPolicies(tx, sql`"id" IN (SELECT "policyId" FROM "_UserPolicy" WHERE "userId" = ${userId})`);
  return [...join(policies, own), ...(role === undefined ? [] : await listRolePolicies(tx, role))];
}

/** Every assignment to a role, active or not, in the order of their making. */
export function listRoleAssignments(tx: Transaction): Promise<readonly RolePolicy[]> {
  return loadRolePolicies(tx, sql`1 = 1`);
}

/** The policies assigned to a role: active and inactive ones alike. */
export async function listRolePolicies(tx: Transaction, role: AssignableRole): Promise<readonly AssignedPolicy[]> {
  const assignments = await loadRolePolicies(tx, sql`"role" = ${role}`);
  const policies = await loadPolicies(tx, sql`"id" IN (SELECT "policyId" FROM "_RolePolicy" WHERE "role" = ${role})`);
  return join(policies, assignments);
}

function join(policies: readonly Policy[], assignments: readonly (UserPolicy | RolePolicy)[]): readonly AssignedPolicy[] {
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  return assignments.flatMap((assignment) => {
    const policy = byId.get(assignment.policyId);
    return policy === undefined ? [] : [{ policy, assignment }];
  });
}
