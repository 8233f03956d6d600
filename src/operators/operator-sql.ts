import { type Sql, sql } from '../sql.ts';
import type { Kind } from './value.ts';

/** A three-valued SQL expression: true, false or NULL exactly where `matches` says true, false or unknown. */
export type SqlTruth = Sql<boolean | null>;

/** What a column holds; each database has its own name for it. */
export type StoredType = 'text' | 'integer' | 'real' | 'boolean' | 'json';

/** How databases differ in what comparisons need. Each database brings one of these. Every answer is NULL where `text` is. */
export interface SqlDialect {
  readonly name: 'sqlite' | 'postgres';
  /** How the text of a statement marks the place of its nth bound value, counted from 1; of a type, where one is written into its column. */
  placeholder(nth: number, type?: StoredType): string;
  /** Unicode case folding, the same as `foldCase` in memory. */
  foldCase(text: Sql): Sql<string>;
  /** Position of `part` in `text`, 0 where absent; exact, no wildcards, no case folding. */
  position(text: Sql, part: Sql): Sql<number>;
  /** Whether `text` ends with `part`, which is not empty. */
  endsWith(text: Sql, part: string): SqlTruth;
  /** Whether the whole of `text` is `pattern`, in which `*` stands for any characters and `?` for one; all else is literal, case counts. */
  matchesWildcards(text: Sql, pattern: string): SqlTruth;
  /** A number, such as any column of numbers compares with. */
  numberValue(value: number): Sql;
  /** A value as the text of a partial index has it, where what is bound leads to no such index; absent where it does. */
  indexedValue?(value: string | number | bigint): Sql;
  /** A value on its way into a column: a statement that writes says of what type it is. */
  writtenValue(value: unknown, type: StoredType): Sql;
  /** Whether `column` is one of many values of one type: however many, they are bound as one. */
  isAmong(column: Sql, values: readonly (string | number | bigint)[]): SqlTruth;
  /** Whether `column` is among what `query` gives, which is asked for each row joined and not for each that `column` could be of. */
  isGivenBy(column: Sql, query: Sql): SqlTruth;
  /** A table expression with one column `value`, one row for each item of a stored list. */
  listItems(list: Sql): Sql;
  /** A list to store, of the values of several rows, in their order. */
  listOf(value: Sql): Sql;
  /** What lies under `keys` in a JSON column: its whole value where there are none. Keys are of letters, digits, `_` and `-`. */
  jsonAt(document: Sql, keys: readonly string[]): SqlJson;
}

/**
 * What lies somewhere in a stored JSON value, whose texts are well-formed and without NUL, as in every text column. Keys lead
 * through objects alone: a list's items are under none.
 */
export interface SqlJson {
  /** `text`, `integer` or `real`, `true`, `false`, `null`, `array`, `object`; NULL where there is nothing. */
  readonly type: Sql<string | null>;
  /** Of a `text`. */
  readonly text: Sql;
  /** Of an `integer` or `real`: the double that JavaScript reads. */
  readonly number: Sql;
  /** Of an `array`: as a list column holds it. */
  readonly list: Sql;
}

/** The expression that is unknown whatever the row. */
export const SQL_UNKNOWN: SqlTruth = sql<boolean | null>`NULL`;

/** False on a row that has a value, unknown on one that has none. */
export function falseWherePresent(column: Sql): SqlTruth {
  return sql<boolean | null>`(${column} IS NULL AND NULL)`;
}

/** True on a row that has a value, unknown on one that has none. */
export function trueWherePresent(column: Sql): SqlTruth {
  return sql<boolean | null>`(${column} IS NOT NULL OR NULL)`;
}

/** `answer` on a row that has a value, unknown on one that has none: for expressions that would make something else of NULL. */
export function wherePresent(column: Sql, answer: Sql): SqlTruth {
  return sql<boolean | null>`CASE WHEN ${column} IS NULL THEN NULL ELSE ${answer} END`;
}

/** What values are bound for: a column of a kind. */
export interface BoundFor {
  readonly kind: Kind | undefined;
  readonly dialect: SqlDialect;
}

/** A value as a column of that kind compares with it. */
export function boundValue(value: unknown, { kind, dialect }: BoundFor): Sql {
  return kind === 'number' && typeof value === 'number' ? dialect.numberValue(value) : sql`${value}`;
}

/** Values up to this number are bound one by one; more go as one, since databases bound the number of parameters. */
const MAX_BOUND = 50;

/** Whether `column` equals one of `values` (texts, numbers or bigints, at least one); undefined where SQL cannot be sure to say it exactly. */
export function oneOf(column: Sql, values: readonly unknown[], of: BoundFor): SqlTruth | undefined {
  if (values.length <= MAX_BOUND) return sql<boolean | null>`${column} IN (${sql.join(values.map((value) => boundValue(value, of)))})`;
  return values.every(isSafeInList) ? of.dialect.isAmong(column, values) : undefined;
}

/** A database's reading of a fraction may differ from JavaScript's in the last bit, and of NUL altogether. */
function isSafeInList(value: unknown): value is string | number | bigint {
  if (typeof value === 'string') return !value.includes('\0');
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}
