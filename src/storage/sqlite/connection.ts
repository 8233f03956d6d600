import type BetterSqlite3 from 'better-sqlite3';
import { type Change, createStatements, type Query, type Statement } from '../contract.ts';
import { createLazySavepoints, type LazySavepoints } from '../savepoints.ts';
import { fromDriver, StatementTimeout } from './driver-error.ts';
import { KeptRows } from './kept-rows.ts';
import { ReferenceLog } from './reference-log.ts';
import { registerFunctions, sqliteDialect } from './sql-dialect.ts';
import { createStatementCache, type Prepared, type SqliteRow, type StatementCache } from './statement-cache.ts';

/** Selects a number that changes when another connection has written. */
export const DATA_VERSION: Statement = Object.freeze({ sql: 'PRAGMA data_version', parameters: [], keepsRow: true });

/** One connection to a database file. Synchronous; its errors are Problems and ConstraintErrors. */
export interface Connection {
  /** False outside of BEGIN … COMMIT, and after SQLite has rolled back by itself (disk full). */
  readonly inTransaction: boolean;
  /** Number of write statements run and not undone: a transaction without writes does not prove that the disk accepts writes. */
  writes: number;
  all(query: Query): SqliteRow[];
  one(query: Query): SqliteRow | undefined;
  run(query: Query): Change;
  /** Begins a transaction and takes the write lock. */
  begin(): void;
  /** Begins a transaction that only reads; its first statement takes the snapshot that it reads. */
  beginReading(): void;
  readonly deadline: StatementDeadline;
  /** The references that units of work have added to lists. */
  readonly references: ReferenceLog;
  /** Runs fixed text without values: COMMIT, PRAGMA. */
  exec(sql: string): void;
  /** Savepoints that are sent only before the first write in them. */
  readonly savepoints: LazySavepoints;
  close(): void;
}

/** The time limit of statements with a deadline check; undefined if they have none. */
export interface StatementDeadline {
  timer: StatementTimer | undefined;
}

/** Limits and counts the time of statements with a deadline check. */
export interface StatementTimer {
  /** Milliseconds that are left. */
  readonly remaining: number;
  /** Adds milliseconds of a statement that ended now. */
  add(milliseconds: number): void;
}

/**
 * Creates a connection from an open driver handle.
 *
 * @param isCancelled Returns true if the running statement should end at its next deadline check.
 */
export function createConnection(driver: BetterSqlite3.Database, isCancelled?: () => boolean): Connection {
  const deadline = createDeadline(isCancelled);
  registerFunctions(driver, deadline.check);
  const statements = createStatementCache(driver);
  const kept = new KeptRows<SqliteRow>();
  const { state, toError, converted, exec } = createState(driver, kept);
  /** Runs BEGIN or a statement of a savepoint. */
  const runText = (text: string): void => {
    kept.clear();
    statements.prepare(text).statement.run();
  };
  const savepoints = createLazySavepoints((text) => converted(() => runText(text)));
  const writes = { count: 0 };

  function begin(text: string): void {
    converted(() => {
      savepoints.clear();
      references.begin();
      runText(text);
      state.inTransaction = true;
      statements.dropOutdated(loadDataVersion());
    });
  }

  const queries = createQueries({ statements, kept, savepoints, writes, toError, deadline });
  const one: Connection['one'] = (query) => (state.inTransaction ? kept.get(query, queries.one) : queries.one(query));
  const loadDataVersion = (): unknown => one(DATA_VERSION)?.['data_version'];
  const references = new ReferenceLog();
  return {
    get inTransaction() {
      return state.inTransaction;
    },
    get writes() {
      return writes.count;
    },
    set writes(count) {
      writes.count = count;
    },
    savepoints,
    ...queries,
    one,
    references,
    begin: () => begin('BEGIN IMMEDIATE'),
    beginReading: () => begin('BEGIN'),
    deadline,
    exec,
    close: () => void driver.close(),
  };
}

/** The deadline of the running statement. */
interface Deadline extends StatementDeadline {
  /** Throws if the running statement has to end. */
  check(): void;
  /** Runs a statement with a deadline check within the time that the timer leaves. */
  within<T>(run: () => T): T;
}

function createDeadline(isCancelled = () => false): Deadline {
  let end = Number.POSITIVE_INFINITY;
  const deadline: Deadline = {
    timer: undefined,
    check() {
      if (performance.now() > end || isCancelled()) throw new StatementTimeout();
    },
    within(run) {
      const { timer } = deadline;
      if (timer === undefined) return run();
      const begun = performance.now();
      end = begun + timer.remaining;
      try {
        return run();
      } finally {
        end = Number.POSITIVE_INFINITY;
        timer.add(performance.now() - begun);
      }
    },
  };
  return deadline;
}

interface ConnectionState extends Pick<Connection, 'exec'> {
  readonly state: { inTransaction: boolean };
  /** Converts an error of the driver, and reads whether the transaction is still open. */
  readonly toError: (error: unknown) => unknown;
  /** Runs driver calls and converts their errors. */
  readonly converted: <T>(work: () => T) => T;
}

/**
 * Tracks whether a transaction is open. The state is read from the driver only after an error or `exec`, because reading it takes as long
 * as running some statements.
 */
function createState(driver: BetterSqlite3.Database, kept: KeptRows<SqliteRow>): ConnectionState {
  const state = { inTransaction: driver.inTransaction };
  const toError: ConnectionState['toError'] = (error) => {
    // SQLite rolls back by itself if the disk is full or fails.
    state.inTransaction = driver.inTransaction;
    return fromDriver(error);
  };
  const converted: ConnectionState['converted'] = (work) => {
    try {
      return work();
    } catch (error) {
      throw toError(error);
    }
  };
  const exec = (text: string): void =>
    converted(() => {
      kept.clear();
      driver.exec(text);
      state.inTransaction = driver.inTransaction;
    });
  return { state, toError, converted, exec };
}

interface QueryDeps {
  readonly statements: StatementCache;
  readonly kept: KeptRows<SqliteRow>;
  readonly savepoints: LazySavepoints;
  /** The number of write statements. */
  readonly writes: { count: number };
  readonly toError: (error: unknown) => unknown;
  readonly deadline: Deadline;
}

/** Calls the driver with a prepared statement and bound values. */
type Call<T> = (prepared: Prepared, parameters: readonly unknown[]) => T;

/** Creates the query functions of a transaction. */
function createQueries({ statements, kept, savepoints, writes, toError, deadline }: QueryDeps): Pick<Connection, 'all' | 'one' | 'run'> {
  const execute = <T>(query: Query, call: Call<T>): T => {
    try {
      const { sql, parameters } = toStatement(query);
      const prepared = statements.prepare(sql);
      if (prepared.isWriting) {
        writes.count++;
        kept.clear();
        savepoints.send();
      }
      const bound = toBound(parameters);
      const result = prepared.isTimed ? deadline.within(() => call(prepared, bound)) : call(prepared, bound);
      // A failed statement has written nothing.
      if (prepared.isWriting) savepoints.noteWrite();
      return result;
    } catch (error) {
      throw toError(error);
    }
  };
  const change: Call<Change> = (prepared, parameters) => {
    const result = prepared.statement.run(...parameters);
    // After a change of the schema, a prepared statement may return columns under old names.
    if (prepared.changesSchema) statements.clear();
    return result;
  };
  return {
    all: (query) => execute(query, selectAll),
    one: (query) => execute(query, selectOne),
    run: (query) => execute(query, change),
  };
}

function selectAll({ statement, integers }: Prepared, parameters: readonly unknown[]): SqliteRow[] {
  const rows = statement.all(...parameters);
  for (const row of rows) toNumbers(row, integers);
  return rows;
}

function selectOne({ statement, integers }: Prepared, parameters: readonly unknown[]): SqliteRow | undefined {
  const row = statement.get(...parameters);
  if (row !== undefined) toNumbers(row, integers);
  return row;
}

const toStatement = createStatements(sqliteDialect.placeholder);

function toNumbers(row: SqliteRow, integers: readonly string[]): void {
  for (const name of integers) {
    const value = row[name];
    if (typeof value !== 'bigint') continue;
    const number = Number(value);
    if (Number.isSafeInteger(number)) row[name] = number;
  }
}

/** Returns the values as SQLite binds them. If no value has to be converted, returns the same list. */
function toBound(values: readonly unknown[]): readonly unknown[] {
  return values.some(isConverted) ? values.map(toBoundValue) : values;
}

function isConverted(value: unknown): boolean {
  return value === undefined || typeof value === 'boolean';
}

function toBoundValue(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value === undefined ? null : value;
}
