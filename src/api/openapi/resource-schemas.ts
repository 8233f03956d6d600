import type { JsonObject } from '../../operators/index.ts';
import { fieldKind, type Resource, recordSchema, valuesSchema } from '../../resources/index.ts';
import { filterRef } from './filter-parameters.ts';
import { arrayOf, orNull, schemaRef } from './openapi-operation.ts';

/**
 * The schemas of a resource's records in answers, creates, updates and filters, without secret fields.
 *
 * @param described Resources that the document describes. A schema of any other is not referred to.
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

/** The resource as someone sees it who may not know of its secret fields. */
export function withoutSecretProperties(resource: Resource): Resource {
  return { ...resource, fields: new Map([...resource.fields].filter(([, field]) => !field.writeOnly)) };
}

/** A record where the request may choose what of it is shown. */
function toShown(open: Resource, described: ReadonlySet<string>): JsonObject {
  const { properties } = recordSchema(open);
  const schemaOf = (name: string): JsonObject => (described.has(name) ? schemaRef(name) : { type: 'object' });
  const references = [...open.fields.values()].flatMap((field) => {
    if (field.to !== undefined) return [[field.name, orNull(schemaOf(field.to))] as const];
    return field.of?.to === undefined ? [] : [[field.name, arrayOf(schemaOf(field.of.to))] as const];
  });
  const expand = {
    type: 'object',
    description: 'What `expand` asked for, as far as the caller may read it: by reference, or by the name given to what refers here.',
    properties: Object.fromEntries(references),
    additionalProperties: arrayOf({ type: 'object' }),
    readOnly: true,
  };
  return {
    type: 'object',
    description: 'Every field, or the id and those in `fields`; beside them what `expand` asked for.',
    properties: { ...(properties as JsonObject), expand },
    required: ['id'],
  };
}

function withId(schema: JsonObject): JsonObject {
  return { ...schema, properties: { id: { type: 'string' }, ...(schema['properties'] as JsonObject) }, required: ['id'] };
}

function toInput(schema: JsonObject, hidden: boolean): JsonObject {
  return hidden ? { ...schema, description: 'Write-only fields are accepted, and not shown here.', additionalProperties: true } : schema;
}

/** Adds the current password to updates of users: a member that is not a field. */
function withCurrentPassword(name: string, schema: JsonObject): JsonObject {
  if (name !== 'User') return schema;
  const currentPassword = { type: 'string', description: 'Beside a new password of your own: the one that it replaces.', writeOnly: true };
  return { ...schema, properties: { ...(schema['properties'] as JsonObject), currentPassword } };
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
