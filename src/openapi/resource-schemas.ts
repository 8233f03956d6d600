import type { JsonObject } from '../operators/index.ts';
import { fieldKind, type Resource, recordSchema, valuesSchema } from '../resource/index.ts';
import { filterRef } from './filters.ts';

/** What a resource's records look like in answers, creates, updates and filters. Secret fields are in none. */
export function resourceSchemas(resource: Resource): JsonObject {
  const { name, description } = resource;
  const open = withoutSecrets(resource);
  const hidden = open.fields.size < resource.fields.size;
  return {
    [name]: { ...recordSchema(open), ...(description !== undefined && { description }) },
    [`${name}.create`]: toInput(valuesSchema(open, 'create'), hidden),
    [`${name}.update`]: toInput(valuesSchema(open, 'update'), hidden),
    [`${name}.where`]: toWhere(open),
  };
}

/** The resource as someone sees it who may not know of its secret fields. */
export function withoutSecrets(resource: Resource): Resource {
  return { ...resource, fields: new Map([...resource.fields].filter(([, field]) => !field.writeOnly)) };
}

function toInput(schema: JsonObject, hidden: boolean): JsonObject {
  return hidden ? { ...schema, description: 'Write-only fields are accepted, and not shown here.', additionalProperties: true } : schema;
}

function toWhere(open: Resource): JsonObject {
  const filters = [...open.fields.values()].map((field) => [field.name, filterRef(fieldKind(field)?.kind ?? 'json')]);
  return {
    type: 'object',
    description: 'Conditions on fields; all must hold.',
    properties: Object.fromEntries(filters),
    additionalProperties: false,
  };
}
