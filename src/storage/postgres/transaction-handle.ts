import { type Sql, sql } from '../../sql.ts';
import type { WriterLease } from '../chain-writers.ts';
import { type AppendStatements, oneOfEach, type PendingAppend, type Query, type RowLock, type Transaction } from '../contract.ts';
import type { ReadSet, WriteSet } from '../read-set.ts';
import { createReadWriteSet, type ReadWriteSet } from '../read-write-set.ts';
import { createSavepoints, internal } from '../savepoints.ts';
import { type QueryResult, toStatement } from './connection.ts';
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

/** The part of a unit of work that is done at commit: rows to append, and the read and write sets to validate. */
export interface CommitRequest {
  readonly appends: readonly PendingAppend[];
  readonly sets: ReadWriteSet;
}

/** A transaction as a unit of work uses it. */
export interface OpenTransaction {
  readonly tx: Transaction;
  /** Returns the rows to append and the sets to validate at commit. Throws if a savepoint is still open. */
  end(): CommitRequest;
}

const ROW_LOCKS: Readonly<Record<RowLock, Sql>> = Object.freeze({
  noKeyUpdate: sql` FOR NO KEY UPDATE`,
  update: sql` FOR UPDATE`,
  share: sql` FOR SHARE`,
  keyShare: sql` FOR KEY SHARE`,
});

/** Creates the handle that one unit of work gets. */
export function openTransaction(context: TransactionContext, now: number): OpenTransaction {
  const { timed, ...statements } = createTimedStatements(context);
  const { query, announceLock, announceWrite } = createQueries(context, statements.query);
  const { end, ...bookkeeping } = createBookkeeping(context);
  // The caller declares the type of the rows.
  const one = (async (text) => (await query(text)).rows[0]) as Transaction['one'];
  const tx: Transaction = Object.freeze({
    dialect: postgresDialect,
    now,
    slot: () => context.connection.slot() % SLOT_COUNT,
    validatesReads: !context.blocksWriters,
    all: (async (text) => (await query(text)).rows) as Transaction['all'],
    one,
    oneOfEach: (queries: readonly (Query | undefined)[]) => oneOfEach({ one }, queries),
    async run(text: Query) {
      announceWrite();
      const { changes } = await query(text);
      return { changes };
    },
    async lock(name: string) {
      announceLock();
      context.state.locks.add(name);
      await query(sql`SELECT pg_advisory_xact_lock(${toLockKey(name)})`);
    },
    rowLock(lock: RowLock) {
      announceLock();
      return ROW_LOCKS[lock];
    },
    ...timed,
    ...bookkeeping,
  });
  return { tx, end };
}

/** Maps a lock name to the 64-bit key of a PostgreSQL advisory lock; the key differs per schema. */
export function toLockKey(name: string): Sql {
  return sql`hashtextextended(coalesce(current_schema(), '') || ' ' || ${name}, 0)`;
}

/** Matches statements that only read and need no transaction; for a SELECT with a row lock, `rowLock` has begun one. */
const SELECT = /^\s*SELECT\b/i;

/** Creates the functions that send statements; the transaction begins with the first one that does more than read. */
function createQueries({ state, lazy }: TransactionContext, send: TimedStatements['query']) {
  function announceLock(): void {
    state.check();
    lazy.write();
  }
  function announceWrite(): void {
    announceLock();
    state.wrote = true;
  }
  async function query(text: Query): Promise<QueryResult> {
    state.check();
    const statement = toStatement(text);
    if (!SELECT.test(statement.sql)) announceWrite();
    return send(statement);
  }
  return { query, announceLock, announceWrite };
}

/** Creates the members that collect appended rows, read set and write set for the commit. A failed savepoint undoes rows and writes. */
function createBookkeeping({ state, lazy }: TransactionContext) {
  const savepoints = createSavepoints({
    isOver: () => state.ended || state.broken,
    check: state.check,
    savepoints: lazy.savepoints,
  });
  const sets = createReadWriteSet();
  const appends: PendingAppend[] = [];

  function requireSame(isSame: boolean): void {
    state.check();
    if (!isSame) throw state.markStale();
  }

  return {
    append<Row>(statements: AppendStatements<Row>, rows: readonly Row[]): void {
      state.check();
      if (rows.length > 0) appends.push({ statements: statements as AppendStatements<unknown>, rows });
    },
    async savepoint<T>(work: () => Promise<T>): Promise<T> {
      const [mark, count] = [sets.mark, appends.length];
      try {
        return await savepoints.run(work);
      } catch (error) {
        sets.undoTo(mark);
        appends.length = count;
        throw error;
      }
    },
    addToReadSet: (readSet: ReadSet): void => requireSame(sets.addToReadSet(readSet)),
    addToWriteSet(writeSet: WriteSet): void {
      const isSame = sets.addToWriteSet(writeSet);
      if (sets.needsBlocking) throw state.markBlocking();
      requireSame(isSame);
    },
    watched: (resource: string) => (sets.watch === undefined ? 'unknown' : sets.watch.get(resource)),
    end(): CommitRequest {
      if (savepoints.open > 0) throw internal('a savepoint was not awaited');
      return { appends, sets: sets.build() };
    },
  };
}
