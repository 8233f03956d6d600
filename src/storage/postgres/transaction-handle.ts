import type { Problem } from '../../errors.ts';
import type { Sql } from '../../sql.ts';
import type { WriterLease } from '../chain-writers.ts';
import { CollectedAppends } from '../collected-appends.ts';
import {
  type AppendStatements,
  type Change,
  type FirstRows,
  oneOfEach,
  type PendingAppend,
  type Query,
  type RowLock,
  type Transaction,
} from '../contract.ts';
import type { ReadSet, WriteSet } from '../read-set.ts';
import { createReadWriteSet, type ReadWriteSet, type ReadWriteSetBuilder } from '../read-write-set.ts';
import type { RowInsertion, RowUpdate, RowUpdateOptions } from '../row-writes.ts';
import type { PendingSavepoints, SavepointHost } from '../savepoints.ts';
import { type QueryResult, toStatement } from './connection.ts';
import type { DeferredWrite } from './deferred-writes.ts';
import { ROW_LOCKS, takeInOrder } from './locks.ts';
import { insertRow, updateRow, type WritingWork } from './optimistic-writes.ts';
import { SLOT_COUNT } from './pool.ts';
import { postgresDialect } from './sql-dialect.ts';
import { createTimedStatements, type TimedContext, type TimedStatements } from './timed-statements.ts';

/** The parts of one attempt at a unit of work. */
export interface TransactionContext extends TimedContext {
  /** The lease of the chain writer for the rows that the attempt appends. */
  readonly lease: WriterLease;
  /** True if the transaction holds all locks of commit validation since its beginning: nothing that it reads can change. */
  readonly blocksWriters: boolean;
}

/** The part of a unit of work that is done at commit: rows to append, writes of rows, and the read and write sets to validate. */
export interface CommitRequest {
  readonly appends: readonly PendingAppend[];
  readonly deferred: readonly DeferredWrite[];
  readonly sets: ReadWriteSet;
}

/** A transaction as a unit of work uses it. */
export interface OpenTransaction {
  readonly tx: Transaction;
  /** Returns the part to be done at commit. Throws if a savepoint is still open. */
  end(): CommitRequest;
}

/** Creates the handle that one unit of work gets. */
export function openTransaction(context: TransactionContext, now: number): OpenTransaction {
  return new Work(context, now);
}

/** Matches statements that only read and need no transaction; for a SELECT with a row lock, `rowLock` has begun one. */
const SELECT = /^\s*SELECT\b/i;

/**
 * The state of a unit of work: its statements, its sets, and the rows that it appends at its end. The transaction begins with the first statement
 * that does more than read.
 *
 * A class like the handle, because each request opens two transactions: object literals with getters and closures would have hidden classes
 * of their own.
 */
class Work implements OpenTransaction, SavepointHost, WritingWork {
  readonly tx: Transaction;
  readonly context: TransactionContext;
  readonly sets: ReadWriteSetBuilder = createReadWriteSet();
  readonly collected: CollectedAppends;
  readonly statements: TimedStatements;
  readonly deferred: DeferredWrite[] = [];
  hasChangedUsers = false;

  constructor(context: TransactionContext, now: number) {
    this.context = context;
    this.statements = createTimedStatements(context);
    this.collected = new CollectedAppends(this);
    this.tx = Object.freeze(new PostgresTransaction(this, now));
  }

  end(): CommitRequest {
    return { appends: this.collected.end(), deferred: this.deferred, sets: this.sets.build() };
  }

  isOver(): boolean {
    return this.context.state.ended || this.context.state.broken;
  }

  get savepoints(): PendingSavepoints {
    return this.context.lazy;
  }

  check(): void {
    this.context.state.check();
  }

  /** False if the unit of work runs again, perhaps because a row without a lock had changed. */
  get canBeOptimistic(): boolean {
    const { limits } = this.context;
    return limits?.attempt === 'short' && this.statements.staleAttempts === 0;
  }

  /** Defers a write until the commit. Returns false if it cannot be deferred, or if the transaction has written or locked already. */
  defer(write: () => DeferredWrite | undefined): boolean {
    this.check();
    const deferred = this.context.lazy.isWriting ? undefined : write();
    if (deferred === undefined) return false;
    // The second write of a row or unique value would fail the shared commit.
    if (deferred.holds.some((hold) => this.deferred.some(({ holds }) => holds.includes(hold)))) throw this.markStale();
    this.deferred.push(deferred);
    return true;
  }

  announceLock(): void {
    this.check();
    // The statement would not see deferred writes. One that only reads may follow: rows that later requests could read are not deferred.
    if (this.deferred.length > 0) throw this.markStale();
    this.context.lazy.write();
  }

  announceWrite(): void {
    this.announceLock();
    this.context.state.wrote = true;
  }

  async query(text: Query): Promise<QueryResult> {
    this.check();
    const statement = toStatement(text);
    if (!SELECT.test(statement.sql)) this.announceWrite();
    return this.statements.query(statement);
  }

  requireSame(isSame: boolean): void {
    this.check();
    if (!isSame) throw this.markStale();
  }

  markStale(): Problem {
    return this.context.state.markStale();
  }
}

/** The handle of a unit of work. References need no notes: a row lock of the referenced record excludes its deletion, and the other way round. */
class PostgresTransaction implements Transaction {
  readonly dialect = postgresDialect;
  readonly now: number;
  readonly #work: Work;

  constructor(work: Work, now: number) {
    this.now = now;
    this.#work = work;
  }

  slot(): number {
    return this.#work.context.connection.slot() % SLOT_COUNT;
  }

  get validatesReads(): boolean {
    return !this.#work.context.blocksWriters;
  }

  get attempt(): Transaction['attempt'] {
    return this.#work.statements.attempt;
  }

  get staleAttempts(): number {
    return this.#work.statements.staleAttempts;
  }

  get retained(): Map<string, unknown> {
    return this.#work.statements.retained;
  }

  // The caller declares the type of the rows.
  async all<Row>(text: Query): Promise<readonly Row[]> {
    return (await this.#work.query(text)).rows as readonly Row[];
  }

  async one<Row>(text: Query): Promise<Row | undefined> {
    return (await this.#work.query(text)).rows[0] as Row | undefined;
  }

  oneOfEach(queries: readonly (Query | undefined)[]): Promise<FirstRows> {
    return oneOfEach(this, queries);
  }

  async run(text: Query): Promise<Change> {
    this.#work.announceWrite();
    const { changes } = await this.#work.query(text);
    return { changes };
  }

  get canBeOptimistic(): boolean {
    return this.#work.canBeOptimistic;
  }

  get hasChangedUsers(): boolean {
    return this.#work.hasChangedUsers;
  }

  updateRow(update: RowUpdate, options: RowUpdateOptions): Promise<boolean> {
    return updateRow(this.#work, update, options);
  }

  insertRow(insertion: RowInsertion): Promise<void> {
    return insertRow(this.#work, insertion);
  }

  append<Row>(statements: AppendStatements<Row>, rows: readonly Row[]): void {
    this.#work.collected.append(statements, rows);
  }

  /** A failed savepoint undoes rows and writes. */
  savepoint<T>(work: () => Promise<T>): Promise<T> {
    const { sets, collected, deferred } = this.#work;
    const [mark, count] = [sets.mark, deferred.length];
    return collected.savepoint(work, () => {
      sets.undoTo(mark);
      deferred.length = count;
    });
  }

  async lock(...names: readonly string[]): Promise<void> {
    this.#work.announceLock();
    const sorted = names.toSorted();
    for (const name of sorted) this.#work.context.state.addLock(name);
    await this.#work.query(takeInOrder(sorted));
  }

  rowLock(lock: RowLock): Sql {
    this.#work.announceLock();
    return ROW_LOCKS[lock];
  }

  addToReadSet(readSet: ReadSet): void {
    this.#work.requireSame(this.#work.sets.addToReadSet(readSet));
  }

  addToWriteSet(writeSet: WriteSet): void {
    const { sets, context } = this.#work;
    this.#work.hasChangedUsers ||= writeSet.users !== undefined || writeSet.endedSessionsOf !== undefined;
    const isSame = sets.addToWriteSet(writeSet);
    if (sets.needsBlocking) throw context.state.markBlocking();
    this.#work.requireSame(isSame);
  }

  watched(resource: string): ReturnType<Transaction['watched']> {
    const { watch } = this.#work.sets;
    return watch === undefined ? 'unknown' : watch.get(resource);
  }

  withoutTimeLimit<T>(work: () => Promise<T>): Promise<T> {
    return this.#work.statements.withoutTimeLimit(work);
  }

  beginInMemory(): void {
    this.#work.statements.beginInMemory();
  }

  remaining(): number {
    return this.#work.statements.remaining();
  }

  limitTime(milliseconds: number): void {
    this.#work.statements.limitTime(milliseconds);
  }

  checkTime(): Promise<void> {
    return this.#work.statements.checkTime();
  }

  noteReferences(): void {
    // A row lock of the referenced record is enough.
  }

  noteWritten(): void {
    // The write set contains the write.
  }

  async loadWriteState(): Promise<undefined> {
    return undefined;
  }

  async loadReferenceState(): Promise<string> {
    return '';
  }

  async requireNoNewReferences(): Promise<void> {
    // A row lock of the referenced record is enough.
  }
}
