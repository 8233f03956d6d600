/** Texts of operands. */
import { describeValue } from '../operators/index.ts';
import type { Operand } from './condition.ts';

/** Maximum number of items of a list in an explanation. */
export const MAX_ITEMS = 5;

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

function printList<Item>(items: readonly Item[], print: (item: Item) => string): string {
  const more = items.length > MAX_ITEMS ? [`… ${items.length - MAX_ITEMS} more`] : [];
  return `[${[...items.slice(0, MAX_ITEMS).map(print), ...more].join(', ')}]`;
}
