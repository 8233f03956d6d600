import { createId } from '../../ids.ts';
import { sql } from '../../sql.ts';
import type { Statement, Transaction } from '../contract.ts';

/** The revision of policies, assignments and definitions: everything that decisions depend on. */
export interface Revision {
  /** Increases with each change; audit entries and the policy history refer to it. */
  readonly number: number;
  /**
   * Identifies the revision. The number is not unique: after a rollback the next change gets the same number, and policies compiled for the
   * first must not be used for the second.
   */
  readonly stamp: string;
}

/**
 * Selects the current revision. Every transaction runs this statement, so it is one constant text without values that works on all
 * databases.
 */
export const CURRENT_REVISION: Statement = Object.freeze({
  sql: `SELECT "number", "text" FROM "_State" WHERE "id" = 'epoch'`,
  parameters: [],
  keepsRow: true,
  isLookup: true,
});

/** Loads the revision that this transaction sees; number 0 if there is none. */
export async function loadRevision(tx: Transaction): Promise<Revision> {
  return toRevision(await tx.one(CURRENT_REVISION));
}

/** Converts the row of `CURRENT_REVISION`. */
export function toRevision(row: Readonly<Record<string, unknown>> | undefined): Revision {
  const { number, text } = (row ?? {}) as Partial<RevisionRow>;
  return { number: number ?? 0, stamp: text ?? '' };
}

/** Returns true if `later` is the same revision, or a later one of the same history, which this transaction must see. */
export async function isInHistory(tx: Transaction, { number, stamp }: Revision, later: Revision): Promise<boolean> {
  if (stamp === later.stamp) return true;
  return number < later.number && (await tx.one(sql`SELECT "number" FROM "_Epoch" WHERE "id" = ${stamp}`)) !== undefined;
}

interface RevisionRow {
  readonly number: number;
  readonly text: string | null;
}

/** Loads the number of the current revision. */
export async function currentRevision(tx: Transaction): Promise<number> {
  return (await loadRevision(tx)).number;
}

/**
 * Serializes changes of policies and assignments. Each change calls it first, so that its reads (is the name free, does the policy exist)
 * stay true until it commits.
 */
export async function lockPolicies(tx: Transaction): Promise<void> {
  await tx.lock('policies');
}

/**
 * Creates a new revision and returns its number. Every change of the data that decisions depend on calls it once, in the same transaction.
 * Transactions that have read an older revision run again.
 */
export async function advanceRevision(tx: Transaction): Promise<number> {
  const stamp = createId();
  const at = new Date(tx.now).toISOString();
  // Sent together, and executed in this order. The row lock makes concurrent changes wait and then read the new revision.
  const [found, row] = await Promise.all([
    tx.one(sql`${sql.raw(CURRENT_REVISION.sql)}${tx.rowLock('noKeyUpdate')}`),
    tx.one<{ number: number }>(
      sql`INSERT INTO "_State" ("id", "number", "text") VALUES ('epoch', 1, ${stamp})
          ON CONFLICT ("id") DO UPDATE SET "number" = "_State"."number" + 1, "text" = excluded."text" RETURNING "number"`,
    ),
    tx.run(sql`INSERT INTO "_Epoch" ("id", "number", "at") SELECT ${stamp}, "number", ${at} FROM "_State" WHERE "id" = 'epoch'`),
  ]);
  if (row === undefined) throw new Error('the revision was not returned');
  tx.addToWriteSet({ revision: toRevision(found).stamp });
  return row.number;
}

/** Creates a revision with a number above the given one, so that decisions under that number are never taken for current. */
export async function advanceRevisionAbove(tx: Transaction, number: number): Promise<number> {
  await tx.run(
    sql`INSERT INTO "_State" ("id", "number") VALUES ('epoch', ${number})
        ON CONFLICT ("id") DO UPDATE SET "number" = excluded."number" WHERE excluded."number" > "_State"."number"`,
  );
  return advanceRevision(tx);
}
