/** Pages of users, for the lists of admins. */
import { foldCase } from '../fold-case.ts';
import { fromRow, type Resource, type Row, type StoredRecord } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { columnOf, idList, recordsOf, tableOf } from './table-names.ts';

/** The users of a list. Absent members match every user. */
export interface UserPageQuery {
  /** A part of the name or the email, in any case. */
  readonly search?: string | undefined;
  readonly role?: string | undefined;
  readonly isActive?: boolean | undefined;
  /** Users with an assignment of their own of this policy. */
  readonly policyId?: string | undefined;
  /** The id after which the page begins. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** The built-in fields of a user that lists show. */
const LISTED = ['id', 'name', 'email', 'role', 'isActive', 'createdAt'];

/** Loads at most `limit` users with ids above `after`, in the order of their ids, with the built-in fields only. */
export async function loadUserPage(tx: Transaction, user: Resource, query: UserPageQuery): Promise<readonly StoredRecord[]> {
  const columns = sql.join(LISTED.map((name) => columnOf(user, name)));
  const conditions = [sql`"id" > ${query.after ?? ''}`, ...conditionsOf(tx, user, query)];
  const rows = await tx.all<Row>(sql`
    SELECT ${columns} FROM ${recordsOf(user, { check: tx.dialect.deadlineCheck(tableOf(user)) })}
    WHERE ${sql.join(conditions, sql` AND `)} ORDER BY "id" LIMIT ${query.limit}`);
  return rows.map((row) => fromRow(user, row));
}

function conditionsOf({ dialect }: Transaction, user: Resource, { search, role, isActive, policyId }: UserPageQuery): readonly Sql[] {
  const part = sql`${foldCase(search ?? '')}`;
  const found = ['name', 'email'].map((name) => sql`${dialect.position(dialect.foldCase(columnOf(user, name)), part)} > 0`);
  return [
    ...(search === undefined ? [] : [sql`(${sql.join(found, sql` OR `)})`]),
    ...(role === undefined ? [] : [sql`"role" = ${role}`]),
    ...(isActive === undefined ? [] : [sql`"isActive" = ${isActive}`]),
    ...(policyId === undefined ? [] : [sql`"id" IN (SELECT "userId" FROM "_UserPolicy" WHERE "policyId" = ${policyId})`]),
  ];
}

/** Counts the assignments of users, inactive and expired ones too. Users without assignments are left out. */
export async function countUserAssignments(tx: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.all<{ readonly userId: string; readonly count: number | bigint }>(sql`
    SELECT "userId", count(*) AS "count" FROM "_UserPolicy"
    WHERE ${tx.dialect.deadlineCheck(sql.table('_UserPolicy'))} AND "userId" IN ${idList(tx.dialect, ids)} GROUP BY "userId"`);
  return new Map(rows.map(({ userId, count }) => [userId, Number(count)]));
}
