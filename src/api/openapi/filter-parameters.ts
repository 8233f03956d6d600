import { type JsonObject, type Kind, OPERATORS, type OperandShape } from '../../operators/index.ts';
import { arrayOf, schemaRef } from './openapi-operation.ts';

/** What can be said in a filter of a field of each kind: a value (equality), or operators with their values. */
export function filterSchemas(): JsonObject {
  return Object.fromEntries(Object.entries(VALUES).map(([kind, value]) => [filterName(kind as Kind), toFilter(kind as Kind, value)]));
}

/** What a filter may say of a field of this kind. */
export function filterRef(kind: Kind): JsonObject {
  return schemaRef(filterName(kind));
}

/** The names of all operators, with a sentence each: for conditions. */
export const operatorSchema: JsonObject = {
  type: 'string',
  enum: [...OPERATORS.keys()],
  description: [...OPERATORS.values()].map(({ name, summary }) => `\`${name}\`: ${summary}`).join('  \n'),
};

const SCALAR: JsonObject = { type: ['string', 'number', 'boolean'] };

// How a value of each kind is written.
const VALUES: Readonly<Record<Kind, JsonObject>> = {
  text: { type: 'string' },
  number: { type: 'number' },
  decimal: { type: ['string', 'number'] },
  boolean: { type: 'boolean' },
  date: { type: 'string', format: 'date' },
  timestamp: { type: 'string', format: 'date-time' },
  list: arrayOf(SCALAR),
  json: {},
};

function filterName(kind: Kind): string {
  return `filter.${kind}`;
}

function toFilter(kind: Kind, value: JsonObject): JsonObject {
  const operators = [...OPERATORS.values()].filter(
    (operator) => operator.kinds.includes(kind) && (kind !== 'json' || operator.definedOnMissing === true),
  );
  const properties = Object.fromEntries(
    operators.map(({ name, summary, operand }) => [
      name,
      { ...toOperand(operand, kind === 'list' ? SCALAR : value), description: summary },
    ]),
  );
  const comparisons = { type: 'object', properties, additionalProperties: false, minProperties: 1 };
  const takesEquality = operators.some(({ name }) => name === 'eq');
  return {
    description: `\`where[<field>][<operator>]=<value>\` on a field of kind ${kind}${takesEquality ? '; `where[<field>]=<value>` is equality' : ''}. Several conditions must all hold. In a query, a list is comma-separated.`,
    ...(takesEquality ? { oneOf: [value, comparisons] } : comparisons),
  };
}

function toOperand(shape: OperandShape, value: JsonObject): JsonObject {
  const operands: Readonly<Record<OperandShape, () => JsonObject>> = {
    scalar: () => value,
    scalars: () => arrayOf(value),
    range: () => ({ type: 'array', prefixItems: [value, value], minItems: 2, maxItems: 2 }),
    text: () => ({ type: 'string' }),
    pattern: () => ({ type: 'string' }),
    boolean: () => ({ type: 'boolean' }),
    duration: () => ({ type: 'string', examples: ['7d', 'PT24H'] }),
    time: () => ({ type: 'string', format: 'date-time' }),
    timesOfDay: () => ({ type: 'array', prefixItems: [TIME_OF_DAY, TIME_OF_DAY], minItems: 2, maxItems: 2 }),
    daysOfWeek: () => arrayOf({ type: 'integer', minimum: 1, maximum: 7 }),
    networks: () => ({ anyOf: [{ type: 'string' }, arrayOf({ type: 'string' })], examples: ['10.0.0.0/8'] }),
  };
  return operands[shape]();
}

const TIME_OF_DAY: JsonObject = { type: 'string', examples: ['22:00'] };
