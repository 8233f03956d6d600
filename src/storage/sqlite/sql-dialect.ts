import type BetterSqlite3 from 'better-sqlite3';
import { foldCase } from '../../fold-case.ts';
import type { SqlDialect, SqlJsonValue, SqlTruth } from '../../operators/index.ts';
import { type Sql, sql } from '../../sql.ts';

/** The function that `registerFunctions` adds: SQLite's own `lower()` folds only ASCII. */
const FOLD_CASE = 'bailiwick_fold_case';

/** Renders comparisons for SQLite. Text columns compare by the bytes of UTF-8, which is the order of code points. */
export const sqliteDialect: SqlDialect = Object.freeze({
  name: 'sqlite',
  // The unary plus changes no value. With a bare `?`, SQLite peeks at the bound values when it plans, and then plans again for each
  // execution, which takes as long as finding twenty records. The value of a partial index or the start of a pattern must therefore be in
  // the text: `indexedValue` and `like` put it there.
  placeholder: () => '+?',
  foldCase: (text: Sql) => sql<string>`${sql.raw(FOLD_CASE)}(${text})`,
  position: (text: Sql, part: Sql) => sql<number>`instr(${text}, ${part})`,
  endsWith,
  matchesWildcards,
  numberValue: (value: number) => sql`${value}`,
  indexedValue: (value: string | number | bigint) => sql.lit(value),
  // Needs no cast: STRICT columns have one type, and so has each bound value.
  writtenValue: (value: unknown) => sql`${value}`,
  isAmong,
  deadlineCheck,
  isGivenBy: (column: Sql, query: Sql) => sql<boolean | null>`${column} IN (${query})`,
  listItems,
  listOf: (value: Sql) => sql`json_group_array(${value})`,
  jsonAt,
});

/** The function that ends a statement when the time of its attempt is up. */
const DEADLINE = 'bailiwick_deadline';

/**
 * Renders the condition `deadlineCheck`. Calling a JavaScript function for each row would take two to four times as long as reading it, so
 * the function is called for one of `rows` rows, by the number of the row.
 */
function deadlineCheck(table: Sql, rows = 256): Sql {
  return sql`((${table}.rowid & ${sql.lit(rows - 1)}) <> 0 OR ${sql.raw(DEADLINE)}())`;
}

/** Returns true if a statement contains a deadline check. */
export function hasDeadlineCheck(text: string): boolean {
  return text.includes(`${DEADLINE}()`);
}

/** Registers the functions that statements call. `checkDeadline` throws if the time is up. Call it on every connection before its first statement. */
export function registerFunctions(db: BetterSqlite3.Database, checkDeadline: () => void): void {
  db.function(FOLD_CASE, { deterministic: true, directOnly: true }, (text: unknown) => (typeof text === 'string' ? foldCase(text) : null));
  // Not deterministic: SQLite would call it once for each statement.
  db.function(DEADLINE, { directOnly: true }, () => {
    checkDeadline();
    return 1;
  });
}

/** Compares bytes: a suffix in UTF-8 is a suffix in characters. `substr` returns NULL for an empty blob, hence the first case. */
function endsWith(text: Sql, part: string): SqlTruth {
  const bytes = Buffer.byteLength(part);
  return sql<boolean | null>`iif(${text} = '', FALSE, substr(CAST(${text} AS BLOB), ${-bytes}) = CAST(${part} AS BLOB))`;
}

/** Uses GLOB, because LIKE ignores ASCII case. GLOB's only other special character is `[`. */
function matchesWildcards(text: Sql, pattern: string): SqlTruth {
  return sql<boolean | null>`${text} GLOB ${pattern.replaceAll('[', '[[]')}`;
}

function isAmong(column: Sql, values: readonly (string | number | bigint)[]): SqlTruth {
  const list = `[${values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value))).join(',')}]`;
  return sql<boolean | null>`${column} IN (SELECT value FROM ${listItems(sql`${list}`)})`;
}

/** Names the list in a subquery: in an argument of `json_each`, a field called `value` or `key` would mean its own columns. */
function listItems(list: Sql): Sql {
  return sql`(SELECT ${list} AS list) AS stored, json_each(stored.list)`;
}

/** Quotes every key: without quotes, keys that begin with a digit or contain a hyphen have another meaning. */
function jsonAt(document: Sql, keys: readonly string[]): SqlJsonValue {
  const path = ['$', ...keys.map((key) => `"${key}"`)].join('.');
  const value = sql`json_extract(${document}, ${path})`;
  return {
    type: sql<string | null>`json_type(${document}, ${path})`,
    text: value,
    // A large number may be read as an integer with more digits than a double has.
    number: sql`CAST(${value} AS DOUBLE PRECISION)`,
    list: value,
  };
}
