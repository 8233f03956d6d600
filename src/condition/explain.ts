import type { Json } from '../operators/index.ts';
import type { Comparison, Condition } from './condition.ts';
import { printOperand } from './print.ts';
import { reduce } from './reduce.ts';
import { resolveOperand } from './resolve.ts';
import { OPEN, type Scope } from './scope.ts';

/** `open`: it depends on a record that is not known, as in a list. */
export type TracedAnswer = 'true' | 'false' | 'unknown' | 'open';

/** A condition with the values that it met, as plain JSON. It shows attribute values: for admins alone. */
export type ConditionTrace =
  | {
      readonly type: 'comparison';
      readonly field: string;
      readonly operator: string;
      /** The operand with its references put in; absent where one refers to nothing or to the open record. */
      readonly expected?: Json;
      /** The operand as written, where it refers to something. */
      readonly written?: string;
      readonly actual?: Json;
      /** There is no value at the path. */
      readonly missing?: true;
      readonly ifExists?: true;
      readonly answer: TracedAnswer;
    }
  | { readonly type: 'all' | 'any'; readonly answer: TracedAnswer; readonly of: readonly ConditionTrace[] }
  | { readonly type: 'not'; readonly answer: TracedAnswer; readonly of: ConditionTrace }
  | { readonly type: 'expression'; readonly source: string; readonly answer: TracedAnswer }
  | { readonly type: 'constant'; readonly answer: TracedAnswer };

/** How a condition comes to its answer, comparison by comparison; none is left out because another decided. */
export function explainCondition(condition: Condition, scope: Scope): ConditionTrace {
  const answer = toAnswer(reduce(condition, scope));
  switch (condition.type) {
    case 'constant':
      return { type: 'constant', answer };
    case 'comparison':
      return explainComparison(condition, answer, scope);
    case 'expression':
      return { type: 'expression', source: condition.source, answer };
    case 'not':
      return { type: 'not', answer, of: explainCondition(condition.of, scope) };
    default:
      return { type: condition.type, answer, of: condition.of.map((part) => explainCondition(part, scope)) };
  }
}

function explainComparison(comparison: Comparison, answer: TracedAnswer, scope: Scope): ConditionTrace {
  const actual = scope.valueOf(comparison.path);
  const expected = resolveOperand(comparison.operand, scope);
  return {
    type: 'comparison',
    field: comparison.path.text,
    operator: comparison.operator,
    ...(expected !== undefined && expected !== OPEN && { expected }),
    ...(comparison.operand.type !== 'literal' && { written: printOperand(comparison.operand) }),
    ...(actual === undefined ? { missing: true as const } : actual !== OPEN && { actual }),
    ...(comparison.ifExists && { ifExists: true as const }),
    answer,
  };
}

function toAnswer(reduced: Condition): TracedAnswer {
  if (reduced.type !== 'constant') return 'open';
  if (reduced.value === null) return 'unknown';
  return reduced.value ? 'true' : 'false';
}
