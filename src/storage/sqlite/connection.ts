import type BetterSqlite3 from 'better-sqlite3';
import { memoised } from '../../memoize.ts';
import { type Change, createStatements, type Query } from '../contract.ts';
import { createLazySavepoints, type PendingSavepoints } from '../savepoints.ts';
import { fromDriver } from './driver-error.ts';
import { registerFunctions, sqliteDialect } from './sql-dialect.ts';

/**
 * Prepared statements kept; filters of clients can make any number of texts. The oldest go first, used or not: to prepare one anew now and
 * then takes less than to keep all in the order of use.
 */
const STATEMENTS = 500;

/** One connection to a database file. Synchronous; its errors are Problems and ConstraintErrors. */
export interface Connection {
  /** False outside BEGIN … COMMIT, and also where the driver rolled back by itself (disk full). */
  readonly inTransaction: boolean;
  /** How many statements that can write have run: a transaction that ran none proves nothing about the disk. */
  readonly writes: number;
  all(query: Query): SqliteRow[];
  one(query: Query): SqliteRow | undefined;
  run(query: Query): Change;
  /** Begins a transaction with the lock to write. */
  begin(): void;
  /** Runs fixed text without values, once: COMMIT, PRAGMA. */
  exec(sql: string): void;
  /** Savepoints, of which the database is told once something is written in them. */
  readonly marks: PendingSavepoints;
  close(): void;
}

/** A row as the driver gives it; integers beyond 2^53 are bigints. */
export type SqliteRow = Record<string, unknown>;

interface Prepared {
  readonly statement: BetterSqlite3.Statement<unknown[], SqliteRow>;
  readonly isWriting: boolean;
  /** Result columns that may hold integers. */
  readonly integers: readonly string[];
}

/** Makes a connection of an open driver handle. */
export function createConnection(driver: BetterSqlite3.Database): Connection {
  registerFunctions(driver);
  const statements = createPrepared(driver);
  let writes = 0;
  const { state, translated } = createState(driver);
  const say = (text: string): void => void statements.prepare(text).statement.run();
  const marks = createLazySavepoints((text) => translated(() => say(text)));

  function ready(query: Query): Ready {
    const { sql, parameters } = toStatement(query);
    const prepared = statements.prepare(sql);
    if (prepared.isWriting) {
      writes++;
      marks.send();
    }
    return { prepared, sql, parameters: parameters.map(toBound) };
  }

  return {
    get inTransaction() {
      return state.inTransaction;
    },
    get writes() {
      return writes;
    },
    marks,
    ...createAsking({ ready, statements, translated }),
    begin: () =>
      translated(() => {
        marks.forget();
        say('BEGIN IMMEDIATE');
        state.inTransaction = true;
        statements.follow();
      }),
    exec: (sql) =>
      translated(() => {
        driver.exec(sql);
        state.inTransaction = driver.inTransaction;
      }),
    close: () => void driver.close(),
  };
}

/** Gives what `work` gives; what the driver throws is thrown in our words. */
type Translated = <T>(work: () => T) => T;

/** Whether a transaction is open. The driver is asked only where that may have changed: it takes as long to say as many a statement to run. */
function createState(driver: BetterSqlite3.Database): { readonly state: { inTransaction: boolean }; readonly translated: Translated } {
  const state = { inTransaction: driver.inTransaction };
  return {
    state,
    translated(work) {
      try {
        return work();
      } catch (error) {
        // It rolls back by itself where the disk is full or fails.
        state.inTransaction = driver.inTransaction;
        throw fromDriver(error);
      }
    },
  };
}

/** A query that is about to run. */
interface Ready {
  readonly prepared: Prepared;
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

interface AskingParts {
  /** Has whatever goes before it done. */
  readonly ready: (query: Query) => Ready;
  readonly statements: PreparedStatements;
  readonly translated: Translated;
}

/** What can be asked between BEGIN and COMMIT. */
function createAsking({ ready, statements, translated }: AskingParts): Pick<Connection, 'all' | 'one' | 'run'> {
  return {
    all: (query) =>
      translated(() => {
        const { prepared, parameters } = ready(query);
        const rows = prepared.statement.all(...parameters);
        for (const row of rows) toNumbers(row, prepared.integers);
        return rows;
      }),
    one: (query) =>
      translated(() => {
        const { prepared, parameters } = ready(query);
        const row = prepared.statement.get(...parameters);
        if (row !== undefined) toNumbers(row, prepared.integers);
        return row;
      }),
    run: (query) =>
      translated(() => {
        const { prepared, sql, parameters } = ready(query);
        const { changes } = prepared.statement.run(...parameters);
        // What was prepared before a change of tables may name other columns than it would now.
        if (prepared.isWriting && /^\s*(CREATE|ALTER|DROP)\b/i.test(sql)) statements.clear();
        return { changes };
      }),
  };
}

/** Statements that are kept prepared. */
interface PreparedStatements {
  prepare(text: string): Prepared;
  /** Forgets those of other tables than there are now: SQLite prepares them anew by itself, but what is known of their columns stays. */
  follow(): void;
  clear(): void;
}

function createPrepared(driver: BetterSqlite3.Database): PreparedStatements {
  const kept = new Map<string, Prepared>();
  const schemaVersion = driver.prepare<[], number>('PRAGMA schema_version').pluck();
  const readSchema = driver.prepare('SELECT 1 FROM sqlite_schema LIMIT 1');
  let version: number | undefined;
  return {
    prepare(text) {
      const prepared = memoised(kept, text, () => prepareStatement(driver, text));
      if (kept.size > STATEMENTS) kept.delete(kept.keys().next().value ?? '');
      return prepared;
    },
    follow() {
      const now = schemaVersion.get();
      if (now === version) return;
      // What is prepared next would be of the schema as this connection last read it, until something ran.
      readSchema.get();
      kept.clear();
      version = now;
    },
    clear: () => kept.clear(),
  };
}

const toStatement = createStatements(sqliteDialect.placeholder);

function prepareStatement(driver: BetterSqlite3.Database, text: string): Prepared {
  const statement = driver.prepare<unknown[], SqliteRow>(text);
  const isWriting = !statement.readonly;
  if (!statement.reader) return { statement, isWriting, integers: [] };
  // As doubles, integers beyond 2^53 would silently become others: decimals have 18 digits.
  statement.safeIntegers(true);
  const integers = statement.columns().filter(({ type }) => type === null || type === 'INTEGER');
  return { statement, isWriting, integers: integers.map(({ name }) => name) };
}

function toNumbers(row: SqliteRow, integers: readonly string[]): void {
  for (const name of integers) {
    const value = row[name];
    if (typeof value !== 'bigint') continue;
    const number = Number(value);
    if (Number.isSafeInteger(number)) row[name] = number;
  }
}

function toBound(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value === undefined ? null : value;
}
