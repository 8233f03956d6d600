import { sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';

/** The logins of a user, as far as they are stored. */
export interface UserActivity {
  /** Time of the last login. Absent without a login in the last 90 days. */
  readonly lastLoginAt?: string;
  /** True if the user has an open session. */
  readonly hasSession: boolean;
}

/** Loads the activity of users. The result contains an item for each id. */
export async function loadUserActivity(tx: Transaction, ids: readonly string[]): Promise<ReadonlyMap<string, UserActivity>> {
  if (ids.length === 0) return new Map();
  const these = sql`"userId" in (${sql.join(ids)})`;
  const logins = await tx.all<{ readonly userId: string; readonly at: string }>(
    sql`select "userId", max("lastAt") as "at" from "_LoginAddress" where ${these} group by "userId"`,
  );
  const now = new Date(tx.now).toISOString();
  const open = await tx.all<{ readonly userId: string }>(
    sql`select distinct "userId" from "_Session" where ${these} and "revokedAt" is null and "expiresAt" > ${now}`,
  );
  const lastLogins = new Map(logins.map(({ userId, at }) => [userId, at]));
  const withSession = new Set(open.map(({ userId }) => userId));
  return new Map(
    ids.map((id) => {
      const lastLoginAt = lastLogins.get(id);
      return [id, { ...(lastLoginAt !== undefined && { lastLoginAt }), hasSession: withSession.has(id) }];
    }),
  );
}
