import { type Sql, sql } from '../../sql.ts';
import { AttemptEnded, type AttemptState, createStopwatch, type Stopwatch, TimeLimit } from '../attempt.ts';
import { CollectedAppends } from '../collected-appends.ts';
import type { AppendStatements, Change, FirstRows, PendingAppend, Query, RowLock, RowLockOptions, Transaction } from '../contract.ts';
import type { ReadSet, WriteSet } from '../read-set.ts';
import { type RowInsertion, type RowUpdate, updateSql } from '../row-writes.ts';
import { internal, type PendingSavepoints, type SavepointHost } from '../savepoints.ts';
import type { BatchAttempt } from './batch-attempt.ts';
import type { Connection } from './connection.ts';
import { StatementTimeout, unavailable } from './driver-error.ts';
import { loadReferenceState, loadWriteState } from './reference-log.ts';
import { sqliteDialect } from './sql-dialect.ts';

/** The transaction handle of a unit of work, and the function that makes it unusable. */
export interface OpenTransaction {
  readonly tx: Transaction;
  /** Returns the reason why the attempt has ended before its unit of work; undefined if it has not. The unit of work may have caught it. */
  ended(): AttemptEnded | undefined;
  /** Makes the handle throw from now on, and returns the rows to append. Throws if a savepoint is still open. */
  end(): readonly PendingAppend[];
}

/** Creates the handle with which one unit of work uses the open transaction of the connection. */
export function openTransaction(connection: Connection, attempt: BatchAttempt): OpenTransaction {
  return new BatchWork(connection, attempt);
}

/**
 * The state of a unit of work: its time, and the checks that it uses its handle only until its end. When the time of a short attempt is up,
 * the attempt ends; later statements of a writer fail.
 *
 * A class like the handle, because each request opens two transactions: object literals with getters and closures would have hidden classes
 * of their own.
 */
class BatchWork implements OpenTransaction, SavepointHost {
  readonly tx: Transaction;
  readonly collected: CollectedAppends;
  readonly stopwatch: Stopwatch;
  readonly #connection: Connection;
  readonly #attempt: BatchAttempt;
  readonly #milliseconds: number;
  #begun = performance.now();
  /** The write statements of the connection before the attempt. */
  readonly #writes: number;
  #isLocking = false;
  #isEnded = false;
  #ended: AttemptEnded | undefined;

  constructor(connection: Connection, attempt: BatchAttempt) {
    this.#connection = connection;
    this.#attempt = attempt;
    this.#writes = connection.writes;
    const milliseconds = attempt.begin();
    this.#milliseconds = milliseconds;
    this.stopwatch = createStopwatch(() => milliseconds);
    this.collected = new CollectedAppends(this);
    this.tx = Object.freeze(new BatchTransaction(this, connection, attempt));
    connection.savepoints.endAttempt = attempt.sendsNested ? undefined : () => this.#endForNested();
    connection.deadline.timer = milliseconds === Number.POSITIVE_INFINITY ? undefined : this.stopwatch;
  }

  ended(): AttemptEnded | undefined {
    return this.#ended;
  }

  isOver(): boolean {
    return this.#isEnded || !this.#connection.inTransaction;
  }

  get savepoints(): PendingSavepoints {
    return this.#connection.savepoints;
  }

  check(): void {
    if (this.#isEnded) throw internal('a transaction was used after its end');
    if (this.#ended !== undefined) throw this.#ended;
    // SQLite rolled back by itself. Outside of a transaction each statement would commit on its own.
    if (this.isOver()) throw unavailable(new Error('the transaction was rolled back by the database'));
  }

  /** Notes that the unit of work will write. */
  lock(): void {
    this.check();
    this.#isLocking = true;
  }

  /** Ends a short attempt, and returns the error to throw. */
  timeIsUp(): Error {
    if (this.#attempt.attempt === 'writer') return new TimeLimit(this.#milliseconds);
    if (this.#ended !== undefined) return this.#ended;
    this.#attempt.end?.(performance.now() - this.#begun);
    // What was written or locked must not be done twice, so the next attempt is the one that may write.
    return this.endWith(this.#connection.writes > this.#writes || this.#isLocking ? 'writer' : 'long');
  }

  /** Ends a short attempt that needs nested savepoints. */
  #endForNested(): void {
    this.#attempt.needNested?.();
    this.endWith('writer');
  }

  /** Ends the attempt before its unit of work, and returns the error to throw. */
  endWith(next: AttemptEnded['next']): AttemptEnded {
    this.#ended ??= new AttemptEnded(next);
    return this.#ended;
  }

  checkTime(): void {
    if (this.#ended !== undefined) throw this.#ended;
    this.stopwatch.addLap();
    if (this.stopwatch.remaining === 0) throw this.timeIsUp();
  }

  /** Runs work of the service, which is no lost time of the caller if the attempt ends later. */
  async withoutTimeLimit<T>(work: () => Promise<T>): Promise<T> {
    const begun = performance.now();
    try {
      return await this.stopwatch.pauseDuring(work);
    } finally {
      this.#begun += performance.now() - begun;
    }
  }

  /** Ends the attempt if a statement has timed out. Returns the error to throw. */
  toError(error: unknown): unknown {
    return error instanceof StatementTimeout ? this.timeIsUp() : error;
  }

  end(): readonly PendingAppend[] {
    this.#isEnded = true;
    this.#connection.deadline.timer = undefined;
    return this.collected.end();
  }
}

const NO_LOCK = sql``;
const NO_OPTIONS: RowLockOptions = {};

/** The handle of a unit of work. SQLite allows one writer, so no other transaction can lock or change what this one reads. */
class BatchTransaction implements Transaction {
  readonly dialect = sqliteDialect;
  readonly now = Date.now();
  /** The transaction holds the write lock. */
  readonly validatesReads = false;
  readonly canBeOptimistic = false;
  #hasChangedUsers = false;
  readonly attempt: BatchAttempt['attempt'];
  readonly staleAttempts = 0;
  readonly retained: Map<string, unknown>;
  /** The records that the policies watch; undefined if the unit of work has not read the policies. */
  #watch: ReadSet['watch'];
  readonly #work: BatchWork;
  readonly #connection: Connection;
  readonly #state: AttemptState;

  constructor(work: BatchWork, connection: Connection, { attempt, state }: BatchAttempt) {
    this.attempt = attempt;
    this.retained = state.retained;
    this.#work = work;
    this.#connection = connection;
    this.#state = state;
  }

  // The caller declares the type of the rows.
  async all<Row>(query: Query): Promise<readonly Row[]> {
    return this.#checked(this.#connection.all, query) as readonly Row[];
  }

  async one<Row>(query: Query): Promise<Row | undefined> {
    return this.#checked(this.#connection.one, query) as Row | undefined;
  }

  async oneOfEach(queries: readonly (Query | undefined)[]): Promise<FirstRows> {
    return queries.map((query) => query && this.#checked(this.#connection.one, query));
  }

  async run(query: Query): Promise<Change> {
    return this.#checked(this.#connection.run, query);
  }

  async updateRow(update: RowUpdate): Promise<boolean> {
    return (await this.run(updateSql(update))).changes > 0;
  }

  async insertRow({ statement }: RowInsertion): Promise<void> {
    await this.run(statement);
  }

  /** Runs a synchronous query. Its errors reject the promise of the method instead of being thrown. */
  #checked<Answer>(run: (query: Query) => Answer, query: Query): Answer {
    this.#work.check();
    try {
      return run(query);
    } catch (error) {
      throw this.#work.toError(error);
    }
  }

  // The rows of a whole commit batch are written together, with few statements, after its last unit of work.
  append<Row>(statements: AppendStatements<Row>, rows: readonly Row[]): void {
    this.#work.collected.append(statements, rows);
  }

  savepoint<T>(work: () => Promise<T>): Promise<T> {
    return this.#work.collected.savepoint(work);
  }

  async lock(): Promise<void> {
    this.#work.lock();
  }

  rowLock(_lock: RowLock, { beforeSearch = false }: RowLockOptions = NO_OPTIONS): Sql {
    if (beforeSearch) this.#work.check();
    else this.#work.lock();
    return NO_LOCK;
  }

  addToReadSet({ watch }: ReadSet): void {
    this.#work.check();
    this.#watch = watch ?? this.#watch;
  }

  get hasChangedUsers(): boolean {
    return this.#hasChangedUsers;
  }

  addToWriteSet({ users, endedSessionsOf }: WriteSet): void {
    this.#work.check();
    this.#hasChangedUsers ||= users !== undefined || endedSessionsOf !== undefined;
  }

  watched(): undefined {
    return undefined;
  }

  slot(): number {
    return 0;
  }

  noteReferences(table: string, ids: readonly string[]): void {
    this.#connection.references.add(table, ids);
  }

  noteWritten(resource: string): void {
    if (this.#watch !== undefined && !this.#watch.has(resource)) return;
    this.#connection.references.addWrite(resource);
  }

  async loadWriteState(resources: ReadonlySet<string>): Promise<string> {
    // Units of work of the same commit batch have written, and the counters change with its commit.
    return this.#connection.references.hasWrite(resources) ? 'uncommitted' : loadWriteState(this, resources);
  }

  loadReferenceState(table: string, ids: readonly string[]): Promise<string> {
    return loadReferenceState(this, table, ids);
  }

  async requireNoNewReferences(table: string, ids: readonly string[], state: string): Promise<void> {
    if (!this.#connection.references.has(table, ids) && (await this.loadReferenceState(table, ids)) === state) return;
    throw this.#work.endWith('stale');
  }

  /** The time of a short attempt is small in any case. */
  beginInMemory(): void {}

  remaining(): number {
    return this.#work.stopwatch.remaining;
  }

  limitTime(lower: number): void {
    this.#state.limit = Math.min(this.#state.limit, lower);
  }

  withoutTimeLimit<T>(work: () => Promise<T>): Promise<T> {
    return this.#work.withoutTimeLimit(work);
  }

  async checkTime(): Promise<void> {
    this.#work.checkTime();
  }
}
