import { type Sql, sql } from '../../sql.ts';
import { type AttemptState, createStopwatch, type Stopwatch, type TimedAttempt, TimeLimit } from '../attempt.ts';
import type { Statement } from '../contract.ts';
import { SLICE, type Turns } from '../turns.ts';
import type { AttemptConnection, QueryResult } from './connection.ts';
import { isCancelled } from './driver-error.ts';
import type { LazyTransaction } from './lazy-transaction.ts';
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

/** Sends the statements of one attempt within its time limit. */
export interface TimedStatements {
  readonly timed: TimedAttempt;
  query(statement: Statement): Promise<QueryResult>;
}

/** The parts of an attempt that timed statements use. */
export interface TimedContext {
  readonly connection: AttemptConnection;
  readonly state: TransactionState;
  readonly lazy: LazyTransaction;
  /** Undefined for work without time limits, such as a migration or a commit batch. */
  readonly limits?: AttemptLimits | undefined;
}

/** The deadline check. The server ends the statement by itself (`statement_timeout`); the comment marks the statement as one to limit. */
const CHECK = 'TRUE /* limited */';
const DEADLINE_CHECK = sql.raw(CHECK);
const deadlineCheck = (): Sql => DEADLINE_CHECK;

/** References need no notes: a row lock of the referenced record excludes its deletion, and the other way round. */
const LOCKED_REFERENCES = {
  noteReferences: () => undefined,
  noteWritten: () => undefined,
  loadWriteState: async () => undefined,
  loadReferenceState: async () => '',
  requireNoNewReferences: async () => undefined,
} as const;

/** Creates the functions that send statements of one attempt. */
export function createTimedStatements(context: TimedContext): TimedStatements {
  return context.limits === undefined ? withoutLimits(context) : withLimits(context, context.limits);
}

function withoutLimits({ connection, state }: TimedContext): TimedStatements {
  const timed: TimedAttempt = {
    attempt: 'long',
    staleAttempts: 0,
    retained: new Map(),
    deadlineCheck,
    ...LOCKED_REFERENCES,
    withoutTimeLimit: (work) => work(),
    beginInMemory: () => undefined,
    remaining: () => Number.POSITIVE_INFINITY,
    limitTime: () => undefined,
    checkTime: async () => state.check(),
  };
  return { timed, query: (statement) => state.follow(() => connection.query(statement)) };
}

/**
 * Limits statements with a deadline check to the time that is left, and only their time counts. Other statements that only read get at
 * least the time of a short attempt. Once the unit of work writes or locks, they may wait for locks, and get the statement timeout.
 */
function withLimits(context: TimedContext, limits: AttemptLimits): TimedStatements {
  const { connection, state, lazy } = context;
  const isShort = limits.attempt === 'short';
  const time = createAttemptTime(limits);
  const { stopwatch } = time;
  const timeIsUp = (cause?: unknown): Error => (isShort ? state.endAttempt(cause) : state.markTimeLimit(new TimeLimit(limits.state.limit)));

  function timeoutOf(isChecked: boolean): number {
    if (isChecked) return Math.min(stopwatch.remaining, limits.statementTimeout);
    return lazy.isWriting ? limits.statementTimeout : Math.min(Math.max(stopwatch.remaining, limits.short), limits.statementTimeout);
  }

  /** Sends a statement; converts the error of a server that has cancelled it because of the time limit. */
  function send(statement: Statement, timeout: number): Promise<QueryResult> {
    // In a short attempt, the session or BEGIN has set the timeout of statements that read.
    if (!isShort || lazy.isWriting) lazy.setTimeout(timeout);
    const begun = performance.now();
    // The statement timeout of the server is not the limit of the attempt.
    const isLimit = (): boolean => isShort || performance.now() - begun >= timeout - 1;
    const isLimited = timeout < limits.statementTimeout || (isShort && !lazy.isWriting);
    return state.follow(() =>
      connection.query(statement).catch((error) => {
        throw isLimited && isCancelled(error) && isLimit() ? timeIsUp(error) : error;
      }),
    );
  }

  async function query(statement: Statement): Promise<QueryResult> {
    const isChecked = statement.sql.includes(CHECK);
    if (isChecked) stopwatch.addLap();
    if (isChecked && stopwatch.remaining === 0) throw timeIsUp();
    // The wait for a connection does not count.
    const turn = connection.awaitTurn?.(statement);
    if (turn !== undefined) await state.follow(() => turn);
    const begun = performance.now();
    const result = await send(statement, timeoutOf(isChecked)).finally(() => {
      if (isChecked) stopwatch.addSince(begun);
      else stopwatch.begin();
    });
    if (time.takesTurns() && result.rows.length > 0) await takeTurn();
    return result;
  }

  /** Continues in another turn: the driver may have parsed rows of several long attempts in this one, and each would continue for a slice. */
  async function takeTurn(): Promise<void> {
    await limits.turns.take(() => undefined);
    stopwatch.begin();
  }
  return { timed: toTimedAttempt({ state, limits, time, timeIsUp }), query };
}

/** The part of its time that a short attempt has if it evaluates rows in memory: most such lists take long, and the event loop is one for all. */
const IN_MEMORY_SHARE = 0.1;

/** The time of an attempt. */
interface AttemptTime {
  readonly stopwatch: Stopwatch;
  /** Returns true if the attempt continues in a turn of its own after each statement with rows. */
  takesTurns(): boolean;
  beginInMemory(): void;
}

function createAttemptTime({ attempt, short, state }: AttemptLimits): AttemptTime {
  const isShort = attempt === 'short';
  let limit = isShort ? short : Number.POSITIVE_INFINITY;
  let takesTurns = !isShort;
  const stopwatch = createStopwatch(() => Math.min(state.limit, limit));
  stopwatch.begin();
  if (takesTurns) state.yieldFirst?.();
  return {
    stopwatch,
    takesTurns: () => takesTurns,
    beginInMemory() {
      if (takesTurns) return;
      takesTurns = true;
      state.yieldFirst?.();
      limit *= IN_MEMORY_SHARE;
    },
  };
}

interface TimeLeft {
  readonly state: TransactionState;
  readonly limits: AttemptLimits;
  readonly time: AttemptTime;
  /** Ends a short attempt, and returns the error to throw. */
  timeIsUp(): Error;
}

function toTimedAttempt({ state, limits, time, timeIsUp }: TimeLeft): TimedAttempt {
  const { stopwatch, beginInMemory } = time;
  return {
    attempt: limits.attempt,
    staleAttempts: limits.state.stale ?? 0,
    retained: limits.state.retained,
    deadlineCheck,
    ...LOCKED_REFERENCES,
    withoutTimeLimit: (work) => stopwatch.pauseDuring(work),
    beginInMemory,
    remaining: () => stopwatch.remaining,
    limitTime(lower) {
      limits.state.limit = Math.min(limits.state.limit, lower);
    },
    async checkTime() {
      state.check();
      const isSliceOver = stopwatch.slice > SLICE;
      if (isSliceOver) stopwatch.addLap();
      if (stopwatch.remaining - stopwatch.lap <= 0) throw timeIsUp();
      if (!isSliceOver) return;
      await limits.turns.take(() => undefined);
      stopwatch.begin();
    },
  };
}
