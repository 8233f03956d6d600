import type { Writers } from '../chain-writers.ts';
import { findingOf, type PendingResults, statementsOf, type Transaction } from '../contract.ts';
import { internal } from '../savepoints.ts';
import { HOLD_ALL, toCommitValidation } from './commit-validation.ts';
import { type Connection, toStatement } from './connection.ts';
import { fromDriver, type Passing } from './driver-error.ts';
import type { InDoubtCommit } from './in-doubt-commit.ts';
import { createLazyTransaction, type TransactionStart } from './lazy-transaction.ts';
import { areNone, type ReadSet } from './read-set.ts';
import { type Left, openTransaction, type Parts } from './transaction-handle.ts';
import { createTransactionState } from './transaction-state.ts';

/**
 * When the transaction begins: where it first writes (`late`), at once and together with what the work asks first (`ahead`), or before
 * anything else (`first`). Only the last knows what time it is on the server, and that there is a transaction.
 */
export type Start = 'late' | 'ahead' | 'first';

/** How one attempt at a work goes on. */
export interface TransactionAttempt extends TransactionStart {
  /** Those who append. */
  readonly writers: Writers;
  readonly start: Start;
  /** Whether nobody else may change what it might rest on, from the beginning: for one that was run again too often. */
  readonly holdsAll?: boolean;
  /** Names that it waits for before anything else: those that it waited for in vain when it was run before. */
  readonly locks?: readonly string[];
  /** Of one that appends what others leave: what each of them rests on. */
  readonly others?: readonly ReadSet[];
}

/** What became of one attempt at a work. */
export type TransactionOutcome<T> =
  | {
      readonly answer: T;
      readonly wrote: boolean;
      /** What its COMMIT took, and what went with it, in milliseconds. */
      readonly ms: number;
      /** Its answer is not to be given before this is committed. */
      readonly left?: Left;
      /** Whether the connection must not be used again. */
      readonly broken?: boolean;
    }
  | {
      readonly error: unknown;
      /** Where it may help to try again. */
      readonly passing: Passing | undefined;
      /** Whether the connection must not be used again. */
      readonly broken: boolean;
      /** Names that it has waited for. */
      readonly locks?: readonly string[];
      /** Where nobody knows whether it was committed: how to find out, and the answer if it was. */
      readonly doubt?: { readonly answer: T; readonly about: InDoubtCommit };
    };

/** Runs a work and commits what it wrote. Never throws. */
export async function attempt<T>(
  connection: Connection,
  how: TransactionAttempt,
  work: (tx: Transaction) => Promise<T>,
): Promise<TransactionOutcome<T>> {
  const course = createTransactionState();
  const span = createLazyTransaction(connection, course, how);
  const parts = { connection, course, span, loan: how.writers.lend() };
  const isGroup = how.others !== undefined;
  let doubt: { readonly answer: T; readonly about: InDoubtCommit } | undefined;
  try {
    if (how.start !== 'late') span.begin();
    if (how.start === 'first') await span.answered();
    const { tx, end } = openTransaction(parts, how.clock.now());
    for (const name of how.locks ?? []) await tx.lock(name);
    if (how.holdsAll) await holdAll(parts);
    const answer = await work(tx);
    const left = end();
    // A work may have got over what happened; the server has not.
    if (course.failure !== undefined && course.passing !== undefined) throw fromDriver(course.failure);
    if (!isGroup && !span.isWriting && left.appended.length > 0) {
      if (span.isBegun) await endLooking(parts);
      return { answer, wrote: false, ms: 0, left, broken: await isBroken(parts) };
    }
    const statements = left.appended.length === 0 ? [] : await statementsOf({ tx, writer: parts.loan.writer }, left.appended);
    // Where others append with it, ids tell what became of it.
    if (!isGroup) await span.answered();
    doubt = { answer, about: { number: span.number, find: findingOf(left.appended) } };
    // What was undone as a whole was never sent to be committed.
    const wrote = (course.wrote && span.isWriting) || statements.length > 0;
    const from = performance.now();
    await finish(parts, { statements, grounds: [left.grounds, ...(how.others ?? [])] });
    parts.loan.end('committed');
    return { answer, wrote, ms: performance.now() - from, broken: await isBroken(parts) };
  } catch (error) {
    parts.loan.failed(error);
    parts.loan.end(course.committing && course.lost ? 'unknown' : 'undone');
    const undone = course.committing ? !course.broken : !span.isBegun || (await rollback(connection));
    const failed = { error, passing: course.passing, broken: !undone || (await isBroken(parts)), locks: [...course.locks] };
    return doubt !== undefined && course.committing && course.lost ? { ...failed, doubt } : failed;
  } finally {
    course.ended = true;
  }
}

/** Whether nobody knows what the server is in the midst of. */
async function isBroken({ course, span }: Parts): Promise<boolean> {
  return !(await span.isUndone()) || course.broken;
}

/** Written in this transaction, and not handed on to others: they might wait for whoever waits for it. */
async function holdAll({ connection, course, span }: Parts): Promise<void> {
  span.write();
  await course.follow(() => connection.ask(toStatement(HOLD_ALL)));
}

/** What is sent last of all. */
interface Ending {
  readonly statements: readonly PendingResults[];
  readonly grounds: readonly ReadSet[];
}

/** All was told that was asked, and it is looked at again where its entry is committed: that the connection is lost by now changes nothing. */
async function endLooking(parts: Parts): Promise<void> {
  const wasLost = parts.course.lost;
  try {
    await finish(parts, { statements: [], grounds: [] });
  } catch (error) {
    if (wasLost || !parts.course.lost) throw error;
  }
}

/** What is left to be written, the guard, and COMMIT, in one flight: where one of them fails, COMMIT rolls back. */
async function finish({ connection, course, span }: Parts, { statements, grounds }: Ending): Promise<void> {
  const guards = grounds.every(areNone) ? [] : [toCommitValidation(grounds)];
  // Whatever cannot be sent is refused before anything is.
  const asked = [...statements, ...guards].map(toStatement);
  course.ended = true;
  course.committing = span.isBegun;
  await course.follow(async () => {
    const answers = asked.map((statement) => connection.ask(statement));
    const committed = span.isBegun ? connection.send('COMMIT') : undefined;
    await Promise.allSettled([...answers, committed]);
    await span.answered();
    for (const answer of answers) await answer;
    // COMMIT after a statement that failed rolls back, and says so only here.
    if (committed !== undefined && (await committed).command !== 'COMMIT') throw course.failure ?? internal('COMMIT rolled back');
  });
}

async function rollback(connection: Connection): Promise<boolean> {
  try {
    await connection.send('ROLLBACK');
    return true;
  } catch {
    // The server rolls back what a lost connection leaves behind.
    return false;
  }
}
