/**
 * Descriptions of endpoints. Requests are validated with the schemas of an endpoint, its handler has their static types, and the OpenAPI
 * document is made from them.
 */
import { type Issue, Problem, type ProblemCode } from '../errors.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { type ObjectSchema, type Rendered, type Schema, type SchemaOf, Type, type TypeOf } from '../schemas/index.ts';
import { validateSchema } from '../validation/index.ts';
import type { HttpRequest, HttpResponse, Method } from './http-messages.ts';
import { parseQueryParameters, refuseMistakes } from './query-parameters.ts';
import { refusePreconditions } from './refuse-preconditions.ts';

/** A successful response. */
export interface Answer<S extends Schema = Schema> {
  readonly description: string;
  readonly schema: S;
  /** An example of the body. */
  readonly example?: unknown;
  /** Alternative bodies of the response: schema by media type. */
  readonly files?: Readonly<Record<string, Schema>>;
  /** Response headers, in addition to `X-Request-Id`. */
  readonly headers?: readonly ResponseHeader[];
}

/** A response header that the document describes. */
export type ResponseHeader =
  | 'X-Request-Id'
  | 'X-Decision-Id'
  | 'ETag'
  | 'Location'
  | 'Set-Cookie'
  | 'Retry-After'
  | 'WWW-Authenticate'
  | 'Allow';

/** Successful responses by HTTP status. */
export type Answers = Readonly<Record<number, Answer>>;

/** The description of an endpoint: its address, its request and its responses. */
export interface EndpointDescription<
  Params extends ObjectSchema = ObjectSchema,
  Query extends ObjectSchema = ObjectSchema,
  Body extends Schema = Schema,
  Returns extends Answers = Answers,
> {
  readonly method: Method;
  /** Path pattern, such as `/admin/api/policies/:id`. */
  readonly path: string;
  /** The operationId. It is unique and stable, because generators derive function names from it. */
  readonly id: string;
  /** The group of the endpoint in the document: one of its tags. */
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Authentication: optional (`anyone`), required (`bearer`) or none (`public`). */
  readonly caller: 'anyone' | 'bearer' | 'public';
  /** Schema of the path parameters. Absent for a path without parameters. */
  readonly params?: Params;
  /** Schema of the query. Without it, every query parameter is refused. */
  readonly query?: Query;
  /** True if the endpoint reads the header If-Match. */
  readonly ifMatch?: boolean;
  /** True if the endpoint reads the header If-None-Match. */
  readonly ifNoneMatch?: boolean;
  /** Schema of the JSON body. Without it, a body is refused. */
  readonly body?: Body;
  /** True if the body may be absent. */
  readonly bodyOptional?: boolean;
  /** An example of the body. */
  readonly bodyExample?: unknown;
  /** Alternative bodies: schema by media type. An alternative JSON body is combined with `body`. */
  readonly otherBodies?: Readonly<Record<string, Schema>>;
  /** `handler`: the handler validates the body, because it reports other mistakes with those of the schema, or needs another order. */
  readonly validatesBody?: 'handler';
  /** The problem of a body that does not match its schema: `VALUE_INVALID` if the body is stored, `REQUEST_MALFORMED` (default) otherwise. */
  readonly bodyProblem?: ProblemCode;
  readonly answers: Returns;
  /** HTTP statuses of this endpoint's errors, in addition to those of every endpoint. */
  readonly problems?: readonly number[];
}

/** The validated parts of a request. */
export interface EndpointInput<Params extends ObjectSchema, Query extends ObjectSchema, Body extends Schema> {
  readonly params: TypeOf<Params>;
  readonly query: TypeOf<Query>;
  readonly body: TypeOf<Body>;
}

/** The responses of a handler: for each status, a body that matches its schema. An answer with files may also be sent in pieces. */
export type ResponseOf<Returns extends Answers> = {
  [Status in keyof Returns]: ResponseWith<Status & number, Returns[Status]>;
}[keyof Returns];

type ResponseWith<Status, Given> =
  Given extends Answer<infer Body>
    ? JsonResponse<Status, Rendered<TypeOf<Body>>> | (Given extends { readonly files: object } ? StreamedResponse : never)
    : never;

/** A response with a JSON body. */
export interface JsonResponse<Status, Body> {
  readonly status: Status;
  readonly headers?: NonNullable<HttpResponse['headers']>;
  readonly body: Body;
}

/** Returns a response whose static type has the status and the type of the body. */
export function respond<const Status extends number, const Body>(
  status: Status,
  body: Body,
  headers?: HttpResponse['headers'],
): JsonResponse<Status, Body> {
  return { status, body, ...(headers !== undefined && { headers }) };
}

type StreamedResponse = HttpResponse & Required<Pick<HttpResponse, 'pieces'>>;

/** The schema of an object without members, for the query of an endpoint that takes no parameters. */
export const NO_MEMBERS: ObjectSchema<Record<never, Schema>> = Type.Object({}, { additionalProperties: false });

type BodyRules<B extends Schema> = Pick<
  EndpointDescription<ObjectSchema, ObjectSchema, B>,
  'body' | 'bodyOptional' | 'bodyProblem' | 'validatesBody'
>;

type EndpointSchemas<P extends ObjectSchema, Q extends ObjectSchema, B extends Schema> = Pick<
  EndpointDescription<P, Q, B>,
  'params' | 'query' | 'body' | 'bodyOptional' | 'bodyProblem' | 'validatesBody' | 'ifMatch'
> &
  Partial<Pick<EndpointDescription, 'method'>>;

/**
 * Validates the path, the query and the body of a request, and refuses preconditions that its endpoint does not evaluate.
 *
 * @throws Problem REQUEST_PARAMETER, or the problem of the body, with every mistake; VALUE_INVALID for a path parameter
 */
export function parseEndpointRequest<P extends ObjectSchema, Q extends ObjectSchema, B extends Schema>(
  endpoint: EndpointSchemas<P, Q, B>,
  request: HttpRequest,
): EndpointInput<P, Q, B> {
  // A cache adds If-None-Match to a GET. The whole response is right then.
  refusePreconditions(request, endpoint.method === 'GET' ? 'If-None-Match' : endpoint.ifMatch === true ? 'If-Match' : undefined);
  const params = validateParams(endpoint, Object.fromEntries(request.params));
  const query = parseQueryParameters(request.query, endpoint.query ?? NO_MEMBERS) as TypeOf<Q>;
  if (endpoint.body === undefined) refuseBody(request);
  return { params, query, body: parseBody(endpoint, request.body) };
}

/** Validates an input that is no HTTP request. @throws Problem as `parseEndpointRequest` does */
export function validateEndpointInput<P extends ObjectSchema, Q extends ObjectSchema, B extends Schema>(
  endpoint: EndpointSchemas<P, Q, B>,
  { params, query, body }: Partial<EndpointInput<P, Q, B>>,
): EndpointInput<P, Q, B> {
  const parameters = (query ?? {}) as JsonObject;
  refuseMistakes('REQUEST_PARAMETER', validateSchema(endpoint.query ?? NO_MEMBERS, parameters, 'query parameter'));
  return {
    params: validateParams(endpoint, (params ?? {}) as JsonObject),
    query: parameters as TypeOf<Q>,
    body: parseBody(endpoint, body as Json | undefined),
  };
}

function validateParams<P extends ObjectSchema>({ params }: { readonly params?: P }, given: JsonObject): TypeOf<P> {
  if (params !== undefined) refuseMistakes('VALUE_INVALID', validateSchema(params, given, 'path parameter'));
  return given as TypeOf<P>;
}

/** Validates a body. An absent body is validated as an empty object, so that its required members are reported. */
function parseBody<B extends Schema>(
  { body: schema, bodyOptional = false, bodyProblem = 'REQUEST_MALFORMED', validatesBody }: BodyRules<B>,
  given: Json | undefined,
): TypeOf<B> {
  if (schema === undefined || validatesBody === 'handler') return given as TypeOf<B>;
  // JSON null is a value, not an absent body.
  const body = given === undefined ? {} : given;
  refuseMistakes(bodyProblem, validateSchema(schema, body));
  if (given === undefined && !bodyOptional) refuseMistakes(bodyProblem, [NO_BODY]);
  return body as TypeOf<B>;
}

const NO_BODY: Issue = { path: '', code: 'required', detail: 'expected a JSON body, none was given' };

/** Refuses a body on routes that take none. @throws Problem REQUEST_MALFORMED */
export function refuseBody({ body, stream }: HttpRequest): undefined {
  if (body !== undefined && stream === undefined) throw new Problem('REQUEST_MALFORMED', 'expected no body, one was given');
}

/** The schema of a response without a JSON body, such as 304, or a response that is only a file. */
export const NO_CONTENT: SchemaOf<undefined> = Type.Unsafe<undefined>({});

/** Creates the schema of a successful response: its data, and further members beside the data. */
export function envelope<const D extends Schema, const E extends Record<string, Schema> = Record<never, Schema>>(
  data: D,
  extras: E = {} as E,
): ObjectSchema<{ readonly success: SchemaOf<true>; readonly data: D } & E> {
  return Type.Object({ success: Type.Unsafe<true>({ const: true }), data, ...extras });
}
