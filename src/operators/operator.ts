/** The contract of an operator: an evaluator for values in memory and a compiler to SQL, which give the same result. */
import type { Sql } from '../sql.ts';
import type { SqlDialect, SqlJsonValue, SqlTruth } from './operator-sql.ts';
import type { Json, Kind, Truth } from './value.ts';

/** The kinds of a comparison's two sides, and the time and time zone of its evaluation. */
export interface ComparisonContext {
  /** The kind that both sides are compared as. Undefined for values without a definition (claims, request data): their JSON types are compared. */
  readonly kind?: Kind | undefined;
  /** The kind of the items if `kind` is `list` and a definition gives it. */
  readonly itemKind?: Kind | undefined;
  /** Milliseconds since 1970, for `withinLast` and `withinNext`. */
  readonly now: number;
  /** IANA time zone, for `timeOfDayBetween` and `dayOfWeekIn`. */
  readonly timeZone: string;
}

/** A column in a comparison. */
export interface SqlColumn {
  readonly sql: Sql;
  readonly kind: Kind;
  readonly itemKind?: Kind | undefined;
  /** Converts a value, or one item of a list column, to its stored form; undefined if the column cannot store it. */
  encode(value: Json): unknown;
  /**
   * Returns true if the condition of a partial index requires this stored value in this column. The value is then a literal in the SQL,
   * so that the database can use the index.
   */
  isIndexed?(stored: unknown): stored is string | number | bigint;
}

/** The context of a comparison that is compiled to SQL. */
export interface SqlContext {
  readonly comparison: ComparisonContext;
  readonly dialect: SqlDialect;
}

/** Returned by SQL compilers if the database cannot give exactly the evaluator's result. The comparison is then evaluated in memory. */
export const IN_MEMORY: unique symbol = Symbol('in memory');

/** The forms of the right side of a comparison. */
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

/** An example of a comparison with its result. */
export interface OperatorSample {
  /** The left side; undefined is a missing value. */
  readonly actual: Json | undefined;
  /** The right side. */
  readonly expected: Json;
  readonly kind?: Kind;
  readonly itemKind?: Kind;
  readonly result: Truth;
}

/** An operator of conditions and list filters. */
export interface Operator {
  readonly name: string;
  /** The text in menus: "is one of". */
  readonly label: string;
  /** One sentence for the reference. */
  readonly summary: string;
  /** The kinds of values that the left side may have. */
  readonly kinds: readonly Kind[];
  readonly operand: OperandShape;
  /** The names of the operator in Prisma, Directus, Hasura, PostgREST, MongoDB, Cedar, AWS IAM and json-rules-engine, separated by spaces, in lower case. */
  readonly otherNames?: string;
  /** The operator that is true if this one is false, and unknown if this one is unknown. */
  readonly negator?: string;
  /** The operator of which this one is the negation. */
  readonly negates?: Operator;
  /** The verb in messages that no value matches the operand, such as `starts with`. Absent: `matches`. */
  readonly verb?: string;
  /** The operator with the same result for exchanged sides: `a gt b` is `b lt a`. */
  readonly commutator?: string;
  /**
   * Comparisons with the single items of the operand that together have the same result, also if it is unknown: `in` is any `eq`, `nin`
   * is all `ne`, `between` is `gte` the first and `lte` the second. A single operator applies to every item; of several operators, each
   * applies to the item at its position.
   */
  readonly itemwise?: { readonly join: 'any' | 'all'; readonly operators: readonly [string, ...string[]] };
  /** True if a missing left side does not make the result unknown (`exists`, `isNull`). */
  readonly definedOnMissing?: boolean;
  /** True if the comparison depends on the current time. */
  readonly readsTime?: boolean;
  /** True if the comparison of a timestamp depends on the configured time zone. */
  readonly readsTimeZone?: boolean;
  /** Returns a message for a literal operand that the operator does not accept. */
  validateOperand(expected: Json, context: Pick<ComparisonContext, 'kind' | 'itemKind'>): string | undefined;
  /** Evaluates the comparison in memory. `actual` is undefined if the value is missing. Never throws. */
  evaluate(actual: Json | undefined, expected: Json, context: ComparisonContext): Truth;
  /** Compiles a comparison of a column with a value. */
  compileSql(column: SqlColumn, expected: Json, context: SqlContext): SqlTruth | typeof IN_MEMORY;
  /** Compiles a comparison of a value inside a JSON column, which may have any type. */
  compileJsonSql(json: SqlJsonValue, expected: Json, context: SqlContext): SqlTruth | typeof IN_MEMORY;
  /**
   * Compiles a comparison of two columns (`resource.authorId eq ${resource.editorId}`), which is unknown if either has no value.
   * Absent for operators that cannot compare columns in SQL.
   */
  compileColumnsSql?(left: SqlColumn, right: SqlColumn, context: SqlContext): SqlTruth | typeof IN_MEMORY;
  /** Examples, which are tested with the evaluator and the SQL compilers and are shown in the reference. */
  readonly samples: readonly OperatorSample[];
}
