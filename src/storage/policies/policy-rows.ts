/** Loads policies that decisions depend on. Every row is compared with its checksum before it is used. */
import { type DamagedRow, jsonMayReadOthers, type Policy, type PolicyRule, toDamagedPolicy } from '../../authz/policies/index.ts';
import type { Row } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { toDamagedRow, toMissingRow } from '../checksums/damaged-rows.ts';
import { isIntact } from '../checksums/row-checksums.ts';
import type { TableRow } from '../checksums/row-content.ts';
import type { Transaction } from '../contract.ts';
import { idList } from '../table-names.ts';
import { POLICY_TABLES, type Selection, selectRows, toValue } from './policy-tables.ts';

/** Policies that were compared with their checksums, and the damaged ones among them. */
export interface CheckedPolicies {
  /** The policies by id, active or not. A policy that denies everything takes the place of each damaged or missing one. */
  readonly policies: ReadonlyMap<string, Policy>;
  readonly damaged: readonly DamagedRow[];
}

/** Policies whose rows are loaded together. */
const PAGE = 500;

/** Loads the policies with these ids. If `isLimited`, the time counts toward the limit of the request. */
export async function loadCheckedPolicies(
  tx: Transaction,
  ids: readonly string[],
  options: Pick<Selection, 'isLimited'> = {},
): Promise<CheckedPolicies> {
  const policies = new Map<string, Policy>();
  const damaged: DamagedRow[] = [];
  // The rows of one page are released before the next page is loaded.
  for (let from = 0; from < ids.length; from += PAGE) {
    const page = ids.slice(from, from + PAGE);
    const checked = checkPolicies(await selectPage(tx, page, options), page);
    for (const [id, policy] of checked.policies) policies.set(id, policy);
    damaged.push(...checked.damaged);
    await tx.checkTime();
  }
  return { policies, damaged };
}

/**
 * Loads the rows of the policies with these ids, in any order. The rules are found by the ids and not by their policies: a start loads a hundred
 * thousand policies, and the server would search them twice.
 */
async function selectPage(tx: Transaction, ids: readonly string[], options: Pick<Selection, 'isLimited'>): Promise<readonly TableRow[]> {
  const list = idList(tx.dialect, ids);
  const [policies, rules] = await Promise.all([
    selectRows(tx, POLICY_TABLES.policy, { where: sql`"id" IN ${list}`, ...options }),
    selectRows(tx, POLICY_TABLES.rule, { where: sql`"policyId" IN ${list}`, ...options }),
  ]);
  return joinRules(policies, rules);
}

/** Loads the policies with these ids without an index: a damaged index can hide policies and rules. */
export async function scanCheckedPolicies(tx: Transaction, ids: readonly string[]): Promise<CheckedPolicies> {
  return checkPolicies(await selectPolicyRows(tx), ids);
}

/** Compares the rows of policies with their checksums. Any column of a damaged row may be wrong, its id too. */
function checkPolicies(rows: readonly TableRow[], ids: readonly string[]): CheckedPolicies {
  const stored = new Map(rows.map((each) => [each.row['id'], each]));
  const policies = new Map<string, Policy>();
  const damaged: DamagedRow[] = [];
  for (const id of ids) {
    const found = stored.get(id);
    if (found !== undefined && isIntact(found)) policies.set(id, toPolicy(found));
    else {
      damaged.push(found === undefined ? toMissingRow(POLICY_TABLES.policy, id) : toDamagedRow(found));
      policies.set(id, toDamagedPolicy(id));
    }
  }
  return { policies, damaged };
}

/**
 * Loads the rows of policies, of all if `where` is undefined, with the rows of their rules in order as parts. All policies are loaded without
 * an order, and their rules are sorted here: sorting a hundred thousand rows takes the database as long as reading them.
 */
export async function selectPolicyRows(tx: Transaction, where?: Sql): Promise<readonly TableRow[]> {
  const ofThese = where && sql`"policyId" IN (SELECT "id" FROM "_Policy" WHERE ${where})`;
  const [policies, rules] = await Promise.all([
    selectRows(tx, POLICY_TABLES.policy, where && { where, orderBy: ['createdAt', 'id'] }),
    selectRows(tx, POLICY_TABLES.rule, ofThese && { where: ofThese, orderBy: ['policyId', 'position'] }),
  ]);
  return joinRules(policies, rules);
}

function joinRules(policies: readonly Row[], rules: readonly Row[]): readonly TableRow[] {
  const { policy, rule } = POLICY_TABLES;
  const parts = new Map(policies.map(({ id }) => [id, [] as TableRow[]]));
  for (const row of rules) parts.get(row['policyId'])?.push({ table: rule, row });
  return policies.map((row) => ({ table: policy, row, parts: inOrder(parts.get(row['id']) ?? []) }));
}

function inOrder(rules: TableRow[]): readonly TableRow[] {
  return rules.length < 2 ? rules : rules.sort((a, b) => Number(a.row['position']) - Number(b.row['position']));
}

/** Converts the rows of a policy and its rules. */
export function toPolicy(stored: TableRow): Policy {
  const policy = toValue<LoadedPolicy>(stored);
  // The loaded object is completed and not copied: a start may load ten thousands of them.
  policy.rules = (stored.parts ?? []).map((rule) => toValue<PolicyRule>(rule, 'position'));
  return policy;
}

/** A policy without its rules, which are added to the loaded object. */
export type LoadedPolicy = Omit<Policy, 'rules'> & { rules: readonly PolicyRule[] };

/** Policies whose conditions one statement searches. */
const SEARCHED = 2000;

/** Parts of a text for which `jsonMayReadOthers` may return true. The other two are two dots and two opening brackets. */
const MARKS = ['related', 'within', '//', '"context"', '\\'] as const;

/** Finds the policies whose conditions may read records other than those that they decide. A damaged rule may be missing. */
export async function findPoliciesReadingOthers(tx: Transaction): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const text = sql<string>`CAST("conditions" AS TEXT)`;
  const marks = MARKS.map((mark) => sql`${tx.dialect.position(text, sql`${mark}`)} > 0`);
  const mayRead = sql.join([sql`${text} LIKE '%.%.%'`, sql`${text} LIKE '%[%[%'`, ...marks], sql` OR `);
  let after: string | undefined;
  do {
    const last = await loadLastId(tx, after);
    const rows = await tx.all<{ readonly policyId: string; readonly conditions: string }>(sql`
      SELECT "policyId", ${text} AS "conditions" FROM "_PolicyRule" WHERE ${inRange(after, last)} AND (${mayRead})`);
    for (const { policyId, conditions } of rows) if (jsonMayReadOthers(conditions)) found.add(policyId);
    after = last;
  } while (after !== undefined);
  return found;
}

/** Returns the last id of the policies after an id that one statement searches; undefined if they are the last. */
async function loadLastId(tx: Transaction, after: string | undefined): Promise<string | undefined> {
  const rest = after === undefined ? sql`1 = 1` : sql`"id" > ${after}`;
  const last = await tx.one<{ readonly id: string }>(
    sql`SELECT "id" FROM "_Policy" WHERE ${rest} ORDER BY "id" LIMIT 1 OFFSET ${SEARCHED - 1}`,
  );
  return last?.id;
}

/** Returns the condition for the policies after `from` and up to `to`; undefined is no bound. */
function inRange(from: string | undefined, to: string | undefined): Sql {
  const bound = (limit: string | undefined, comparison: Sql): Sql => (limit === undefined ? sql`1 = 1` : sql`${comparison} ${limit}`);
  return sql`${bound(from, sql`"policyId" >`)} AND ${bound(to, sql`"policyId" <=`)}`;
}
