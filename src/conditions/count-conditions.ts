import { isObject, type Json } from '../operators/index.ts';
import { countJoined } from './cel/cel-parse.ts';

/**
 * Returns the number of comparisons, conditions on ancestors and conditions on related records that an author wrote. The condition tree can have
 * more, because an expression such as `a ? b : c` is lowered to a group that contains `a` several times.
 */
export function countConditions(conditions: readonly Json[]): number {
  return conditions.reduce<number>((sum, condition) => sum + countIn(condition), 0);
}

function countIn(condition: Json): number {
  if (!isObject(condition)) return 1;
  const { allOf, anyOf, not, expression } = condition;
  const group = allOf ?? anyOf;
  if (Array.isArray(group)) return countConditions(group);
  if (not !== undefined) return countIn(not);
  return typeof expression === 'string' ? countJoined(expression) : 1;
}
