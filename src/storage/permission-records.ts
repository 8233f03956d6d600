import type { PlannedAssignment, PlannedPolicies, Policy, PolicyInput, RolePolicy } from '../authz/policies/index.ts';
import { sql } from '../sql.ts';
import { assignToRole, loadRolePolicies } from './assignment-records.ts';
import type { Transaction } from './contract.ts';
import { type Author, createPolicy, loadPolicies } from './policy-records.ts';
import { lockPolicies } from './revision.ts';

/** How the policies that legacy `permissions` maps ask for differ from those that stand. */
export interface PermissionsComparison {
  readonly missingPolicies: readonly PolicyInput[];
  readonly missingAssignments: readonly PlannedAssignment[];
  /** Names of policies that stand with other rules than the map asks for: somebody changed one or the other. */
  readonly differing: readonly string[];
}

/** Compares what the maps ask for with what stands. */
export async function comparePermissions(tx: Transaction, planned: PlannedPolicies): Promise<PermissionsComparison> {
  const byName = new Map((await loadPolicies(tx, sql`1 = 1`)).map((policy) => [policy.name, policy]));
  const assigned = new Set((await loadRolePolicies(tx, sql`1 = 1`)).map(keyOf));
  return {
    missingPolicies: planned.policies.filter(({ name }) => !byName.has(name)),
    missingAssignments: planned.assignments.filter(
      ({ policy, role }) => !assigned.has(keyOf({ policyId: byName.get(policy)?.id ?? '', role })),
    ),
    differing: planned.policies.filter((policy) => isOther(policy, byName.get(policy.name))).map(({ name }) => name),
  };
}

/**
 * Makes what is missing, and answers what that was. A policy that stands is left as it is: whoever narrowed its rules
 * by hand would not want them widened again.
 */
export async function applyPermissions(tx: Transaction, planned: PlannedPolicies, { by }: Author): Promise<PermissionsComparison> {
  await lockPolicies(tx);
  const comparison = await comparePermissions(tx, planned);
  for (const policy of comparison.missingPolicies) await createPolicy(tx, policy, { by });
  const ids = new Map((await loadPolicies(tx, sql`1 = 1`)).map(({ name, id }) => [name, id]));
  for (const { policy, role } of comparison.missingAssignments) {
    const policyId = ids.get(policy);
    if (policyId !== undefined) await assignToRole(tx, { policyId, role }, { by });
  }
  return comparison;
}

function keyOf({ policyId, role }: Pick<RolePolicy, 'policyId' | 'role'>): string {
  return `${role} ${policyId}`;
}

function isOther(planned: PolicyInput, standing: Policy | undefined): boolean {
  return standing !== undefined && ruleKeys(planned) !== ruleKeys(standing);
}

/** What rules come to, whatever their order and ids. */
function ruleKeys({ rules }: Pick<PolicyInput, 'rules'>): string {
  const keys = rules.map(({ resource, action, effect, conditions, isActive, priority }) =>
    JSON.stringify([resource, action, effect, conditions, isActive, priority]),
  );
  return keys.sort().join('\n');
}
