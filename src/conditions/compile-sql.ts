/**
 * Compiles a condition to SQL. If SQL cannot express a comparison exactly, the compiled condition selects more rows, never
 * fewer, and the caller evaluates the condition in memory on each selected row.
 */
import {
  type ComparisonContext,
  IN_MEMORY,
  OPERATORS,
  type Operator,
  type SqlContext,
  type SqlDialect,
  type SqlJsonValue,
  type SqlTruth,
} from '../operators/index.ts';
import { type Sql, sql } from '../sql.ts';
import { comparisonKindOf } from './comparison-kind.ts';
import { compileIntegerComparison } from './compile-integers.ts';
import { compileItems } from './compile-items.ts';
import { compileCounts, compileForAllRows, type RelatedSearch } from './compile-related.ts';
import type { JsonLocation, Part, SqlTarget } from './compile-target.ts';
import { compileWithin } from './compile-within.ts';
import type { Comparison, Condition, Expression, Related, Some, Within } from './condition.ts';

/** A condition in SQL. */
export interface CompiledCondition {
  /** True for every row for which the condition is true. */
  readonly where: SqlTruth;
  /** True if `where` is true for no other row. If false, the caller evaluates the condition in memory on each selected row. */
  readonly exact: boolean;
  /** True if an index finds rows by several values that the statement selects. */
  readonly findsByValues: boolean;
  /** True if the statement searches other records for each row. */
  readonly searchesForEachRow: boolean;
  /** True if the SQL contains a time that was computed from `now` of the target. At another time, the condition has to be compiled again. */
  readonly readsTime: boolean;
  /** The number of values that `where` binds, some of them up to three times. */
  readonly values: number;
  /** The searches for the related records of all rows. If none finds any, `where` is true for the same rows as `where` compiled `withoutRelated`. */
  readonly searches: readonly RelatedSearch[];
}

/** Options of a compilation. */
interface CompileOptions {
  /** True to compile each condition that is true only with related records, which one search finds for all rows, to FALSE. */
  readonly withoutRelated?: boolean;
}

/** Maximum estimated depth of the SQL expression. SQLite allows 1,000; the margin covers errors of the estimate. */
const MAX_HEIGHT = 700;
/** The estimated depth of a compiled comparison, in levels of the SQL expression. */
const LEAF_HEIGHT = 12;
/** The estimated depth of a compiled comparison of integers: a CEL expression has at most 32 levels. */
const ARITHMETIC_HEIGHT = 100;
/**
 * Maximum values in a compiled condition. Databases limit the number of parameters (SQLite: 32,766), and a comparison may bind a value
 * three times.
 */
const MAX_VALUES = 8000;
/**
 * Maximum nesting depth of groups in SQL. Deeper groups are evaluated in memory: the stack of this compiler and of the database's parser
 * is limited.
 */
const MAX_DEPTH = 300;

interface CompilerState {
  readonly target: SqlTarget;
  readonly withoutRelated: boolean;
  readonly searches: RelatedSearch[];
  exact: boolean;
  findsByValues: boolean;
  searchesForEachRow: boolean;
  readsTime: boolean;
  values: number;
  depth: number;
}

/**
 * Compiles a condition. Negations are pushed down to the comparisons. A comparison that SQL cannot express counts as true, negated or
 * not, so every row for which the condition is true is selected.
 */
export function compileCondition(condition: Condition, target: SqlTarget, options?: CompileOptions): CompiledCondition {
  const state = createState(target, options);
  const part = compile(condition, false, state);
  const { exact, findsByValues, searchesForEachRow, readsTime, values, searches } = state;
  const where = part === 'anything' ? constantSql(true) : part.truth;
  return { where, exact, findsByValues, searchesForEachRow, readsTime, values, searches };
}

function createState(target: SqlTarget, { withoutRelated = false }: CompileOptions = {}): CompilerState {
  const flags = { exact: true, findsByValues: false, searchesForEachRow: false, readsTime: false };
  return { ...flags, target, withoutRelated, searches: [], values: 0, depth: 0 };
}

function compile(condition: Condition, negated: boolean, state: CompilerState): Part {
  switch (condition.type) {
    case 'constant':
      return { truth: constantSql(condition.value === null ? null : condition.value !== negated), height: 1 };
    case 'comparison':
      return compileComparison(condition, negated, state);
    case 'expression':
      return compileExpression(condition, negated, state);
    case 'related':
      return compileRelated(condition, negated, state);
    case 'some':
      return compileSome(condition, negated, state);
    case 'within':
      return compileAncestors(condition, negated, state);
    case 'not':
      return compile(condition.of, !negated, state);
    case 'all':
    case 'any':
      return compileGroup(condition, negated, state);
  }
}

function compileGroup({ type, of }: Extract<Condition, { type: 'all' | 'any' }>, negated: boolean, state: CompilerState): Part {
  if (state.depth >= MAX_DEPTH) return widen(state);
  state.depth++;
  const parts = of.map((part) => compile(part, negated, state));
  state.depth--;
  return (type === 'all') === negated ? either(parts, state) : both(parts, state);
}

/** Joins parts with AND. A part that SQL cannot express is left out: the other parts exclude rows by themselves. */
function both(parts: readonly Part[], state: CompilerState): Part {
  const known = parts.filter((part) => part !== 'anything');
  if (known.length === 0) return parts.length === 0 ? { truth: constantSql(true), height: 1 } : 'anything';
  return balance(known, sql` AND `, state);
}

/** Joins parts with OR. If SQL cannot express a part, the result is `anything`, because that part may be true for any row. */
function either(parts: readonly Part[], state: CompilerState): Part {
  const known = parts.filter((part) => part !== 'anything');
  if (known.length < parts.length) return 'anything';
  return known.length === 0 ? { truth: constantSql(false), height: 1 } : balance(known, sql` OR `, state);
}

/** Joins parts to a balanced tree: a thousand parts are ten levels deep. */
function balance(parts: readonly Exclude<Part, 'anything'>[], operator: Sql, state: CompilerState): Part {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const middle = Math.ceil(parts.length / 2);
  const left = balance(parts.slice(0, middle), operator, state);
  const right = balance(parts.slice(middle), operator, state);
  if (left === 'anything' || right === 'anything') return 'anything';
  const height = Math.max(left.height, right.height) + 1;
  return height > MAX_HEIGHT ? widen(state) : { truth: sql<boolean | null>`(${left.truth}${operator}${right.truth})`, height };
}

function compileComparison(comparison: Comparison, negated: boolean, state: CompilerState): Part {
  const sides = locateSides(comparison, state.target);
  state.values += sides?.values ?? 0;
  if (sides?.operator.readsTime) state.readsTime = true;
  const truth = sides === undefined || state.values > MAX_VALUES ? IN_MEMORY : compileSides(comparison, sides, state.target);
  if (truth === IN_MEMORY) return widen(state);
  return { truth: negated ? sql<boolean | null>`NOT (${truth})` : truth, height: LEAF_HEIGHT };
}

/** Compiles comparisons of integers to SQL; all other CEL expressions are evaluated in memory. */
function compileExpression({ integers }: Expression, negated: boolean, state: CompilerState): Part {
  const compiled = integers && compileIntegerComparison(integers, state.target);
  state.values += compiled?.values ?? 0;
  if (compiled === undefined || state.values > MAX_VALUES) return widen(state);
  return { truth: negated ? sql<boolean | null>`NOT (${compiled.truth})` : compiled.truth, height: ARITHMETIC_HEIGHT };
}

/** Compiles a condition on ancestors to a recursive query. */
function compileAncestors(within: Within, negated: boolean, state: CompilerState): Part {
  const compiled = compileWithin(within, state.target);
  state.searchesForEachRow = true;
  state.values += compiled?.values ?? 0;
  if (compiled === undefined || state.values > MAX_VALUES) return widen(state);
  return { truth: negated ? sql<boolean | null>`NOT (${compiled.truth})` : compiled.truth, height: RELATED_HEIGHT + LEAF_HEIGHT };
}

/** The estimated depth of a compiled condition on related records, above that of its `where`. */
const RELATED_HEIGHT = 24;

/** Compiles a condition on related records to a subquery, which is correlated unless one search finds the related records of all rows. */
function compileRelated(related: Related, negated: boolean, state: CompilerState): Part {
  const target = state.target.related?.(related);
  if (target === undefined) return widen(state);
  const inner: CompilerState = { ...createState(target), values: state.values, depth: state.depth };
  const { ofAllRows } = target;
  const compileWhere = (isNegated: boolean): Part => compile(related.where, isNegated, inner);
  const searched = related.on.filter((link) => link !== ofAllRows?.open);
  const links = searched.map(({ path, operand }): Part => {
    return compileComparison({ type: 'comparison', path, operator: 'eq', operand, ifExists: false }, false, inner);
  });
  const parts = { target, negated, links: both(links, inner), compileWhere };
  const compiled = ofAllRows === undefined ? compileCounts(related, parts) : compileForAllRows(related, ofAllRows, parts);
  if (ofAllRows === undefined || inner.searchesForEachRow) state.searchesForEachRow = true;
  else state.findsByValues = true;
  state.values = inner.values;
  state.readsTime ||= inner.readsTime;
  if (compiled === undefined || !inner.exact || state.values > MAX_VALUES) return widen(state);
  const height = compiled.height + RELATED_HEIGHT;
  if (height > MAX_HEIGHT) return widen(state);
  if (compiled.search === undefined) return { truth: compiled.truth, height };
  state.searches.push(compiled.search);
  return { truth: state.withoutRelated ? constantSql(false) : compiled.truth, height };
}

/** Compiles a comparison through a list to a correlated subquery. */
function compileSome(some: Some, negated: boolean, state: CompilerState): Part {
  const target = state.target.items?.(some);
  if (target === undefined) return widen(state);
  const inner: CompilerState = { ...createState(target), values: state.values, depth: state.depth };
  state.searchesForEachRow = true;
  const compiled = compileItems(some, { target, negated, where: compile(some.where, negated, inner) });
  state.values = inner.values;
  state.readsTime ||= inner.readsTime;
  if (compiled === undefined || !inner.exact || state.values > MAX_VALUES) return widen(state);
  const height = compiled.height + RELATED_HEIGHT;
  return height > MAX_HEIGHT ? widen(state) : { truth: compiled.truth, height };
}

function widen(state: CompilerState): 'anything' {
  state.exact = false;
  return 'anything';
}

function constantSql(truth: boolean | null): SqlTruth {
  return truth === null ? sql<boolean | null>`NULL` : truth ? sql<boolean | null>`TRUE` : sql<boolean | null>`FALSE`;
}

/** A comparison whose sides are columns, values inside JSON columns, or literals. */
interface LocatedSides {
  readonly operator: Operator;
  /** An SQL expression that is NULL if the left side has no value. */
  readonly presence: Sql;
  /** The number of values to bind. A value may be bound up to three times. */
  readonly values: number;
  compile(context: SqlContext): SqlTruth | typeof IN_MEMORY;
}

/** Locates both sides of a comparison. Returns undefined if a side is not in the database: a template, or a path without a column. */
function locateSides({ path, operator: name, operand }: Comparison, target: SqlTarget): LocatedSides | undefined {
  const operator = OPERATORS.get(name);
  if (operator === undefined) return undefined;
  const left = target.column(path);
  // Only a column of JSON, or a path into one, has a value inside of JSON.
  const json = left === undefined || left.kind === 'json' ? target.json?.(path) : undefined;
  if (operand.type === 'literal') {
    const { value } = operand;
    const values = Array.isArray(value) ? value.length : 1;
    if (json !== undefined) {
      const inside = locateInJson(json, target.dialect);
      return (
        inside && {
          operator,
          presence: inside.type,
          values: values + JSON_PATH_VALUES,
          compile: (context) => operator.compileJsonSql(inside, value, context),
        }
      );
    }
    return left && { operator, presence: left.sql, values, compile: (context) => operator.compileSql(left, value, context) };
  }
  const right = operand.type === 'reference' ? target.column(operand.path) : undefined;
  if (left === undefined || right === undefined) return undefined;
  const compileColumns: LocatedSides['compile'] = (context) => operator.compileColumnsSql?.(left, right, context) ?? IN_MEMORY;
  return { operator, presence: left.sql, values: 0, compile: compileColumns };
}

/** Keys that SQLite and PostgreSQL read unchanged in a JSON path. */
const PLAIN_KEY = /^[A-Za-z0-9_-]+$/;
/** Maximum times that a comparison binds its path into a JSON column: once for each use of the value. */
const JSON_PATH_VALUES = 3;

function locateInJson({ document, keys }: JsonLocation, dialect: SqlDialect): SqlJsonValue | undefined {
  return keys.every((key) => PLAIN_KEY.test(key)) ? dialect.jsonAt(document, keys) : undefined;
}

function compileSides(
  comparison: Comparison,
  { operator, presence, compile: compileTruth }: LocatedSides,
  target: SqlTarget,
): SqlTruth | typeof IN_MEMORY {
  const as = comparisonKindOf(comparison, operator, (path) => target.kindOf(path));
  if (as === 'mismatch') return IN_MEMORY;
  const context: ComparisonContext = { kind: as.kind, itemKind: as.itemKind, now: target.now, timeZone: target.timeZone };
  const truth = compileTruth({ comparison: context, dialect: target.dialect });
  if (truth === IN_MEMORY || operator.definedOnMissing === true) return truth;
  if (comparison.ifExists) return sql<boolean | null>`(${presence} IS NOT NULL AND ${truth})`;
  const joined = target.joined?.(comparison.path);
  return joined === undefined ? truth : sql<boolean | null>`(${truth} AND ${joined})`;
}
