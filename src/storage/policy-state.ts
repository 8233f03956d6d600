/** Loads the policies and assignments that decisions depend on. Every row is compared with its checksum before it is used. */
import {
  DAMAGED_ASSIGNMENT,
  type DamagedRow,
  type RolePolicy,
  type StoredState,
  toDamagedAssignments,
  toDamagedPolicy,
  toUserAssignments,
  type UserAssignment,
  type UserPolicy,
} from '../authz/policies/index.ts';
import type { Resource, Row } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { toDamagedRow } from './damaged-rows.ts';
import { eachPolicyPage, selectPolicyRows, toUnparsedPolicy } from './policy-rows.ts';
import { POLICY_TABLES, type Selection, selectRows, toValue } from './policy-tables.ts';
import { currentRevision } from './revision.ts';
import { isIntact, toIntactContent } from './row-checksums.ts';
import type { TableRow } from './row-content.ts';
import { columnOf, idList, recordsOf, selectionOf, tableOf } from './table-names.ts';

/**
 * Loads the policies and the assignments to roles: everything that decisions of all users depend on. A policy that denies everything takes
 * the place of a damaged row.
 */
export async function loadPolicyState(tx: Transaction): Promise<StoredState> {
  const revision = await currentRevision(tx);
  const { policies, damaged } = await loadAllPolicies(tx);
  const { rolePolicies, damaged: assignments } = await loadRoleAssignments(tx, policies);
  damaged.push(...assignments);
  return { revision, policies, rolePolicies, ...(damaged.length > 0 && { damaged }) };
}

/** All policies, with a policy that denies everything in place of each damaged one, and the damaged rows. */
interface LoadedPolicies {
  readonly policies: StoredState['policies'][number][];
  readonly damaged: DamagedRow[];
}

async function loadAllPolicies(tx: Transaction): Promise<LoadedPolicies> {
  const paged: LoadedPolicies = { policies: [], damaged: [] };
  await eachPolicyPage(tx, (rows) => addPolicies(paged, rows));
  if (paged.damaged.length === 0 && paged.policies.length === (await countPolicies(tx))) return paged;
  // A damaged index can hide policies and rules, so the tables are read without their indexes.
  const scanned: LoadedPolicies = { policies: [], damaged: [] };
  addPolicies(scanned, await selectPolicyRows(tx));
  return scanned;
}

/** Returns the number of rows of the table. No index contains the column, so the database does not count the entries of an index. */
async function countPolicies(tx: Transaction): Promise<number> {
  const counted = await tx.one<{ readonly stored: unknown }>(sql`SELECT COUNT("createdBy") AS "stored" FROM "_Policy"`);
  return Number(counted?.stored);
}

function addPolicies({ policies, damaged }: LoadedPolicies, rows: readonly TableRow[]): void {
  for (const stored of rows) {
    const content = toIntactContent(stored);
    if (content !== undefined) policies.push(toUnparsedPolicy(stored, content));
    else {
      damaged.push(toDamagedRow(stored));
      policies.push(toDamagedPolicy(String(stored.row['id'])));
    }
  }
}

async function loadRoleAssignments(
  tx: Transaction,
  policies: StoredState['policies'],
): Promise<{ readonly rolePolicies: readonly RolePolicy[]; readonly damaged: readonly DamagedRow[] }> {
  const table = POLICY_TABLES.rolePolicy;
  const [rows, inForce] = await Promise.all([
    selectRows(tx, table, { where: sql`1 = 1`, orderBy: ['assignedAt', 'id'] }),
    tx.all<{ readonly subjectId: string }>(sql`
      SELECT "subjectId" FROM "_PolicyHistory" WHERE "kind" = 'rolePolicy' AND "toEpoch" IS NULL AND "value" IS NOT NULL`),
  ]);
  const damaged: DamagedRow[] = rows.filter((row) => !isIntact({ table, row })).map((row) => toDamagedRow({ table, row }));
  const stored = new Set(rows.map(({ id }) => id));
  damaged.push(...inForce.filter(({ subjectId }) => !stored.has(subjectId)).map(({ subjectId }) => toMissing(table.name, subjectId)));
  const isDamaged = new Set(damaged.map(({ id }) => id));
  const rolePolicies = rows.filter(({ id }) => !isDamaged.has(String(id))).map((row) => toValue<RolePolicy>({ table, row }));
  const unknown = new Set(rolePolicies.map(({ policyId }) => policyId));
  for (const { id } of policies) unknown.delete(id);
  for (const policyId of unknown) damaged.push(toMissing(POLICY_TABLES.policy.name, policyId));
  return { rolePolicies: damaged.length === 0 ? rolePolicies : [...rolePolicies, ...toDamagedAssignments()], damaged };
}

function toMissing(table: string, id: string): DamagedRow {
  return { table, id, isMissing: true };
}

/** The active assignments of users, and the damaged rows among them. */
export interface LoadedAssignments {
  /** The assignments by user id. Users without an active assignment are left out. */
  readonly assignments: ReadonlyMap<string, readonly UserAssignment[]>;
  readonly damaged: readonly DamagedRow[];
}

/** Maximum users whose assignments one statement loads. */
const USERS_PER_STATEMENT = 500;

/**
 * Loads the active assignments of users. A user with a damaged or missing assignment gets the assignment of a policy that denies everything.
 * If `isLimited`, the time counts toward the limit of the request.
 */
export async function loadUserAssignments(
  tx: Transaction,
  userIds: readonly string[],
  options: Pick<Selection, 'isLimited'> = {},
): Promise<LoadedAssignments> {
  const assignments = new Map<string, readonly UserAssignment[]>();
  const damaged: DamagedRow[] = [];
  for (let from = 0; from < userIds.length; from += USERS_PER_STATEMENT) {
    const found = await loadAssigned(tx, userIds.slice(from, from + USERS_PER_STATEMENT), options);
    damaged.push(...found.damaged);
    for (const [userId, own] of Map.groupBy(found.assigned, (one) => one.userId)) {
      const active = toUserAssignments(own);
      if (active.length > 0) assignments.set(userId, active);
    }
  }
  return { assignments, damaged };
}

type Assigned = Pick<UserPolicy, 'userId' | 'policyId' | 'expiresAt' | 'isActive'>;

/**
 * Loads assignments, inactive ones too, and compares them with the history: an assignment is also missing if the user id of its row is
 * damaged, or the index in which it was searched. Its policy is missing only if the row or the id of the policy is damaged.
 */
async function loadAssigned(
  tx: Transaction,
  userIds: readonly string[],
  { isLimited = false }: Pick<Selection, 'isLimited'>,
): Promise<{ readonly assigned: readonly Assigned[]; readonly damaged: readonly DamagedRow[] }> {
  const table = POLICY_TABLES.userPolicy;
  const ofUsers = sql`"userId" IN ${idList(tx.dialect, userIds)}`;
  const checked = (resource: Resource): Sql => (isLimited ? sql`${tx.deadlineCheck(tableOf(resource))} AND ` : sql``);
  const hasPolicy = sql`EXISTS (SELECT 1 FROM "_Policy" WHERE "_Policy"."id" = ${columnOf(table, 'policyId')})`;
  const [rows, inForce] = await Promise.all([
    tx.all<Row>(
      sql`SELECT ${selectionOf(table)}, CASE WHEN ${hasPolicy} THEN 1 ELSE 0 END AS "$hasPolicy" FROM ${recordsOf(table)} WHERE ${checked(table)}${ofUsers}`,
    ),
    tx.all<{ readonly userId: string; readonly subjectId: string }>(sql`
      SELECT "userId", "subjectId" FROM "_PolicyHistory"
      WHERE ${checked(POLICY_TABLES.history)}"kind" = 'userPolicy' AND ${ofUsers} AND "toEpoch" IS NULL AND "value" IS NOT NULL`),
  ]);
  const stored = new Set(rows.map(({ id }) => id));
  const missing = inForce.filter(({ subjectId }) => !stored.has(subjectId));
  const broken = rows.filter((row) => !isIntact({ table, row }));
  const intact = rows.filter((row) => !broken.includes(row));
  const unknown = intact.filter((row) => row['$hasPolicy'] !== 1);
  const denied = [...missing, ...broken, ...unknown].map(({ userId }) => toDenied(String(userId)));
  return {
    assigned: [...intact.map((row) => toValue<UserPolicy>({ table, row })), ...denied],
    damaged: [
      ...broken.map((row: Row) => toDamagedRow({ table, row })),
      ...missing.map(({ subjectId }) => toMissing(table.name, subjectId)),
      ...unknown.map(({ policyId }) => toMissing(POLICY_TABLES.policy.name, String(policyId))),
    ],
  };
}

function toDenied(userId: string): Assigned {
  return { userId, policyId: DAMAGED_ASSIGNMENT.id, expiresAt: undefined, isActive: true };
}
