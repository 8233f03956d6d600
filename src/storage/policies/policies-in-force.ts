/** The policies that assignments in force give to users: assignments that are active and not expired. */
import { DEFAULT_PRIORITY, type Policy } from '../../authz/policies/index.ts';
import type { AssignableRole } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { idList } from '../table-names.ts';
import { loadRolePolicies } from './assignment-records.ts';
import { loadPolicies } from './policy-records.ts';

/** A policy, and the highest priority of the assignments that give it. */
export interface PolicyInForce {
  readonly policy: Policy;
  readonly assignmentPriority: number;
}

/** Loads the active policies in force for a role or for one of its active users, in the order of creation. */
export async function loadPoliciesInForce(tx: Transaction, role: AssignableRole): Promise<readonly PolicyInForce[]> {
  const ofRole = await loadRolePolicies(tx, sql`"role" = ${role} AND "isActive" = TRUE`);
  const ofUsers = await tx.all<{ readonly policyId: string }>(sql`
    SELECT DISTINCT "policyId" FROM "_UserPolicy"
    WHERE ${isInForceNow(tx)} AND "userId" IN (SELECT "id" FROM "User" WHERE "role" = ${role} AND "isActive" = TRUE)`);
  const priorities = new Map(ofRole.map(({ policyId, priority }) => [policyId, priority]));
  for (const { policyId } of ofUsers) priorities.set(policyId, Math.max(DEFAULT_PRIORITY, priorities.get(policyId) ?? DEFAULT_PRIORITY));
  const policies = await loadPolicies(tx, sql`"isActive" = TRUE AND "id" IN ${idList(tx.dialect, [...priorities.keys()])}`);
  return policies.map((policy) => ({ policy, assignmentPriority: priorities.get(policy.id) ?? DEFAULT_PRIORITY }));
}

/** Finds the ids of the policies that assignments to users have in force, within the time limit of the request. */
export async function findPoliciesOfUsers(tx: Transaction): Promise<ReadonlySet<string>> {
  const rows = await tx.all<{ readonly policyId: string }>(sql`
    SELECT DISTINCT "policyId" FROM "_UserPolicy" WHERE ${tx.dialect.deadlineCheck(sql.table('_UserPolicy'))} AND ${isInForceNow(tx)}`);
  return new Set(rows.map(({ policyId }) => policyId));
}

/** Returns the condition of `isInForce` on the rows of `_UserPolicy`. */
function isInForceNow({ now }: Transaction): Sql {
  return sql`"isActive" = TRUE AND ("expiresAt" IS NULL OR "expiresAt" > ${new Date(now).toISOString()})`;
}
