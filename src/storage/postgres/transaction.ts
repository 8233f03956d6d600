import { type RawBuilder, sql } from 'kysely';
import type { Appending, Asked, Basis, Replaced, RowLock, Transaction } from '../database.ts';
import { createSavepoints, internal } from '../savepoints.ts';
import type { Loan, Writers } from '../writers.ts';
import { type Appended, findingOf, statementsOf } from './appended.ts';
import { type Answer, type Connection, toStatement } from './connection.ts';
import { type Course, createCourse } from './course.ts';
import { fromDriver, type Passing } from './driver-error.ts';
import type { Doubt } from './fate.ts';
import { areNone, createGathering, type Grounds } from './grounds.ts';
import { HOLD_ALL, toGuard } from './guard.ts';
import { type Beginning, createSpan, type Span } from './span.ts';
import { postgresDialect } from './sql-dialect.ts';

/** How one attempt at a work goes on. */
export interface Attempt extends Beginning {
  /** Those who append. */
  readonly writers: Writers;
  /** Whether its transaction begins where it first writes, or at once. */
  readonly late: boolean;
  /** Whether nobody else may change what it might rest on, from the beginning: for one that was run again too often. */
  readonly holdsAll?: boolean;
  /** What others rest on whose rows it appends; of one that is for itself, none. */
  readonly others?: readonly Grounds[];
}

/** What a work that wrote nothing else leaves to be appended, and what its answer rests on. */
export interface Left {
  readonly appended: readonly Appended[];
  readonly grounds: Grounds;
}

/** What became of one attempt at a work. */
export type Outcome<T> =
  | {
      readonly answer: T;
      readonly wrote: boolean;
      /** Its answer is not to be given before this is committed. */
      readonly left?: Left;
      readonly broken?: false;
    }
  | {
      readonly error: unknown;
      /** Where it may help to try again. */
      readonly passing: Passing | undefined;
      /** Whether the connection must not be used again. */
      readonly broken: boolean;
      /** Where nobody knows whether it was committed: how to find out, and the answer if it was. */
      readonly doubt?: { readonly answer: T; readonly about: Doubt };
    };

/** Runs a work and commits what it wrote. Never throws. */
export async function attempt<T>(connection: Connection, how: Attempt, work: (tx: Transaction) => Promise<T>): Promise<Outcome<T>> {
  const course = createCourse();
  const span = createSpan(connection, course, how);
  const loan = how.writers.lend();
  let doubt: { readonly answer: T; readonly about: Doubt } | undefined;
  try {
    if (!how.late) span.begin();
    // What the work asks first goes with it, unless nobody knows what time it is there.
    if (!how.clock.isFresh) await span.answered();
    if (how.holdsAll) await holdAll({ connection, course, span });
    const { tx, end } = openTransaction(connection, { course, span, loan, now: how.clock.now() });
    const answer = await work(tx);
    const left = end();
    // A work may have got over what happened; the server has not.
    if (course.failure !== undefined && course.passing !== undefined) throw fromDriver(course.failure);
    if (how.others === undefined && !span.isWriting && left.appended.length > 0) {
      if (span.isBegun) await finish({ connection, course, span }, { statements: [], grounds: [] });
      return { answer, wrote: false, left };
    }
    const statements = await statementsOf(tx, left.appended);
    // Where others append with it, ids tell what became of it.
    if (how.others === undefined) await span.answered();
    doubt = { answer, about: { number: span.number, find: findingOf(left.appended) } };
    await finish({ connection, course, span }, { statements, grounds: [left.grounds, ...(how.others ?? [])] });
    loan.end('committed');
    return { answer, wrote: course.wrote || statements.length > 0 };
  } catch (error) {
    loan.end(course.committing && course.lost ? 'unknown' : 'undone');
    const undone = course.committing ? !course.broken : !span.isBegun || (await rollback(connection));
    const failed = { error, passing: course.passing, broken: !undone || course.broken };
    return doubt !== undefined && course.committing && course.lost ? { ...failed, doubt } : failed;
  } finally {
    course.ended = true;
  }
}

interface Parts {
  readonly connection: Connection;
  readonly course: Course;
  readonly span: Span;
}

/** Written in this transaction, and not handed on to others: they might wait for whoever waits for it. */
async function holdAll({ connection, course, span }: Parts): Promise<void> {
  span.write();
  await course.follow(() => connection.ask(toStatement(HOLD_ALL)));
}

/** What is sent last of all. */
interface Ending {
  readonly statements: readonly Asked[];
  readonly grounds: readonly Grounds[];
}

/** What is left to be written, the guard, and COMMIT, in one flight: where one of them fails, COMMIT rolls back. */
async function finish({ connection, course, span }: Parts, { statements, grounds }: Ending): Promise<void> {
  const guards = grounds.every(areNone) ? [] : [toGuard(grounds)];
  // Whatever cannot be sent is refused before anything is.
  const asked = [...statements, ...guards].map(toStatement);
  course.ended = true;
  course.committing = span.isBegun;
  await course.follow(async () => {
    const answers = asked.map((statement) => connection.ask(statement));
    const committed = span.isBegun ? connection.send('COMMIT') : undefined;
    await Promise.allSettled([...answers, committed]);
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

interface OpenTransaction {
  readonly tx: Transaction;
  /** What is left to be done. Throws where a savepoint is still open. */
  end(): Left;
}

const LOCKS: Readonly<Record<RowLock, RawBuilder<unknown>>> = Object.freeze({
  change: sql` FOR NO KEY UPDATE`,
  remove: sql` FOR UPDATE`,
  keep: sql` FOR SHARE`,
  stay: sql` FOR KEY SHARE`,
});

/** What only looks: it may go out without a transaction. */
const LOOKS = /^\s*SELECT\b/i;

/** Rows that many transactions count in are split in so many. */
const LANES = 32;

function openTransaction(
  connection: Connection,
  { course, span, loan, now }: Omit<Parts, 'connection'> & { readonly loan: Loan; readonly now: number },
): OpenTransaction {
  const life = {
    get isOver() {
      return course.ended || course.broken;
    },
    check: () => course.check(),
    mark: () => loan.mark(),
    exec: span.mark,
  };
  const ask = async (query: Asked): Promise<Answer> => {
    course.check();
    const statement = toStatement(query);
    if (!LOOKS.test(statement.sql)) span.write();
    return course.follow(() => connection.ask(statement));
  };
  const savepoints = createSavepoints(life);
  const gathering = createGathering();
  const appended: Appended[] = [];
  const checkSo = (isSo: boolean): void => {
    course.check();
    if (!isSo) throw course.outdate();
  };
  const tx: Transaction = Object.freeze({
    dialect: postgresDialect,
    now,
    lane: connection.process % LANES,
    get writer() {
      course.check();
      return loan.writer;
    },
    // What a row holds is said by whoever wrote the query.
    all: (async (query) => (await ask(query)).rows) as Transaction['all'],
    one: (async (query) => (await ask(query)).rows[0]) as Transaction['one'],
    async run(query: Asked) {
      course.wrote = true;
      span.write();
      const { changes } = await ask(query);
      return { changes };
    },
    async append<Row>(appending: Appending<Row>, rows: readonly Row[]) {
      course.check();
      if (rows.length > 0) appended.push({ appending: appending as Appending<unknown>, rows });
    },
    async savepoint<T>(work: () => Promise<T>) {
      const [mark, count] = [gathering.mark, appended.length];
      try {
        return await savepoints.run(work);
      } catch (error) {
        gathering.undo(mark);
        appended.length = Math.min(appended.length, count);
        throw error;
      }
    },
    async lock(name: string) {
      span.write();
      await ask(sql`SELECT pg_advisory_xact_lock(hashtextextended(coalesce(current_schema(), '') || ' ' || ${name}, 0))`);
    },
    rowLock(lock: RowLock) {
      span.write();
      return LOCKS[lock];
    },
    restsOn: (basis: Basis) => checkSo(gathering.restsOn(basis)),
    replaces: (replaced: Replaced) => checkSo(gathering.replaces(replaced)),
  });
  return {
    tx,
    end() {
      if (savepoints.open > 0) throw internal('a savepoint was not awaited');
      return { appended, grounds: gathering.all() };
    },
  };
}
