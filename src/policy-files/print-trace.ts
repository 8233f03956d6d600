import type { Explanation, RuleTrace } from '../authz/decision/index.ts';
import type { AncestorsTrace, ComparisonTrace, ConditionTrace, RelatedTrace } from '../conditions/index.ts';
import { toOneLine } from '../one-line.ts';

/** Maximum number of related records and of rules in a printed explanation. */
const MAX_PRINTED = 5;

/** Prints why a request was decided as it was: a line for each evaluated rule, and the conditions that made it fire or not. */
export function printExplanation({ trace, note }: Pick<Explanation, 'trace'> & { readonly note?: string | undefined }): readonly string[] {
  const lines = trace.slice(0, MAX_PRINTED).flatMap(printRule);
  const more = trace.length - MAX_PRINTED;
  return [...lines, ...(more > 0 ? [`and ${more} more rules`] : []), ...(note === undefined ? [] : [note])].map(toOneLine);
}

function printRule({ rule, policy, answer, fired, condition }: RuleTrace): readonly string[] {
  const name = rule.description === undefined ? 'a rule' : `rule "${rule.description}"`;
  const outcome = fired ? `${rule.effect} fired` : `${rule.effect} did not fire`;
  const parts = condition.type === 'all' ? condition.of : [condition];
  // A rule that fired is explained by all its conditions, any other by those that were not true. A rule without conditions has none to print.
  const shown = parts.filter((part) => part.answer !== 'true' || (fired && part.type !== 'constant'));
  return [`${name} of policy "${policy.name}": ${outcome}, its conditions are ${answer}`, ...indent(shown.flatMap(printCondition))];
}

/** Prints a condition and its result, with the values that it compared. */
function printCondition(condition: ConditionTrace): readonly string[] {
  switch (condition.type) {
    case 'comparison':
      return [printComparison(condition)];
    case 'all':
    case 'any':
      return [`${condition.type === 'all' ? 'all of' : 'any of'}: ${condition.answer}`, ...indent(condition.of.flatMap(printCondition))];
    case 'not':
      return [`not: ${condition.answer}`, ...indent(printCondition(condition.of))];
    case 'expression':
      return [`${condition.source}: ${condition.answer}`];
    case 'related':
      return printRelated(condition);
    default:
      return [`constant: ${condition.answer}`];
  }
}

function printComparison(comparison: ComparisonTrace): string {
  const { field, operator, written, expected, answer, ancestors } = comparison;
  const actual = 'missing' in comparison ? 'has no value' : `is ${JSON.stringify(comparison.actual)}`;
  const above = ancestors === undefined ? '' : printAncestors(ancestors);
  const resolved = written === undefined || expected === undefined ? '' : `, expected ${JSON.stringify(expected)}`;
  return `${field} ${operator} ${written ?? JSON.stringify(expected)}: ${answer} (${field} ${actual}${above}${resolved})`;
}

/** The reasons why not all ancestors were compared. */
const ENDS: Readonly<Record<AncestorsTrace['end'], string>> = {
  root: '',
  missing: ', whose parent does not exist',
  cycle: ', which form a cycle',
  limit: ', and has more ancestors than are compared',
};

function printAncestors({ ids: [, ...ancestors], end }: AncestorsTrace): string {
  const below = ancestors.length === 0 ? '' : `, below ${ancestors.map((id) => JSON.stringify(id)).join(', ')}`;
  return `${below}${ENDS[end]}`;
}

function printRelated(trace: RelatedTrace): readonly string[] {
  const { resource, as, list, on, atLeast, atMost, answer, counts, moreThan, records = [], where: compared } = trace;
  const links = on.map(({ field, expected }) => `${field} = ${expected === undefined ? 'missing' : JSON.stringify(expected)}`);
  const bounds = [...(atLeast === undefined ? [] : [`at least ${atLeast}`]), ...(atMost === undefined ? [] : [`at most ${atMost}`])];
  const limited = moreThan === undefined ? '' : ` (more than ${moreThan} records are not counted)`;
  const found = counts === undefined ? limited : ` (${counts.true} true, ${counts.false} false, ${counts.unknown} unknown)`;
  const lines = records.slice(0, MAX_PRINTED).flatMap(({ id, missing, where }) => {
    const name = list === undefined ? as : resource;
    return [`${name} ${id}${missing === true ? ', which does not exist' : ''}:`, ...indent(printCondition(where))];
  });
  if (list !== undefined)
    return [`some record of ${list}: ${answer}${found}`, ...indent(compared === undefined ? lines : printCondition(compared))];
  return [`${bounds.join(' and ') || 'at least 1'} ${resource} with ${links.join(', ')}: ${answer}${found}`, ...indent(lines)];
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}
