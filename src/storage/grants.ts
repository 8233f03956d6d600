import { toGrants, type UserGrant, type UserPolicy } from '../policy/index.ts';
import { sql } from '../sql/index.ts';
import type { Transaction } from './database.ts';
import { idList } from './names.ts';

/** Users whose assignments one statement asks for. */
const USERS_PER_STATEMENT = 500;

/** What users are assigned as this transaction sees it, by user id; who is assigned nothing is not among them. */
export async function loadGrants(tx: Transaction, userIds: readonly string[]): Promise<ReadonlyMap<string, readonly UserGrant[]>> {
  const grants = new Map<string, readonly UserGrant[]>();
  for (let from = 0; from < userIds.length; from += USERS_PER_STATEMENT) {
    const assigned = await loadAssigned(tx, userIds.slice(from, from + USERS_PER_STATEMENT));
    for (const [userId, own] of Map.groupBy(assigned, (one) => one.userId)) grants.set(userId, toGrants(own));
  }
  return grants;
}

type AssignmentRow = Pick<UserPolicy, 'userId' | 'policyId' | 'expiresAt' | 'isActive'>;

async function loadAssigned(tx: Transaction, userIds: readonly string[]): Promise<readonly AssignmentRow[]> {
  const rows = await tx.all<{ readonly userId: string; readonly policyId: string; readonly expiresAt: string | null }>(
    sql`SELECT "userId", "policyId", "expiresAt" FROM "_UserPolicy" WHERE "userId" IN ${idList(tx.dialect, userIds)} AND "isActive" = TRUE`,
  );
  return rows.map(({ expiresAt, ...row }) => ({ ...row, expiresAt: expiresAt ?? undefined, isActive: true }));
}
