import { sql } from '../../sql.ts';
import type { RowLock, Transaction } from '../contract.ts';
import { idList } from '../table-names.ts';

/** Returns the ids that no user has. */
export function findUnknownUsers(tx: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  return findUnknown(tx, ids);
}

/** Locks the users with these ids against deletion, and returns the ids that no user has. */
export function lockUsers(tx: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  return findUnknown(tx, ids, 'keyShare');
}

async function findUnknown(tx: Transaction, ids: readonly string[], lock?: RowLock): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const held = lock === undefined ? sql`` : tx.rowLock(lock);
  const these = sql`"id" IN ${idList(tx.dialect, ids)}`;
  // Locks the users in the order of their ids, so that two imports do not deadlock.
  const rows = await tx.all<{ readonly id: string }>(sql`SELECT "id" FROM "User" WHERE ${these} ORDER BY "id"${held}`);
  const known = new Set(rows.map(({ id }) => id));
  return new Set(ids.filter((id) => !known.has(id)));
}
