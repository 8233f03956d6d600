import type { Comparison, Condition, Operand, Related } from './condition.ts';

/**
 * Returns a text that is equal for two conditions only if they have the same result in every scope. It does not depend on the order of members
 * in groups, or on repeated members. Conditions with the same result may still have different texts, such as `a lt 5` and `not a gte 5`.
 */
export function conditionKey(condition: Condition): string {
  switch (condition.type) {
    case 'constant':
      return String(condition.value);
    case 'comparison':
      return comparisonKey(condition);
    case 'expression':
      return JSON.stringify(['expression', condition.source, condition.paths.map(({ text }) => text)]);
    case 'related':
      return relatedKey(condition);
    case 'some':
      return JSON.stringify(['some', condition.path.text, condition.resource, conditionKey(condition.where), condition.limit]);
    case 'within':
      return JSON.stringify(['within', condition.path.text, operandKey(condition.operand), condition.ifExists]);
    case 'not':
      return `not(${conditionKey(condition.of)})`;
    default: {
      const members = [...new Set(condition.of.map(conditionKey))].sort();
      return members.length === 1 ? String(members[0]) : `${condition.type}(${members.join(' ')})`;
    }
  }
}

function relatedKey({ resource, as, on, where, atLeast, atMost, limit }: Related): string {
  const links = on.map(({ path, operand }) => [path.text, operandKey(operand)]);
  return JSON.stringify(['related', resource, as, links, conditionKey(where), atLeast ?? null, atMost ?? null, limit]);
}

function comparisonKey({ path, operator, operand, ifExists, as }: Comparison): string {
  const kind = as === undefined ? null : [as.kind ?? null, as.itemKind ?? null, as.whole ?? null];
  return JSON.stringify([path.text, operator, operandKey(operand), ifExists, kind]);
}

function operandKey(operand: Operand): unknown {
  switch (operand.type) {
    case 'literal':
      return ['literal', operand.value];
    case 'reference':
      return ['reference', operand.path.text];
    case 'template':
      return ['template', operand.parts.map((part) => (typeof part === 'string' ? part : [part.text]))];
    case 'array':
      return ['array', operand.items.map(operandKey)];
    case 'computed':
      return ['computed', operand.source, operand.paths.map(({ text }) => text)];
  }
}
