import type BetterSqlite3 from 'better-sqlite3';
import { foldCase, type SqlDialect, type SqlJson, type SqlTruth } from '../../operators/index.ts';
import { type Sql, sql } from '../../sql.ts';

/** Name of the function that `registerFunctions` gives SQLite: its own `lower()` knows ASCII alone. */
const FOLD_CASE = 'bailiwick_fold_case';

/** How comparisons are said in SQLite. Text columns compare by the bytes of UTF-8, that is by code points. */
export const sqliteDialect: SqlDialect = Object.freeze({
  name: 'sqlite',
  // The plus changes no value. Behind a bare mark, SQLite looks at what is bound when it plans in which order rows are found and how many
  // of them are asked for, and then plans anew for each execution, which takes as long as to find twenty records. It would see there too
  // that a partial index or the beginning of a pattern leads to rows: those are said in the text, by `indexedValue` and `like`.
  placeholder: () => '+?',
  foldCase: (text: Sql) => sql<string>`${sql.raw(FOLD_CASE)}(${text})`,
  position: (text: Sql, part: Sql) => sql<number>`instr(${text}, ${part})`,
  endsWith,
  matchesWildcards,
  numberValue: (value: number) => sql`${value}`,
  indexedValue: (value: string | number | bigint) => sql.lit(value),
  // Columns are of one type, and what is bound has one.
  writtenValue: (value: unknown) => sql`${value}`,
  isAmong,
  isGivenBy: (column: Sql, query: Sql) => sql<boolean | null>`${column} IN (${query})`,
  listItems,
  listOf: (value: Sql) => sql`json_group_array(${value})`,
  jsonAt,
});

/** Makes the functions known that `sqliteDialect` calls. Every connection needs it before its first statement. */
export function registerFunctions(db: BetterSqlite3.Database): void {
  db.function(FOLD_CASE, { deterministic: true, directOnly: true }, (text: unknown) => (typeof text === 'string' ? foldCase(text) : null));
}

/** By bytes: a suffix in UTF-8 is a suffix in characters. Of an empty blob `substr` makes NULL, hence the first case. */
function endsWith(text: Sql, part: string): SqlTruth {
  const bytes = Buffer.byteLength(part);
  return sql<boolean | null>`iif(${text} = '', FALSE, substr(CAST(${text} AS BLOB), ${-bytes}) = CAST(${part} AS BLOB))`;
}

/** GLOB, not LIKE: LIKE takes no notice of ASCII case. GLOB's one other special character is `[`. */
function matchesWildcards(text: Sql, pattern: string): SqlTruth {
  return sql<boolean | null>`${text} GLOB ${pattern.replaceAll('[', '[[]')}`;
}

function isAmong(column: Sql, values: readonly (string | number | bigint)[]): SqlTruth {
  const list = `[${values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value))).join(',')}]`;
  return sql<boolean | null>`${column} IN (SELECT value FROM ${listItems(sql`${list}`)})`;
}

/**
 * The list is named before it is unfolded: an argument of `json_each` may mean its own columns, so that a field called
 * `value` or `key` would silently be empty.
 */
function listItems(list: Sql): Sql {
  return sql`(SELECT ${list} AS list) AS stored, json_each(stored.list)`;
}

/** Every key in quotes: bare, one that begins with a digit or has a hyphen might be read otherwise. */
function jsonAt(document: Sql, keys: readonly string[]): SqlJson {
  const path = ['$', ...keys.map((key) => `"${key}"`)].join('.');
  const value = sql`json_extract(${document}, ${path})`;
  return {
    type: sql<string | null>`json_type(${document}, ${path})`,
    text: value,
    // A large number may read as an integer of more digits than a double has.
    number: sql`CAST(${value} AS DOUBLE PRECISION)`,
    list: value,
  };
}
