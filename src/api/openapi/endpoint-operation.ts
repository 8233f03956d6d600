import type { Json, JsonObject } from '../../operators/index.ts';
import { type Answer, type EndpointDescription, NO_CONTENT } from '../../request/index.ts';
import { componentName, type ObjectSchema, type Schema } from '../../schemas/index.ts';
import { type Components, toDocument } from './document-schemas.ts';
import { headerRefs, toProblemRefs } from './problem-responses.ts';

/** Parameters that several operations share. */
export const PARAMETERS: JsonObject = {
  ifMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'ETag of the record, policy or assignment that the caller has read. The response is 412 if it has changed since.',
    schema: { type: 'string', examples: ['"3"'] },
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'ETag of the representation that the caller has. The response is 304 without a body if it is still the current one.',
    schema: { type: 'string', examples: ['"3"'] },
  },
};

/** Returns the path of an endpoint as OpenAPI writes it: `/api/:resource` becomes `/api/{resource}`. */
export function toOpenApiPath(path: string): string {
  return path.replaceAll(/:([A-Za-z]+)/g, '{$1}');
}

/** Returns the OpenAPI operation of an endpoint. Adds its named schemas to `components`. */
export function toEndpointOperation(endpoint: EndpointDescription, components: Components): JsonObject {
  const { id, tag, summary, description, caller, answers, problems = [], body } = endpoint;
  const parameters = toParameters(endpoint, components);
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(caller !== 'anyone' && { security: caller === 'bearer' ? [{ bearerAuth: [] }] : [] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: toRequestBody(endpoint, body, components) }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, toAnswer(answer, components)])),
      ...toProblemRefs({ hasBody: body !== undefined, caller, problems: [...problems, ...statusesOf(endpoint)] }),
    },
  };
}

/** Returns the statuses of mistakes in the path and in a body that is stored. */
function statusesOf({ params, bodyProblem }: EndpointDescription): readonly number[] {
  return params !== undefined || (bodyProblem !== undefined && bodyProblem !== 'REQUEST_MALFORMED') ? [422] : [];
}

function toParameters({ params, query, ifMatch, ifNoneMatch }: EndpointDescription, components: Components): JsonObject[] {
  return [
    ...membersOf(params).map(([name, schema]) => ({ name, in: 'path', required: true, ...toParameter(schema, components) })),
    ...membersOf(query).map(([name, schema]) => ({
      name,
      in: 'query',
      ...(query?.required?.includes(name) && { required: true }),
      ...toParameter(schema, components),
    })),
    ...(ifMatch === true ? [{ $ref: '#/components/parameters/ifMatch' }] : []),
    ...(ifNoneMatch === true ? [{ $ref: '#/components/parameters/ifNoneMatch' }] : []),
  ];
}

function membersOf(schema: ObjectSchema | undefined): readonly (readonly [string, JsonObject])[] {
  return Object.entries((schema?.properties ?? {}) as unknown as Record<string, JsonObject>);
}

/** Returns the members of a parameter. The description of its schema becomes its own. An object is written as `where[field]=…`. */
function toParameter(schema: JsonObject, components: Components): JsonObject {
  const { description, ...rest } = schema;
  return {
    ...(description !== undefined && { description }),
    ...(schema['type'] === 'object' && { style: 'deepObject', explode: true }),
    // A component keeps its description, because bodies refer to it too.
    schema: toDocument(componentName(schema) === undefined ? rest : schema, components),
  };
}

function toRequestBody(
  { bodyOptional = false, bodyExample, otherBodies }: EndpointDescription,
  body: Schema,
  components: Components,
): JsonObject {
  return { required: !bodyOptional, content: toContent({ schema: body, files: otherBodies, example: bodyExample }, components) };
}

function toAnswer(answer: Answer, components: Components): JsonObject {
  const content = answer.schema === NO_CONTENT && answer.files === undefined ? {} : { content: toContent(answer, components) };
  return { description: answer.description, headers: headerRefs(answer.headers), ...content };
}

interface Content {
  readonly schema: Schema;
  readonly files?: Readonly<Record<string, Schema>> | undefined;
  readonly example?: unknown;
}

function toContent({ schema, files = {}, example }: Content, components: Components): JsonObject {
  const { 'application/json': other, ...types } = files;
  const own = toDocument(schema as JsonObject, components);
  const json: Json = other === undefined ? own : { anyOf: [own, toDocument(other as JsonObject, components)] };
  return {
    ...(schema !== NO_CONTENT && { 'application/json': { schema: json, ...(example !== undefined && { example: example as Json }) } }),
    ...Object.fromEntries(Object.entries(types).map(([type, each]) => [type, { schema: toDocument(each as JsonObject, components) }])),
  };
}
