/** Lists of policies and their assignments. */
import type { ActiveAssignments } from '../../authz/linter/index.ts';
import { type Policy, type PolicyRule, type RolePolicy, titleOfRule, type UserPolicy } from '../../authz/policies/index.ts';
import type { AssignableRole } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { AnswerSize } from '../answer-size.ts';
import type { Transaction } from '../contract.ts';
import { idList } from '../table-names.ts';
import { loadRolePolicies, loadUserPolicies } from './assignment-records.ts';
import { loadPolicies } from './policy-records.ts';
import { type Assignee, loadFittingPolicies } from './policy-search.ts';
import { POLICY_TABLES, selectFrom } from './policy-tables.ts';

/** Loads the active assignments of policies: for each, all assignments to roles, and at most `limit` to users, in the order of expiry. */
export async function loadActiveAssignments(
  tx: Transaction,
  policyIds: readonly string[],
  { limit }: { readonly limit: number },
): Promise<ReadonlyMap<string, ActiveAssignments>> {
  if (policyIds.length === 0) return new Map();
  const active = sql`"policyId" IN ${idList(tx.dialect, policyIds)} AND "isActive" = TRUE`;
  const byExpiry = sql`
    SELECT "id", row_number() OVER (PARTITION BY "policyId" ORDER BY "expiresAt" IS NULL, "expiresAt", "id") AS "n"
    FROM "_UserPolicy" WHERE ${active}`;
  const [users, roles] = await Promise.all([
    loadUserPolicies(tx, sql`"id" IN (SELECT "id" FROM (${byExpiry}) AS "ranked" WHERE "n" <= ${limit + 1})`),
    loadRolePolicies(tx, active),
  ]);
  const usersOf = Map.groupBy(users, ({ policyId }) => policyId);
  const rolesOf = Map.groupBy(roles, ({ policyId }) => policyId);
  return new Map(
    policyIds.map((id) => {
      const own = usersOf.get(id) ?? [];
      const inOrder = own.toSorted((a, b) => compareExpiry(a, b) || (a.id < b.id ? -1 : 1)).slice(0, limit);
      return [id, { roles: rolesOf.get(id) ?? [], users: inOrder, isComplete: own.length <= limit }];
    }),
  );
}

function compareExpiry({ expiresAt: a }: UserPolicy, { expiresAt: b }: UserPolicy): number {
  if (a === b) return 0;
  return b === undefined || (a !== undefined && a < b) ? -1 : 1;
}

/** A policy and one of its assignments. */
export interface AssignedPolicy {
  readonly policy: Policy;
  readonly assignment: UserPolicy | RolePolicy;
}

/** A page of the policies of a user or a role. */
export interface AssignedPageQuery {
  /** The id of the policy after which the page begins. */
  readonly after?: string | undefined;
  readonly limit: number;
  /** The size of the answer, to which the policies are added. */
  readonly size: AnswerSize;
}

/** The policies of a page. */
export interface AssignedPage {
  readonly assigned: readonly AssignedPolicy[];
  /** True if a policy was left out, because it does not fit. */
  readonly isCut: boolean;
}

/** Loads at most `limit` policies assigned to a user or role, with policy ids above `after`, ordered by id: active, inactive and expired ones. */
export async function loadAssignedPage(
  tx: Transaction,
  assignee: Assignee,
  { after = '', limit, size }: AssignedPageQuery,
): Promise<AssignedPage> {
  const [table, isOf] =
    'userId' in assignee
      ? ([POLICY_TABLES.userPolicy, sql`"userId" = ${assignee.userId}`] as const)
      : ([POLICY_TABLES.rolePolicy, sql`"role" = ${assignee.role}`] as const);
  const page = { where: sql`${isOf} AND "policyId" > ${after}`, orderBy: ['policyId'], limit };
  const assignments = await selectFrom<UserPolicy | RolePolicy>(tx, table, page);
  const ids = assignments.map(({ policyId }) => policyId);
  const { policies, isCut } = await loadFittingPolicies(tx, ids, size);
  return { assigned: join(policies, assignments), isCut };
}

/** Lists all assignments to roles, inactive ones too, in the order of creation, within the time limit of the request. */
export function listRoleAssignments(tx: Transaction): Promise<readonly RolePolicy[]> {
  return selectFrom(tx, POLICY_TABLES.rolePolicy, { where: sql`1 = 1`, orderBy: ['assignedAt', 'id'], isLimited: true });
}

/** Lists the assignments of policies to roles, inactive ones too. */
export async function loadRolePoliciesOf(tx: Transaction, policyIds: readonly string[]): Promise<readonly RolePolicy[]> {
  return policyIds.length === 0 ? [] : loadRolePolicies(tx, sql`"policyId" IN ${idList(tx.dialect, policyIds)}`);
}

/** Lists the policies assigned to a role, inactive assignments too. */
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

/** An active rule of an active policy, and the name of the policy. */
export interface ActiveRule extends Pick<PolicyRule, 'id' | 'policyId' | 'resource' | 'action'> {
  readonly policy: string;
  readonly position: number;
  /** Null if the rule has none. */
  readonly description: string | null;
}

/** Loads at most `limit` active rules of active policies with ids above `after`, ordered by id, within the time limit of the request. */
export function loadActiveRules(
  tx: Transaction,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly ActiveRule[]> {
  return tx.all<ActiveRule>(sql`
    SELECT "rule"."id", "policyId", "policy"."name" AS "policy", "position", "resource", "action", "rule"."description"
    FROM "_PolicyRule" AS "rule" JOIN "_Policy" AS "policy" ON "policy"."id" = "policyId"
    WHERE ${tx.dialect.deadlineCheck(sql.table('rule'))} AND "rule"."id" > ${after} AND "rule"."isActive" = TRUE AND "policy"."isActive" = TRUE
    ORDER BY "rule"."id" LIMIT ${limit}`);
}

/** Lists the names of at most `limit` policies, in the order of their ids. */
export async function listPolicyNames(tx: Transaction, { limit }: { readonly limit: number }): Promise<readonly string[]> {
  const rows = await tx.all<{ readonly name: string }>(sql`SELECT "name" FROM "_Policy" ORDER BY "id" LIMIT ${limit}`);
  return rows.map(({ name }) => name);
}

/** Loads the names of policies by id. */
export async function loadPolicyNames(tx: Transaction, ids: readonly string[]): Promise<Record<string, string>> {
  if (ids.length === 0) return {};
  const rows = await tx.all<{ readonly id: string; readonly name: string }>(
    sql`SELECT "id", "name" FROM "_Policy" WHERE "id" IN ${idList(tx.dialect, ids)}`,
  );
  return Object.fromEntries(rows.map(({ id, name }) => [id, name]));
}

/** Loads the names of rules by id: their descriptions, or their effects, actions and resources. */
export async function loadRuleNames(tx: Transaction, ids: readonly string[]): Promise<Record<string, string>> {
  if (ids.length === 0) return {};
  const rows = await tx.all<Pick<PolicyRule, 'id' | 'effect' | 'action' | 'resource'> & { readonly description: string | null }>(
    sql`SELECT "id", "description", "effect", "action", "resource" FROM "_PolicyRule" WHERE "id" IN ${idList(tx.dialect, ids)}`,
  );
  return Object.fromEntries(
    rows.map(({ description, ...rule }) => [rule.id, titleOfRule({ ...rule, description: description ?? undefined })]),
  );
}
