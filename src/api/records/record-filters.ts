/** The schemas of filters: the conditions that a request may put on the fields of a resource. */
import type { Field } from '../../fields/index.ts';
import { memoize } from '../../memoize.ts';
import type { JsonObject, Kind, OperandShape } from '../../operators/index.ts';
import { fieldKind, operatorsOf, type Resource } from '../../resources/index.ts';
import { component, OneOf, type Schema, Type } from '../../schemas/index.ts';

/** Returns the schema of the filter on each field of a resource, by field name. Fields that cannot be compared are left out. */
export function filterSchemas(resource: Resource): Readonly<Record<string, Schema>> {
  const filters = [...resource.fields.values()].flatMap((field) => {
    const kind = fieldKind(field);
    if (kind === undefined) return [];
    const { values } = field.of ?? field;
    const name = kind.kind === 'list' ? `list.${kind.itemKind ?? 'json'}` : kind.kind;
    const filter =
      values === undefined
        ? memoize(byKind, name, () => component(`filter.${name}`, createFilter(field, VALUES[kind.itemKind ?? kind.kind])))
        : component(
            `${resource.name}.where.${field.name}`,
            createFilter(field, component(`${resource.name}.values.${field.name}`, OneOf(values))),
          );
    return [[field.name, filter] as const];
  });
  return Object.fromEntries(filters);
}

/** Filters of fields without listed values, which all resources share. */
const byKind = new Map<string, Schema>();

// Schemas of values, by kind.
const VALUES: Readonly<Record<Kind, Schema>> = {
  text: Type.String(),
  number: Type.Number(),
  decimal: Type.Unsafe({ type: ['string', 'number'] }),
  boolean: Type.Boolean(),
  date: Type.String({ format: 'date' }),
  timestamp: Type.String({ format: 'date-time' }),
  list: Type.Unsafe({}),
  json: Type.Unsafe({}),
};

/**
 * Returns the schema of a filter: a value, which is compared by equality, or operators with their operands. Operators are explained once, in the
 * filters that all resources share.
 */
function createFilter(field: Field, value: Schema): Schema {
  const operators = operatorsOf(field);
  const isShared = (field.of ?? field).values === undefined;
  const properties = Object.fromEntries(
    operators.map(({ name, summary, operand }) => [name, { ...operandSchema(operand, value), ...(isShared && { description: summary }) }]),
  );
  const comparisons = { type: 'object', properties, additionalProperties: false, minProperties: 1 };
  const hasEquality = operators.some(({ name }) => name === 'eq');
  const description = [
    hasEquality ? 'A value, which is compared by equality, or operators.' : 'Operators with their values.',
    'Several conditions must all hold. In a query, a list is comma-separated.',
  ].join(' ');
  return Type.Unsafe({ description, ...(hasEquality ? { oneOf: [value, comparisons] } : comparisons) });
}

const TIME_OF_DAY: JsonObject = { type: 'string', examples: ['22:00'] };

/** Returns the schema of an operand. Operators on parts of a text take any text, also on a field with listed values. */
function operandSchema(shape: OperandShape, value: Schema): object {
  const operands: Readonly<Record<OperandShape, () => object>> = {
    scalar: () => value,
    scalars: () => ({ type: 'array', items: value }),
    range: () => ({ type: 'array', prefixItems: [value, value], minItems: 2, maxItems: 2 }),
    text: () => ({ type: 'string' }),
    pattern: () => ({ type: 'string' }),
    boolean: () => ({ type: 'boolean' }),
    duration: () => ({ type: 'string', examples: ['7d', 'PT24H'] }),
    time: () => ({ type: 'string', format: 'date-time' }),
    timesOfDay: () => ({ type: 'array', prefixItems: [TIME_OF_DAY, TIME_OF_DAY], minItems: 2, maxItems: 2 }),
    daysOfWeek: () => ({ type: 'array', items: { type: 'integer', minimum: 1, maximum: 7 } }),
    networks: () => ({ anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }], examples: ['10.0.0.0/8'] }),
  };
  return operands[shape]();
}
