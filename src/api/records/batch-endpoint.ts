import { type Action, BATCH_ACTIONS } from '../../actions.ts';
import type { Json } from '../../operators/index.ts';
import { actionBodySchema, batchBodySchema, type EndpointDescription, envelope, PROBLEM, type RequestLimits } from '../../request/index.ts';
import { component, described, Input, OneOf, type Schema, Type } from '../../schemas/index.ts';
import { COUNTED, TEXT } from '../schema-members.ts';
import type { DescribedResource } from './described-resource.ts';
import { PAGE_MEMBERS, UPDATED } from './record-answers.ts';
import { toBatchForms } from './record-forms.ts';

/** Returns the description of `POST /api/batch`; none without resources, because every request of a batch names one. */
export function batchEndpoint(resources: readonly DescribedResource[], limits: RequestLimits): readonly EndpointDescription[] {
  const [first] = resources;
  if (first === undefined) return [];
  const { examples, resource } = first;
  const body = batchBodySchema(limits, requestSchema(resources));
  return [
    {
      method: 'POST',
      path: '/api/batch',
      id: 'batch.run',
      tag: 'Batch requests',
      summary: 'Runs several requests in order. Each is decided and recorded separately.',
      description: [
        'With `atomic`, all requests are applied or none. If one fails, the response is its problem, and `errors` contain its position.',
        'A text `$0.id` in an id, in data or in a filter is replaced by the id of the record that request 0 returned; `$$0.id` stands for the text `$0.id`.',
        'The members of an action may also be given in `data`, instead of beside `resource` and `action`.',
      ].join('\n\n'),
      caller: 'anyone',
      body,
      bodyExample: { requests: [{ resource: resource.name, action: 'read', id: examples.id }], atomic: false },
      answers: {
        200: {
          description: 'One result for each request, in order.',
          schema: envelope(Type.Array(Type.Union([SUCCEEDED, FAILED])), COUNTED),
          example: { success: true, data: [{ status: 200, success: true, data: examples.record }], count: 1 },
        },
      },
      problems: [403, 404, 409, 412, 422, 424, 428],
    },
  ];
}

/** Returns the schema of one request of a batch: one alternative for each resource and action. */
function requestSchema(resources: readonly DescribedResource[]) {
  const ofResources = resources.map((each) => {
    const { name, softDelete } = each.resource;
    const actions = [...BATCH_ACTIONS.values()].filter(({ ofDeleted }) => softDelete || ofDeleted !== true);
    const batchForms = toBatchForms(each.resource, each.forms);
    return component(
      `${name}.batch`,
      Type.Unsafe<Json>({ oneOf: actions.map((action) => itemSchema(action, { ...each, forms: batchForms })) }),
    );
  });
  return described<Json>(component('batch.Request', Type.Unsafe<Json>({ oneOf: ofResources })));
}

function itemSchema(action: Action, { resource, forms, limits }: DescribedResource): Schema {
  const { properties } = actionBodySchema(action, limits, forms);
  return Input({
    resource: OneOf([resource.name]),
    action: OneOf([action.name]),
    ...(properties as Record<string, Schema>),
    ...(action.name === 'updateIfExists' && { optional: OPTIONAL }),
  });
}

const OPTIONAL = Type.Optional(
  Type.Boolean({ description: 'If true, the request may match no record in an atomic batch. Default: false.' }),
);

const STATUS = Type.Integer({ description: 'Status of the response as a single request.' });
const DECISION_ID = Type.Optional(Type.String({ description: 'Id of the audit entry of the decision.' }));

const SUCCEEDED = component(
  'batch.Success',
  Type.Object({
    status: STATUS,
    success: Type.Unsafe<true>({ const: true }),
    data: Type.Unsafe<unknown>({ description: 'The data of the response as a single request.' }),
    decisionId: DECISION_ID,
    ...PAGE_MEMBERS,
    count: Type.Optional(Type.Integer({ minimum: 0, description: 'Number of records, of a list or an import.' })),
    created: Type.Optional(Type.Boolean({ description: 'False if a record matched the filter of `createIfNotExists`.' })),
    updated: Type.Optional(UPDATED),
    message: Type.Optional(TEXT),
  }),
);

const FAILED = component(
  'batch.Failure',
  Type.Object({
    status: STATUS,
    success: Type.Unsafe<false>({ const: false }),
    error: PROBLEM,
    decisionId: DECISION_ID,
  }),
);
