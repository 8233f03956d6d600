import type { UserValueCounts } from '../authz/linter/index.ts';
import { fromRow, type Resource, type Row, type StoredRecord } from '../resources/index.ts';
import { sql } from '../sql.ts';
import { checkedSelectionOf, isIntactRecord } from './checksums/record-checksums.ts';
import type { Transaction } from './contract.ts';
import { columnOf, idList, quoteName, recordsOf, tableOf } from './table-names.ts';

/** A search for users whom a policy may concern. */
export interface CandidateQuery {
  /** Users of these roles match without an assignment. */
  readonly roles: readonly string[];
  /** Users who match in any case. Default: none. */
  readonly also?: readonly string[];
  /** The id after which the search begins. */
  readonly after?: string | undefined;
  /** Maximum users to read. */
  readonly scanLimit: number;
}

/** The users that one step of a search found, ordered by id. */
export interface Candidates {
  readonly users: readonly StoredRecord[];
  /** The last id that was read; absent at the end. */
  readonly last?: string;
}

/**
 * Loads, among the next `scanLimit` users, the active users who have one of the roles, an assignment of their own, or an id in `also`. Leaves out
 * damaged users, whose requests are refused. The inner limit bounds the cost: without it, a search for a rare role would read all users.
 */
export async function loadCandidates(tx: Transaction, user: Resource, query: CandidateQuery): Promise<Candidates> {
  const { roles, also = [], after = '', scanLimit } = query;
  const table = recordsOf(user);
  const bound = sql`WHERE ${tx.dialect.deadlineCheck(tableOf(user))} AND "id" > ${after} ORDER BY "id" LIMIT ${scanLimit}`;
  const ends = await tx.one<{ last: string | null; count: number }>(
    sql`SELECT max("id") AS "last", count(*) AS "count" FROM (SELECT "id" FROM ${table} ${bound}) AS "scanned"`,
  );
  const ofRole = roles.length === 0 ? sql`FALSE` : sql`"role" IN (${sql.join(roles)})`;
  const isNamed = also.length === 0 ? sql`FALSE` : sql`"scanned"."id" IN ${idList(tx.dialect, also)}`;
  const rows = await tx.all<Row>(sql`
    SELECT * FROM (SELECT ${checkedSelectionOf(user)} FROM ${table} ${bound}) AS "scanned"
    WHERE "isActive" = TRUE AND (${ofRole} OR ${isNamed} OR EXISTS (SELECT 1 FROM "_UserPolicy" WHERE "userId" = "scanned"."id"))
    ORDER BY "id"`);
  const users = rows.filter((row) => isIntactRecord(user, row)).map((row) => fromRow(user, row));
  const isEnd = ends === undefined || ends.last === null || Number(ends.count) < scanLimit;
  return isEnd ? { users } : { users, last: String(ends.last) };
}

/** Loads the display names of users. Users without a name, and ids that no user has, are left out. */
export async function loadUserNames(tx: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.all<{ readonly id: string; readonly name: string }>(
    sql`SELECT "id", "name" FROM "User" WHERE "id" IN ${idList(tx.dialect, ids)} AND "name" IS NOT NULL`,
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** Counts, over at most `limit` active users, the users with a value in each optional field of User that is not secret. */
export async function countUserValues(tx: Transaction, user: Resource, { limit }: { readonly limit: number }): Promise<UserValueCounts> {
  const names = [...user.fields.values()].filter((field) => !field.writeOnly && !field.required).map((field) => field.name);
  const aggregates = names.map((name) => sql`, count(${sql.raw(quoteName(name))}) AS ${sql.raw(quoteName(name))}`);
  const columns = names.map((name) => sql`, ${columnOf(user, name)} AS ${sql.raw(quoteName(name))}`);
  // Field names begin with a letter, so none is `#`.
  const row = await tx.one<Record<string, number | bigint>>(sql`
    SELECT count(*) AS "#"${sql.join(aggregates, sql``)}
    FROM (SELECT ${columnOf(user, 'id')} AS "#"${sql.join(columns, sql``)} FROM ${recordsOf(user)} WHERE ${tx.dialect.deadlineCheck(tableOf(user))} AND "isActive" = TRUE LIMIT ${limit}) AS "counted"`);
  const counts = new Map(Object.entries(row ?? {}).map(([name, count]) => [name, Number(count)]));
  const counted = counts.get('#') ?? 0;
  return { counted, isComplete: counted < limit, withValue: new Map(names.map((name) => [name, counts.get(name) ?? 0])) };
}
