import { sql } from '../../sql.ts';
import { AttemptEnded, type AttemptState, createStopwatch, type TimedAttempt, TimeLimit } from '../attempt.ts';
import { collectAppends } from '../collected-appends.ts';
import type { PendingAppend, Query, Transaction } from '../contract.ts';
import { internal, type SavepointHost } from '../savepoints.ts';
import type { Connection } from './connection.ts';
import { StatementTimeout, unavailable } from './driver-error.ts';
import { deadlineCheck, sqliteDialect } from './sql-dialect.ts';

/** The transaction handle of a unit of work, and the function that makes it unusable. */
export interface OpenTransaction {
  readonly tx: Transaction;
  /** The reason why the attempt has ended before its unit of work; undefined if it has not. The unit of work may have caught it. */
  readonly ended: AttemptEnded | undefined;
  /** Makes the handle throw from now on, and returns the rows to append. Throws if a savepoint is still open. */
  end(): readonly PendingAppend[];
}

/** An attempt in a commit batch. */
export interface BatchAttempt {
  readonly attempt: 'short' | 'writer';
  /** The maximum milliseconds for statements with a deadline check and for work in memory. */
  readonly milliseconds: number;
  readonly state: AttemptState;
}

/** Returns an attempt without a time limit: a migration, or the statements of the service itself. */
export function withoutLimit(): BatchAttempt {
  return { attempt: 'writer', milliseconds: Number.POSITIVE_INFINITY, state: { retained: new Map(), limit: Number.POSITIVE_INFINITY } };
}

const NO_LOCK = sql``;

/** Creates the handle with which one unit of work uses the open transaction of the connection. */
export function openTransaction(connection: Connection, attempt: BatchAttempt): OpenTransaction {
  const { time, timed, toError } = createTimedAttempt(connection, attempt);
  const lifetime = createLifetime(connection, time);
  const collected = collectAppends(lifetime);
  /** Wraps a synchronous query, so that its errors reject the promise instead of being thrown. */
  const checked =
    <Answer>(run: (query: Query) => Answer) =>
    async (query: Query): Promise<Answer> => {
      lifetime.check();
      try {
        return run(query);
      } catch (error) {
        throw toError(error);
      }
    };
  const tx: Transaction = Object.freeze({
    dialect: sqliteDialect,
    now: Date.now(),
    slot: 0,
    // The caller declares the type of the rows.
    all: checked((query) => connection.all(query)) as Transaction['all'],
    one: checked((query) => connection.one(query)) as Transaction['one'],
    run: checked((query) => connection.run(query)),
    // The rows of a whole commit batch are written together, with few statements, after its last unit of work.
    ...collected.members,
    ...createSingleWriter(lifetime, time),
    ...timed,
  });
  return {
    tx,
    get ended() {
      return time.ended;
    },
    end() {
      lifetime.end();
      return collected.end();
    },
  };
}

/** The time of an attempt, and the reason why it has ended. */
interface AttemptTime {
  ended: AttemptEnded | undefined;
  /** True if the unit of work has taken a lock, so that it will write. */
  isLocking: boolean;
}

/** Creates the time limit of an attempt. When the time of a short attempt is up, the attempt ends; later statements of a writer fail. */
function createTimedAttempt(connection: Connection, { attempt, milliseconds, state }: BatchAttempt) {
  const stopwatch = createStopwatch(() => milliseconds);
  const { writes } = connection;
  const time: AttemptTime = { ended: undefined, isLocking: false };
  connection.deadline.timer = milliseconds === Number.POSITIVE_INFINITY ? undefined : stopwatch;

  function timeIsUp(): Error {
    if (attempt === 'writer') return new TimeLimit(milliseconds);
    // What was written or locked must not be done twice, so the next attempt is the one that may write.
    time.ended ??= new AttemptEnded(connection.writes > writes || time.isLocking ? 'writer' : 'long');
    return time.ended;
  }

  const timed: TimedAttempt = {
    attempt,
    retained: state.retained,
    deadlineCheck,
    remaining: () => stopwatch.remaining,
    limitTime(lower) {
      state.limit = Math.min(state.limit, lower);
    },
    async checkTime() {
      if (time.ended !== undefined) throw time.ended;
      stopwatch.addLap();
      if (stopwatch.remaining === 0) throw timeIsUp();
    },
  };
  return { time, timed, toError: (error: unknown) => (error instanceof StatementTimeout ? timeIsUp() : error) };
}

/** Creates the members that need no statement: SQLite allows one writer, so no other transaction can lock or change what this one reads. */
function createSingleWriter(
  { check }: SavepointHost,
  time: AttemptTime,
): Pick<Transaction, 'lock' | 'rowLock' | 'addToReadSet' | 'addToWriteSet'> {
  return {
    async lock() {
      check();
      time.isLocking = true;
    },
    rowLock() {
      time.isLocking = true;
      return NO_LOCK;
    },
    addToReadSet: check,
    addToWriteSet: check,
  };
}

/** Creates the check that a unit of work uses its handle only until its end. */
function createLifetime(connection: Connection, time: AttemptTime): SavepointHost & { end(): void } {
  let ended = false;
  const lifetime = {
    get isOver() {
      return ended || !connection.inTransaction;
    },
    check() {
      if (ended) throw internal('a transaction was used after its end');
      if (time.ended !== undefined) throw time.ended;
      // SQLite rolled back by itself. Outside of a transaction each statement would commit on its own.
      if (lifetime.isOver) throw unavailable(new Error('the transaction was rolled back by the database'));
    },
    savepoints: connection.savepoints,
    end() {
      ended = true;
      connection.deadline.timer = undefined;
    },
  };
  return lifetime;
}
