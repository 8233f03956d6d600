import { describeValue, type Json } from '../operators/index.ts';
import { type Comparison, type Condition, type Operand, type Scope, UNRESOLVED } from './condition.ts';
import { partiallyEvaluate, resolveOperand } from './partial-evaluation.ts';

/** The result of a condition; `open` if it depends on a record that is not known yet, as in a list. */
export type TracedAnswer = 'true' | 'false' | 'unknown' | 'open';

/** A condition with the values that it was evaluated with, as plain JSON. Contains attribute values, so only admins may read a trace. */
export type ConditionTrace =
  | {
      readonly type: 'comparison';
      readonly field: string;
      readonly operator: string;
      /** The operand with its references resolved; absent if a reference has no value or reads the unknown record. */
      readonly expected?: Json;
      /** The operand as written; absent for a literal. */
      readonly written?: string;
      readonly actual?: Json;
      /** Present if the path has no value. */
      readonly missing?: true;
      readonly ifExists?: true;
      readonly answer: TracedAnswer;
    }
  | { readonly type: 'all' | 'any'; readonly answer: TracedAnswer; readonly of: readonly ConditionTrace[] }
  | { readonly type: 'not'; readonly answer: TracedAnswer; readonly of: ConditionTrace }
  | { readonly type: 'expression'; readonly source: string; readonly answer: TracedAnswer }
  | { readonly type: 'constant'; readonly answer: TracedAnswer };

/** Returns the trace of a condition. Evaluates every comparison, also those after a comparison that decides its group. */
export function explainCondition(condition: Condition, scope: Scope): ConditionTrace {
  const answer = toAnswer(partiallyEvaluate(condition, scope));
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
    ...(expected !== undefined && expected !== UNRESOLVED && { expected }),
    ...(comparison.operand.type !== 'literal' && { written: printOperand(comparison.operand) }),
    ...(actual === undefined ? { missing: true as const } : actual !== UNRESOLVED && { actual }),
    ...(comparison.ifExists && { ifExists: true as const }),
    answer,
  };
}

function toAnswer(result: Condition): TracedAnswer {
  if (result.type !== 'constant') return 'open';
  if (result.value === null) return 'unknown';
  return result.value ? 'true' : 'false';
}

const MAX_ITEMS = 5;

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
    case 'not':
      return `not ${printMember(condition.of, maxLength)}`;
    case 'all':
      return printMembers(condition.of, ' and ', maxLength) || 'always';
    case 'any':
      return printMembers(condition.of, ' or ', maxLength) || 'never';
  }
}

/** Prints the right side of a comparison as it was written. Omits items of a list after `MAX_ITEMS`. */
export function printOperand(operand: Operand): string {
  switch (operand.type) {
    case 'literal':
      return Array.isArray(operand.value) ? printList(operand.value, describeValue) : describeValue(operand.value);
    case 'reference':
      return `\${${operand.path.text}}`;
    case 'template':
      return describeValue(operand.parts.map((part) => (typeof part === 'string' ? part : `\${${part.text}}`)).join(''));
    case 'array':
      return printList(operand.items, printOperand);
    case 'computed':
      return `(${operand.source})`;
  }
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

function printList<Item>(items: readonly Item[], print: (item: Item) => string): string {
  const more = items.length > MAX_ITEMS ? [`… ${items.length - MAX_ITEMS} more`] : [];
  return `[${[...items.slice(0, MAX_ITEMS).map(print), ...more].join(', ')}]`;
}
