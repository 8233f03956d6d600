import { type JsonObject, type Kind, OPERATORS, type OperandShape } from '../../operators/index.ts';
import { fieldKind, type Resource, recordSchema, valuesSchema } from '../../resources/index.ts';
import { arrayOf, orNull, schemaRef } from './openapi-operation.ts';

/**
 * Returns the schemas of a resource's records in responses, creates, updates and filters, without secret fields.
 *
 * @param described Resources that the document describes. The schemas do not reference other resources.
 */
export function resourceSchemas(resource: Resource, described: readonly Resource[]): JsonObject {
  const { name, description } = resource;
  const open = withoutSecretProperties(resource);
  const hidden = open.fields.size < resource.fields.size;
  return {
    [name]: { ...recordSchema(open), ...(description !== undefined && { description }) },
    [`${name}.shown`]: toShown(open, new Set(described.map((each) => each.name))),
    [`${name}.create`]: toInput(valuesSchema(open, 'create'), hidden),
    [`${name}.update`]: withCurrentPassword(name, toInput(valuesSchema(open, 'update'), hidden)),
    [`${name}.updateWithId`]: withCurrentPassword(name, toInput(withId(valuesSchema(open, 'update')), hidden)),
    [`${name}.row`]: toInput(valuesSchema(open, 'row'), hidden),
    [`${name}.where`]: toWhere(open),
  };
}

/** Returns the resource without its secret fields. */
export function withoutSecretProperties(resource: Resource): Resource {
  return { ...resource, fields: new Map([...resource.fields].filter(([, field]) => !field.writeOnly)) };
}

/** Returns the schema of a record in a response with `fields` or `expand`. */
function toShown(open: Resource, described: ReadonlySet<string>): JsonObject {
  const { properties } = recordSchema(open);
  const schemaOf = (name: string): JsonObject => (described.has(name) ? schemaRef(name) : { type: 'object' });
  const references = [...open.fields.values()].flatMap((field) => {
    if (field.to !== undefined) return [[field.name, orNull(schemaOf(field.to))] as const];
    return field.of?.to === undefined ? [] : [[field.name, arrayOf(schemaOf(field.of.to))] as const];
  });
  const expand = {
    type: 'object',
    description: 'The records of `expand` that the caller may read, by the name of the reference or the name given in `expand`.',
    properties: Object.fromEntries(references),
    additionalProperties: arrayOf({ type: 'object' }),
    readOnly: true,
  };
  return {
    type: 'object',
    description: 'Every field, or the id and those in `fields`; and the records of `expand`.',
    properties: { ...(properties as JsonObject), expand },
    required: ['id'],
  };
}

function withId(schema: JsonObject): JsonObject {
  return { ...schema, properties: { id: { type: 'string' }, ...(schema['properties'] as JsonObject) }, required: ['id'] };
}

function toInput(schema: JsonObject, hidden: boolean): JsonObject {
  return hidden ? { ...schema, description: 'Write-only fields are accepted, but not listed here.', additionalProperties: true } : schema;
}

/** Adds the current password to updates of users: a member that is not a field. */
function withCurrentPassword(name: string, schema: JsonObject): JsonObject {
  if (name !== 'User') return schema;
  const currentPassword = { type: 'string', description: 'The current password. Required to change your own password.', writeOnly: true };
  return { ...schema, properties: { ...(schema['properties'] as JsonObject), currentPassword } };
}

function toWhere(open: Resource): JsonObject {
  const filters = [...open.fields.values()].map((field) => [field.name, filterRef(fieldKind(field)?.kind ?? 'json')]);
  return {
    type: 'object',
    description: 'Conditions on fields. All must be true.',
    properties: Object.fromEntries(filters),
    additionalProperties: false,
  };
}

/** Returns the filter schemas by kind of field. A filter is a value (equality), or operators with their values. */
export function filterSchemas(): JsonObject {
  return Object.fromEntries(Object.entries(VALUES).map(([kind, value]) => [filterName(kind as Kind), toFilter(kind as Kind, value)]));
}

/** Returns a reference to the filter schema of a kind. */
export function filterRef(kind: Kind): JsonObject {
  return schemaRef(filterName(kind));
}

/** The schema of operator names in conditions. */
export const operatorSchema: JsonObject = {
  type: 'string',
  enum: [...OPERATORS.keys()],
  description: [...OPERATORS.values()].map(({ name, summary }) => `\`${name}\`: ${summary}`).join('  \n'),
};

const SCALAR: JsonObject = { type: ['string', 'number', 'boolean'] };

// Schemas of field values, by kind of field.
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
