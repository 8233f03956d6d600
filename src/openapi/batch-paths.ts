import { ACTIONS } from '../actions.ts';
import type { JsonObject } from '../operators/index.ts';
import type { Resource } from '../resource/index.ts';
import { arrayOf, envelope, objectOf, schemaRef, toOperation } from './operation.ts';

/** `POST /api/batch`. */
export function batchPaths(resources: readonly Resource[]): JsonObject {
  return {
    '/api/batch': {
      post: toOperation({
        id: 'batch.run',
        tag: 'Batch requests',
        summary: 'Runs several requests in order, each decided and recorded by itself.',
        description:
          'With `atomic` all are done or none; the answer is then the problem of the request that failed, and `errors` name its place.',
        body: bodyOf(resources),
        answers: {
          200: { description: 'One result for each request, in order.', schema: envelope(arrayOf(ITEM), { count: { type: 'integer' } }) },
        },
        problems: [403, 404, 409, 412, 422],
      }),
    },
  };
}

function bodyOf(resources: readonly Resource[]): JsonObject {
  const request = {
    ...objectOf(
      {
        resource: { type: 'string', enum: resources.map(({ name }) => name) },
        action: { type: 'string', enum: [...ACTIONS.keys()] },
        id: { type: 'string' },
        data: { description: 'As the action takes it.' },
      },
      ['id', 'data'],
    ),
    description: 'The members that the action takes at `POST /api/<resource>/<action>`, beside `resource` and `action`.',
  };
  return objectOf({ requests: { ...arrayOf(request), minItems: 1 }, atomic: { type: 'boolean', default: false } }, ['atomic']);
}

const ITEM: JsonObject = objectOf(
  {
    status: { type: 'integer', description: 'What the request would have answered by itself.' },
    success: { type: 'boolean' },
    data: { description: 'Where it succeeded.' },
    error: schemaRef('api.Problem'),
    decisionId: { type: 'string', description: 'The entry under which its decision is on the record.' },
  },
  ['data', 'error', 'decisionId'],
);
