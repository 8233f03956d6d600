import { describeValue, type Json } from '../operators/index.ts';
import { type Comparison, type Condition, OPEN, type Operand, type Scope } from './condition.ts';
import { partiallyEvaluate, resolveOperand } from './partial-evaluation.ts';

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

const MAX_ITEMS = 5;

/**
 * A condition in one line, for people: `user.department eq "sales" and (resource.status in ["draft"] or not resource.locked eq true)`.
 * Members beyond `room` characters are not printed: a condition of ten thousand rules would be megabytes.
 */
export function printCondition(condition: Condition, room: number = Number.POSITIVE_INFINITY): string {
  switch (condition.type) {
    case 'constant':
      return condition.value === null ? 'unknown' : condition.value ? 'always' : 'never';
    case 'comparison':
      return `${condition.path.text} ${condition.operator} ${printOperand(condition.operand)}${condition.ifExists ? ' (if it exists)' : ''}`;
    case 'expression':
      return `expression ${describeValue(condition.source)}`;
    case 'not':
      return `not ${printMember(condition.of, room)}`;
    case 'all':
      return printMembers(condition.of, ' and ', room) || 'always';
    case 'any':
      return printMembers(condition.of, ' or ', room) || 'never';
  }
}

/** The right side of a comparison as it was written, long lists shortened. */
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

function printMembers(members: readonly Condition[], separator: string, room: number): string {
  const texts: string[] = [];
  let left = room;
  for (const member of members) {
    if (left <= 0) return [...texts, '…'].join(separator);
    const text = printMember(member, left);
    left -= text.length + separator.length;
    texts.push(text);
  }
  return texts.join(separator);
}

function printMember(condition: Condition, room: number): string {
  const text = printCondition(condition, room);
  return (condition.type === 'all' || condition.type === 'any') && condition.of.length > 1 ? `(${text})` : text;
}

function printList<Item>(items: readonly Item[], print: (item: Item) => string): string {
  const more = items.length > MAX_ITEMS ? [`… ${items.length - MAX_ITEMS} more`] : [];
  return `[${[...items.slice(0, MAX_ITEMS).map(print), ...more].join(', ')}]`;
}
