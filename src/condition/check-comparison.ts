import { OPERATORS, type Operator } from '../operators/index.ts';
import { checkBounds, checkLiterals } from './check-literals.ts';
import { comparedAs } from './compared-as.ts';
import type { ComparedAs, Comparison } from './condition.ts';
import { operandPaths } from './paths.ts';
import { checkOperand } from './read-operand.ts';
import { describedKind, type Reading } from './reading.ts';
import type { PathKind } from './scope.ts';

/** Returns messages for mistakes in a comparison: unknown paths, kinds that cannot be compared, literals that do not fit. */
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
      : (checkWritten(comparison, operator, { as, reading }) ?? checkOperand(comparison.operand, operator, as));
  return mistake === undefined ? mistakes : [...mistakes, mistake];
}

/** Reports literals that can never match. Only new rules are checked; stored rules keep their decisions. */
function checkWritten(
  comparison: Comparison,
  operator: Operator,
  { as, reading: { reader } }: { readonly as: ComparedAs; readonly reading: Reading },
): string | undefined {
  if (reader.domainOf === undefined) return undefined;
  const domain = reader.domainOf(comparison.path);
  return (domain && checkLiterals(comparison, operator, domain)) ?? checkBounds(comparison, operator, { as, domain });
}
