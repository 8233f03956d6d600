import { type RawBuilder, sql } from 'kysely';
import { Problem } from '../../errors.ts';
import type { Basis, Replaced, RowLock, Transaction } from '../database.ts';
import { createSavepoints, internal } from '../savepoints.ts';
import type { Clock } from './clock.ts';
import type { Answer, Connection, Query } from './connection.ts';
import { busy, fromDriver, type Passing, passing, serverCode } from './driver-error.ts';
import { areNone, createGathering, type Grounds } from './grounds.ts';
import { toGuard } from './guard.ts';
import { postgresDialect } from './sql-dialect.ts';

/** How transactions begin. */
export interface Beginning {
  /** Text that begins one, and answers the time as `now`, in milliseconds since 1970. */
  readonly begin: string;
  readonly clock: Clock;
}

/** What became of one attempt at a work. */
export type Outcome<T> =
  | { readonly answer: T; readonly wrote: boolean }
  | {
      readonly error: unknown;
      /** Where it may help to try again. */
      readonly passing: Passing | undefined;
      /** Whether the connection must not be used again. */
      readonly broken: boolean;
    };

/**
 * Runs a work in a transaction of its own and commits it. Never throws.
 */
export async function attempt<T>(
  connection: Connection,
  { begin, clock }: Beginning,
  work: (tx: Transaction) => Promise<T>,
): Promise<Outcome<T>> {
  const course = createCourse();
  let begun = false;
  try {
    // What the work asks first goes with it, unless nobody knows yet what time it is there.
    const began = course.follow(() => connection.send(begin)).then(clock.set);
    began.catch(() => undefined);
    if (!clock.isSet) await began;
    begun = true;
    const { tx, end } = openTransaction(connection, course, clock.now());
    try {
      const answer = await work(tx);
      await began;
      const grounds = end();
      // A work may have got over what happened; the server has not.
      if (course.failure !== undefined && course.passing !== undefined) throw fromDriver(course.failure);
      course.committing = true;
      await course.follow(() => commit(connection, course, grounds));
      return { answer, wrote: course.wrote };
    } finally {
      course.ended = true;
    }
  } catch (error) {
    // Whatever COMMIT is answered with, the transaction has ended.
    const undone = course.committing ? !course.broken : begun && (await rollback(connection));
    return { error, passing: course.passing, broken: !undone || course.broken };
  }
}

/** What has happened to a transaction so far. */
interface Course {
  /** The first error of the server's or of the connection; what comes after it only follows from it. */
  failure: unknown;
  passing: Passing | undefined;
  broken: boolean;
  wrote: boolean;
  committing: boolean;
  ended: boolean;
  note(error: unknown): void;
  /** Makes all of it be run again, for it rests on what is no longer so; gives what to throw. */
  outdate(): Problem;
  /** Does what only the driver can fail at. Throws Problems and ConstraintErrors. */
  follow<T>(work: () => Promise<T>): Promise<T>;
}

/** The server says this of whatever is asked after a statement that failed. */
const FOLLOWS = '25P02';

function createCourse(): Course {
  return {
    failure: undefined,
    passing: undefined,
    broken: false,
    wrote: false,
    committing: false,
    ended: false,
    note(error) {
      if (serverCode(error) === FOLLOWS) return;
      const known = fromDriver(error);
      this.failure ??= error;
      this.passing ??= passing(error);
      this.broken ||= 'code' in known && known.code === 'STORAGE_UNAVAILABLE';
    },
    outdate() {
      const problem = busy(new Error('what the work rests on has changed'));
      this.failure ??= problem;
      this.passing ??= 'stale';
      return problem;
    },
    async follow(work) {
      try {
        return await work();
      } catch (error) {
        // Refused before it was sent: a value that no database keeps.
        if (error instanceof Problem) throw error;
        this.note(error);
        throw fromDriver(serverCode(error) === FOLLOWS ? this.failure : error);
      }
    },
  };
}

/** The guard and COMMIT in one flight: where the guard fails, COMMIT rolls back. */
async function commit(connection: Connection, course: Course, grounds: Grounds): Promise<void> {
  const guarded = areNone(grounds) ? undefined : connection.ask(toGuard([grounds]));
  const committed = connection.send('COMMIT');
  await Promise.allSettled([guarded, committed]);
  await guarded;
  const { command } = await committed;
  // COMMIT after a statement that failed rolls back, and says so only here.
  if (command !== 'COMMIT') throw course.failure ?? new Error(`COMMIT was answered by ${command}`);
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

interface OpenTransaction {
  readonly tx: Transaction;
  /** What it rests on; from now on the transaction throws. Throws itself where a savepoint is still open. */
  end(): Grounds;
}

const LOCKS: Readonly<Record<RowLock, RawBuilder<unknown>>> = Object.freeze({
  change: sql` FOR NO KEY UPDATE`,
  remove: sql` FOR UPDATE`,
  keep: sql` FOR SHARE`,
  stay: sql` FOR KEY SHARE`,
});

/** Rows that many transactions count in are split in so many. */
const LANES = 32;

function openTransaction(connection: Connection, course: Course, now: number): OpenTransaction {
  const life = {
    get isOver() {
      return course.ended || course.broken;
    },
    check() {
      if (course.ended) throw internal('a transaction was used after its end');
      if (course.broken) throw fromDriver(course.failure);
    },
    exec: (text: string) => void connection.send(text).catch((error: unknown) => course.note(error)),
  };
  const ask = async (query: Query): Promise<Answer> => {
    life.check();
    return course.follow(() => connection.ask(query));
  };
  const savepoints = createSavepoints(life);
  const gathering = createGathering();
  const check = (isSo: boolean): void => {
    if (!isSo) throw course.outdate();
  };
  const tx: Transaction = Object.freeze({
    dialect: postgresDialect,
    now,
    lane: connection.process % LANES,
    // What a row holds is said by whoever wrote the query.
    all: (async (query) => (await ask(query)).rows) as Transaction['all'],
    one: (async (query) => (await ask(query)).rows[0]) as Transaction['one'],
    async run(query: Query) {
      course.wrote = true;
      const { changes } = await ask(query);
      return { changes };
    },
    async savepoint<T>(work: () => Promise<T>) {
      const { mark } = gathering;
      try {
        return await savepoints.run(work);
      } catch (error) {
        gathering.undo(mark);
        throw error;
      }
    },
    async lock(name: string) {
      await ask(sql`SELECT pg_advisory_xact_lock(hashtextextended(coalesce(current_schema(), '') || ' ' || ${name}, 0))`);
    },
    rowLock: (lock: RowLock) => LOCKS[lock],
    restsOn: (basis: Basis) => check(gathering.restsOn(basis)),
    replaces: (replaced: Replaced) => check(gathering.replaces(replaced)),
  });
  return {
    tx,
    end() {
      course.ended = true;
      if (savepoints.open > 0) throw internal('a savepoint was not awaited');
      return gathering.all();
    },
  };
}
