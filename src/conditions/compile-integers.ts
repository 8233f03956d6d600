/** Compiles comparisons of integers to SQL. */
import type { SqlTruth } from '../operators/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { SqlTarget } from './compile-target.ts';
import type { IntegerComparison, IntegerTerm } from './condition.ts';

/** A term in SQL. */
interface SqlTerm {
  readonly sql: Sql;
  /** The largest absolute value of the term. */
  readonly max: bigint;
  /** The number of bound values. */
  readonly values: number;
}

const MAX_FIELD = BigInt(Number.MAX_SAFE_INTEGER);
/** The largest int64. Above it, SQLite continues with doubles, PostgreSQL fails the statement, and CEL has an error. */
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * Compiles a comparison of integers to SQL that is NULL if a field has no value. Returns undefined if a field has no integer column, or
 * if a term could overflow int64 or divide by zero, because databases differ in these cases. Integer division truncates towards zero in
 * both databases, as in CEL.
 */
export function compileIntegerComparison(
  { sign, left, right }: IntegerComparison,
  target: SqlTarget,
): { readonly truth: SqlTruth; readonly values: number } | undefined {
  const [a, b] = [compileTerm(left, target), compileTerm(right, target)];
  if (a === undefined || b === undefined) return undefined;
  return { truth: sql<boolean | null>`${a.sql} ${sql.raw(sign)} ${b.sql}`, values: a.values + b.values };
}

function compileTerm(term: IntegerTerm, target: SqlTarget): SqlTerm | undefined {
  switch (term.type) {
    case 'field': {
      const column = target.kindOf(term.path)?.whole === true ? target.column(term.path) : undefined;
      return column?.kind === 'number' ? { sql: column.sql, max: MAX_FIELD, values: 0 } : undefined;
    }
    case 'literal':
      return { sql: sql`CAST(${term.digits} AS BIGINT)`, max: magnitude(BigInt(term.digits)), values: 1 };
    case 'operation': {
      const [left, right] = [compileTerm(term.left, target), compileTerm(term.right, target)];
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
