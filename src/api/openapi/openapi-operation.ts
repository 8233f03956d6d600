import type { Json, JsonObject } from '../../operators/index.ts';

/** One operation, as the path files write it. */
export interface OperationParts {
  /** Unique and stable: generators name functions after it. */
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Inline parameters, or names of `PARAMETERS`. */
  readonly parameters?: readonly (JsonObject | ParameterName)[];
  readonly body?: JsonObject;
  readonly bodyRequired?: boolean;
  /** Bodies beside the JSON: schema by media type; another one of JSON stands beside `body`. */
  readonly otherBodies?: Readonly<Record<string, JsonObject>>;
  /** Status → answer. */
  readonly answers: Readonly<Record<number, AnswerParts>>;
  /** Statuses of the problems it may answer with beside those that every operation may. */
  readonly problems?: readonly number[];
  /** Who may call: anyone (with or without a token: the default), bearer of a token only, or without a token. */
  readonly caller?: 'anyone' | 'bearer' | 'public';
}

/** A successful answer. */
export interface AnswerParts {
  readonly description: string;
  readonly schema: JsonObject;
  /** What it may be beside JSON: schema by media type. */
  readonly files?: Readonly<Record<string, JsonObject>>;
  readonly headers?: readonly HeaderName[];
}

/** Writes an operation out. */
export function toOperation(parts: OperationParts): JsonObject {
  const { id, tag, summary, description, parameters = [], body, bodyRequired = true, otherBodies = {}, answers, caller = 'anyone' } = parts;
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(description !== undefined && { description }),
    ...(caller !== 'anyone' && { security: caller === 'bearer' ? [{ bearerAuth: [] }] : [] }),
    ...(parameters.length > 0 && { parameters: parameters.map(toParameter) }),
    ...(body !== undefined && { requestBody: { required: bodyRequired, content: toContent(body, otherBodies) } }),
    responses: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, toAnswer(answer)])),
      ...toProblems(parts),
    },
  };
}

/** A reference into the document: `ref('schemas', 'Article')`. */
export function ref(section: 'schemas' | 'responses' | 'headers' | 'parameters', name: string): JsonObject {
  return { $ref: `#/components/${section}/${name}` };
}

/** A reference to a schema. */
export function schemaRef(name: string): JsonObject {
  return ref('schemas', name);
}

/** An object with exactly these members; those not named in `optional` are always there. */
export function objectOf(properties: JsonObject, optional: readonly string[] = []): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

/** The envelope of a success. Members in `extras` are there where they say something. */
export function envelope(data: JsonObject, extras: JsonObject = {}): JsonObject {
  return objectOf({ success: { const: true }, data, ...extras }, Object.keys(extras));
}

/** A list of what the schema says. */
export function arrayOf(items: JsonObject): JsonObject {
  return { type: 'array', items };
}

/** The schema, or null. */
export function orNull(schema: JsonObject): JsonObject {
  return { anyOf: [schema, { type: 'null' }] };
}

/** A parameter in the path. */
export function pathParameter(name: string, description: string, schema: JsonObject = { type: 'string' }): JsonObject {
  return { name, in: 'path', required: true, description, schema };
}

/** An optional parameter in the query. */
export function queryParameter(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: 'query', description, schema };
}

type ParameterName = 'id' | 'limit' | 'offset' | 'cursor' | 'total' | 'fields' | 'expand' | 'ifMatch';

/** Parameters that several operations take. */
export const PARAMETERS: Readonly<Record<ParameterName, JsonObject>> = {
  id: pathParameter('id', 'Id of the record.'),
  limit: queryParameter('limit', 'Records of a page. More than the maximum (1000 unless set otherwise) is refused.', {
    type: 'integer',
    minimum: 1,
    default: 50,
  }),
  offset: queryParameter('offset', 'Records to skip. For small data: `cursor` costs the same at any depth.', {
    type: 'integer',
    minimum: 0,
  }),
  cursor: queryParameter('cursor', '`nextCursor` of the page before, with the same filter, sort and caller.', { type: 'string' }),
  total: queryParameter('total', 'Whether to count all records that match.', { type: 'boolean', default: false }),
  fields: queryParameter('fields', 'Fields to show beside the id, comma-separated; all where absent.', { type: 'string' }),
  expand: queryParameter(
    'expand',
    'References to show the records of, comma-separated; `name:Resource.field(20)` shows up to 20 records of a resource that refer here by a field. Each is shown where its own `read` is allowed.',
    { type: 'string', examples: ['authorId,comments:Comment.articleId(20)'] },
  ),
  ifMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'ETag of the record, policy or assignment as it was read: 412 where it has changed since.',
    schema: { type: 'string', examples: ['"3"'] },
  },
};

type HeaderName = 'X-Request-Id' | 'X-Decision-Id' | 'ETag' | 'Location' | 'Retry-After' | 'WWW-Authenticate' | 'Allow';

/** Headers of answers. */
export const HEADERS: Readonly<Record<HeaderName, JsonObject>> = {
  'X-Request-Id': { description: 'The id of the request: the one sent, where it is sane.', schema: { type: 'string' } },
  'X-Decision-Id': { description: 'The entry under which the decision is on the record.', schema: { type: 'string', format: 'uuid' } },
  ETag: { description: 'Version of the record, policy or assignment, for `If-Match`.', schema: { type: 'string' } },
  Location: { description: 'Address of the new record.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: '`Bearer`, with what is wrong with the token.', schema: { type: 'string' } },
  Allow: { description: 'Methods that are allowed here.', schema: { type: 'string' } },
};

/** The headers of an answer, by reference; every answer has a request id. */
export function headerRefs(names: readonly HeaderName[] = []): JsonObject {
  return Object.fromEntries((['X-Request-Id', ...names] as const).map((name) => [name, ref('headers', name)]));
}

function toParameter(parameter: JsonObject | ParameterName): JsonObject {
  return typeof parameter === 'string' ? ref('parameters', parameter) : parameter;
}

function toAnswer({ description, schema, files = {}, headers: names }: AnswerParts): JsonObject {
  return { description, headers: headerRefs(names), content: toContent(schema, files) };
}

function toContent(schema: JsonObject, { 'application/json': other, ...types }: Readonly<Record<string, JsonObject>>): JsonObject {
  const json: JsonObject = other === undefined ? schema : { anyOf: [schema, other] };
  return Object.fromEntries(Object.entries({ 'application/json': json, ...types }).map(([type, each]) => [type, { schema: each }]));
}

const OF_EVERY_OPERATION = [400, 405, 408, 421, 429, 500, 503];
const OF_BODIES = [413, 415];

function toProblems({ body, caller = 'anyone', problems = [] }: OperationParts): JsonObject {
  const statuses = [...OF_EVERY_OPERATION, ...(body === undefined ? [] : OF_BODIES), ...(caller === 'public' ? [] : [401]), ...problems];
  const sorted = [...new Set(statuses)].sort((a, b) => a - b);
  return Object.fromEntries(sorted.map((status): [string, Json] => [String(status), ref('responses', `problem${status}`)]));
}

type AdminOperation = Omit<OperationParts, 'id' | 'tag' | 'caller'>;

/** An operation that only an admin's token opens: 401 without a token, 403 with another's. */
export function adminOperation(
  area: 'policies' | 'assignments' | 'access tests' | 'decisions' | 'storage',
  id: string,
  parts: AdminOperation,
): JsonObject {
  const problems = [403, ...(parts.problems ?? [])];
  return toOperation({ ...parts, problems, caller: 'bearer', id: `admin.${id}`, tag: `Admin ${area}` });
}
