import { type Sql, sql } from '../sql.ts';
import type { Transaction } from './contract.ts';

/** Numbers of users and policies. */
export interface StoredCounts {
  readonly users: number;
  /** Active admins. */
  readonly admins: number;
  readonly policies: number;
  readonly activePolicies: number;
}

/** Counts the users and the policies. */
export async function countUsersAndPolicies(tx: Transaction): Promise<StoredCounts> {
  const count = async (rows: Sql): Promise<number> => Number((await tx.one<{ count: number }>(rows))?.count ?? 0);
  return {
    users: await count(sql`SELECT count(*) AS "count" FROM "User"`),
    admins: await count(sql`SELECT count(*) AS "count" FROM "User" WHERE "role" = 'admin' AND "isActive" = TRUE`),
    policies: await count(sql`SELECT count(*) AS "count" FROM "_Policy"`),
    activePolicies: await count(sql`SELECT count(*) AS "count" FROM "_Policy" WHERE "isActive" = TRUE`),
  };
}
