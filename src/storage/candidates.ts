import { fromRow, type Resource, type Row, type StoredRecord } from '../resource/index.ts';
import { sql } from '../sql/index.ts';
import type { Transaction } from './database.ts';
import { recordsOf, selectionOf } from './names.ts';

/** Which users are looked for. */
export interface CandidateQuery {
  /** Those of these roles, whatever is assigned to them. */
  readonly roles: readonly string[];
  /** The id behind which to begin. */
  readonly after?: string | undefined;
  /** Users that are looked at, at most. */
  readonly stretch: number;
}

/** Some of the users, in the order of their ids. */
export interface Candidates {
  readonly users: readonly StoredRecord[];
  /** The last id that was looked at; absent where there is none behind it. */
  readonly last?: string;
}

/**
 * The active users of some roles, and those of any role that have a policy of their own, of a stretch of all users. It costs
 * what the stretch costs, whoever is in it: without the inner limit, a rare role would mean to look through everyone.
 */
export async function loadCandidates(tx: Transaction, user: Resource, query: CandidateQuery): Promise<Candidates> {
  const { roles, after = '', stretch } = query;
  const table = recordsOf(user);
  const bound = sql`WHERE "id" > ${after} ORDER BY "id" LIMIT ${stretch}`;
  const ends = await tx.one<{ last: string | null; count: number }>(
    sql`SELECT max("id") AS "last", count(*) AS "count" FROM (SELECT "id" FROM ${table} ${bound}) AS "stretch"`,
  );
  const ofRole = roles.length === 0 ? sql`FALSE` : sql`"role" IN (${sql.join(roles)})`;
  const rows = await tx.all<Row>(sql`
    SELECT * FROM (SELECT ${selectionOf(user)} FROM ${table} ${bound}) AS "stretch"
    WHERE "isActive" = TRUE AND (${ofRole} OR EXISTS (SELECT 1 FROM "_UserPolicy" WHERE "userId" = "stretch"."id"))
    ORDER BY "id"`);
  const users = rows.map((row) => fromRow(user, row));
  const isEnd = ends === undefined || ends.last === null || Number(ends.count) < stretch;
  return isEnd ? { users } : { users, last: String(ends.last) };
}
