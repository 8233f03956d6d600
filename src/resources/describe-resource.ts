import type { Field } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { operatorsOf } from './resolve-field.ts';
import type { Resource } from './resource.ts';
import { typeOf } from './validate-shape.ts';

/** Returns the response of `GET /api/:resource/schema`: fields with their operators, indexes, and JSON Schemas of the accepted values. */
export function describeResource(resource: Resource): JsonObject {
  const fields = [...resource.fields.values()];
  return {
    name: resource.name,
    description: resource.description ?? null,
    fields: fields.map(describeField),
    indexes: resource.indexes.map(({ fields: names, unique, where }) => ({ fields: names, unique, ...(where !== undefined && { where }) })),
    ...(resource.softDelete && { softDelete: true }),
    jsonSchema: { create: valuesSchema(resource, 'create'), update: valuesSchema(resource, 'update') },
  };
}

/** Returns the JSON Schema (2020-12) of the values of a create, an update, or an import row that updates a record. */
export function valuesSchema(resource: Resource, mode: 'create' | 'update' | 'row'): JsonObject {
  const fields = [...resource.fields.values()].filter((field) => !field.readOnly && !(field.immutable && mode !== 'create'));
  const required = fields.filter((field) => field.required && field.default === undefined).map((field) => field.name);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map((field) => [field.name, valueSchema(field, mode)])),
    ...(mode === 'create' && required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Returns the JSON Schema (2020-12) of a record in a response. */
export function recordSchema(resource: Resource): JsonObject {
  const fields = [...resource.fields.values()].filter((field) => !field.writeOnly);
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map((field) => [field.name, { ...fieldSchema(field, 'response'), ...(field.readOnly && { readOnly: true }) }]),
    ),
    required: fields.map((field) => field.name),
  };
}

function fieldSchema(field: Field, place: 'request' | 'response' = 'request'): JsonObject {
  const type = typeOf(field);
  const schema: JsonObject = {
    ...((place === 'response' ? type.responseSchema?.(field) : undefined) ?? type.jsonSchema(field)),
    ...(field.description !== undefined && { description: field.description }),
    ...(field.writeOnly && { writeOnly: true }),
  };
  return field.required ? schema : toNullable(schema);
}

/** Returns the schema of a value in a request. Only a create sets defaults. */
function valueSchema(field: Field, mode: 'create' | 'update' | 'row'): JsonObject {
  if (mode === 'update') return changeSchema(field);
  return { ...fieldSchema(field), ...(mode === 'create' && field.default !== undefined && { default: field.default }) };
}

/** Returns the schema of a value or an increment. */
function changeSchema(field: Field): JsonObject {
  const value = fieldSchema(field);
  const { add, jsonSchema } = typeOf(field);
  if (add === undefined || field.writeOnly) return value;
  // The limits of the field apply to the sum, not to the increment.
  const increment = jsonSchema({ ...field, min: undefined, max: undefined });
  const change: JsonObject = {
    type: 'object',
    description: 'Adds to the stored value.',
    properties: { increment },
    required: ['increment'],
    additionalProperties: false,
  };
  return { anyOf: [value, change] };
}

// Adds null to a schema: null clears an optional field; a response has null for a field without a value.
function toNullable(schema: JsonObject): JsonObject {
  const { type, enum: listed } = schema;
  if (type === undefined) return schema;
  const types: readonly Json[] = Array.isArray(type) ? type : [type];
  return { ...schema, type: [...types, 'null'], ...(Array.isArray(listed) && { enum: [...(listed as readonly Json[]), null] }) };
}

function describeField(field: Field): JsonObject {
  const { of, renamedFrom: _renamedFrom, ...options } = field;
  return {
    ...options,
    ...(of !== undefined && { of: describeItem(of) }),
    operators: operatorsOf(field).map((operator) => operator.name),
  } as JsonObject;
}

function describeItem(item: Field): JsonObject {
  const options = ['type', 'description', ...typeOf(item).options] as const;
  return Object.fromEntries(options.flatMap((option) => (item[option] === undefined ? [] : [[option, item[option] as Json]])));
}
