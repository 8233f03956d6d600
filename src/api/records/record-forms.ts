/**
 * The schemas of the records of a resource, of its values in requests, and of its filters, made from its definition. They contain no secret field.
 */
import type { Field } from '../../fields/index.ts';
import { isObject, type Json, type JsonObject } from '../../operators/index.ts';
import type { RecordForms } from '../../request/index.ts';
import { findField, type Resource, recordSchema, valuesSchema } from '../../resources/index.ts';
import { component, described, OneOf, type SchemaOf, Type } from '../../schemas/index.ts';
import { filterSchemas } from './record-filters.ts';

/** The forms of a resource in requests, and its records in responses. */
export interface ResourceForms extends RecordForms {
  /** A complete record. A response with `fields` has only the id and these fields; a response with `expand` also has `expand`. */
  readonly record: SchemaOf<JsonObject>;
}

/**
 * Creates the forms of a resource.
 *
 * @param visible The resources that the document describes. The forms name no other resource.
 */
export function createForms(resource: Resource, visible: readonly Resource[]): ResourceForms {
  const { name } = resource;
  const open = withoutSecretFields(resource);
  const create = component(`${name}.create`, toInput(resource, 'create'));
  const update = component(`${name}.update`, toInput(resource, 'update'));
  const changes = component(`${name}.row`, toInput(resource, 'row'));
  const record = component(name, toRecord(open, visible));
  const filter = { type: 'object', properties: filterSchemas(open), additionalProperties: false };
  const description = [
    'Values or operators by field. All conditions must be true. In a query: `where[<field>]=<value>` or `where[<field>][<operator>]=<value>`.',
    'A client that cannot nest parameters sends operators in the body of the action `list`.',
  ].join(' ');
  return {
    create,
    update,
    row: anyOf(
      [create, changes, record],
      'A new record; with `mode=upsert`, the key and the changed fields. Fields that the service sets are ignored; a body with `data` alone is refused if it has them.',
    ),
    record,
    where: component(`${name}.where`, described({ ...filter, description })),
    filter: component(
      `${name}.filter`,
      described({ ...filter, minProperties: 1, description: 'Values or operators by field, as in `where`. All must be true.' }),
    ),
    sort: Type.Unsafe<string>({ type: 'string', examples: [`-createdAt,${firstOwnField(open)?.name ?? 'id'}`] }),
    sortKey: OneOf(namesFor(open, 'sort').flatMap((field) => [field, `-${field}`])),
    field: OneOf(namesFor(open, 'show')),
    expansion: toExpansion(namesFor(open, 'expand')),
  };
}

/** Returns the forms for a request of a batch: a reference also accepts the id of the record that an earlier request returned. */
export function toBatchForms(resource: Resource, forms: ResourceForms): ResourceForms {
  const create = withItemReferences(resource, forms, 'create');
  return { ...forms, create, update: withItemReferences(resource, forms, 'update'), row: create };
}

/** Returns the resource without its secret fields. */
export function withoutSecretFields(resource: Resource): Resource {
  return { ...resource, fields: new Map([...resource.fields].filter(([, field]) => !field.writeOnly)) };
}

/** Returns the first field that the definition declares and requests may set. */
function firstOwnField({ fields }: Resource): Field | undefined {
  return [...fields.values()].find(({ readOnly }) => !readOnly);
}

function namesFor(resource: Resource, usage: 'sort' | 'show' | 'expand'): readonly string[] {
  return [...resource.fields.keys()].filter((name) => 'field' in findField(resource, name, usage));
}

function toInput(resource: Resource, mode: 'create' | 'update' | 'row'): SchemaOf<JsonObject> {
  const open = withoutSecretFields(resource);
  const { properties, ...schema } = valuesSchema(open, mode);
  const values = Object.entries(properties as Readonly<Record<string, JsonObject>>).map(([name, value]) => [name, withoutDefault(value)]);
  const hasSecrets = open.fields.size < resource.fields.size;
  return Type.Unsafe<JsonObject>({
    ...schema,
    properties: { ...Object.fromEntries(values), ...(resource.name === 'User' && mode === 'update' && CURRENT_PASSWORD_MEMBER) },
    ...(hasSecrets && { description: 'Write-only fields are accepted, but not listed here.', additionalProperties: true }),
  });
}

/** A member that is not a field: the current password, in updates of users. */
export const CURRENT_PASSWORD_MEMBER: JsonObject = {
  currentPassword: { type: 'string', description: 'The current password. Required to change your own password.', writeOnly: true },
};

/** Returns a schema with its default in the description, because generators make a member with the keyword `default` required. */
function withoutDefault({ default: value, description, ...schema }: JsonObject): JsonObject {
  const parts = [description, value === undefined ? undefined : `Default: ${typeof value === 'string' ? value : JSON.stringify(value)}.`];
  const text = parts.filter((part) => typeof part === 'string').join('. ');
  return { ...schema, ...(text !== '' && { description: text }) };
}

function toRecord(open: Resource, visible: readonly Resource[]): SchemaOf<JsonObject> {
  const { properties, ...schema } = recordSchema(open);
  const expand = toExpand(open, visible);
  const { description } = open;
  return Type.Unsafe<JsonObject>({
    ...schema,
    ...(description !== undefined && { description }),
    properties: { ...(properties as JsonObject), expand },
  });
}

/**
 * Returns the schema of the expanded records of a record. Generators apply `additionalProperties` to the references too, so it types the arrays of
 * referencing records only if the resource has no references.
 */
function toExpand({ name, fields }: Resource, visible: readonly Resource[]): JsonObject {
  const refTo = (target: string): JsonObject => (visible.some((each) => each.name === target) ? schemaRef(target) : ANY_OBJECT);
  const references = [...fields.values()].flatMap((field): [string, JsonObject][] => {
    if (field.to !== undefined) return [[field.name, { anyOf: [refTo(field.to), { type: 'null' }] }]];
    return field.of?.to === undefined ? [] : [[field.name, { type: 'array', items: refTo(field.of.to) }]];
  });
  const referencing = visible.filter((other) => [...other.fields.values()].some(({ to, writeOnly }) => to === name && !writeOnly));
  const items = referencing.length === 0 ? ANY_OBJECT : oneOrAny(referencing.map((each) => schemaRef(each.name)));
  return {
    type: 'object',
    description: [
      'The records of `expand` that the caller may read: under the name of a reference its record, null or an array of records;',
      `under a name given in \`expand\` an array of referencing records.`,
    ].join(' '),
    ...(references.length > 0 && { properties: Object.fromEntries(references) }),
    additionalProperties: references.length > 0 ? true : { type: 'array', items },
    readOnly: true,
  };
}

const ANY_OBJECT: JsonObject = { type: 'object', additionalProperties: true };

function toExpansion(references: readonly string[]): SchemaOf<string> {
  const referencing = { type: 'string', pattern: '^\\w+:\\w+\\.\\w+(\\(\\d+\\))?$', examples: ['comments:Comment.articleId(20)'] };
  return Type.Unsafe<string>(references.length === 0 ? referencing : { anyOf: [OneOf(references), referencing] });
}

/** The id of the record that an earlier request of the batch returned. */
const ITEM_REFERENCE: JsonObject = { type: 'string', pattern: '^\\$(0|[1-9]\\d*)\\.id$', examples: ['$0.id'] };

function withItemReferences(resource: Resource, forms: ResourceForms, mode: 'create' | 'update'): SchemaOf<JsonObject> {
  const schema = forms[mode] as unknown as JsonObject;
  const properties = Object.entries(schema['properties'] as JsonObject).map(([name, value]): [string, Json] => {
    const field = resource.fields.get(name);
    return [name, field === undefined ? value : withItemReference(field, value)];
  });
  if (properties.every(([name, value]) => value === (schema['properties'] as JsonObject)[name])) return forms[mode];
  return component(`${resource.name}.batch.${mode}`, Type.Unsafe<JsonObject>({ ...schema, properties: Object.fromEntries(properties) }));
}

function withItemReference(field: Field, schema: Json): Json {
  if (!isObject(schema)) return schema;
  if (field.type === 'reference' || field.type === 'uuid') return { anyOf: [schema, ITEM_REFERENCE] };
  if (field.of?.type !== 'reference' && field.of?.type !== 'uuid') return schema;
  return { ...schema, items: { anyOf: [schema['items'] as Json, ITEM_REFERENCE] } };
}

function anyOf(schemas: readonly SchemaOf<JsonObject>[], description: string): SchemaOf<JsonObject> {
  return Type.Unsafe<JsonObject>({ anyOf: [...schemas], description });
}

function oneOrAny(schemas: readonly JsonObject[]): JsonObject {
  const [first] = schemas;
  return first !== undefined && schemas.length === 1 ? first : { anyOf: schemas };
}

/** Returns a reference to a record by its name, because records refer to each other in cycles. */
function schemaRef(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}
