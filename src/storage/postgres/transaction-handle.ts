import { type Sql, sql } from '../../sql.ts';
import type { Loan } from '../chain-writers.ts';
import type { Appended, Appending, Basis, PendingResults, Replaced, RowLock, Transaction } from '../contract.ts';
import { createSavepoints, internal } from '../savepoints.ts';
import { type Connection, type QueryResult, toStatement } from './connection.ts';
import type { LazyTransaction } from './lazy-transaction.ts';
import { SLOTS } from './pool.ts';
import { createGathering, type ReadSet } from './read-set.ts';
import { postgresDialect } from './sql-dialect.ts';
import type { TransactionState } from './transaction-state.ts';

/** What one attempt at a work is made of. */
export interface Parts {
  readonly connection: Connection;
  readonly course: TransactionState;
  readonly span: LazyTransaction;
  /** Who appends in it. */
  readonly loan: Loan;
}

/** What a work leaves to be appended, and what its answer rests on. */
export interface Left {
  readonly appended: readonly Appended[];
  readonly grounds: ReadSet;
}

/** A transaction as a work holds it. */
export interface OpenTransaction {
  readonly tx: Transaction;
  /** What is left to be done. Throws where a savepoint is still open. */
  end(): Left;
}

const LOCKS: Readonly<Record<RowLock, Sql>> = Object.freeze({
  change: sql` FOR NO KEY UPDATE`,
  remove: sql` FOR UPDATE`,
  keep: sql` FOR SHARE`,
  stay: sql` FOR KEY SHARE`,
});

/** Hands a transaction to one work. */
export function openTransaction(parts: Parts, now: number): OpenTransaction {
  const { ask, hold, write } = createAsking(parts);
  const { left, ...account } = createAccount(parts);
  const tx: Transaction = Object.freeze({
    dialect: postgresDialect,
    now,
    lane: parts.connection.place % SLOTS,
    // What a row holds is said by whoever wrote the query.
    all: (async (query) => (await ask(query)).rows) as Transaction['all'],
    one: (async (query) => (await ask(query)).rows[0]) as Transaction['one'],
    async run(query: PendingResults) {
      write();
      const { changes } = await ask(query);
      return { changes };
    },
    async lock(name: string) {
      hold();
      parts.course.locks.add(name);
      await ask(sql`SELECT pg_advisory_xact_lock(${keyOf(name)})`);
    },
    rowLock(lock: RowLock) {
      hold();
      return LOCKS[lock];
    },
    ...account,
  });
  return { tx, end: left };
}

/** What a name is to the server, which locks numbers: in each schema another. */
export function keyOf(name: string): Sql {
  return sql`hashtextextended(coalesce(current_schema(), '') || ' ' || ${name}, 0)`;
}

/** What only looks: it may go out without a transaction. */
const LOOKS = /^\s*SELECT\b/i;

/** How the server is asked: in a transaction from the first statement on that does more than look. */
function createAsking({ connection, course, span }: Parts) {
  function hold(): void {
    course.check();
    span.write();
  }
  function write(): void {
    hold();
    course.wrote = true;
  }
  async function ask(query: PendingResults): Promise<QueryResult> {
    course.check();
    const statement = toStatement(query);
    if (!LOOKS.test(statement.sql)) write();
    return course.follow(() => connection.ask(statement));
  }
  return { ask, hold, write };
}

/** What is kept account of beside what is asked, and undone with it. */
function createAccount({ course, span }: Parts) {
  const savepoints = createSavepoints({
    get isOver() {
      return course.ended || course.broken;
    },
    check: course.check,
    marks: span.marks,
  });
  const gathering = createGathering();
  const appended: Appended[] = [];

  function checkSo(isSo: boolean): void {
    course.check();
    if (!isSo) throw course.outdate();
  }

  return {
    async append<Row>(appending: Appending<Row>, rows: readonly Row[]): Promise<void> {
      course.check();
      if (rows.length > 0) appended.push({ appending: appending as Appending<unknown>, rows });
    },
    async savepoint<T>(work: () => Promise<T>): Promise<T> {
      const [mark, count] = [gathering.mark, appended.length];
      try {
        return await savepoints.run(work);
      } catch (error) {
        gathering.undo(mark);
        appended.length = count;
        throw error;
      }
    },
    restsOn: (basis: Basis): void => checkSo(gathering.restsOn(basis)),
    replaces: (replaced: Replaced): void => checkSo(gathering.replaces(replaced)),
    left(): Left {
      if (savepoints.open > 0) throw internal('a savepoint was not awaited');
      return { appended, grounds: gathering.all() };
    },
  };
}
