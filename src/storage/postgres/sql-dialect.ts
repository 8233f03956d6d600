import type { SqlDialect, SqlJsonValue, SqlTruth, StoredType, WrittenColumn } from '../../operators/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { FOLD_CASE } from './case-folding.ts';

/** The deadline check. The server ends the statement by itself (`statement_timeout`); the comment marks the statement as one to limit. */
const CHECK = 'TRUE /* limited */';
const DEADLINE_CHECK = sql.raw(CHECK);

/** Returns true if a statement contains a deadline check. */
export function hasDeadlineCheck(text: string): boolean {
  return text.includes(CHECK);
}

/**
 * Renders comparisons for PostgreSQL. Text columns have the collation "C" and compare by the bytes of UTF-8, which is the order of code
 * points. Any other expression must name the collation if its order matters.
 */
export const postgresDialect: SqlDialect = Object.freeze({
  name: 'postgres',
  placeholder: (nth: number, type: StoredType = 'text') => (type === 'text' ? `$${nth}` : `CAST($${nth} AS ${CAST_TYPES[type]})`),
  foldCase: (text: Sql) => sql<string>`${sql.raw(FOLD_CASE)}(${text})`,
  position: (text: Sql, part: Sql) => sql<number>`strpos(${text}, ${part})`,
  endsWith: (text: Sql, part: string) => sql<boolean | null>`right(${text}, ${Array.from(part).length}::int) = ${part}`,
  matchesWildcards,
  numberValue,
  writtenValue,
  isAmong,
  deadlineCheck: () => DEADLINE_CHECK,
  // As an operand of IN, the subquery would run once for every row of the table.
  isGivenBy: (column: Sql, query: Sql) => sql<boolean | null>`${column} = ANY (ARRAY(${query}))`,
  rowsOf,
  listOf: (value: Sql) => sql`coalesce(json_agg(${value}), '[]'::json)`,
  listItems: (list: Sql) => sql`json_array_elements_text(${list}) AS item(value)`,
  jsonAt,
});

/** Characters that need a backslash in a LIKE pattern. */
const SPECIAL = /[\\%_]/g;

function matchesWildcards(text: Sql, pattern: string): SqlTruth {
  const like = pattern.replace(SPECIAL, '\\$&').replaceAll('*', '%').replaceAll('?', '_');
  return sql<boolean | null>`${text} LIKE ${like}`;
}

/**
 * Casts a number, because a parameter otherwise takes the type of the other operand, and an integer column cannot be compared with 0.5.
 * Integers stay integers, so that an index on an integer column can be used.
 */
function numberValue(value: number): Sql {
  return Number.isSafeInteger(value) ? sql`${String(value)}::bigint` : sql`${String(value)}::double precision`;
}

/** The types of casts. */
export const CAST_TYPES: Readonly<Record<StoredType, string>> = Object.freeze({
  text: 'TEXT',
  integer: 'BIGINT',
  real: 'DOUBLE PRECISION',
  boolean: 'BOOLEAN',
  json: 'JSON',
});

/**
 * Casts a value to the type of its column. The parameters of a prepared statement keep their types: without the cast, a statement prepared
 * for an integer column would go on writing integers after a migration to text, and "007" would become 7.
 */
function writtenValue(value: unknown, type: StoredType): Sql {
  return type === 'text' ? sql`${value}` : sql`CAST(${value} AS ${sql.raw(CAST_TYPES[type])})`;
}

function isAmong(column: Sql, values: readonly (string | number | bigint)[]): SqlTruth {
  const type = sql.raw(typeof values[0] === 'string' ? 'text[]' : 'bigint[]');
  return sql<boolean | null>`${column} = ANY (${values.map(String)}::${type})`;
}

/**
 * Renders one array for each column, so that the text of the statement is the same for any number of rows. For a single row, VALUES takes a
 * fifth less of the server's time.
 */
function rowsOf(columns: readonly WrittenColumn[]): Sql {
  if (columns.every(({ values }) => values.length === 1))
    return sql`VALUES (${sql.join(columns.map(({ type, values }) => writtenValue(values[0], type)))})`;
  const arrays = columns.map(({ type, values }) => sql`${toArrayLiteral(values)}::${sql.raw(CAST_TYPES[type])}[]`);
  return sql`SELECT * FROM unnest(${sql.join(arrays)})`;
}

/** Renders an array as PostgreSQL parses it. */
export function toArrayLiteral(values: readonly unknown[]): string {
  return `{${values.map(toArrayItem).join(',')}}`;
}

const TO_ESCAPE = /["\\]/g;

function toArrayItem(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return typeof value === 'string' ? `"${value.replace(TO_ESCAPE, '\\$&')}"` : String(value);
}

/**
 * Selects a value in a JSON document. `->` with a text key returns members of objects only. `number` and `list` test the type in a CASE:
 * PostgreSQL throws for text that is not a number, and AND does not evaluate its operands in a fixed order.
 */
function jsonAt(document: Sql, keys: readonly string[]): SqlJsonValue {
  const value = keys.reduce((outer, key) => sql`${outer} -> ${key}::text`, document);
  const kind = sql`json_typeof(${value})`;
  const text = sql`(${value} #>> '{}')`;
  return {
    type: sql<string | null>`CASE ${kind} WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ${text} ELSE ${kind} END`,
    text: sql`(${text} COLLATE "C")`,
    number: sql`CASE ${kind} WHEN 'number' THEN CAST(${text} AS double precision) END`,
    list: sql`CASE ${kind} WHEN 'array' THEN ${value} END`,
  };
}
