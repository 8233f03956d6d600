import type { ActiveAssignments } from '../advice/index.ts';
import type { Policy, UserPolicy } from '../policy/index.ts';
import { sql } from '../sql/index.ts';
import { loadRolePolicies, loadUserPolicies } from './assignments.ts';
import type { Transaction } from './database.ts';
import { loadPolicies } from './policies.ts';

/** Some of the policies, in the order of their ids: those behind the id `after`. */
export async function loadPolicyPage(
  tx: Transaction,
  { after = '', limit }: { readonly after?: string | undefined; readonly limit: number },
): Promise<readonly Policy[]> {
  const policies = await loadPolicies(tx, sql`"id" IN (SELECT "id" FROM "_Policy" WHERE "id" > ${after} ORDER BY "id" LIMIT ${limit})`);
  return policies.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** The active assignments of one policy, of those to users at most `limit`. */
export async function loadActiveAssignments(
  tx: Transaction,
  policyId: string,
  { limit }: { readonly limit: number },
): Promise<ActiveAssignments> {
  const active = sql`"policyId" = ${policyId} AND "isActive" = TRUE`;
  const firstToExpire = sql`SELECT "id" FROM "_UserPolicy" WHERE ${active} ORDER BY "expiresAt" IS NULL, "expiresAt", "id" LIMIT ${limit + 1}`;
  const users = await loadUserPolicies(tx, sql`"id" IN (${firstToExpire})`);
  const inOrder = users.toSorted((a, b) => compareExpiry(a, b) || (a.id < b.id ? -1 : 1)).slice(0, limit);
  return { roles: await loadRolePolicies(tx, active), users: inOrder, all: users.length <= limit };
}

function compareExpiry({ expiresAt: a }: UserPolicy, { expiresAt: b }: UserPolicy): number {
  if (a === b) return 0;
  return b === undefined || (a !== undefined && a < b) ? -1 : 1;
}
