/**
 * The hash of the policy history: each version extends it, so the newest one binds every version before it. Each revision keeps its
 * own (`_Epoch`), and the audit entry of a change holds it: after an edited, removed or added version, the hashes no longer match.
 */
import { hash } from 'node:crypto';
import { type Row, toRow } from '../resource/index.ts';
import { sql } from '../sql/index.ts';
import type { Transaction } from './database.ts';
import { POLICY_TABLES, toPlain } from './policy-tables.ts';

/** A revision that changed policies or assignments, and the hash of the history up to it. */
export interface HistoryHead {
  readonly revision: number;
  readonly hash: string;
}

/** The columns of a version that its hash covers, in this order: all but `toEpoch`, which the next version sets. */
export const VERSION_CONTENT = ['id', 'kind', 'subjectId', 'userId', 'fromEpoch', 'value', 'changedBy', 'changedAt'] as const;

/** Domain separator: the first member of the hashed text, so that no hash of another kind can replace this one. */
const VERSION = 'bailiwick policy version 1';

/** The hash of the history that ends with a version, given the one before it (empty for the first). `value` is the JSON text that is stored. */
export function toVersionHash(previous: string, row: Row): string {
  const content = VERSION_CONTENT.map((name) => row[name] ?? null);
  return hash('sha256', JSON.stringify([VERSION, previous, ...content]), 'base64url');
}

/** Loads the current hash of the history; undefined before any version was hashed. */
export async function loadHistoryHead(tx: Transaction): Promise<HistoryHead | undefined> {
  const head = await tx.one<{ readonly number: number; readonly historyHash: string }>(
    sql`SELECT "number", "historyHash" FROM "_Epoch" WHERE "historyHash" IS NOT NULL ORDER BY "number" DESC NULLS LAST LIMIT 1`,
  );
  return head && { revision: Number(head.number), hash: head.historyHash };
}

/** Extends the hash by versions that a revision begins, in the order in which they were stored. The caller holds the revision. */
export async function extendHistoryHash(tx: Transaction, epoch: number, versions: readonly object[]): Promise<void> {
  const head = await loadHistoryHead(tx);
  const extended = versions.reduce<string>(
    (previous, version) => toVersionHash(previous, toRow(POLICY_TABLES.history, toPlain(version))),
    head?.hash ?? '',
  );
  await tx.run(sql`UPDATE "_Epoch" SET "historyHash" = ${extended} WHERE "number" = ${epoch}`);
}
