/** The policies that legacy `permissions` maps require, compared with the existing ones. */
import type { PlannedAssignment, PlannedPolicies, Policy, PolicyInput, RolePolicy } from '../../authz/policies/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { idList } from '../table-names.ts';
import { assignToRole, loadRolePolicies } from './assignment-records.ts';
import { type Author, createPolicy, loadPoliciesByName } from './policy-records.ts';
import { lockPolicies } from './revision.ts';

/** The differences between the policies that legacy `permissions` maps require and the existing ones. */
export interface PermissionsComparison {
  readonly missingPolicies: readonly PolicyInput[];
  readonly missingAssignments: readonly PlannedAssignment[];
  /** Names of existing policies whose rules differ from the map, because one of the two was changed. */
  readonly differing: readonly string[];
}

/** Compares the required policies and assignments with the existing ones. */
export async function comparePermissions(tx: Transaction, planned: PlannedPolicies): Promise<PermissionsComparison> {
  const names = planned.policies.map(({ name }) => name);
  const byName = new Map((await loadPoliciesByName(tx, names)).map((policy) => [policy.name, policy]));
  const ids = [...byName.values()].map(({ id }) => id);
  const assigned = new Set((await loadRolePolicies(tx, sql`"policyId" IN ${idList(tx.dialect, ids)}`)).map(roleKeyOf));
  return {
    missingPolicies: planned.policies.filter(({ name }) => !byName.has(name)),
    missingAssignments: planned.assignments.filter(
      ({ policy, role }) => !assigned.has(roleKeyOf({ policyId: byName.get(policy)?.id ?? '', role })),
    ),
    differing: planned.policies.filter((policy) => differs(policy, byName.get(policy.name))).map(({ name }) => name),
  };
}

/**
 * Creates the missing policies and assignments and returns the comparison. An existing policy is not changed: an admin may have narrowed
 * its rules on purpose.
 */
export async function applyPermissions(tx: Transaction, planned: PlannedPolicies, { by }: Author): Promise<PermissionsComparison> {
  await lockPolicies(tx);
  const comparison = await comparePermissions(tx, planned);
  for (const policy of comparison.missingPolicies) await createPolicy(tx, policy, { by });
  const names = planned.policies.map(({ name }) => name);
  const ids = new Map((await loadPoliciesByName(tx, names)).map(({ name, id }) => [name, id]));
  for (const { policy, role } of comparison.missingAssignments) {
    const policyId = ids.get(policy);
    if (policyId !== undefined) await assignToRole(tx, { policyId, role }, { by });
  }
  return comparison;
}

function roleKeyOf({ policyId, role }: Pick<RolePolicy, 'policyId' | 'role'>): string {
  return `${role} ${policyId}`;
}

function differs(planned: PolicyInput, existing: Policy | undefined): boolean {
  return existing !== undefined && ruleKeys(planned) !== ruleKeys(existing);
}

/** Returns the content of the rules as text, independent of their order and ids. */
function ruleKeys({ rules }: Pick<PolicyInput, 'rules'>): string {
  const keys = rules.map(({ resource, action, effect, conditions, isActive, priority }) =>
    JSON.stringify([resource, action, effect, conditions, isActive, priority]),
  );
  return keys.sort().join('\n');
}
