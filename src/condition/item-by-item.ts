import type { Operator } from '../operators/index.ts';
import type { ComparedAs, Comparison, Condition } from './condition.ts';

/**
 * A comparison with a list, told as one comparison for each of its items, which is true, false and unknown where the whole is;
 * undefined where the operator has no such words. All of them compare as the whole does, whatever the other items are.
 */
export function toItemByItem(comparison: Comparison, operator: Operator, as: ComparedAs): Condition | undefined {
  const { operand } = comparison;
  const { itemwise } = operator;
  if (operand.type !== 'array' || itemwise === undefined) return undefined;
  const { join, operators } = itemwise;
  if (operators.length > 1 && operators.length !== operand.items.length) return undefined;
  const of = operand.items.map(
    (item, index): Comparison => ({ ...comparison, operator: operators[index] ?? operators[0], operand: item, as }),
  );
  return { type: join, of };
}
