/** Residual conditions as plain JSON, from which a program writes words. */
import { describeValue, type Json } from '../operators/index.ts';
import type { Condition, Operand, Related } from './condition.ts';
import type { ConditionTrace, RelatedTrace } from './condition-trace.ts';
import { WITHIN } from './parse-within.ts';
import { MAX_ITEMS, printOperand } from './print-operand.ts';

/** Returns the trace of a condition that depends on unknown values. It has no values but those of short operands; the other operands are printed. */
export function traceResidual(condition: Condition): ConditionTrace {
  switch (condition.type) {
    case 'constant':
      return { type: 'constant', answer: condition.value === null ? 'unknown' : condition.value ? 'true' : 'false' };
    case 'comparison':
    case 'within': {
      const operator = condition.type === 'within' ? WITHIN.name : condition.operator;
      const { path, operand, ifExists } = condition;
      return {
        ...{ type: 'comparison', field: path.text, operator, ...toExpected(operand) },
        ...(ifExists && { ifExists: true as const }),
        answer: 'open',
      };
    }
    case 'expression':
      return { type: 'expression', source: condition.source, answer: 'open' };
    case 'related':
      return traceRelated(condition);
    case 'some':
      return traceResidual(condition.where);
    case 'not':
      return { type: 'not', answer: 'open', of: traceResidual(condition.of) };
    default:
      return { type: condition.type, answer: 'open', of: condition.of.map(traceResidual) };
  }
}

function traceRelated({ resource, as, on, where, atLeast, atMost }: Related): RelatedTrace {
  const isEach = where.type === 'constant' && where.value === true;
  return {
    type: 'related',
    resource,
    as,
    on: on.map(({ path, operand }) => ({ field: path.keys[1] ?? '', ...toExpected(operand) })),
    ...(atLeast !== undefined && { atLeast }),
    ...(atMost !== undefined && { atMost }),
    ...(!isEach && { where: traceResidual(where) }),
    answer: 'open',
  };
}

/** Returns the value of a short literal; the text of every other operand, which is short for operands of any size. */
function toExpected(operand: Operand): { readonly expected: Json } | { readonly written: string } {
  return operand.type === 'literal' && isShort(operand.value) ? { expected: operand.value } : { written: printOperand(operand) };
}

function isShort(value: Json): boolean {
  if (Array.isArray(value)) return value.length <= MAX_ITEMS && value.every((item: Json) => !Array.isArray(item) && isShort(item));
  return typeof value !== 'object' || value === null ? describeValue(value) === JSON.stringify(value) : false;
}
