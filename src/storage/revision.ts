import { createId } from '../ids.ts';
import { sql } from '../sql.ts';
import type { Statement, Transaction } from './contract.ts';

/** The version of everything decisions depend on. */
export interface Revision {
  /** Counts up, in the order of changes; entries and history name it. */
  readonly number: number;
  /**
   * Told apart by this, not by the number: a change that is undone, or whose commit fails, leaves its number to the next
   * change, and what was compiled under the one must not pass for the other.
   */
  readonly stamp: string;
}

/** Asked by every transaction: said once, without values, in words that every database understands. */
const CURRENT: Statement = Object.freeze({ sql: `SELECT "number", "text" FROM "_State" WHERE "id" = 'epoch'`, parameters: [] });

/** The epoch that this transaction sees; number 0 before there is one. */
export async function loadRevision(tx: Transaction): Promise<Revision> {
  return toRevision(await tx.one<RevisionRow>(CURRENT));
}

interface RevisionRow {
  readonly number: number;
  readonly text: string | null;
}

function toRevision(row: RevisionRow | undefined): Revision {
  return { number: row?.number ?? 0, stamp: row?.text ?? '' };
}

/** Its number alone. */
export async function currentRevision(tx: Transaction): Promise<number> {
  return (await loadRevision(tx)).number;
}

/**
 * Lets changes of policies and assignments go one after the other. Whoever makes one calls it first: what is read behind it (is the
 * name free, is the policy still there) is so until the change is committed.
 */
export async function lockPolicies(tx: Transaction): Promise<void> {
  await tx.lock('policies');
}

/**
 * Begins a new epoch and answers its number. Whoever changes what decisions depend on calls it once, in the same transaction: one that
 * rests on another epoch than it finds is run again.
 */
export async function advanceRevision(tx: Transaction): Promise<number> {
  // Held: others that begin one wait, and then find ours.
  const found = await tx.one<RevisionRow>(sql`${sql.raw(CURRENT.sql)}${tx.rowLock('noKeyUpdate')}`);
  const stamp = createId();
  const row = await tx.one<{ number: number }>(
    sql`INSERT INTO "_State" ("id", "number", "text") VALUES ('epoch', 1, ${stamp})
        ON CONFLICT ("id") DO UPDATE SET "number" = "_State"."number" + 1, "text" = excluded."text" RETURNING "number"`,
  );
  if (row === undefined) throw new Error('the epoch was not returned');
  const at = new Date(tx.now).toISOString();
  await tx.run(sql`INSERT INTO "_Epoch" ("id", "number", "at") VALUES (${stamp}, ${row.number}, ${at})`);
  tx.addToWriteSet({ revision: toRevision(found).stamp });
  return row.number;
}

/** The same, with a number above another one, too: what was decided under that must not pass for what is decided now. */
export async function advanceRevisionAbove(tx: Transaction, number: number): Promise<number> {
  await tx.run(
    sql`INSERT INTO "_State" ("id", "number") VALUES ('epoch', ${number})
        ON CONFLICT ("id") DO UPDATE SET "number" = excluded."number" WHERE excluded."number" > "_State"."number"`,
  );
  return advanceRevision(tx);
}
