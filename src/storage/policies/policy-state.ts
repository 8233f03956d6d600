/** Loads the policies and assignments that decisions depend on. Every row is compared with its checksum before it is used. */
import {
  DAMAGED_ASSIGNMENT,
  type DamagedRow,
  type LoadedRolePolicies,
  type PolicyState,
  type RolePolicy,
  toDamagedAssignments,
  toUserAssignments,
  type UserAssignment,
  type UserPolicy,
} from '../../authz/policies/index.ts';
import type { Resource, Row } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { toDamagedRow, toMissingRow } from '../checksums/damaged-rows.ts';
import { isIntact } from '../checksums/row-checksums.ts';
import type { Transaction } from '../contract.ts';
import { columnOf, idList, recordsOf, selectionOf, tableOf } from '../table-names.ts';
import { type CheckedPolicies, findPoliciesReadingOthers, loadCheckedPolicies, scanCheckedPolicies } from './policy-rows.ts';
import { POLICY_TABLES, type Selection, selectRows, toValue } from './policy-tables.ts';
import { currentRevision } from './revision.ts';

/** Assignments to roles up to which a state has them and their policies: loading a thousand takes 20 ms. */
const LOADED_AT_ONCE = 1000;

/** The policies of a state to load. */
export interface StateOptions {
  /** Number of assignments to roles up to which they and their policies are loaded. */
  readonly loadedAtOnce?: number | undefined;
}

/**
 * Loads what is needed before the first request: the policies whose conditions may read other records. The assignments to roles and their
 * policies are loaded too unless there are many; then `loadRoleAssignments` and `loadPoliciesOfRoles` load them when a decision needs a role.
 * The policies of users are loaded with their assignments. A policy that denies everything takes the place of a damaged row.
 */
export async function loadPolicyState(tx: Transaction, { loadedAtOnce = LOADED_AT_ONCE }: StateOptions = {}): Promise<PolicyState> {
  const revision = await currentRevision(tx);
  const assignments = (await hasMoreAssignments(tx, loadedAtOnce)) ? undefined : await checkRoleAssignments(tx, { isLimited: false });
  const needed = new Set(await findPoliciesReadingOthers(tx));
  for (const { policyId } of assignments?.rolePolicies ?? []) if (policyId !== DAMAGED_ASSIGNMENT.id) needed.add(policyId);
  const { policies, damaged } = await loadPoliciesOfRoles(tx, [...needed]);
  const all = [...damaged, ...(assignments?.damaged ?? [])];
  return {
    revision,
    policies: [...policies.values()],
    rolePolicies: assignments?.rolePolicies ?? [],
    ...(assignments === undefined && { isWithoutRoles: true }),
    ...(all.length > 0 && { damaged: all }),
  };
}

async function hasMoreAssignments(tx: Transaction, limit: number): Promise<boolean> {
  return (await tx.one(sql`SELECT "id" FROM "_RolePolicy" LIMIT 1 OFFSET ${limit}`)) !== undefined;
}

/**
 * Loads policies of roles with these ids. If there are many, a short attempt may end meanwhile, so that they are loaded beside other requests;
 * no later attempt has a limit, because all requests need them. A policy that denies everything takes the place of a damaged row.
 */
export async function loadPoliciesOfRoles(tx: Transaction, ids: readonly string[]): Promise<CheckedPolicies> {
  return loadForAll(tx, ids.length > LOADED_AT_ONCE, async (isLimited) => {
    const found = await loadCheckedPolicies(tx, ids, { isLimited });
    return found.damaged.length === 0 ? found : await scanCheckedPolicies(tx, ids);
  });
}

/** Loads rows that all requests need. Only the load of many rows by a short attempt has a time limit. */
function loadForAll<T>(tx: Transaction, areMany: boolean, load: (isLimited: boolean) => Promise<T>): Promise<T> {
  const isLimited = tx.attempt === 'short' && areMany;
  return isLimited ? load(true) : tx.withoutTimeLimit(() => load(false));
}

/** Rows that are compared between two checks of the time. They take less than half a millisecond. */
const ROWS_PER_CHECK = 64;

/**
 * Loads the assignments of all roles, because the role of a damaged row may be wrong. They are many, so a short attempt may end meanwhile as in
 * `loadPoliciesOfRoles`.
 */
export function loadRoleAssignments(tx: Transaction): Promise<LoadedRolePolicies> {
  return loadForAll(tx, true, (isLimited) => checkRoleAssignments(tx, { isLimited }));
}

async function checkRoleAssignments(tx: Transaction, options: Pick<Selection, 'isLimited'>): Promise<LoadedRolePolicies> {
  const table = POLICY_TABLES.rolePolicy;
  const [rows, inForce] = await Promise.all([
    selectRows(tx, table, { where: sql`1 = 1`, ...options }),
    tx.all<{ readonly subjectId: string }>(sql`
      SELECT "subjectId" FROM "_PolicyHistory" WHERE "kind" = 'rolePolicy' AND "toEpoch" IS NULL AND "value" IS NOT NULL`),
  ]);
  const rolePolicies: RolePolicy[] = [];
  const damaged: DamagedRow[] = [];
  for (const [nth, row] of rows.entries()) {
    // Roles may have ten thousand assignments. Comparing them in one turn of the event loop took 40 ms.
    if (nth % ROWS_PER_CHECK === 0) await tx.checkTime();
    if (isIntact({ table, row })) rolePolicies.push(toValue<RolePolicy>({ table, row }));
    else damaged.push(toDamagedRow({ table, row }));
  }
  const stored = new Set(rows.map(({ id }) => id));
  for (const { subjectId } of inForce) if (!stored.has(subjectId)) damaged.push(toMissingRow(table, subjectId));
  return { rolePolicies: damaged.length === 0 ? rolePolicies : [...rolePolicies, ...toDamagedAssignments()], damaged };
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
  const checked = (resource: Resource): Sql => (isLimited ? sql`${tx.dialect.deadlineCheck(tableOf(resource))} AND ` : sql``);
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
      ...missing.map(({ subjectId }) => toMissingRow(table, subjectId)),
      ...unknown.map(({ policyId }) => toMissingRow(POLICY_TABLES.policy, String(policyId))),
    ],
  };
}

function toDenied(userId: string): Assigned {
  return { userId, policyId: DAMAGED_ASSIGNMENT.id, expiresAt: undefined, isActive: true };
}
