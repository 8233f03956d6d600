/** Searches policies, and summarizes them. */
import type { Policy, PolicyType } from '../../authz/policies/index.ts';
import { foldCase } from '../../fold-case.ts';
import type { Json, SqlDialect } from '../../operators/index.ts';
import type { AssignableRole } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { AnswerSize } from '../answer-size.ts';
import type { Transaction } from '../contract.ts';
import { idList, tableOf } from '../table-names.ts';
import { loadPolicies, loadPoliciesById } from './policy-records.ts';
import { POLICY_TABLES, selectFrom } from './policy-tables.ts';

/** The orders of a list of policies; a leading `-` is descending. Policies with equal values are in the order of their ids. */
export const POLICY_ORDERS = ['id', 'name', '-name', 'updatedAt', '-updatedAt', 'priority', '-priority'] as const;

/** The order of a list of policies. */
export type PolicyOrder = (typeof POLICY_ORDERS)[number];

/** A user or a role that policies are assigned to. */
export type Assignee = { readonly userId: string } | { readonly role: AssignableRole };

/** The policies to find. */
export interface PolicyFilter {
  readonly isActive?: boolean | undefined;
  readonly type?: PolicyType | undefined;
  /** A part of the name or the description; case does not count. */
  readonly search?: string | undefined;
  /** A resource that a rule names, or `*`. */
  readonly resource?: string | undefined;
  readonly tag?: string | undefined;
  readonly assignedTo?: Assignee | undefined;
}

/** A position in a list of policies. */
export interface PolicyPosition {
  readonly id: string;
  /** The value by which the list is sorted; absent if it is the id. */
  readonly key?: string | number | undefined;
}

/** A page of policies. */
export interface PolicyPageQuery extends PolicyFilter {
  /** Default: `id`, which is nearly the order of creation. */
  readonly order?: PolicyOrder | undefined;
  /** The position after which the page begins. */
  readonly after?: PolicyPosition | undefined;
  readonly limit: number;
}

/** Loads at most `limit` policies with their rules. */
export async function loadPolicyPage(tx: Transaction, query: PolicyPageQuery): Promise<readonly Policy[]> {
  const ids = await findPolicyIds(tx, query);
  return inOrder(ids, await loadPoliciesById(tx, ids));
}

/** The first policies of a list, as many as fit. */
export interface FittingPolicies {
  readonly policies: readonly Policy[];
  /** True if a policy was left out, because it does not fit. */
  readonly isCut: boolean;
}

/** Rules that are loaded at once: a policy may have 1,000. */
const RULES_AT_ONCE = 1000;

/** Loads policies with their rules in the order of the ids, as long as they fit. Policies that were deleted are missing. */
export async function loadFittingPolicies(tx: Transaction, ids: readonly string[], size: AnswerSize): Promise<FittingPolicies> {
  const policies: Policy[] = [];
  for (const some of groupByRules(ids, await countRules(tx, ids))) {
    for (const policy of inOrder(some, await loadPolicies(tx, sql`"id" IN ${idList(tx.dialect, some)}`, { isLimited: true }))) {
      if (!size.add(policy as unknown as Json)) return { policies, isCut: true };
      policies.push(policy);
    }
  }
  return { policies, isCut: false };
}

async function countRules(tx: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.all<{ readonly policyId: string; readonly count: number }>(sql`
    SELECT "policyId", count(*) AS "count" FROM "_PolicyRule"
    WHERE ${tx.dialect.deadlineCheck(tableOf(POLICY_TABLES.rule))} AND "policyId" IN ${idList(tx.dialect, ids)} GROUP BY "policyId"`);
  return new Map(rows.map(({ policyId, count }) => [policyId, Number(count)]));
}

/** Splits ids in their order into groups with few rules. Most pages are one group: each costs two statements. */
function groupByRules(ids: readonly string[], counts: ReadonlyMap<string, number>): readonly (readonly string[])[] {
  const groups: string[][] = [];
  let rules = 0;
  for (const id of ids) {
    const own = (counts.get(id) ?? 0) + 1;
    const last = groups.at(-1);
    if (last === undefined || rules + own > RULES_AT_ONCE) {
      groups.push([id]);
      rules = own;
    } else {
      last.push(id);
      rules += own;
    }
  }
  return groups;
}

/** A policy without its rules, and numbers about it. */
export interface PolicySummary extends Omit<Policy, 'rules'> {
  readonly ruleCount: number;
  /** The resources that its rules name, in the order of their names. */
  readonly resources: readonly string[];
  readonly assignments: { readonly roles: readonly AssignableRole[]; readonly users: number };
  /** The last change of the policy; absent if it has no version. */
  readonly lastChange?: { readonly revision: number; readonly at: string; readonly by?: string; readonly reason?: string };
}

/** Loads summaries of at most `limit` policies. */
export async function loadPolicySummaries(tx: Transaction, query: PolicyPageQuery): Promise<readonly PolicySummary[]> {
  const ids = await findPolicyIds(tx, query);
  if (ids.length === 0) return [];
  const these = idList(tx.dialect, ids);
  const [policies, rules, roles, users, changes] = await Promise.all([
    selectFrom<Omit<Policy, 'rules'>>(tx, POLICY_TABLES.policy, { where: sql`"id" IN ${these}`, orderBy: ['id'] }),
    tx.all<{ readonly policyId: string; readonly resource: string; readonly count: number }>(sql`
      SELECT "policyId", "resource", count(*) AS "count" FROM "_PolicyRule" WHERE "policyId" IN ${these}
      GROUP BY "policyId", "resource" ORDER BY "resource"`),
    tx.all<{ readonly policyId: string; readonly role: AssignableRole }>(sql`
      SELECT "policyId", "role" FROM "_RolePolicy" WHERE "policyId" IN ${these} ORDER BY "role"`),
    tx.all<{ readonly policyId: string; readonly count: number }>(sql`
      SELECT "policyId", count(*) AS "count" FROM "_UserPolicy"
      WHERE ${tx.dialect.deadlineCheck(tableOf(POLICY_TABLES.userPolicy))} AND "policyId" IN ${these} GROUP BY "policyId"`),
    loadLastChanges(tx, these),
  ]);
  const rulesOf = Map.groupBy(rules, ({ policyId }) => policyId);
  const rolesOf = Map.groupBy(roles, ({ policyId }) => policyId);
  const usersOf = new Map(users.map(({ policyId, count }) => [policyId, Number(count)]));
  const summaries = policies.map((policy) => {
    const own = rulesOf.get(policy.id) ?? [];
    const lastChange = changes.get(policy.id);
    return {
      ...policy,
      ruleCount: own.reduce((sum, { count }) => sum + Number(count), 0),
      resources: own.map(({ resource }) => resource),
      assignments: { roles: (rolesOf.get(policy.id) ?? []).map(({ role }) => role), users: usersOf.get(policy.id) ?? 0 },
      ...(lastChange !== undefined && { lastChange }),
    };
  });
  return inOrder(ids, summaries);
}

type LastChange = NonNullable<PolicySummary['lastChange']>;

async function loadLastChanges(tx: Transaction, ids: Sql): Promise<ReadonlyMap<string, LastChange>> {
  const rows = await tx.all<
    Record<'subjectId' | 'at', string> & Record<'by' | 'reason', string | null> & { readonly revision: number }
  >(sql`
    SELECT "subjectId", "fromEpoch" AS "revision", "changedAt" AS "at", "changedBy" AS "by", "reason" FROM "_PolicyHistory"
    WHERE "kind" = 'policy' AND "subjectId" IN ${ids} AND "toEpoch" IS NULL`);
  return new Map(
    rows.map(({ subjectId, revision, at, by, reason }) => [
      subjectId,
      { revision: Number(revision), at, ...(by !== null && { by }), ...(reason !== null && { reason }) },
    ]),
  );
}

/** Returns the ids of the policies of a page, in their order. */
export async function findPolicyIds(
  tx: Transaction,
  { order = 'id', after, limit, ...filter }: PolicyPageQuery,
): Promise<readonly string[]> {
  const isDescending = order.startsWith('-');
  const name = isDescending ? order.slice(1) : order;
  const where = [tx.dialect.deadlineCheck(tableOf(POLICY_TABLES.policy)), ...toConditions(tx, filter)];
  if (after !== undefined) where.push(isAfter({ name, isDescending }, after));
  // NULLS as in the indexes, although no value is NULL: PostgreSQL would not use them otherwise.
  const direction = isDescending ? [sql`DESC NULLS LAST`, sql`DESC`] : [sql`ASC NULLS FIRST`, sql`ASC`];
  const orderBy = name === 'id' ? sql`"id"` : sql`${sql.ref(name)} ${direction[0]}, "id" ${direction[1]}`;
  const rows = await tx.all<{ readonly id: string }>(
    sql`SELECT "id" FROM "_Policy" WHERE ${sql.join(where, sql` AND `)} ORDER BY ${orderBy} LIMIT ${limit}`,
  );
  return rows.map(({ id }) => id);
}

function isAfter({ name, isDescending }: { readonly name: string; readonly isDescending: boolean }, { id, key }: PolicyPosition): Sql {
  const above = isDescending ? sql`<` : sql`>`;
  if (name === 'id' || key === undefined) return sql`"id" ${above} ${id}`;
  const column = sql.ref(name);
  // The first comparison limits an index on the column; a comparison of both columns as one row would not on every database.
  return sql`${column} ${above}= ${key} AND (${column} ${above} ${key} OR "id" ${above} ${id})`;
}

function toConditions({ dialect }: Transaction, { isActive, type, search, resource, tag, assignedTo }: PolicyFilter): Sql[] {
  const conditions: Sql[] = [];
  if (isActive !== undefined) conditions.push(sql`"isActive" = ${isActive}`);
  if (type !== undefined) conditions.push(sql`"type" = ${type}`);
  if (assignedTo !== undefined) conditions.push(isAssignedTo(assignedTo));
  if (resource !== undefined) conditions.push(sql`"id" IN (SELECT "policyId" FROM "_PolicyRule" WHERE "resource" = ${resource})`);
  if (tag !== undefined) {
    // The text is searched first, because reading a list takes longer.
    const mention = dialect.position(sql`CAST("tags" AS TEXT)`, sql`${JSON.stringify(tag)}`);
    conditions.push(sql`${mention} > 0 AND EXISTS (SELECT 1 FROM ${dialect.listItems(sql`"tags"`)} WHERE value = ${tag})`);
  }
  if (search !== undefined) {
    const found = (column: Sql): Sql => containsFolded(dialect, column, foldCase(search));
    conditions.push(sql`(${found(sql`"name"`)} OR ("description" IS NOT NULL AND ${found(sql`"description"`)}))`);
  }
  return conditions;
}

/**
 * Renders the comparison of a text with a folded part. For ASCII text it uses `upper`, which gives the same result and is fast: folding any
 * other text takes ten times as long.
 */
function containsFolded(dialect: SqlDialect, text: Sql, part: string): Sql {
  const isIn = (folded: Sql): Sql => sql`${dialect.position(folded, sql`${part}`)} > 0`;
  return sql`CASE WHEN octet_length(${text}) = length(${text}) THEN ${isIn(sql`upper(${text})`)} ELSE ${isIn(dialect.foldCase(text))} END`;
}

function isAssignedTo(assignee: Assignee): Sql {
  const [table, isOf] =
    'userId' in assignee
      ? ([sql`"_UserPolicy"`, sql`"userId" = ${assignee.userId}`] as const)
      : ([sql`"_RolePolicy"`, sql`"role" = ${assignee.role}`] as const);
  return sql`"id" IN (SELECT "policyId" FROM ${table} WHERE ${isOf})`;
}

/** Returns the items in the order of the ids. An item may be missing if it was deleted meanwhile. */
function inOrder<Item extends { readonly id: string }>(ids: readonly string[], items: readonly Item[]): readonly Item[] {
  const byId = new Map(items.map((item) => [item.id, item]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
