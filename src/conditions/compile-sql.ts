import {
  type Frame,
  IN_MEMORY,
  OPERATORS,
  type Operator,
  type SqlAround,
  type SqlDialect,
  type SqlJson,
  type SqlSubject,
  type SqlTruth,
} from '../operators/index.ts';
import { type Sql, sql } from '../sql.ts';
import { comparedAs, type KindOf } from './comparison-kind.ts';
import type { Comparison, Condition, Expression, IntegerComparison, IntegerTerm, Path } from './condition.ts';

/** A condition in SQL. */
export interface CompiledCondition {
  /** True on every row on which the condition is true. */
  readonly where: SqlTruth;
  /** Whether it is true on no other row. Where not, the caller evaluates the condition in memory on each row that comes back. */
  readonly exact: boolean;
}

/** SQLite's bound on the height of an expression is 1,000; each level of ours may take several. */
const MAX_HEIGHT = 700;
/** Height of what an operator says. */
const LEAF_HEIGHT = 12;
/** Height of arithmetic: expressions have at most 32 levels. */
const ARITHMETIC_HEIGHT = 100;
/** Databases bound the number of parameters (SQLite: 32,766), and a comparison may bind a value three times. */
const MAX_VALUES = 8000;

/** A part of the tree in SQL; `anything` where SQL cannot say it, so that every row must be taken. */
type Part = { readonly truth: Sql<boolean | null>; readonly height: number } | 'anything';

/** Groups within groups beyond which memory answers: neither our own stack nor the database's parser is without end. */
const MAX_DEPTH = 300;

/** How compiling goes on. */
interface Compiling {
  readonly target: SqlTarget;
  exact: boolean;
  values: number;
  depth: number;
}

/**
 * The condition as SQL. Negations go down to the comparisons, and a comparison that the database cannot answer exactly
 * counts as true there, negated or not: so no row on which the condition is true is ever lost.
 */
export function toSql(condition: Condition, target: SqlTarget): CompiledCondition {
  const state: Compiling = { target, exact: true, values: 0, depth: 0 };
  const part = compile(condition, false, state);
  return { where: part === 'anything' ? constantSql(true) : part.truth, exact: state.exact };
}

function compile(condition: Condition, negated: boolean, state: Compiling): Part {
  switch (condition.type) {
    case 'constant':
      return { truth: constantSql(condition.value === null ? null : condition.value !== negated), height: 1 };
    case 'comparison':
      return compileComparison(condition, negated, state);
    case 'expression':
      return compileExpression(condition, negated, state);
    case 'not':
      return compile(condition.of, !negated, state);
    case 'all':
    case 'any':
      return compileGroup(condition, negated, state);
  }
}

function compileGroup({ type, of }: Extract<Condition, { type: 'all' | 'any' }>, negated: boolean, state: Compiling): Part {
  if (state.depth >= MAX_DEPTH) return widen(state);
  state.depth++;
  const parts = of.map((part) => compile(part, negated, state));
  state.depth--;
  return (type === 'all') === negated ? either(parts, state) : both(parts, state);
}

/** False or unknown in one part is enough to lose a row: a part that SQL cannot say is left out. */
function both(parts: readonly Part[], state: Compiling): Part {
  const known = parts.filter((part) => part !== 'anything');
  if (known.length === 0) return parts.length === 0 ? { truth: constantSql(true), height: 1 } : 'anything';
  return balance(known, sql` AND `, state);
}

/** One part that SQL cannot say may be true on any row. */
function either(parts: readonly Part[], state: Compiling): Part {
  const known = parts.filter((part) => part !== 'anything');
  if (known.length < parts.length) return 'anything';
  return known.length === 0 ? { truth: constantSql(false), height: 1 } : balance(known, sql` OR `, state);
}

/** Halves instead of a chain: a thousand parts are ten levels high, not a thousand. */
function balance(parts: readonly Exclude<Part, 'anything'>[], operator: Sql, state: Compiling): Part {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const middle = Math.ceil(parts.length / 2);
  const left = balance(parts.slice(0, middle), operator, state);
  const right = balance(parts.slice(middle), operator, state);
  if (left === 'anything' || right === 'anything') return 'anything';
  const height = Math.max(left.height, right.height) + 1;
  return height > MAX_HEIGHT ? widen(state) : { truth: sql<boolean | null>`(${left.truth}${operator}${right.truth})`, height };
}

function compileComparison(comparison: Comparison, negated: boolean, state: Compiling): Part {
  const question = toQuestion(comparison, state.target);
  state.values += question?.values ?? 0;
  const answer = question === undefined || state.values > MAX_VALUES ? IN_MEMORY : question.answer();
  if (answer === IN_MEMORY) return widen(state);
  return { truth: negated ? sql<boolean | null>`NOT (${answer})` : answer, height: LEAF_HEIGHT };
}

/** Compiles comparisons of integers to SQL; all other CEL expressions are evaluated in memory. */
function compileExpression({ integers }: Expression, negated: boolean, state: Compiling): Part {
  const said = integers && integersToSql(integers, state.target);
  state.values += said?.values ?? 0;
  if (said === undefined || state.values > MAX_VALUES) return widen(state);
  return { truth: negated ? sql<boolean | null>`NOT (${said.truth})` : said.truth, height: ARITHMETIC_HEIGHT };
}

function widen(state: Compiling): 'anything' {
  state.exact = false;
  return 'anything';
}

function constantSql(truth: boolean | null): SqlTruth {
  return truth === null ? sql<boolean | null>`NULL` : truth ? sql<boolean | null>`TRUE` : sql<boolean | null>`FALSE`;
}

/** What a condition is compiled for. */
export interface SqlTarget {
  readonly dialect: SqlDialect;
  /** The column that holds a path of the record; undefined where none does. */
  column(path: Path): SqlSubject | undefined;
  /** The JSON column in whose value a path ends; undefined where it ends in none, or where the database is not to look inside. */
  json?(path: Path): JsonPlace | undefined;
  kindOf: KindOf;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string;
}

/** Where in a JSON column a path ends. */
export interface JsonPlace {
  readonly document: Sql;
  /** Keys into the column's value; none for the whole of it. */
  readonly keys: readonly string[];
}

/** A comparison with its two sides found in the database. */
export interface SqlQuestion {
  /** How many values it binds, each of them up to three times. */
  readonly values: number;
  /** The comparison in SQL, or that only memory can answer it. */
  answer(): SqlTruth | typeof IN_MEMORY;
}

/** A left side in SQL, and how to ask about it. */
interface Sides {
  /** NULL where the left side has no value. */
  readonly presence: Sql;
  readonly values: number;
  ask(around: SqlAround): SqlTruth | typeof IN_MEMORY;
}

/** Undefined where a side is not in the database as such: a text made of parts, a path into what no definition knows. */
export function toQuestion(comparison: Comparison, target: SqlTarget): SqlQuestion | undefined {
  const operator = OPERATORS.get(comparison.operator);
  const sides = operator && findSides(comparison, operator, target);
  if (operator === undefined || sides === undefined) return undefined;
  const { presence, values, ask } = sides;
  return {
    values,
    answer() {
      const as = comparedAs(comparison, operator, (path) => target.kindOf(path));
      if (as === 'mismatch') return IN_MEMORY;
      const frame: Frame = { kind: as.kind, itemKind: as.itemKind, now: target.now, timeZone: target.timeZone };
      const truth = ask({ frame, dialect: target.dialect });
      if (truth === IN_MEMORY || !comparison.ifExists || operator.definedOnMissing === true) return truth;
      return sql<boolean | null>`(${presence} IS NOT NULL AND ${truth})`;
    },
  };
}

function findSides({ path, operand }: Comparison, operator: Operator, target: SqlTarget): Sides | undefined {
  const place = target.json?.(path);
  const left = target.column(path);
  if (operand.type === 'literal') {
    const { value } = operand;
    const values = Array.isArray(value) ? value.length : 1;
    if (place !== undefined) {
      return findInside(place, target.dialect, { values, ask: (json, around) => operator.jsonToSql(json, value, around) });
    }
    return left && { presence: left.sql, values, ask: (around) => operator.toSql(left, value, around) };
  }
  const right = operand.type === 'reference' ? target.column(operand.path) : undefined;
  if (left === undefined || right === undefined) return undefined;
  return { presence: left.sql, values: 0, ask: (around) => operator.columnsToSql?.(left, right, around) ?? IN_MEMORY };
}

/** Keys that are the same key however a database is told of them. */
const PLAIN_KEY = /^[A-Za-z0-9_-]+$/;
/** How many values the way to what lies inside counts for: it is bound wherever that is named. */
const WAY = 3;

interface AskInside {
  readonly values: number;
  ask(json: SqlJson, around: SqlAround): SqlTruth | typeof IN_MEMORY;
}

function findInside({ document, keys }: JsonPlace, dialect: SqlDialect, { values, ask }: AskInside): Sides | undefined {
  if (!keys.every((key) => PLAIN_KEY.test(key))) return undefined;
  const json = dialect.jsonAt(document, keys);
  return { presence: json.type, values: values + WAY, ask: (around) => ask(json, around) };
}

/** A term in SQL. */
interface SqlTerm {
  readonly sql: Sql;
  /** The largest absolute value of the term. */
  readonly max: bigint;
  /** The number of bound values. */
  readonly values: number;
}

const MAX_FIELD = BigInt(Number.MAX_SAFE_INTEGER);
/** The int64 limit: beyond it SQLite continues with doubles, PostgreSQL fails the statement, and CEL has an error. */
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * Compiles a comparison of integers to SQL that is NULL if a field has no value. Returns undefined if a field has no integer column, or if a term could
 * overflow int64 or divide by zero: databases differ there. Integer division truncates towards zero in both databases, as in CEL.
 */
export function integersToSql(
  { sign, left, right }: IntegerComparison,
  target: SqlTarget,
): { readonly truth: SqlTruth; readonly values: number } | undefined {
  const [a, b] = [termToSql(left, target), termToSql(right, target)];
  if (a === undefined || b === undefined) return undefined;
  return { truth: sql<boolean | null>`${a.sql} ${sql.raw(sign)} ${b.sql}`, values: a.values + b.values };
}

function termToSql(term: IntegerTerm, target: SqlTarget): SqlTerm | undefined {
  switch (term.type) {
    case 'field': {
      const column = target.kindOf(term.path)?.whole === true ? target.column(term.path) : undefined;
      return column?.kind === 'number' ? { sql: column.sql, max: MAX_FIELD, values: 0 } : undefined;
    }
    case 'literal':
      return { sql: sql`CAST(${term.digits} AS BIGINT)`, max: magnitude(BigInt(term.digits)), values: 1 };
    case 'operation': {
      const [left, right] = [termToSql(term.left, target), termToSql(term.right, target)];
      if (left === undefined || right === undefined) return undefined;
      const max = MAGNITUDES[term.sign](left.max, right.max, term.right);
      if (max === undefined || max > MAX_INT64) return undefined;
      return { sql: sql`(${left.sql} ${sql.raw(term.sign)} ${right.sql})`, max, values: left.values + right.values };
    }
  }
}

/** Returns the largest absolute value of an operation; undefined if the operation may have no value. */
type Magnitude = (left: bigint, right: bigint, divisor: IntegerTerm) => bigint | undefined;

const sum: Magnitude = (left, right) => left + right;

const MAGNITUDES: Readonly<Record<'+' | '-' | '*' | '/' | '%', Magnitude>> = {
  '+': sum,
  '-': sum,
  '*': (left, right) => left * right,
  '/': (left, _, divisor) => (isNotZero(divisor) ? left : undefined),
  '%': (_, right, divisor) => (isNotZero(divisor) ? right : undefined),
};

function isNotZero(term: IntegerTerm): boolean {
  return term.type === 'literal' && BigInt(term.digits) !== 0n;
}

function magnitude(value: bigint): bigint {
  return value < 0n ? -value : value;
}
