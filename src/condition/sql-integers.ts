import type { SqlTruth } from '../operators/index.ts';
import { type Sql, sql } from '../sql/index.ts';
import type { IntegerComparison, IntegerTerm } from './condition.ts';
import type { SqlTarget } from './sql-comparison.ts';

/** A term in SQL. */
interface SqlTerm {
  readonly sql: Sql;
  /** No value of it is further from zero. */
  readonly max: bigint;
  /** How many values it binds. */
  readonly values: number;
}

const MAX_FIELD = BigInt(Number.MAX_SAFE_INTEGER);
/** Beyond, SQLite would go on with doubles, PostgreSQL would refuse the statement, and CEL has an error. */
const MAX_INT64 = 2n ** 63n - 1n;

/**
 * A comparison of integers in SQL: NULL where a field has no value. Undefined where a field has no integer column, or a value could leave the range of
 * int64 or be a division by zero: databases answer these in their own ways. What is left divides towards zero in both, as CEL does.
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

/** How far from zero the result of an operation can be; undefined where there may be none. */
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
