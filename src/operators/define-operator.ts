import { type Sql, sql } from '../sql.ts';
import { type ComparisonContext, IN_MEMORY, type Operator, type OperatorSample, type SqlColumn, type SqlContext } from './operator.ts';
import { SQL_UNKNOWN, type SqlJsonValue, type SqlTruth } from './operator-sql.ts';
import { describeValue, type Json, type Kind, notTruth, type Truth, UNKNOWN } from './value.ts';
import { fitsKind, isStoredAlike, kindNoun } from './value-kinds.ts';

/** The specific part of an operator. `defineOperator` adds the results for missing values, for null, and for kinds that do not fit. */
export interface OperatorDefinition
  extends Omit<Operator, 'evaluate' | 'compileSql' | 'compileJsonSql' | 'compileColumnsSql' | 'definedOnMissing'> {
  /** True if null is a value like any other (`eq`, `ne`, `in`, `nin`). */
  readonly nullIsValue?: boolean;
  /** Evaluates the comparison of a present value of a fitting kind. */
  evaluate(actual: Json, expected: Json, context: ComparisonContext): Truth;
  /** Compiles the comparison of a column of a fitting kind. The comparison has the kind of the column. */
  compile(column: SqlColumn, expected: Json, context: SqlContext): SqlTruth | typeof IN_MEMORY;
  /** The SQL operator that gives the same result for two columns. */
  readonly columnSign?: SqlSign;
}

/** SQL operators that are NULL if either side is NULL. */
export type SqlSign = '=' | '<' | '<=' | '>' | '>=';

/** Creates an operator. Its result is unknown for a missing value, for null unless null is a value, and for a kind that does not fit. */
export function defineOperator(definition: OperatorDefinition): Operator {
  const { evaluate, compile, nullIsValue = false, columnSign, ...rest } = definition;
  const fits = (kind: Kind | undefined): boolean => kind === undefined || definition.kinds.includes(kind);
  const compiler: ColumnCompiler = {
    kinds: definition.kinds,
    evaluate(actual, expected, context) {
      if (actual === undefined || (actual === null && !nullIsValue) || !fits(context.kind)) return UNKNOWN;
      return evaluate(actual, expected, context);
    },
    compileSql(column, expected, context) {
      const { comparison } = context;
      // If the comparison has another kind than the column, the database would compare the stored values differently from that kind.
      if (column.kind === 'json' || comparison.kind !== column.kind || comparison.itemKind !== column.itemKind) return IN_MEMORY;
      return fits(column.kind) ? compile(column, expected, context) : SQL_UNKNOWN;
    },
  };
  return Object.freeze({
    ...rest,
    ...compiler,
    compileJsonSql: (json: SqlJsonValue, expected: Json, context: SqlContext) => compileJsonSql(compiler, { json, expected }, context),
    ...(columnSign !== undefined && {
      compileColumnsSql(left: SqlColumn, right: SqlColumn, { comparison }: SqlContext): SqlTruth | typeof IN_MEMORY {
        if (comparison.kind !== left.kind || !isStoredAlike(left, right)) return IN_MEMORY;
        return fits(left.kind) ? sql<boolean | null>`${left.sql} ${sql.raw(columnSign)} ${right.sql}` : SQL_UNKNOWN;
      },
    }),
  });
}

type NegationNames = Pick<Operator, 'name' | 'label' | 'summary' | 'itemwise' | 'otherNames'>;

/** Creates the operator that is true if `operator` is false, false if it is true, and unknown if it is unknown. */
export function defineNegation(operator: Operator, named: NegationNames): Operator {
  const { commutator, itemwise: _, otherNames: _others, compileColumnsSql, ...rest } = operator;
  return Object.freeze({
    ...rest,
    ...named,
    // An operator that is its own commutator (`eq`) has a negation that is its own too (`ne`).
    ...(commutator === operator.name ? { commutator: named.name } : {}),
    negator: operator.name,
    negates: operator,
    evaluate: (actual: Json | undefined, expected: Json, context: ComparisonContext) =>
      notTruth(operator.evaluate(actual, expected, context)),
    compileSql: (column: SqlColumn, expected: Json, context: SqlContext) => notSql(operator.compileSql(column, expected, context)),
    compileJsonSql: (json: SqlJsonValue, expected: Json, context: SqlContext) => notSql(operator.compileJsonSql(json, expected, context)),
    ...(compileColumnsSql !== undefined && {
      compileColumnsSql: (left: SqlColumn, right: SqlColumn, context: SqlContext) => notSql(compileColumnsSql(left, right, context)),
    }),
    samples: operator.samples.map((sample): OperatorSample => ({ ...sample, result: notTruth(sample.result) })),
  });
}

function notSql(truth: SqlTruth | typeof IN_MEMORY): SqlTruth | typeof IN_MEMORY {
  return truth === IN_MEMORY ? IN_MEMORY : sql<boolean | null>`NOT (${truth})`;
}

/** Returns a message for a literal that does not fit `kind`. */
export function validateScalar(value: Json, kind: Kind | undefined): string | undefined {
  return fitsKind(kind, value) ? undefined : `expected ${kindNoun(kind)}, given ${describeValue(value)}`;
}

/** Returns a message for a list of literals that names up to five wrong items. */
export function validateItems(list: Json, validate: (item: Json) => string | undefined): string | undefined {
  if (!Array.isArray(list)) return `expected a list, given ${describeValue(list)}`;
  const mistakes = list.flatMap((item: Json, index) => {
    const mistake = validate(item);
    return mistake === undefined ? [] : [`item ${index}: ${mistake}`];
  });
  return mistakes.length === 0 ? undefined : mistakes.slice(0, 5).join('; ');
}

/** Returns a message for an operand that is not a text. */
export function validateText(value: Json): string | undefined {
  return typeof value === 'string' ? undefined : `expected a text, given ${describeValue(value)}`;
}

/** Returns a message for an operand that is not a boolean. */
export function validateBoolean(value: Json): string | undefined {
  return typeof value === 'boolean' ? undefined : `expected true or false, given ${describeValue(value)}`;
}

/** The parts of an operator that comparisons inside JSON columns are compiled with. */
type ColumnCompiler = Pick<Operator, 'kinds' | 'evaluate' | 'compileSql'>;

/** The two sides of a comparison inside a JSON column. */
interface JsonSides {
  readonly json: SqlJsonValue;
  readonly expected: Json;
}

/** JSON types with one value, and `object`: no operator distinguishes objects. */
const CONSTANT_TYPES: readonly (readonly [type: string, value: Json])[] = [
  ['true', true],
  ['false', false],
  ['null', null],
  ['object', {}],
];

/**
 * Compiles a comparison of a value inside a JSON column to a CASE over its JSON type. Texts, numbers and lists are compared as columns of
 * that kind. For `true`, `false`, null and objects, the result is evaluated at compile time. A missing value is unknown.
 */
function compileJsonSql(operator: ColumnCompiler, sides: JsonSides, context: SqlContext): SqlTruth | typeof IN_MEMORY {
  const { text, number, list, type } = sides.json;
  const branches: (readonly [type: string, truth: SqlTruth | typeof IN_MEMORY])[] = [
    ['text', compileAsColumn({ sql: text, kind: 'text', example: '' }, operator, { sides, context })],
    ['array', compileAsColumn({ sql: list, kind: 'list', example: [] }, operator, { sides, context })],
    ...CONSTANT_TYPES.map(([name, value]) => [name, constantSql(operator.evaluate(value, sides.expected, context.comparison))] as const),
  ];
  const ofNumbers = compileAsColumn({ sql: number, kind: 'number', example: 0 }, operator, { sides, context });
  branches.push(['integer', ofNumbers], ['real', ofNumbers]);
  const cases: Sql[] = [];
  for (const [name, truth] of branches) {
    if (truth === IN_MEMORY) return IN_MEMORY;
    if (truth !== SQL_UNKNOWN) cases.push(sql`WHEN ${sql.lit(name)} THEN ${truth}`);
  }
  return cases.length === 0 ? SQL_UNKNOWN : sql<boolean | null>`CASE ${type} ${sql.join(cases, sql` `)} END`;
}

/** The values of one JSON type, compared as a column of `kind`. */
interface JsonColumn {
  readonly sql: Sql;
  readonly kind: Kind;
  /** A value of the type. If the kind does not fit, its result holds for every value of the type. */
  readonly example: Json;
}

function compileAsColumn(
  { sql: column, kind, example }: JsonColumn,
  operator: ColumnCompiler,
  { sides: { expected }, context }: { readonly sides: JsonSides; readonly context: SqlContext },
): SqlTruth | typeof IN_MEMORY {
  const { comparison } = context;
  const compared = comparison.kind ?? 'json';
  // JSON holds dates, instants and decimals in several forms. Only their own columns hold them in one form that SQL can compare.
  if (PARSED_KINDS.includes(compared) && kind !== 'list') return IN_MEMORY;
  if (compared !== 'json' && compared !== kind) return constantSql(operator.evaluate(example, expected, comparison));
  if (!operator.kinds.includes(kind)) {
    // Time operators also accept texts.
    return kind === 'text' && operator.kinds.includes('timestamp')
      ? IN_MEMORY
      : constantSql(operator.evaluate(example, expected, comparison));
  }
  if (comparison.itemKind !== undefined) return IN_MEMORY;
  return operator.compileSql({ sql: column, kind, encode: (value) => value }, expected, {
    ...context,
    comparison: { ...comparison, kind },
  });
}

/** Kinds whose values are parsed from texts and numbers. */
const PARSED_KINDS: readonly Kind[] = ['date', 'timestamp', 'decimal'];

function constantSql(truth: Truth): SqlTruth {
  return truth === null ? SQL_UNKNOWN : truth ? sql<boolean | null>`TRUE` : sql<boolean | null>`FALSE`;
}
