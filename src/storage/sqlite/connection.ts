import type BetterSqlite3 from 'better-sqlite3';
import { DummyDriver, Kysely, type RawBuilder, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Change, Statement } from '../database.ts';
import { createLateMarks, type Marks } from '../savepoints.ts';
import { fromDriver } from './driver-error.ts';
import { registerFunctions } from './sql-dialect.ts';

/** Prepared statements kept; the least recently used go first. Filters of clients can make any number of texts. */
const STATEMENTS = 500;

/** One connection to a database file. Synchronous; its errors are Problems and ConstraintErrors. */
export interface Connection {
  /** False outside BEGIN … COMMIT, and also where the driver rolled back by itself (disk full). */
  readonly inTransaction: boolean;
  /** How many statements that can write have run: a transaction that ran none proves nothing about the disk. */
  readonly writes: number;
  all(query: Query): Row[];
  one(query: Query): Row | undefined;
  run(query: Query): Change;
  /** Begins a transaction with the lock to write. */
  begin(): void;
  /** Runs fixed text without values, once: COMMIT, PRAGMA. */
  exec(sql: string): void;
  /** Savepoints, of which the database is told once something is written in them. */
  readonly marks: Marks;
  close(): void;
}

/** What can be asked of a transaction. */
export type Query = RawBuilder<unknown> | Statement;

/** A row as the driver gives it; integers beyond 2^53 are bigints. */
export type Row = Record<string, unknown>;

interface Prepared {
  readonly statement: BetterSqlite3.Statement<unknown[], Row>;
  /** Result columns that may hold integers. */
  readonly integers: readonly string[];
}

/** Makes a connection of an open driver handle. */
export function createConnection(driver: BetterSqlite3.Database): Connection {
  registerFunctions(driver);
  const statements = createStatements(driver);
  const say = (text: string): void => void statements.prepare(text).statement.run();
  const marks = createLateMarks((text) => translated(() => say(text)));
  let writes = 0;

  function ready(query: Query): Prepared & Statement {
    const { sql, parameters } = toStatement(query);
    const prepared = statements.prepare(sql);
    if (!prepared.statement.readonly) {
      writes++;
      marks.send();
    }
    return { ...prepared, sql, parameters: parameters.map(toBound) };
  }

  return {
    get inTransaction() {
      return driver.inTransaction;
    },
    get writes() {
      return writes;
    },
    marks,
    ...createAsking(ready, statements),
    begin: () =>
      translated(() => {
        marks.forget();
        say('BEGIN IMMEDIATE');
        statements.follow();
      }),
    exec: (sql) => translated(() => void driver.exec(sql)),
    close: () => void driver.close(),
  };
}

/** What can be asked between BEGIN and COMMIT; `ready` has whatever goes before it done. */
function createAsking(ready: (query: Query) => Prepared & Statement, statements: Statements): Pick<Connection, 'all' | 'one' | 'run'> {
  return {
    all: (query) =>
      translated(() => {
        const { statement, integers, parameters } = ready(query);
        return statement.all(...parameters).map((row) => withNumbers(row, integers));
      }),
    one: (query) =>
      translated(() => {
        const { statement, integers, parameters } = ready(query);
        const row = statement.get(...parameters);
        return row === undefined ? undefined : withNumbers(row, integers);
      }),
    run: (query) =>
      translated(() => {
        const { statement, sql, parameters } = ready(query);
        const { changes } = statement.run(...parameters);
        // What was prepared before a change of tables may name other columns than it would now.
        if (/^\s*(CREATE|ALTER|DROP)\b/i.test(sql)) statements.clear();
        return { changes };
      }),
  };
}

/** Statements that are kept prepared. */
interface Statements {
  prepare(text: string): Prepared;
  /** Forgets those of other tables than there are now: SQLite prepares them anew by itself, but what is known of their columns stays. */
  follow(): void;
  clear(): void;
}

function createStatements(driver: BetterSqlite3.Database): Statements {
  const kept = new Map<string, Prepared>();
  const schemaVersion = driver.prepare<[], number>('PRAGMA schema_version').pluck();
  const readSchema = driver.prepare('SELECT 1 FROM sqlite_schema LIMIT 1');
  let version: number | undefined;
  return {
    prepare(text) {
      const known = kept.get(text);
      // Taken out and put back, so that the map's own order is that of use.
      if (known !== undefined) kept.delete(text);
      const prepared = known ?? prepareStatement(driver, text);
      kept.set(text, prepared);
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

/** Compiles only: nothing is ever executed through it. */
const compiler: Kysely<unknown> = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

function toStatement(query: Query): Statement {
  return 'parameters' in query ? query : query.compile(compiler);
}

function prepareStatement(driver: BetterSqlite3.Database, text: string): Prepared {
  const statement = driver.prepare<unknown[], Row>(text);
  if (!statement.reader) return { statement, integers: [] };
  // As doubles, integers beyond 2^53 would silently become others: decimals have 18 digits.
  statement.safeIntegers(true);
  const integers = statement.columns().filter(({ type }) => type === null || type === 'INTEGER');
  return { statement, integers: integers.map(({ name }) => name) };
}

function withNumbers(row: Row, integers: readonly string[]): Row {
  for (const name of integers) {
    const value = row[name];
    if (typeof value !== 'bigint') continue;
    const number = Number(value);
    if (Number.isSafeInteger(number)) row[name] = number;
  }
  return row;
}

function toBound(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return value === undefined ? null : value;
}

function translated<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fromDriver(error);
  }
}
