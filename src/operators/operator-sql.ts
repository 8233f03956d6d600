/** The contract of a SQL dialect, and SQL fragments that operators share. */
import { type Sql, sql } from '../sql.ts';
import type { Kind } from './value.ts';

/** A three-valued SQL expression: true, false or NULL where the evaluator returns true, false or unknown. */
export type SqlTruth = Sql<boolean | null>;

/** The type of a column; each database has its own name for it. */
export type StoredType = 'text' | 'integer' | 'real' | 'boolean' | 'json';

/** The differences between databases. Each database implements it. The result of every text function is NULL if `text` is NULL. */
export interface SqlDialect {
  readonly name: 'sqlite' | 'postgres';
  /** Renders the placeholder of the nth bound value, counted from 1; with a type if the value is written to a column of that type. */
  placeholder(nth: number, type?: StoredType): string;
  /** Folds the case of a text, with the same result as `foldCase` in memory. */
  foldCase(text: Sql): Sql<string>;
  /** Renders the position of `part` in `text`, counted from 1; 0 if absent. Case counts, and no character is a wildcard. */
  position(text: Sql, part: Sql): Sql<number>;
  /** Renders an expression that is true if `text` ends with `part`, which is not empty. Case counts. */
  endsWith(text: Sql, part: string): SqlTruth;
  /**
   * Renders an expression that is true if the whole `text` matches `pattern`: `*` matches any characters, `?` matches one, every other
   * character matches itself. Case counts.
   */
  matchesWildcards(text: Sql, pattern: string): SqlTruth;
  /** Binds a number so that it compares with every column of numbers. */
  numberValue(value: number): Sql;
  /** Renders a value as a literal if the database uses a partial index only for literals. Absent if it also uses the index for bound values. */
  indexedValue?(value: string | number | bigint): Sql;
  /** Binds a value that a statement writes to a column of `type`. */
  writtenValue(value: unknown, type: StoredType): Sql;
  /** Renders an expression that is true if `column` equals one of the values, which have one type and are bound as one parameter. */
  isAmong(column: Sql, values: readonly (string | number | bigint)[]): SqlTruth;
  /**
   * Renders an expression that is true if `query` returns the value of `column`. The query runs once for each joined row, not for every
   * row that `column` could reference.
   */
  isGivenBy(column: Sql, query: Sql): SqlTruth;
  /**
   * Returns a condition that is always true, and ends the statement when the time of the attempt is up. A statement that can visit many
   * rows of a table has the condition first in the WHERE of the query that visits the rows; in another place SQLite may not evaluate it.
   *
   * @param table Name or alias of the table, quoted. It must have a rowid: the condition belongs inside of a subquery, not around it.
   * @param rows A power of two: the average number of rows between two checks, 256 if absent. Use 8 if comparing one row may take milliseconds.
   */
  deadlineCheck(table: Sql, rows?: number): Sql;
  /** Renders a query of rows to insert, which binds each column as one value. Absent if an insertion that binds each value is faster. */
  rowsOf?(columns: readonly WrittenColumn[]): Sql;
  /** Renders a table expression with a row for each item of a stored list, and one column, `value`. */
  listItems(list: Sql): Sql;
  /** Aggregates the values of several rows, in their order, to a list in its stored form. */
  listOf(value: Sql): Sql;
  /** Renders the value under `keys` in a JSON column, or the whole value if there are no keys. Keys consist of letters, digits, `_` and `-`. */
  jsonAt(document: Sql, keys: readonly string[]): SqlJsonValue;
}

/** The values of a column of rows to insert. */
export interface WrittenColumn {
  readonly type: StoredType;
  readonly values: readonly unknown[];
}

/** A value inside a stored JSON value. Keys select members of objects only, never items of lists. */
export interface SqlJsonValue {
  /** `text`, `integer`, `real`, `true`, `false`, `null`, `array` or `object`; NULL if the value is missing. */
  readonly type: Sql<string | null>;
  /** The text, if the type is `text`. It is well-formed and has no NUL, as in every text column. */
  readonly text: Sql;
  /** The number as a double, as JavaScript parses it, if the type is `integer` or `real`. */
  readonly number: Sql;
  /** The list in the stored form of a list column, if the type is `array`. */
  readonly list: Sql;
}

/** The expression that is unknown for every row. */
export const SQL_UNKNOWN: SqlTruth = sql<boolean | null>`NULL`;

/** Renders an expression that is false if `column` has a value, and unknown if it has none. */
export function falseWherePresent(column: Sql): SqlTruth {
  return sql<boolean | null>`(${column} IS NULL AND NULL)`;
}

/** Renders an expression that is true if `column` has a value, and unknown if it has none. */
export function trueWherePresent(column: Sql): SqlTruth {
  return sql<boolean | null>`(${column} IS NOT NULL OR NULL)`;
}

/** Renders `truth` if `column` has a value, and unknown if it has none: for expressions that are not NULL for NULL. */
export function wherePresent(column: Sql, truth: Sql): SqlTruth {
  return sql<boolean | null>`CASE WHEN ${column} IS NULL THEN NULL ELSE ${truth} END`;
}

/** The column that a parameter is compared with. */
export interface ParameterTarget {
  readonly kind: Kind | undefined;
  readonly dialect: SqlDialect;
}

/** Binds a value that is compared with a column of the target's kind. */
export function bindValue(value: unknown, { kind, dialect }: ParameterTarget): Sql {
  return kind === 'number' && typeof value === 'number' ? dialect.numberValue(value) : sql`${value}`;
}

/**
 * Maximum number of values with a parameter each. Longer lists are bound as one parameter, because databases limit the number of parameters, and
 * because lists of any length then have one text, which is prepared once.
 */
const MAX_SINGLE_PARAMETERS = 10;

/** Renders `column IN (values)`, with at least one text, number or bigint; undefined if the database could compare a value inexactly. */
export function inList(column: Sql, values: readonly unknown[], target: ParameterTarget): SqlTruth | undefined {
  if (values.length <= MAX_SINGLE_PARAMETERS) {
    return sql<boolean | null>`${column} IN (${sql.join(values.map((value) => bindValue(value, target)))})`;
  }
  return values.every(isExactInJson) ? target.dialect.isAmong(column, values) : undefined;
}

/** Returns true if a database reads the value exactly from a JSON list. It may parse a fraction differently in the last bit, and may reject NUL. */
function isExactInJson(value: unknown): value is string | number | bigint {
  if (typeof value === 'string') return !value.includes('\0');
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}
