import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import type { ReadWriteSet } from '../read-write-set.ts';
import { areRelationsCurrent } from './relation-validation.ts';

/**
 * Returns true if the read set of a long attempt is still current, by the same rules as `bailiwick_guard_1` on PostgreSQL. The transaction
 * holds the write lock, so the result stays true until its commit.
 */
export async function isCurrent(tx: Transaction, { revision, validUntil, users, sessions, relations }: ReadWriteSet): Promise<boolean> {
  if (Date.now() >= validUntil) return false;
  if (revision !== undefined && revision !== (await loadStamp(tx))) return false;
  for (const [id, version] of users) if (version !== (await loadUserVersion(tx, id))) return false;
  for (const id of sessions) if (!(await isOpenSession(tx, id))) return false;
  return relations === undefined || areRelationsCurrent(tx, relations);
}

async function loadStamp(tx: Transaction): Promise<string> {
  const row = await tx.one<{ text: string | null }>(sql`SELECT "text" FROM "_State" WHERE "id" = 'epoch'`);
  return row?.text ?? '';
}

async function loadUserVersion(tx: Transaction, id: string): Promise<number> {
  const row = await tx.one<{ version: number }>(sql`SELECT "version" FROM "User" WHERE "id" = ${id}`);
  return row?.version ?? 0;
}

async function isOpenSession(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.one(sql`SELECT 1 FROM "_Session" WHERE "id" = ${id} AND "revokedAt" IS NULL`)) !== undefined;
}
