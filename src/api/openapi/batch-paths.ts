import { type Action, type ActionInput, BATCH_ACTIONS } from '../../actions.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Resource } from '../../resources/index.ts';
import { arrayOf, objectOf, schemaRef, success, toOperation } from './openapi-operation.ts';
import { inputOf } from './resource-paths.ts';

/** Returns the description of `POST /api/batch` for requests on these resources. */
export function batchPaths(resources: readonly Resource[]): JsonObject {
  // Every request of a batch names a resource, so without resources there is no batch to describe.
  if (resources.length === 0) return {};
  return {
    '/api/batch': {
      post: toOperation({
        id: 'batch.run',
        tag: 'Batch requests',
        summary: 'Runs several requests in order. Each is decided and recorded separately.',
        description: [
          'With `atomic`, all requests are applied or none. If one fails, the response is its problem, and `errors` contain its position.',
          'A text `$0.id` in an id, in data or in a filter is replaced by the id of the record that request 0 returned; `$$0.id` stands for the text `$0.id`.',
        ].join('\n\n'),
        body: objectOf({ requests: { ...arrayOf(schemaRef('batch.Request')), minItems: 1 }, atomic: { type: 'boolean', default: false } }, [
          'atomic',
        ]),
        answers: {
          200: {
            description: 'One result for each request, in order.',
            schema: success(arrayOf(ITEM), { count: { type: 'integer' } }),
          },
        },
        problems: [403, 404, 409, 412, 422, 424, 428],
      }),
    },
  };
}

/** Returns the schemas of batch requests and of their members for any resource. No resource can be called `batch`. */
export function batchSchemas(resources: readonly Resource[]): JsonObject {
  if (resources.length === 0) return {};
  const ofAny = (kind: string): JsonObject => ({ anyOf: resources.map(({ name }) => schemaRef(`${name}.${kind}`)) });
  return {
    'batch.Request': {
      anyOf: [...BATCH_ACTIONS.values()].flatMap((action) => requestsOf(action, resources)),
      description: 'The members of an action are given in `data` or next to it.',
    },
    'batch.create': ofAny('create'),
    'batch.update': ofAny('update'),
    'batch.updateWithId': ofAny('updateWithId'),
    'batch.where': ofAny('where'),
  };
}

/** Returns the schemas of a request: with its members in `data` and, if the form differs, with its members beside `resource` and `action`. */
function requestsOf(action: Action, resources: readonly Resource[]): readonly JsonObject[] {
  const names = resources.filter(({ softDelete }) => softDelete || action.ofDeleted !== true).map(({ name }) => name);
  if (names.length === 0) return [];
  const envelopeOf = (properties: JsonObject, required: readonly string[]): JsonObject => ({
    type: 'object',
    properties: {
      resource: { type: 'string', enum: names },
      action: { type: 'string', const: action.name },
      ...properties,
      ...(action.name === 'updateIfExists' && { optional: OPTIONAL }),
    },
    required: ['resource', 'action', ...required],
    additionalProperties: false,
  });
  const beside = Object.fromEntries(action.takes.map((member) => [member, memberOf(action, member)]));
  const required = action.takes.filter((member) => member === 'id' || member === 'data' || member === 'filter');
  if (action.name === 'create') return [envelopeOf(beside, required)];
  const data: JsonObject =
    action.name === 'update'
      ? schemaRef('batch.updateWithId')
      : { type: 'object', properties: beside, ...(required.length > 0 && { required }), additionalProperties: false };
  const ifMatch = action.name === 'update' ? { ifMatch: memberOf(action, 'ifMatch') } : {};
  const inData = envelopeOf({ data, ...ifMatch }, required.length > 0 ? ['data'] : []);
  return action.takes.length === 0 ? [inData] : [inData, envelopeOf(beside, required)];
}

function memberOf(action: Action, member: ActionInput): JsonObject {
  if (action.name === 'import' && member === 'data') return { ...arrayOf(schemaRef('batch.create')), minItems: 1 };
  return inputOf('batch', action, member);
}

const OPTIONAL: JsonObject = {
  type: 'boolean',
  default: false,
  description: 'If true, the request may match no record in an atomic batch.',
};

const ITEM: JsonObject = objectOf(
  {
    status: { type: 'integer', description: 'Status of the response as a single request.' },
    success: { type: 'boolean' },
    data: { description: 'Present if the request succeeded.' },
    error: schemaRef('api.Problem'),
    decisionId: { type: 'string', description: 'Id of the audit entry of the decision.' },
  },
  ['data', 'error', 'decisionId'],
);
