/** Pages of assignments: to users and to roles in one list. */
import type { RolePolicy, UserPolicy } from '../../authz/policies/index.ts';
import type { AssignableRole, Resource } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { POLICY_TABLES, selectFrom } from './policy-tables.ts';

/** The assignments of a list. Absent members match every assignment. */
export interface AssignmentFilter {
  readonly policyId?: string | undefined;
  readonly userId?: string | undefined;
  readonly role?: AssignableRole | undefined;
  readonly isActive?: boolean | undefined;
  /** A canonical timestamp. Matches assignments that expire before it, in the order of expiry. */
  readonly expiresBefore?: string | undefined;
  /** A canonical timestamp. Matches assignments that expire at it or later, in the order of expiry. */
  readonly expiresAfter?: string | undefined;
}

/** The last assignment of a page. */
export interface AssignmentPosition {
  readonly id: string;
  /** Present in a list in the order of expiry. */
  readonly expiresAt?: string | undefined;
}

/** A page of a list of assignments. */
export interface AssignmentPageQuery extends AssignmentFilter {
  readonly after?: AssignmentPosition | undefined;
  readonly limit: number;
}

/** Returns true if the list is in the order of expiry, false if it is in the order of ids. */
export function isOrderedByExpiry({ expiresBefore, expiresAfter }: AssignmentFilter): boolean {
  return expiresBefore !== undefined || expiresAfter !== undefined;
}

/**
 * Loads at most `limit` assignments after a position. Lists with a bound of the expiry contain only assignments that expire, in the order of
 * expiry; other lists are in the order of ids, which is nearly the order of creation.
 */
export async function loadAssignmentPage(tx: Transaction, query: AssignmentPageQuery): Promise<readonly (UserPolicy | RolePolicy)[]> {
  const { limit, userId, role } = query;
  const ordered = isOrderedByExpiry(query);
  const users = role === undefined ? await loadPage<UserPolicy>(tx, POLICY_TABLES.userPolicy, query) : [];
  // Assignments to roles do not expire.
  const roles = userId === undefined && !ordered ? await loadPage<RolePolicy>(tx, POLICY_TABLES.rolePolicy, query) : [];
  if (roles.length === 0) return users;
  return [...users, ...roles].toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit);
}

/** The order of the index. No assignment of these lists has no expiry, but PostgreSQL would sort for another order of NULL. */
const BY_EXPIRY = sql`"expiresAt" NULLS FIRST, "id"`;

function loadPage<Assignment>(tx: Transaction, table: Resource, query: AssignmentPageQuery): Promise<readonly Assignment[]> {
  const ordered = isOrderedByExpiry(query);
  const conditions = [...conditionsOf(query), ...positionOf(query)];
  const where = conditions.length === 0 ? sql`TRUE` : sql.join(conditions, sql` AND `);
  return selectFrom<Assignment>(tx, table, { where, orderBy: ordered ? BY_EXPIRY : ['id'], limit: query.limit, isLimited: true });
}

function conditionsOf({ policyId, userId, role, isActive, expiresBefore, expiresAfter }: AssignmentFilter): readonly Sql[] {
  return [
    ...(policyId === undefined ? [] : [sql`"policyId" = ${policyId}`]),
    ...(userId === undefined ? [] : [sql`"userId" = ${userId}`]),
    ...(role === undefined ? [] : [sql`"role" = ${role}`]),
    ...(isActive === undefined ? [] : [sql`"isActive" = ${isActive}`]),
    ...(expiresBefore === undefined ? [] : [sql`"expiresAt" < ${expiresBefore}`]),
    ...(expiresAfter === undefined ? [] : [sql`"expiresAt" >= ${expiresAfter}`]),
  ];
}

function positionOf({ after }: AssignmentPageQuery): readonly Sql[] {
  if (after === undefined) return [];
  return [after.expiresAt === undefined ? sql`"id" > ${after.id}` : sql`("expiresAt", "id") > (${after.expiresAt}, ${after.id})`];
}
