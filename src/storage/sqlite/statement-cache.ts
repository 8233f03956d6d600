import type BetterSqlite3 from 'better-sqlite3';
import { memoize } from '../../memoize.ts';
import { hasDeadlineCheck } from './sql-dialect.ts';

/**
 * Maximum prepared statements; client filters produce any number of texts. The oldest is dropped first, used or not: preparing one again
 * now and then costs less than tracking the order of use.
 */
const MAX_STATEMENTS = 500;

/** A row as the driver returns it; integers beyond 2^53 are bigints. */
export type SqliteRow = Record<string, unknown>;

/** A prepared statement and its properties. */
export interface Prepared {
  readonly statement: BetterSqlite3.Statement<unknown[], SqliteRow>;
  readonly isWriting: boolean;
  readonly changesSchema: boolean;
  /** True if the statement has a deadline check. */
  readonly isTimed: boolean;
  /** Result columns that may hold integers. */
  readonly integers: readonly string[];
}

/** Cache of prepared statements. */
export interface StatementCache {
  prepare(text: string): Prepared;
  /**
   * Drops the statements of an older schema: SQLite prepares them again by itself, but their column information stays old. Reads the version
   * of the schema only if another connection has written, or if this one has changed the schema.
   */
  dropOutdated(dataVersion: unknown): void;
  clear(): void;
}

/** Creates the cache of a connection. */
export function createStatementCache(driver: BetterSqlite3.Database): StatementCache {
  const cache = new Map<string, Prepared>();
  const prepareNew = (text: string): Prepared => prepareStatement(driver, text);
  const schemaVersion = driver.prepare<[], number>('PRAGMA schema_version').pluck();
  const readSchema = driver.prepare('SELECT 1 FROM sqlite_schema LIMIT 1');
  let version: number | undefined;
  /** The data version for which the version of the schema was read. */
  let checked: unknown;
  return {
    prepare(text) {
      const prepared = memoize(cache, text, prepareNew);
      if (cache.size > MAX_STATEMENTS) cache.delete(cache.keys().next().value ?? '');
      return prepared;
    },
    dropOutdated(dataVersion) {
      if (dataVersion === checked) return;
      checked = dataVersion;
      const now = schemaVersion.get();
      if (now === version) return;
      // Reads the schema again: until a statement runs, this connection prepares statements with the schema that it read last.
      readSchema.get();
      cache.clear();
      version = now;
    },
    clear() {
      cache.clear();
      // The change may be rolled back, and the schema then has its earlier version again.
      [version, checked] = [undefined, undefined];
    },
  };
}

function prepareStatement(driver: BetterSqlite3.Database, text: string): Prepared {
  const statement = driver.prepare<unknown[], SqliteRow>(text);
  const isWriting = !statement.readonly;
  const changesSchema = isWriting && /^\s*(CREATE|ALTER|DROP)\b/i.test(text);
  const properties = { statement, isWriting, changesSchema, isTimed: hasDeadlineCheck(text) };
  if (!statement.reader) return { ...properties, integers: [] };
  // As doubles, integers beyond 2^53 would lose digits: stored decimals have up to 18 digits.
  statement.safeIntegers(true);
  const integers = statement.columns().filter(({ type }) => type === null || type === 'INTEGER');
  return { ...properties, integers: integers.map(({ name }) => name) };
}
