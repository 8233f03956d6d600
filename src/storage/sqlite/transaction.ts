import { type Sql, sql } from '../../sql.ts';
import { AttemptEnded, type AttemptState, createStopwatch, type Stopwatch, TimeLimit } from '../attempt.ts';
import { collectAppends } from '../collected-appends.ts';
import type { PendingAppend, Query, Transaction } from '../contract.ts';
import { internal, type SavepointHost } from '../savepoints.ts';
import type { Connection } from './connection.ts';
import { StatementTimeout, unavailable } from './driver-error.ts';
import { deadlineCheck, sqliteDialect } from './sql-dialect.ts';

/** The transaction handle of a unit of work, and the function that makes it unusable. */
export interface OpenTransaction {
  readonly tx: Transaction;
  /** Returns the reason why the attempt has ended before its unit of work; undefined if it has not. The unit of work may have caught it. */
  ended(): AttemptEnded | undefined;
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
  const time = new AttemptTime(connection, attempt);
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
        throw error instanceof StatementTimeout ? time.end() : error;
      }
    };
  // Without spreads, which would double the time to create the handle.
  const tx: Transaction = Object.freeze({
    dialect: sqliteDialect,
    now: Date.now(),
    slot: 0,
    // The caller declares the type of the rows.
    all: checked(connection.all) as Transaction['all'],
    one: checked(connection.one) as Transaction['one'],
    run: checked(connection.run),
    // The rows of a whole commit batch are written together, with few statements, after its last unit of work.
    append: collected.append,
    savepoint: collected.savepoint,
    // SQLite allows one writer. This transaction is that writer, so no other can lock or change a row, and no read set can become stale.
    lock: async () => void time.lock(lifetime),
    rowLock: () => time.lock(lifetime),
    addToReadSet: lifetime.check,
    addToWriteSet: lifetime.check,
    attempt: attempt.attempt,
    retained: attempt.state.retained,
    deadlineCheck,
    checkTime: async () => time.check(),
    remaining: () => time.stopwatch.remaining,
    limitTime: (milliseconds: number) => limitTime(attempt.state, milliseconds),
  });
  return {
    tx,
    ended: () => time.ended,
    end() {
      lifetime.end();
      return collected.end();
    },
  };
}

function limitTime(state: AttemptState, milliseconds: number): void {
  state.limit = Math.min(state.limit, milliseconds);
}

/** The time limit of an attempt. When the time of a short attempt is up, the attempt ends; later statements of a writer fail. */
class AttemptTime {
  /** The reason why the attempt has ended before its unit of work; undefined if it has not. */
  ended: AttemptEnded | undefined;
  readonly stopwatch: Stopwatch;
  private isLocking = false;
  private readonly writes: number;
  private readonly connection: Connection;
  private readonly attempt: BatchAttempt;

  constructor(connection: Connection, attempt: BatchAttempt) {
    this.connection = connection;
    this.attempt = attempt;
    this.writes = connection.writes;
    this.stopwatch = createStopwatch(() => attempt.milliseconds);
    connection.deadline.timer = attempt.milliseconds === Number.POSITIVE_INFINITY ? undefined : this.stopwatch;
  }

  /** Notes that the unit of work will write, and returns the clause of a row lock. */
  lock({ check }: SavepointHost): Sql {
    check();
    this.isLocking = true;
    return NO_LOCK;
  }

  /** Ends the attempt if its time is up. */
  check(): void {
    if (this.ended !== undefined) throw this.ended;
    this.stopwatch.addLap();
    if (this.stopwatch.remaining === 0) throw this.end();
  }

  /** Returns the error with which an attempt ends whose time is up. */
  end(): Error {
    const { attempt, milliseconds } = this.attempt;
    if (attempt === 'writer') return new TimeLimit(milliseconds);
    // What was written or locked must not be done twice, so the next attempt is the one that may write.
    this.ended ??= new AttemptEnded(this.connection.writes > this.writes || this.isLocking ? 'writer' : 'long');
    return this.ended;
  }
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
