import { describeValue } from '../operators/index.ts';
import type { Condition, Operand } from './condition.ts';

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
