/** Compiles a condition on ancestors to SQL. */
import { type ComparisonContext, IN_MEMORY, OPERATORS, type SqlTruth } from '../operators/index.ts';
import { sql } from '../sql.ts';
import type { AncestorsTarget, SqlTarget } from './compile-target.ts';
import type { Within } from './condition.ts';
import { soleOperand } from './within-evaluation.ts';

/** A compiled condition, and the number of values that it binds. */
interface CompiledWithin {
  readonly truth: SqlTruth;
  readonly values: number;
}

/** Returns the condition in SQL, which has the same three-valued result; undefined if it must be evaluated in memory. */
export function compileWithin(within: Within, target: SqlTarget): CompiledWithin | undefined {
  const ancestors = target.ancestors?.(within);
  if (ancestors === undefined) return undefined;
  const matches = compileMatch(within, ancestors, target);
  if (matches === undefined || matches === IN_MEMORY) return undefined;
  const { operand, ifExists } = within;
  const values = operand.type === 'literal' && Array.isArray(operand.value) ? operand.value.length : 1;
  const truth = ancestors.whereAny(matches);
  return { truth: ifExists ? sql<boolean | null>`(${ancestors.first.sql} IS NOT NULL AND ${truth})` : truth, values };
}

/** Compiles the comparison of one record with the operand. */
function compileMatch({ operand }: Within, { id }: AncestorsTarget, target: SqlTarget): SqlTruth | typeof IN_MEMORY | undefined {
  const { dialect, now, timeZone } = target;
  const comparison: ComparisonContext = { kind: 'text', now, timeZone };
  if (operand.type === 'literal') {
    const { value } = operand;
    // A value that is neither an id nor a list is unknown in memory, even null, which `in` would compare.
    if (typeof value !== 'string' && !Array.isArray(value)) return undefined;
    return OPERATORS.get('in')?.compileSql(id, typeof value === 'string' ? [value] : value, { comparison, dialect });
  }
  const sole = soleOperand(operand);
  const other = sole.type === 'reference' ? target.column(sole.path) : undefined;
  return other && OPERATORS.get('eq')?.compileColumnsSql?.(id, other, { comparison, dialect });
}
