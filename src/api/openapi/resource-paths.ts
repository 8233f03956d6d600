import { ACTIONS, type Action, type ActionInput } from '../../actions.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Resource } from '../../resources/index.ts';
import {
  type AnswerParts,
  arrayOf,
  type OperationParts,
  objectOf,
  queryParameter,
  schemaRef,
  success,
  toOperation,
} from './openapi-operation.ts';
import { withoutSecretProperties } from './resource-schemas.ts';
import { importRowSchema, transferParts } from './transfer-paths.ts';

/** Returns the paths of one resource. */
export function resourcePaths(resource: Resource): JsonObject {
  const { name } = resource;
  const base = `/api/${name}`;
  return {
    [base]: { get: verb(resource, 'list', LIST), post: verb(resource, 'create', { body: schemaRef(`${name}.create`) }) },
    [`${base}/schema`]: { get: describeOperation(name) },
    [`${base}/{id}`]: {
      get: verb(resource, 'read', { parameters: ['id', 'fields', 'expand'] }),
      put: verb(resource, 'update', { parameters: ['id', 'ifMatch'], body: schemaRef(`${name}.update`) }),
      delete: verb(resource, 'delete', { parameters: ['id', 'ifMatch'] }),
    },
    ...Object.fromEntries(actionsOf(resource).map((action) => [`${base}/${action.name}`, { post: byName(resource, action) }])),
  };
}

/** Returns the actions of a resource. Actions on soft-deleted records need `softDelete`. */
function actionsOf({ softDelete }: Resource): readonly Action[] {
  return [...ACTIONS.values()].filter(({ ofDeleted }) => softDelete || ofDeleted !== true);
}

type Sent = Pick<OperationParts, 'parameters' | 'body'>;

const LIST: Sent = { parameters: ['limit', 'offset', 'cursor', 'total', 'fields', 'expand'] };

function verb(resource: Resource, action: 'list' | 'create' | 'read' | 'update' | 'delete', { parameters = [], body }: Sent): JsonObject {
  const { name } = resource;
  const own = action === 'list' ? [whereParameter(name), sortParameter(resource), ...(resource.softDelete ? [DELETED] : [])] : [];
  return toOperation({
    id: `${name}.${action}`,
    tag: name,
    summary: summaryOf(action),
    parameters: [...own, ...parameters],
    ...(body !== undefined && { body }),
    answers: answersOf(name, action),
    problems: problemsOf(action),
  });
}

/** Returns the operation `POST /api/<resource>/<action>`. */
function byName(resource: Resource, action: Action): JsonObject {
  const { name } = resource;
  const files = transferParts(name, action.name);
  const inputs = action.takes.map((member): [string, JsonObject] => [member, inputOf(name, action, member)]);
  const properties = { ...Object.fromEntries(inputs), ...files?.members };
  const required = action.takes.filter((member) => member === 'id' || member === 'data' || member === 'filter');
  return toOperation({
    id: `${name}.action.${action.name}`,
    tag: name,
    summary: summaryOf(action.name),
    body: { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false },
    bodyRequired: required.length > 0,
    ...(files !== undefined && { parameters: files.parameters, otherBodies: files.bodies }),
    answers: withFiles({ ...answersOf(name, action.name), ...files?.answers }, files?.files),
    problems: problemsOf(action.name),
  });
}

function withFiles(answers: Readonly<Record<number, AnswerParts>>, files: AnswerParts['files']): Readonly<Record<number, AnswerParts>> {
  const { 200: answer } = answers;
  return answer === undefined || files === undefined ? answers : { ...answers, 200: { ...answer, files } };
}

function describeOperation(name: string): JsonObject {
  return toOperation({
    id: `${name}.schema`,
    tag: name,
    summary: 'Returns the fields of the resource to callers who may read or list it.',
    answers: { 200: { description: 'Fields and metadata.', schema: success({ type: 'object' }), headers: ['X-Decision-Id'] } },
    problems: [403, 404],
  });
}

function summaryOf(action: string): string {
  return ACTIONS.get(action)?.summary ?? '';
}

function whereParameter(name: string): JsonObject {
  return {
    ...queryParameter('where', '`where[<field>]=<value>` or `where[<field>][<operator>]=<value>`.', schemaRef(`${name}.where`)),
    style: 'deepObject',
    explode: true,
  };
}

function sortParameter(resource: Resource): JsonObject {
  const own = [...withoutSecretProperties(resource).fields.values()].find(({ readOnly }) => !readOnly);
  const schema = { type: 'string', examples: [`-createdAt,${own?.name ?? 'id'}`] };
  return queryParameter('sort', 'Field names, comma-separated. A leading `-` sorts in descending order.', schema);
}

const DELETED = queryParameter('deleted', 'List the soft-deleted records instead (the action `listDeleted`).', {
  type: 'boolean',
  default: false,
});

/** Returns the schema of one member of an action's body, derived from the schemas of a resource. */
export function inputOf(name: string, action: Action, member: ActionInput): JsonObject {
  const data = schemaRef(`${name}.${action.decides === 'update' ? 'update' : 'create'}`);
  const inputs: Readonly<Record<ActionInput, JsonObject>> = {
    id: { type: 'string' },
    data: action.name === 'import' ? { ...arrayOf(importRowSchema(name)), minItems: 1 } : data,
    filter: {
      type: 'object',
      allOf: [schemaRef(`${name}.where`)],
      minProperties: 1,
      description: 'Values or operators by field, as in `where`. All must be true.',
    },
    where: schemaRef(`${name}.where`),
    sort: { type: 'string', description: 'As in the query string.' },
    limit: { type: 'integer', minimum: 1 },
    offset: { type: 'integer', minimum: 0 },
    cursor: { type: 'string' },
    total: { type: 'boolean' },
    fields: {
      ...arrayOf({ type: 'string' }),
      description: 'Fields to return in addition to the id. A text as in the query string is also accepted.',
    },
    expand: {
      ...arrayOf({ type: 'string' }),
      maxItems: 5,
      description: 'References to expand. A text as in the query string is also accepted.',
    },
    ifMatch: { type: ['integer', 'string'], description: 'Version of the record that the caller has read.' },
  };
  return inputs[member];
}

function answersOf(name: string, action: Action['name']): Readonly<Record<number, AnswerParts>> {
  const record = schemaRef(name);
  const shown = schemaRef(`${name}.shown`);
  const one: AnswerParts = { description: 'The record.', schema: success(record), headers: ['X-Decision-Id', 'ETag'] };
  const created: AnswerParts = { ...one, description: 'The new record.', headers: ['X-Decision-Id', 'ETag', 'Location'] };
  switch (action) {
    case 'create':
      return { 201: created };
    case 'read':
      return { 200: { ...one, schema: success(shown) } };
    case 'list':
    case 'listDeleted':
    case 'export':
      return { 200: { description: 'A page of the records that the caller may see.', schema: pageOf(shown), headers: ['X-Decision-Id'] } };
    case 'delete':
      return { 200: { ...DONE, description: 'The record was deleted.' } };
    case 'restore':
      return { 200: { ...DONE, description: 'The record was restored.' } };
    case 'import':
      return {
        201: {
          description: 'Ids of the new records.',
          schema: success(arrayOf({ type: 'string' }), { count: { type: 'integer' }, ...MESSAGE }),
          headers: ['X-Decision-Id'],
        },
      };
    case 'createIfNotExists':
      return {
        200: { ...one, description: 'The matching record.', schema: success(record, { created: { const: false } }) },
        201: { ...created, schema: success(record, { created: { const: true } }) },
      };
    case 'update':
      return {
        200: { ...one, description: `The changed record; ${UNREAD}.`, schema: success({ anyOf: [record, ID_AND_VERSION] }) },
      };
    case 'updateIfExists':
      return {
        200: {
          ...one,
          description: `The changed record, or null if none matched; ${UNREAD}.`,
          schema: success({ anyOf: [record, ID_AND_VERSION, { type: 'null' }] }, { updated: { type: 'boolean' } }),
        },
      };
    default:
      return { 200: one };
  }
}

const UNREAD = 'its id and version alone if the caller may not read it after the change';

/** The schema of the response for a changed record that the caller may not read. */
const ID_AND_VERSION: JsonObject = {
  ...objectOf({ id: { type: 'string' }, version: { type: 'integer' } }),
  additionalProperties: false,
};

const MESSAGE: JsonObject = { message: { type: 'string' } };

/** A response that contains only the id of a record. */
const DONE: AnswerParts = {
  description: 'Done.',
  schema: success(objectOf({ id: { type: 'string' } }), MESSAGE),
  headers: ['X-Decision-Id'],
};

function pageOf(record: JsonObject): JsonObject {
  return success(arrayOf(record), {
    count: { type: 'integer', description: 'Number of records in this page.' },
    total: { type: 'integer', description: 'Number of all matching records, if requested.' },
    nextCursor: { type: 'string', description: 'Cursor of the next page; absent on the last.' },
    warnings: arrayOf({ type: 'string' }),
  });
}

function problemsOf(action: Action['name']): readonly number[] {
  switch (action) {
    case 'list':
    case 'listDeleted':
    case 'export':
      return [403, 404];
    case 'read':
      return [403, 404];
    case 'delete':
      return [403, 404, 409, 412, 428];
    case 'restore':
    case 'update':
      return [403, 404, 409, 412, 422, 428];
    default:
      return [403, 404, 409, 422];
  }
}
