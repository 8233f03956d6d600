import { type RawBuilder, sql } from 'kysely';

/** A three-valued SQL expression: true, false or NULL exactly where `matches` says true, false or unknown. */
export type SqlTruth = RawBuilder<boolean | null>;

/** How databases differ in what comparisons need. Each database brings one of these. Every answer is NULL where `text` is. */
export interface SqlDialect {
  readonly name: 'sqlite' | 'postgres';
  /** How the text of a statement marks the place of its nth bound value, counted from 1. */
  placeholder(nth: number): string;
  /** Unicode case folding, the same as `foldCase` in memory. */
  foldCase(text: RawBuilder<unknown>): RawBuilder<string>;
  /** Position of `part` in `text`, 0 where absent; exact, no wildcards, no case folding. */
  position(text: RawBuilder<unknown>, part: RawBuilder<unknown>): RawBuilder<number>;
  /** Whether `text` ends with `part`, which is not empty. */
  endsWith(text: RawBuilder<unknown>, part: string): SqlTruth;
  /** Whether the whole of `text` is `pattern`, in which `*` stands for any characters and `?` for one; all else is literal, case counts. */
  matchesWildcards(text: RawBuilder<unknown>, pattern: string): SqlTruth;
  /** A table expression with one column `value`, one row for each item of a stored list. */
  listItems(list: RawBuilder<unknown>): RawBuilder<unknown>;
  /** A list to store, of the values of several rows, in their order. */
  listOf(value: RawBuilder<unknown>): RawBuilder<unknown>;
  /** What lies under `keys` in a JSON column: its whole value where there are none. Keys are of letters, digits, `_` and `-`. */
  jsonAt(document: RawBuilder<unknown>, keys: readonly string[]): SqlJson;
}

/**
 * What lies somewhere in a stored JSON value, whose texts are well-formed and without NUL, as in every text column. Keys lead
 * through objects alone: a list's items are under none.
 */
export interface SqlJson {
  /** `text`, `integer` or `real`, `true`, `false`, `null`, `array`, `object`; NULL where there is nothing. */
  readonly type: RawBuilder<string | null>;
  /** Of a `text`. */
  readonly text: RawBuilder<unknown>;
  /** Of an `integer` or `real`: the double that JavaScript reads. */
  readonly number: RawBuilder<unknown>;
  /** Of an `array`: as a list column holds it. */
  readonly list: RawBuilder<unknown>;
}

/** The expression that is unknown whatever the row. */
export const SQL_UNKNOWN: SqlTruth = sql<boolean | null>`NULL`;

/** False on a row that has a value, unknown on one that has none. */
export function falseWherePresent(column: RawBuilder<unknown>): SqlTruth {
  return sql<boolean | null>`(${column} IS NULL AND NULL)`;
}

/** True on a row that has a value, unknown on one that has none. */
export function trueWherePresent(column: RawBuilder<unknown>): SqlTruth {
  return sql<boolean | null>`(${column} IS NOT NULL OR NULL)`;
}

/** `answer` on a row that has a value, unknown on one that has none: for expressions that would make something else of NULL. */
export function wherePresent(column: RawBuilder<unknown>, answer: RawBuilder<unknown>): SqlTruth {
  return sql<boolean | null>`CASE WHEN ${column} IS NULL THEN NULL ELSE ${answer} END`;
}

/** Values up to this number are bound one by one; more go as one JSON text, since databases bound the number of parameters. */
const MAX_BOUND = 50;

/** Whether `column` equals one of `values` (texts, numbers or bigints, at least one); undefined where SQL cannot be sure to say it exactly. */
export function oneOf(column: RawBuilder<unknown>, values: readonly unknown[], dialect: SqlDialect): SqlTruth | undefined {
  if (values.length <= MAX_BOUND) return sql<boolean | null>`${column} IN (${sql.join(values)})`;
  if (!values.every(isSafeInJson)) return undefined;
  const list = `[${values.map((value) => (typeof value === 'string' ? JSON.stringify(value) : String(value))).join(',')}]`;
  return sql<boolean | null>`${column} IN (SELECT value FROM ${dialect.listItems(sql`${list}`)})`;
}

/** A database's reading of a JSON fraction may differ from JavaScript's in the last bit, and of NUL altogether. */
function isSafeInJson(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0');
  return typeof value === 'bigint' || Number.isSafeInteger(value);
}
