import { OPERATORS } from '../operators/index.ts';
import { comparedAs } from './compared-as.ts';
import type { Comparison } from './condition.ts';
import { operandPaths } from './paths.ts';
import { checkOperand } from './read-operand.ts';
import { describedKind, type Reading } from './reading.ts';
import type { PathKind } from './scope.ts';

/** What is wrong with the two sides of a comparison, in words: references to what exists, kinds that meet, literals that fit. */
export function checkSides(comparison: Comparison, reading: Reading): readonly string[] {
  const operator = OPERATORS.get(comparison.operator);
  if (operator === undefined) return [`unknown operator "${comparison.operator}"`];
  const mistakes: string[] = [];
  const kinds = new Map<string, PathKind | undefined>();
  for (const path of [comparison.path, ...operandPaths(comparison.operand)]) {
    const described = describedKind(reading, path);
    if ('problem' in described) mistakes.push(described.problem);
    else kinds.set(path.text, described.kind);
  }
  const as = comparedAs(comparison, operator, (path) => kinds.get(path.text));
  const mistake =
    as === 'mismatch'
      ? `what ${comparison.path.text} is compared with is of another kind; such a comparison is always unknown`
      : checkOperand(comparison.operand, operator, as);
  return mistake === undefined ? mistakes : [...mistakes, mistake];
}
