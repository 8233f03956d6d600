import { IN_MEMORY, type SqlTruth } from '../operators/index.ts';
import { type Sql, sql } from '../sql.ts';
import { integersToSql, type SqlTarget, toQuestion } from './compile-comparison.ts';
import type { Comparison, Condition, Expression } from './condition.ts';

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
