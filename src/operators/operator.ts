import type { Sql } from '../sql.ts';
import type { SqlDialect, SqlJson, SqlTruth } from './operator-sql.ts';
import type { Json, Kind, Truth } from './value.ts';

/** What surrounds a comparison: how the two sides are compared, and when and where it happens. */
export interface Frame {
  /** The kind both sides are read as; undefined where no definition says it (claims, request data): then the values' own JSON types decide. */
  readonly kind?: Kind | undefined;
  /** The kind of a list's items, where `kind` is `list` and a definition says it. */
  readonly itemKind?: Kind | undefined;
  /** Milliseconds since 1970, for `withinLast`, `withinNext`. */
  readonly now: number;
  /** IANA time zone, for `timeOfDayBetween`, `dayOfWeekIn`. */
  readonly timeZone: string;
}

/** A column as a comparison sees it in SQL. */
export interface SqlSubject {
  readonly sql: Sql;
  readonly kind: Kind;
  readonly itemKind?: Kind | undefined;
  /** JSON value → what the column stores for it; undefined where the value does not fit (the comparison is then unknown). For lists: of one item. */
  encode(value: Json): unknown;
  /** Whether what the column stores is a value by which a partial index takes rows in. */
  isIndexed?(stored: unknown): stored is string | number | bigint;
}

/** What surrounds a comparison in SQL. */
export interface SqlAround {
  readonly frame: Frame;
  readonly dialect: SqlDialect;
}

/** Said by `toSql` where the database cannot give exactly the answer of `matches`: the comparison is then evaluated in memory, never dropped. */
export const IN_MEMORY: unique symbol = Symbol('in memory');

/** What an operator expects on its right side. */
export type OperandShape =
  | 'scalar'
  | 'scalars'
  | 'range'
  | 'text'
  | 'pattern'
  | 'boolean'
  | 'duration'
  | 'time'
  | 'timesOfDay'
  | 'daysOfWeek'
  | 'networks';

/** A worked example. */
export interface OperatorSample {
  readonly actual: Json | undefined;
  readonly expected: Json;
  readonly kind?: Kind;
  readonly itemKind?: Kind;
  readonly answer: Truth;
}

/** One thing that conditions and list filters can say, with its two faces side by side. */
export interface Operator {
  readonly name: string;
  /** As a menu shows it: "is one of". */
  readonly label: string;
  /** One sentence for the reference. */
  readonly summary: string;
  /** Kinds of subject it fits. */
  readonly kinds: readonly Kind[];
  readonly operand: OperandShape;
  /** The operator that is true exactly where this one is false (and unknown together with it). */
  readonly negation?: string;
  /** The operator that says the same with the sides exchanged: `a gt b` is `b lt a`. */
  readonly mirror?: string;
  /**
   * What it says of a list of operands in terms of each, exactly, in all three values: `in` is any `eq`, `nin` is all `ne`,
   * `between` is `gte` the first and `lte` the second. One operator is for each item, several are for as many items.
   */
  readonly itemwise?: { readonly join: 'any' | 'all'; readonly operators: readonly [string, ...string[]] };
  /** Whether it has an answer for a missing subject (`exists`, `isNull`). */
  readonly definedOnMissing?: boolean;
  /** What is wrong with a literal operand, in words; undefined where nothing is. */
  checkOperand(expected: Json, frame: Pick<Frame, 'kind' | 'itemKind'>): string | undefined;
  /** The answer in memory. `actual` undefined is missing. Never throws. */
  matches(actual: Json | undefined, expected: Json, frame: Frame): Truth;
  /** The same answer in the database. */
  toSql(subject: SqlSubject, expected: Json, around: SqlAround): SqlTruth | typeof IN_MEMORY;
  /** The same answer in the database for what lies in a JSON column, which may be of any type. */
  jsonToSql(subject: SqlJson, expected: Json, around: SqlAround): SqlTruth | typeof IN_MEMORY;
  /**
   * The same answer in the database where both sides are columns (`resource.authorId eq ${resource.editorId}`), for operators
   * that can say it: unknown on a row where either has no value.
   */
  columnsToSql?(left: SqlSubject, right: SqlSubject, around: SqlAround): SqlTruth | typeof IN_MEMORY;
  /** Worked examples: tested on every face, shown in the reference. */
  readonly samples: readonly OperatorSample[];
}
