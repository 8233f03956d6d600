/** Loads the policies and assignments that decisions depend on. Every row is compared with its checksum before it is used. */
import {
  DAMAGED_ASSIGNMENT,
  type DamagedRow,
  type PolicyState,
  type RolePolicy,
  toDamagedAssignments,
  toUserAssignments,
  type UserAssignment,
  type UserPolicy,
} from '../authz/policies/index.ts';
import type { Resource, Row } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { toDamagedRow, toMissingRow } from './damaged-rows.ts';
import { type CheckedPolicies, findPoliciesReadingOthers, loadCheckedPolicies, scanCheckedPolicies } from './policy-rows.ts';
import { POLICY_TABLES, type Selection, selectRows, toValue } from './policy-tables.ts';
import { currentRevision } from './revision.ts';
import { isIntact } from './row-checksums.ts';
import { columnOf, idList, recordsOf, selectionOf, tableOf } from './table-names.ts';

/** Policies of roles up to which a state has those of all roles: loading a thousand takes 20 ms. */
const LOADED_AT_ONCE = 1000;

/** The policies of a state to load. */
export interface StateOptions {
  /** Number of policies of roles up to which those of all roles are loaded. */
  readonly loadedAtOnce?: number | undefined;
}

/**
 * Loads the assignments to roles, and the policies whose conditions may read other records: everything that is needed before the first
 * request. The policies of roles are loaded too unless there are many; then the roles are pending, and `loadPoliciesOfRoles` loads their
 * policies. Those of users are loaded with their assignments. A policy that denies everything takes the place of a damaged row.
 */
export async function loadPolicyState(tx: Transaction, { loadedAtOnce = LOADED_AT_ONCE }: StateOptions = {}): Promise<PolicyState> {
  const revision = await currentRevision(tx);
  const { rolePolicies, damaged: assignments } = await loadRoleAssignments(tx);
  const readingOthers = await findPoliciesReadingOthers(tx);
  const ofRoles = new Set(rolePolicies.map(({ policyId }) => policyId));
  ofRoles.delete(DAMAGED_ASSIGNMENT.id);
  const pendingRoles = ofRoles.size > loadedAtOnce ? new Set(rolePolicies.map(({ role }) => role)) : undefined;
  const needed = pendingRoles === undefined ? [...ofRoles, ...readingOthers] : readingOthers;
  const { policies, damaged } = await loadPoliciesOfRoles(tx, [...new Set(needed)]);
  const all = [...damaged, ...assignments];
  return {
    revision,
    policies: [...policies.values()],
    rolePolicies,
    ...(pendingRoles !== undefined && { pendingRoles, readingOthers }),
    ...(all.length > 0 && { damaged: all }),
  };
}

/**
 * Loads policies of roles with these ids. If there are many, a short attempt may end meanwhile, so that they are loaded beside other requests;
 * no later attempt has a limit, because all requests need them. A policy that denies everything takes the place of a damaged row.
 */
export async function loadPoliciesOfRoles(tx: Transaction, ids: readonly string[]): Promise<CheckedPolicies> {
  const isLimited = tx.attempt === 'short' && ids.length > LOADED_AT_ONCE;
  const load = async (): Promise<CheckedPolicies> => {
    const found = await loadCheckedPolicies(tx, ids, { isLimited });
    return found.damaged.length === 0 ? found : await scanCheckedPolicies(tx, ids);
  };
  return isLimited ? load() : tx.withoutTimeLimit(load);
}

/** Rows that are compared between two checks of the time. They take less than half a millisecond. */
const ROWS_PER_CHECK = 64;

async function loadRoleAssignments(
  tx: Transaction,
): Promise<{ readonly rolePolicies: readonly RolePolicy[]; readonly damaged: readonly DamagedRow[] }> {
  const table = POLICY_TABLES.rolePolicy;
  const [rows, inForce] = await Promise.all([
    selectRows(tx, table),
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
