import type { Explanation, RuleTrace } from '../authz/decision/index.ts';
import type { ConditionTrace, RelatedTrace } from '../conditions/index.ts';

/** Maximum number of related records and of rules in a printed explanation. */
const MAX_PRINTED = 5;

/** Prints why a request was decided as it was: a line for each evaluated rule, and the conditions that were not true. */
export function printExplanation({ trace, note }: Explanation): readonly string[] {
  const lines = trace.slice(0, MAX_PRINTED).flatMap(printRule);
  const more = trace.length - MAX_PRINTED;
  return [...lines, ...(more > 0 ? [`and ${more} more rules`] : []), ...(note === undefined ? [] : [note])];
}

function printRule({ rule, policy, answer, fired, condition }: RuleTrace): readonly string[] {
  const name = rule.description === undefined ? 'a rule' : `rule "${rule.description}"`;
  const outcome = fired ? `${rule.effect} fired` : `${rule.effect} did not fire`;
  const parts = condition.type === 'all' ? condition.of : [condition];
  const shown = parts.filter((part) => part.answer !== 'true');
  return [`${name} of policy "${policy.name}": ${outcome}, its conditions are ${answer}`, ...indent(shown.flatMap(printCondition))];
}

/** Prints a condition and its result, with the values that it compared. */
function printCondition(condition: ConditionTrace): readonly string[] {
  switch (condition.type) {
    case 'comparison': {
      const expected = condition.written ?? JSON.stringify(condition.expected);
      const actual = 'missing' in condition ? 'has no value' : `is ${JSON.stringify(condition.actual)}`;
      const resolved =
        condition.written === undefined || condition.expected === undefined ? '' : `, expected ${JSON.stringify(condition.expected)}`;
      return [`${condition.field} ${condition.operator} ${expected}: ${condition.answer} (${condition.field} ${actual}${resolved})`];
    }
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

function printRelated({ resource, as, on, atLeast, atMost, answer, counts, records = [] }: RelatedTrace): readonly string[] {
  const links = on.map(({ field, expected }) => `${field} = ${expected === undefined ? 'missing' : JSON.stringify(expected)}`);
  const bounds = [...(atLeast === undefined ? [] : [`at least ${atLeast}`]), ...(atMost === undefined ? [] : [`at most ${atMost}`])];
  const found = counts === undefined ? '' : ` (${counts.true} true, ${counts.false} false, ${counts.unknown} unknown)`;
  const lines = records.slice(0, MAX_PRINTED).flatMap(({ id, where }) => [`${as} ${id}:`, ...indent(printCondition(where))]);
  return [`${bounds.join(' and ') || 'at least 1'} ${resource} with ${links.join(', ')}: ${answer}${found}`, ...indent(lines)];
}

function indent(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}
