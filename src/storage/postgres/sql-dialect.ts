import type { SqlDialect, SqlJsonValue, SqlTruth, StoredType } from '../../operators/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { FOLD_CASE } from './case-folding.ts';

/**
 * How comparisons are said in PostgreSQL. Text columns have the collation "C", so they compare by the bytes of UTF-8, that is by
 * code points; a text that is not a column's has to be given it where order matters.
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
  // Behind IN, it would be asked again for every row of the table.
  isGivenBy: (column: Sql, query: Sql) => sql<boolean | null>`${column} = ANY (ARRAY(${query}))`,
  listOf: (value: Sql) => sql`coalesce(json_agg(${value}), '[]'::json)`,
  listItems: (list: Sql) => sql`json_array_elements_text(${list}) AS item(value)`,
  jsonAt,
});

/** Characters that mean themselves only behind a backslash. */
const SPECIAL = /[\\%_]/g;

function matchesWildcards(text: Sql, pattern: string): SqlTruth {
  const like = pattern.replace(SPECIAL, '\\$&').replaceAll('*', '%').replaceAll('?', '_');
  return sql<boolean | null>`${text} LIKE ${like}`;
}

/**
 * A parameter takes the type of what it is compared with, and an integer column has no place for 0.5: so a number says what
 * it is. Whole ones stay integers, by which an index on an integer column can be entered.
 */
function numberValue(value: number): Sql {
  return Number.isSafeInteger(value) ? sql`${String(value)}::bigint` : sql`${String(value)}::double precision`;
}

/** What a value is cast to. */
export const CAST_TYPES: Readonly<Record<StoredType, string>> = Object.freeze({
  text: 'TEXT',
  integer: 'BIGINT',
  real: 'DOUBLE PRECISION',
  boolean: 'BOOLEAN',
  json: 'JSON',
});

/**
 * Parameters of a prepared statement keep the type that their columns had then. A statement that was the same for a column of
 * integers would go on writing integers into one of texts, and "007" would be 7.
 */
function writtenValue(value: unknown, type: StoredType): Sql {
  return type === 'text' ? sql`${value}` : sql`CAST(${value} AS ${sql.raw(CAST_TYPES[type])})`;
}

function isAmong(column: Sql, values: readonly (string | number | bigint)[]): SqlTruth {
  const type = sql.raw(typeof values[0] === 'string' ? 'text[]' : 'bigint[]');
  return sql<boolean | null>`${column} = ANY (${values.map(String)}::${type})`;
}

/**
 * `->` with a text leads into objects alone. What lies there is asked for its own type first: to read a text as a number is
 * an error here, not NULL, and nothing says in which order PostgreSQL looks at the sides of an AND.
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
