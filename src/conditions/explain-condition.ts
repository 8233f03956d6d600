import { describeValue } from '../operators/index.ts';
import { type Comparison, type Condition, type Related, type Scope, UNRESOLVED, type Within } from './condition.ts';
import type { ComparisonTrace, ConditionTrace, TracedAnswer } from './condition-trace.ts';
import { explainRelated, explainSome } from './explain-related.ts';
import { resolveOperand } from './operand-values.ts';
import { WITHIN } from './parse-within.ts';
import { partiallyEvaluate } from './partial-evaluation.ts';
import { printOperand } from './print-operand.ts';
import { ancestorsOf, compareAncestors } from './within-evaluation.ts';

/** Returns the trace of a condition. Evaluates every comparison, also those after a comparison that decides its group. */
export function explainCondition(condition: Condition, scope: Scope): ConditionTrace {
  switch (condition.type) {
    case 'not':
      return explainNegation(condition, scope);
    case 'all':
    case 'any':
      return explainGroup(condition, scope);
    default:
      return explainMember(condition, toAnswer(partiallyEvaluate(condition, scope)), scope);
  }
}

function explainMember(condition: Exclude<Condition, { type: 'not' | 'all' | 'any' }>, answer: TracedAnswer, scope: Scope): ConditionTrace {
  switch (condition.type) {
    case 'constant':
      return { type: 'constant', answer };
    case 'comparison':
      return explainComparison(condition, answer, scope);
    case 'expression':
      return { type: 'expression', source: condition.source, answer };
    case 'related':
      return explainRelated(condition, { answer, scope, explain: explainCondition });
    case 'some':
      return explainSome(condition, { answer, scope, explain: explainCondition });
    case 'within':
      return explainWithin(condition, answer, scope);
  }
}

const NEGATED: Readonly<Record<TracedAnswer, TracedAnswer>> = { true: 'false', false: 'true', unknown: 'unknown', open: 'open' };

function explainNegation({ of }: Extract<Condition, { type: 'not' }>, scope: Scope): ConditionTrace {
  const inner = explainCondition(of, scope);
  return { type: 'not', answer: NEGATED[inner.answer], of: inner };
}

/** Explains a group. Its answer follows from those of its members: evaluating it again would evaluate each condition on related records again. */
function explainGroup({ type, of }: Extract<Condition, { type: 'all' | 'any' }>, scope: Scope): ConditionTrace {
  const members = of.map((part) => explainCondition(part, scope));
  const [decisive, otherwise] = type === 'all' ? (['false', 'true'] as const) : (['true', 'false'] as const);
  const answer = ([decisive, 'open', 'unknown'] as const).find((each) => members.some((member) => member.answer === each)) ?? otherwise;
  return { type, answer, of: members };
}

function explainComparison(comparison: Comparison | Within, answer: TracedAnswer, scope: Scope): ComparisonTrace {
  const actual = scope.valueOf(comparison.path);
  const expected = resolveOperand(comparison.operand, scope);
  return {
    type: 'comparison',
    field: comparison.path.text,
    operator: comparison.type === 'within' ? WITHIN.name : comparison.operator,
    ...(expected !== undefined && expected !== UNRESOLVED && { expected }),
    ...(comparison.operand.type !== 'literal' && { written: printOperand(comparison.operand) }),
    ...(actual === undefined ? { missing: true as const } : actual !== UNRESOLVED && { actual }),
    ...(comparison.ifExists && { ifExists: true as const }),
    answer,
  };
}

/** Explains a condition on ancestors: which records were compared, which of them matched, and why there are no more. */
function explainWithin(within: Within, answer: TracedAnswer, scope: Scope): ConditionTrace {
  const trace = explainComparison(within, answer, scope);
  const resource = scope.kindOf(within.path)?.hierarchy?.resource;
  const first = scope.valueOf(within.path);
  const found = first === undefined || first === UNRESOLVED ? UNRESOLVED : ancestorsOf(within, first, scope);
  if (resource === undefined || found === UNRESOLVED || found === 'unknown') return trace;
  const { ids, end } = found;
  const { expected = null } = trace;
  const matched = ids.find((id) => compareAncestors({ ids: [id], end }, expected) === true);
  // A chain that is too long and has a record twice is a cycle.
  const isCycle = end === 'limit' && new Set(ids).size < ids.length;
  return {
    ...trace,
    ancestors: { resource, ids: [...new Set(ids)], ...(matched !== undefined && { matched }), end: isCycle ? 'cycle' : end },
  };
}

function toAnswer(result: Condition): TracedAnswer {
  if (result.type !== 'constant') return 'open';
  if (result.value === null) return 'unknown';
  return result.value ? 'true' : 'false';
}

/**
 * Prints a condition in one line: `user.department eq "sales" and (resource.status in ["draft"] or not resource.locked eq true)`.
 * Members after `maxLength` characters are omitted, because the text of ten thousand rules would have megabytes.
 */
export function printCondition(condition: Condition, maxLength: number = Number.POSITIVE_INFINITY): string {
  switch (condition.type) {
    case 'constant':
      return condition.value === null ? 'unknown' : condition.value ? 'always' : 'never';
    case 'comparison':
      return `${condition.path.text} ${condition.operator} ${printOperand(condition.operand)}${condition.ifExists ? ' (if it exists)' : ''}`;
    case 'expression':
      return `expression ${describeValue(condition.source)}`;
    case 'related':
      return printRelated(condition, maxLength);
    case 'some':
      return printCondition(condition.where, maxLength);
    case 'within':
      return `${condition.path.text} ${WITHIN.name} ${printOperand(condition.operand)}${condition.ifExists ? ' (if it exists)' : ''}`;
    case 'not':
      return `not ${printMember(condition.of, maxLength)}`;
    case 'all':
      return printMembers(condition.of, ' and ', maxLength) || 'always';
    case 'any':
      return printMembers(condition.of, ' or ', maxLength) || 'never';
  }
}

/** Prints `at least 2 Membership m where m.userId = ${user.id} and m.level eq "owner"`. */
function printRelated({ resource, as, on, where, atLeast, atMost }: Related, maxLength: number): string {
  const bounds = [atLeast === undefined ? '' : `at least ${atLeast}`, atMost === undefined ? '' : `at most ${atMost}`];
  const links = on.map(({ path, operand }) => `${path.text} = ${printOperand(operand)}`);
  const rest = where.type === 'constant' && where.value === true ? [] : [printMember(where, maxLength)];
  return `${bounds.filter(Boolean).join(' and ')} ${resource} ${as} where ${[...links, ...rest].join(' and ')}`;
}

function printMembers(members: readonly Condition[], separator: string, maxLength: number): string {
  const texts: string[] = [];
  let left = maxLength;
  for (const member of members) {
    if (left <= 0) return [...texts, '…'].join(separator);
    const text = printMember(member, left);
    left -= text.length + separator.length;
    texts.push(text);
  }
  return texts.join(separator);
}

function printMember(condition: Condition, maxLength: number): string {
  const text = printCondition(condition, maxLength);
  return (condition.type === 'all' || condition.type === 'any') && condition.of.length > 1 ? `(${text})` : text;
}
