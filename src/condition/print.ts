import { describeValue } from '../operators/index.ts';
import type { Condition, Operand } from './condition.ts';

const MAX_ITEMS = 5;

/** A condition in one line, for people: `user.department eq "sales" and (resource.status in ["draft"] or not resource.locked eq true)`. */
export function printCondition(condition: Condition): string {
  switch (condition.type) {
    case 'constant':
      return condition.value === null ? 'unknown' : condition.value ? 'always' : 'never';
    case 'comparison':
      return `${condition.path.text} ${condition.operator} ${printOperand(condition.operand)}${condition.ifExists ? ' (if it exists)' : ''}`;
    case 'expression':
      return `expression ${describeValue(condition.source)}`;
    case 'not':
      return `not ${printMember(condition.of)}`;
    case 'all':
      return condition.of.map(printMember).join(' and ') || 'always';
    case 'any':
      return condition.of.map(printMember).join(' or ') || 'never';
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
  }
}

function printMember(condition: Condition): string {
  const text = printCondition(condition);
  return (condition.type === 'all' || condition.type === 'any') && condition.of.length > 1 ? `(${text})` : text;
}

function printList<Item>(items: readonly Item[], print: (item: Item) => string): string {
  const more = items.length > MAX_ITEMS ? [`… ${items.length - MAX_ITEMS} more`] : [];
  return `[${[...items.slice(0, MAX_ITEMS).map(print), ...more].join(', ')}]`;
}
