import { type AttemptState, createStopwatch, type Stopwatch, type TimedAttempt, TimeLimit } from '../attempt.ts';
import type { Statement } from '../contract.ts';
import { SLICE, type Turns } from '../turns.ts';
import type { AttemptConnection, QueryResult } from './connection.ts';
import { isCancelled } from './driver-error.ts';
import type { LazyTransaction } from './lazy-transaction.ts';
import { hasDeadlineCheck } from './sql-dialect.ts';
import type { TransactionState } from './transaction-state.ts';

/** The time limits of one attempt at a unit of work. */
export interface AttemptLimits {
  readonly attempt: 'short' | 'long';
  /** Maximum milliseconds of a short attempt. */
  readonly short: number;
  /** The statement timeout of statements without a limit of their own, in milliseconds. */
  readonly statementTimeout: number;
  /** The state that the attempts at the unit of work share. */
  readonly state: AttemptState;
  readonly turns: Turns;
}

/** Sends the statements of one attempt within its time limit, and measures its time. */
export interface TimedStatements extends TimeMembers {
  query(statement: Statement): Promise<QueryResult>;
}

/** The members of a transaction that concern its time. */
type TimeMembers = Pick<
  TimedAttempt,
  'attempt' | 'staleAttempts' | 'retained' | 'withoutTimeLimit' | 'beginInMemory' | 'remaining' | 'limitTime' | 'checkTime'
>;

/** The parts of an attempt that timed statements use. */
export interface TimedContext {
  readonly connection: AttemptConnection;
  readonly state: TransactionState;
  readonly lazy: LazyTransaction;
  /** Undefined for work without time limits, such as a migration or a commit batch. */
  readonly limits?: AttemptLimits | undefined;
}

/** Creates the functions that send statements of one attempt. */
export function createTimedStatements(context: TimedContext): TimedStatements {
  return context.limits === undefined ? new UnlimitedStatements(context) : new LimitedStatements(context, context.limits);
}

class UnlimitedStatements implements TimedStatements {
  readonly attempt = 'long';
  readonly staleAttempts = 0;
  readonly #context: TimedContext;
  #retained: Map<string, unknown> | undefined = undefined;

  constructor(context: TimedContext) {
    this.#context = context;
  }

  get retained(): Map<string, unknown> {
    this.#retained ??= new Map();
    return this.#retained;
  }

  withoutTimeLimit<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }

  beginInMemory(): void {
    // Without a limit, no time is measured.
  }

  remaining(): number {
    return Number.POSITIVE_INFINITY;
  }

  limitTime(): void {
    // Without a limit, there is none to lower.
  }

  async checkTime(): Promise<void> {
    this.#context.state.check();
  }

  query(statement: Statement): Promise<QueryResult> {
    return this.#context.state.follow(this.#context.connection.query(statement));
  }
}

/** The part of its time that a short attempt has if it evaluates rows in memory: most such lists take long, and the event loop is one for all. */
const IN_MEMORY_SHARE = 0.1;

/**
 * Limits statements with a deadline check to the time that is left, and only their time counts. Other statements that only read get at
 * least the time of a short attempt. Once the unit of work writes or locks, they may wait for locks, and get the statement timeout.
 */
class LimitedStatements implements TimedStatements {
  readonly attempt: AttemptLimits['attempt'];
  readonly staleAttempts: number;
  readonly retained: Map<string, unknown>;
  readonly #context: TimedContext;
  readonly #limits: AttemptLimits;
  readonly #isShort: boolean;
  readonly #stopwatch: Stopwatch;
  #limit: number;
  /** True if the attempt continues in a turn of its own after each statement with rows. */
  #takesTurns: boolean;

  constructor(context: TimedContext, limits: AttemptLimits) {
    const { attempt, state, short } = limits;
    this.attempt = attempt;
    this.staleAttempts = state.stale ?? 0;
    this.retained = state.retained;
    this.#context = context;
    this.#limits = limits;
    this.#isShort = attempt === 'short';
    this.#limit = this.#isShort ? short : Number.POSITIVE_INFINITY;
    this.#takesTurns = !this.#isShort;
    this.#stopwatch = createStopwatch(() => Math.min(state.limit, this.#limit));
    this.#stopwatch.begin();
    if (this.#takesTurns) state.yieldFirst?.();
  }

  withoutTimeLimit<T>(work: () => Promise<T>): Promise<T> {
    return this.#stopwatch.pauseDuring(work);
  }

  beginInMemory(): void {
    if (this.#takesTurns) return;
    this.#takesTurns = true;
    this.#limits.state.yieldFirst?.();
    this.#limit *= IN_MEMORY_SHARE;
  }

  remaining(): number {
    return this.#stopwatch.remaining;
  }

  limitTime(lower: number): void {
    this.#limits.state.limit = Math.min(this.#limits.state.limit, lower);
  }

  async checkTime(): Promise<void> {
    this.#context.state.check();
    const stopwatch = this.#stopwatch;
    const isSliceOver = stopwatch.slice > SLICE;
    if (isSliceOver) stopwatch.addLap();
    if (stopwatch.remaining - stopwatch.lap <= 0) throw this.#timeIsUp();
    if (isSliceOver) await this.#takeTurn();
  }

  async query(statement: Statement): Promise<QueryResult> {
    const stopwatch = this.#stopwatch;
    const isChecked = hasDeadlineCheck(statement.sql);
    if (isChecked) stopwatch.addLap();
    if (isChecked && stopwatch.remaining === 0) throw this.#timeIsUp();
    let begun = performance.now();
    let waited: number | undefined;
    let result: QueryResult;
    try {
      result = await this.#send(statement, this.#timeoutOf(isChecked), () => {
        begun = performance.now();
      });
      waited = result.waited;
    } finally {
      // The wait for a connection, and behind statements of others, does not count.
      if (isChecked) stopwatch.addSince(begun + (waited ?? 0));
      else stopwatch.begin();
    }
    if (this.#takesTurns && result.rows.length > 0) await this.#takeTurn();
    return result;
  }

  #timeoutOf(isChecked: boolean): number {
    const { short, statementTimeout } = this.#limits;
    const { remaining } = this.#stopwatch;
    if (isChecked) return Math.min(remaining, statementTimeout);
    return this.#context.lazy.isWriting ? statementTimeout : Math.min(Math.max(remaining, short), statementTimeout);
  }

  /** Sends a statement; converts the error of a server that has cancelled it because of the time limit. */
  async #send(statement: Statement, timeout: number, onSent: () => void): Promise<QueryResult> {
    const { connection, state, lazy } = this.#context;
    const { statementTimeout } = this.#limits;
    const isShort = this.#isShort;
    // In a short attempt, the session or BEGIN has set the timeout of statements that read.
    if (!isShort || lazy.isWriting) lazy.setTimeout(timeout);
    const begun = performance.now();
    const isLimited = timeout < statementTimeout || (isShort && !lazy.isWriting);
    try {
      return await (connection.queryShared?.(statement, onSent) ?? connection.query(statement));
    } catch (error) {
      // An administrator, or a lower timeout of the server, may have cancelled it before its time was up.
      const isLimit = isLimited && isCancelled(error) && (isShort || performance.now() - begun >= timeout - 1);
      throw state.toError(isLimit ? this.#timeIsUp(error) : error);
    }
  }

  /** Continues in another turn: the driver may have parsed rows of several long attempts in this one, and each would continue for a slice. */
  async #takeTurn(): Promise<void> {
    await this.#limits.turns.take(() => undefined);
    this.#stopwatch.begin();
  }

  #timeIsUp(cause?: unknown): Error {
    const { state } = this.#context;
    return this.#isShort ? state.endAttempt(cause) : state.markTimeLimit(new TimeLimit(this.#limits.state.limit));
  }
}
