/**
 * The descriptions of the record endpoints of each resource. Requests for any resource have one route, `/api/:resource`, and are validated
 * with `ANY_RECORD`; the document shows one path per resource, with the forms of its definition.
 */
import { ACTIONS, type Action, type ActionName, BATCH_ACTIONS } from '../../actions.ts';
import type { JsonObject } from '../../operators/index.ts';
import {
  actionBodySchema,
  DELETE_QUERY,
  type EndpointDescription,
  exportQuerySchema,
  IMPORT_QUERY,
  importBodySchema,
  listQuerySchema,
  READ_QUERY,
  type RequestLimits,
} from '../../request/index.ts';
import type { Resource } from '../../resources/index.ts';
import { Input, type ObjectSchema, type Schema, Type } from '../../schemas/index.ts';
import { FORMATS } from '../../transfer/formats/index.ts';
import { lineByLine, TEXT } from '../schema-members.ts';
import { batchEndpoint } from './batch-endpoint.ts';
import { type DescribedResource, describeResources } from './described-resource.ts';
import { answersOf, readAnswers } from './record-answers.ts';

/** Returns the descriptions of the record endpoints of these resources, and of batches. They name no other resource. */
export function recordEndpoints(resources: readonly Resource[], limits: RequestLimits): readonly EndpointDescription[] {
  const described = describeResources(resources, limits);
  return [...described.flatMap(endpointsOf), ...batchEndpoint(described, limits)];
}

function endpointsOf(described: DescribedResource): readonly EndpointDescription[] {
  const { resource, forms, examples, limits } = described;
  const { deleted, ...query } = listQuerySchema(limits, forms).properties;
  const withBody = (body: Schema, bodyExample: unknown): Parts => ({
    body,
    ...(bodyExample !== undefined && { bodyExample }),
    bodyProblem: 'VALUE_INVALID',
  });
  return [
    byVerb(described, 'list', { query: Input(resource.softDelete ? { ...query, deleted } : query) }),
    byVerb(described, 'create', withBody(forms.create, examples.create)),
    { method: 'GET', path: `/api/${resource.name}/schema`, id: `${resource.name}.schema`, ...common(described, 'schema') },
    byVerb(described, 'read', { params: ID_PARAMETER, query: READ_QUERY, ifNoneMatch: true, answers: readAnswers(described) }),
    byVerb(described, 'update', { params: ID_PARAMETER, ifMatch: true, ...withBody(forms.update, examples.update) }),
    byVerb(described, 'delete', { params: ID_PARAMETER, query: DELETE_QUERY, ifMatch: true }),
    ...actionsOf(resource).map((action) => byName(described, action)),
  ];
}

type Parts = Omit<Partial<EndpointDescription>, 'method' | 'path' | 'id'>;
type Verb = 'list' | 'create' | 'read' | 'update' | 'delete';

const METHODS = { list: 'GET', create: 'POST', read: 'GET', update: 'PUT', delete: 'DELETE' } as const;
const EXPORT_QUERY = exportQuerySchema([...FORMATS.keys()]);
const ID_PARAMETER = Input({ id: Type.String({ minLength: 1, description: 'Id of the record.' }) });

/** Returns the endpoint of a method, such as `GET /api/Article/:id`. */
function byVerb(described: DescribedResource, action: Verb, parts: Parts): EndpointDescription {
  const { name } = described.resource;
  return {
    method: METHODS[action],
    path: `/api/${name}${parts.params === undefined ? '' : '/:id'}`,
    id: `${name}.${action}`,
    ...common(described, action),
    ...parts,
  };
}

/** Returns the endpoint `POST /api/<resource>/<action>`. */
function byName(described: DescribedResource, action: Action): EndpointDescription {
  const { resource, forms, limits } = described;
  const bodyExample = exampleOf(action, described);
  const body = actionBodySchema(action, limits, forms);
  const required: readonly string[] = body.required ?? [];
  return {
    method: 'POST',
    path: `/api/${resource.name}/${action.name}`,
    id: `${resource.name}.action.${action.name}`,
    ...common(described, action.name),
    body,
    // The body of an action without required members, such as `list`, may be absent.
    ...(required.length === 0 && { bodyOptional: true }),
    ...(bodyExample !== undefined && { bodyExample }),
    ...(action.name === 'import' && importParts(described)),
    ...(action.name === 'export' && { query: EXPORT_QUERY }),
  };
}

function importParts({ forms, limits }: DescribedResource): Parts & { readonly query: ObjectSchema } {
  return {
    query: IMPORT_QUERY,
    body: importBodySchema(limits, forms),
    otherBodies: { 'application/json': Type.Array(forms.row), 'application/x-ndjson': lineByLine(forms.row), 'text/csv': TEXT },
  };
}

/** The members that the endpoints of an action share. */
type Common = Pick<EndpointDescription, 'tag' | 'summary' | 'caller' | 'answers' | 'problems'>;

function common(described: DescribedResource, action: ActionName): Common {
  const summary = BATCH_ACTIONS.get(action)?.summary ?? '';
  return { tag: described.resource.name, summary, caller: 'anyone', answers: answersOf(action, described), problems: problemsOf(action) };
}

/** Returns the actions of a resource. Actions on soft-deleted records need `softDelete`. */
function actionsOf({ softDelete }: Resource): readonly Action[] {
  return [...ACTIONS.values()].filter(({ ofDeleted }) => softDelete || ofDeleted !== true);
}

/** Returns an example of the body of an action; undefined if the resource has no example of a new record. */
function exampleOf({ name, takes, decides }: Action, { examples }: DescribedResource): JsonObject | undefined {
  const { id, create, update, filter, where } = examples;
  if (takes.includes('where')) return { where, sort: ['-createdAt'], limit: 10 };
  if (name === 'import') return create && { data: [create] };
  const data = decides === 'update' ? update : create;
  if (takes.includes('data') && data === undefined) return undefined;
  return {
    ...(takes.includes('id') && { id }),
    ...(takes.includes('filter') && { filter }),
    ...(takes.includes('data') && data !== undefined && { data }),
  };
}

function problemsOf(action: ActionName): readonly number[] {
  switch (action) {
    case 'list':
    case 'listDeleted':
    case 'export':
    case 'read':
    case 'schema':
      return [403, 404];
    case 'delete':
      return [403, 404, 409, 412, 428];
    case 'restore':
    case 'update':
      return [403, 404, 409, 412, 422, 428];
    case 'create':
    case 'createIfNotExists':
    case 'updateIfExists':
    case 'import':
      return [403, 404, 409, 422];
    default:
      return action satisfies never;
  }
}
