import type { ChainWriters } from '../chain-writers.ts';
import { type Query, type Statement, type Transaction, toAppendStatements, toFindStatement } from '../contract.ts';
import type { ReadWriteSet } from '../read-write-set.ts';
import { internal } from '../savepoints.ts';
import { toCommitStatements } from './commit-statements.ts';
import { BLOCK_ALL_WRITERS, lockNamesOf } from './commit-validation.ts';
import { type AttemptConnection, toStatement } from './connection.ts';
import type { DeferredWrite } from './deferred-writes.ts';
import { fromDriver, isCancelled, isConnectionLost, type RetryReason } from './driver-error.ts';
import type { InDoubtCommit } from './in-doubt-commit.ts';
import { createLazyTransaction, type TransactionStart } from './lazy-transaction.ts';
import type { CheckOptions } from './relation-checks.ts';
import type { AttemptLimits } from './timed-statements.ts';
import { type CommitRequest, openTransaction, type TransactionContext } from './transaction-handle.ts';
import { createTransactionState } from './transaction-state.ts';

/**
 * The time of BEGIN: with the first write (`lazy`), at once and in one message with the first statement (`pipelined`), or before
 * anything else, awaiting its answer (`eager`). Only `eager` reads the server's clock and knows that the transaction is open.
 */
export type BeginMode = 'lazy' | 'pipelined' | 'eager';

/** The inputs of one attempt at a unit of work. */
export interface TransactionAttempt extends TransactionStart {
  /** The chain writers of this process. */
  readonly writers: ChainWriters;
  readonly beginMode: BeginMode;
  /** True to block all commits that could make the read set stale, after too many retries of the unit of work. */
  readonly blocksWriters?: boolean;
  /** Names to lock before anything else: the names that a previous attempt with a stale read set locked. */
  readonly locks?: readonly string[];
  /** The time limits of the attempt; undefined for work without limits. */
  readonly limits?: AttemptLimits | undefined;
  /** For a commit batch: the units of work in it. */
  readonly batch?: BatchedWork | undefined;
}

/** The deferred writes and the sets of units of work that commit together, and how the sets are validated. */
interface CommittedWork extends CheckOptions {
  readonly sets: readonly ReadWriteSet[];
  readonly deferred: readonly DeferredWrite[];
}

/** The units of work in a commit batch. */
export interface BatchedWork extends CommittedWork {
  /** True if a check can take long. */
  readonly isSlow: boolean;
  /** Maximum milliseconds of a statement; undefined for the limit of all statements. */
  readonly statementLimit: number | undefined;
}

/** The outcome of one attempt at a unit of work. */
export type TransactionOutcome<T> =
  | {
      readonly answer: T;
      readonly wrote: boolean;
      /** Milliseconds for COMMIT and the statements sent with it. */
      readonly ms: number;
      /** The part still to be committed before the answer may be given. */
      readonly pending?: CommitRequest;
      /** True if the connection must not be used again. */
      readonly broken?: boolean;
    }
  | {
      readonly error: unknown;
      /** The reason why a retry may succeed; undefined if it cannot. */
      readonly retryReason: RetryReason | undefined;
      /** True if the connection must not be used again. */
      readonly broken: boolean;
      /** Names that the attempt locked. */
      readonly locks?: readonly string[];
      /** True if the next attempt must block writers. */
      readonly needsBlocking?: boolean;
      /** Set if the commit is in doubt: the data to find its outcome, and the answer to return if it succeeded. */
      readonly inDoubt?: { readonly answer: T; readonly commit: InDoubtCommit };
    };

/** Runs a unit of work and commits its writes; rows appended without other writes are returned as `pending`. Never throws. */
export async function attempt<T>(
  connection: AttemptConnection,
  options: TransactionAttempt,
  work: (tx: Transaction) => Promise<T>,
): Promise<TransactionOutcome<T>> {
  const state = createTransactionState();
  const { limits, blocksWriters = false } = options;
  const lazy = createLazyTransaction(connection, state, { ...options, isShort: limits?.attempt === 'short' });
  const context = { connection, state, lazy, lease: options.writers.lease(), limits, blocksWriters };
  const { batch } = options;
  const isBatch = batch !== undefined;
  let inDoubt: { readonly answer: T; readonly commit: InDoubtCommit } | undefined;
  try {
    if (options.beginMode !== 'lazy') lazy.begin(options.beginMode === 'eager' || !options.clock.isRecent);
    if (options.beginMode === 'eager') await lazy.awaitBegin();
    const opened = openTransaction(context, options.clock.now());
    for (const name of options.locks ?? []) await opened.tx.lock(name);
    if (blocksWriters) await blockAllWriters(context);
    const answer = await work(opened.tx);
    const request = opened.end();
    // The unit of work may have caught an error after which it must run again. Other errors that it caught, such as a violated constraint, were
    // rolled back to a savepoint; if they were not, COMMIT reports the rollback.
    if (state.failure !== undefined && state.retryReason !== undefined) throw fromDriver(state.failure);
    if (!isBatch && !lazy.isWriting && request.appends.length > 0) {
      if (lazy.isBegun) await endReadOnly(context);
      return { answer, wrote: false, ms: 0, pending: request, broken: await isBroken(context) };
    }
    const statements =
      request.appends.length === 0 ? [] : await toAppendStatements({ tx: opened.tx, writer: context.lease.writer() }, request.appends);
    // For a batch the ids of its rows show whether it was committed, so the transaction id is not awaited.
    if (!isBatch) await awaitTransactionId(context, request);
    inDoubt = { answer, commit: { transactionId: lazy.transactionId, find: toFindStatement(request.appends) } };
    // If a rollback to a savepoint has undone the whole transaction, there is nothing to commit.
    const wrote = (state.wrote && lazy.isWriting) || statements.length + request.deferred.length > 0;
    const start = performance.now();
    await commit(context, { statements, ...toCommittedWork(request, batch) });
    context.lease.end('committed');
    return { answer, wrote, ms: performance.now() - start, broken: await isBroken(context) };
  } catch (error) {
    context.lease.noteError(error);
    context.lease.end(state.committing && state.lost ? 'unknown' : 'undone');
    const isSafelyEnded = state.committing ? !state.broken : !lazy.isBegun || (await rollBack(connection));
    const broken = !isSafelyEnded || (await isBroken(context));
    const { needsBlocking } = state;
    const failed = { error, retryReason: state.retryReason, broken, locks: state.locks, needsBlocking };
    return inDoubt !== undefined && state.committing && state.lost ? { ...failed, inDoubt } : failed;
  } finally {
    state.ended = true;
  }
}

/** Without appended rows, only the transaction id shows whether deferred writes were committed. */
function awaitTransactionId({ lazy }: TransactionContext, { deferred }: CommitRequest): Promise<void> {
  if (deferred.length > 0) lazy.write();
  return lazy.awaitBegin();
}

/** Returns the deferred writes and the sets of a commit: those of its unit of work, and of the others in its batch. */
function toCommittedWork({ deferred, sets }: CommitRequest, batch: BatchedWork | undefined): CommittedWork {
  if (batch === undefined) return { deferred, sets: [sets], comparesLists: true };
  return { ...batch, sets: [sets, ...batch.sets] };
}

/** Returns true if the connection must not be used again, because its state on the server is unknown. */
function isBroken({ state, lazy }: TransactionContext): boolean | Promise<boolean> {
  const succeeded = lazy.rollbacksSucceeded();
  return succeeded === true ? state.broken : succeeded.then((all) => !all || state.broken);
}

/** Takes all validation locks in shared mode. The transaction appends its rows itself, because a batch would wait for the locks that it holds. */
async function blockAllWriters({ connection, state, lazy }: TransactionContext): Promise<void> {
  lazy.write();
  await state.follow(connection.query(toStatement(BLOCK_ALL_WRITERS)));
}

/** The last statements of a transaction. */
interface CommitStatements extends CommittedWork {
  readonly statements: readonly Query[];
}

/** Ends a transaction that only read. Losing the connection here is no error: the reads are validated again when the audit entry is committed. */
async function endReadOnly(context: TransactionContext): Promise<void> {
  const wasLost = context.state.lost;
  try {
    await commit(context, { statements: [], deferred: [], sets: [], comparesLists: true });
  } catch (error) {
    if (wasLost || !context.state.lost) throw error;
  }
}

/** Sends the remaining statements, commit validation and COMMIT in one message. If one of them fails, COMMIT rolls back. */
async function commit(context: TransactionContext, { statements, sets, ...others }: CommitStatements): Promise<void> {
  const { connection, state, lazy, limits } = context;
  // Units of work that wait for one record would each find a stale read set, so a retry takes these locks before it reads.
  for (const name of lockNamesOf(sets)) state.addLock(name);
  // A value that cannot be sent is refused here, before any statement is sent.
  const last = toCommitStatements(statements, sets, others).map(toStatement);
  state.ended = true;
  state.committing = lazy.isBegun;
  // Commit validation may wait for locks.
  if (limits !== undefined && last.length > 0) lazy.setTimeout(limits.statementTimeout);
  try {
    const results = last.map((statement) => connection.query(statement));
    const committed = lazy.isBegun ? connection.send('COMMIT') : undefined;
    const [answer] = await Promise.allSettled([committed, ...results]);
    // The server may cancel COMMIT before it begins, which leaves the transaction open.
    if (answer.status === 'rejected' && !isConnectionLost(answer.reason)) state.committing = false;
    await lazy.awaitBegin();
    if (await isEndedByRollback(context, answer, last)) return;
    for (const result of results) await result.catch((error) => throwEnded(error, context));
    // After a failed statement COMMIT rolls back without an error; only the command in its answer shows it.
    if (committed !== undefined && (await committed).command !== 'COMMIT') throw state.failure ?? internal('COMMIT rolled back');
  } catch (error) {
    throw state.toError(error);
  }
}

/** A busy server may cancel the COMMIT of a transaction that has only read. ROLLBACK ends it as well. */
async function isEndedByRollback(
  { connection, state, lazy }: TransactionContext,
  answer: PromiseSettledResult<unknown>,
  last: readonly Statement[],
): Promise<boolean> {
  if (answer.status === 'fulfilled' || !isCancelled(answer.reason)) return false;
  return !lazy.isWriting && last.length === 0 && state.failure === undefined && rollBack(connection);
}

/** Ends a short attempt if the server has cancelled its validation, which waited for locks without a transaction. */
function throwEnded(error: unknown, { state, lazy, limits }: TransactionContext): never {
  throw limits !== undefined && !lazy.isBegun && isCancelled(error) ? state.endAttempt(error) : error;
}

async function rollBack(connection: AttemptConnection): Promise<boolean> {
  try {
    await connection.send('ROLLBACK');
    return true;
  } catch {
    // The server rolls back the transaction of a lost connection by itself.
    return false;
  }
}
