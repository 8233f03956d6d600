import {
  type Answers,
  type ChargeRequest,
  type EndpointDescription,
  type EndpointInput,
  type HttpRequest,
  type NO_MEMBERS,
  parseEndpointRequest,
  type ResponseOf,
  type Route,
} from '../../request/index.ts';
import { component, Input, Nullable, type ObjectSchema, type Schema, Type } from '../../schemas/index.ts';
import type { ApiDeps } from '../records/index.ts';
import { SUCCESS, TEXT } from '../schema-members.ts';

/** Maximum bytes of a request body. The bodies are small, and callers without a token may send them. */
const BODY_BYTES = 16_384;

/** A request to an endpoint under `/auth`. */
export interface AuthCall<Params extends ObjectSchema, Query extends ObjectSchema, Body extends Schema>
  extends EndpointInput<Params, Query, Body> {
  readonly deps: ApiDeps;
  readonly request: HttpRequest;
  readonly charge: ChargeRequest;
}

/** An endpoint under `/auth`: its description, and the handler of its requests. */
export interface AuthEndpoint<
  Params extends ObjectSchema = ObjectSchema,
  Query extends ObjectSchema = ObjectSchema,
  Body extends Schema = Schema,
  Returns extends Answers = Answers,
> extends EndpointDescription<Params, Query, Body, Returns> {
  /** Maximum bytes of a body, if it differs from that of the other endpoints. */
  readonly bodyBytes?: number;
  handle(call: AuthCall<Params, Query, Body>): Promise<ResponseOf<Returns>>;
}

/** Creates an endpoint under `/auth`. The types of its handler are those of its schemas. */
export function authEndpoint<
  Returns extends Answers,
  Params extends ObjectSchema = typeof NO_MEMBERS,
  Query extends ObjectSchema = typeof NO_MEMBERS,
  Body extends Schema = Schema,
>(endpoint: Omit<AuthEndpoint<Params, Query, Body, Returns>, 'tag'>): AuthEndpoint {
  return { ...endpoint, tag: 'Signing in' } as unknown as AuthEndpoint;
}

/** Returns the route of an endpoint under `/auth`. */
export function toAuthRoute(deps: ApiDeps, endpoint: AuthEndpoint): Route {
  return {
    method: endpoint.method,
    path: endpoint.path,
    bodyBytes: endpoint.bodyBytes ?? BODY_BYTES,
    handle: async (request, charge) => endpoint.handle({ deps, request, charge, ...parseEndpointRequest(endpoint, request) }),
  };
}

/** The user of a session. */
export const CALLER = component(
  'api.Caller',
  Type.Object(
    { id: TEXT, email: TEXT, name: Nullable(TEXT), role: TEXT },
    { description: 'The current user. `GET /auth/me` returns every field that is not secret.', additionalProperties: true },
  ),
);

/** An example of the user of a session. */
export const EXAMPLE_USER = { id: '01890a5d-ac96-774b-bcce-b302099a8057', email: 'ada@example.org', name: 'Ada', role: 'admin' };

/** The members of a response with an access token. */
export const ACCESS = {
  ...SUCCESS,
  message: TEXT,
  token: Type.String({ description: 'Access token, for `Authorization: Bearer`.' }),
  tokenType: Type.Unsafe<'Bearer'>({ const: 'Bearer' }),
  expiresIn: Type.Integer({ description: 'Seconds until the access token expires.' }),
  user: CALLER,
} as const;

/** An example of these members. */
export const ACCESS_EXAMPLE = {
  success: true,
  message: 'logged in',
  token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIwMTg5MGE1ZCJ9.c2lnbmF0dXJl',
  tokenType: 'Bearer',
  expiresIn: 3600,
  user: EXAMPLE_USER,
} as const;

/** The schema of the credentials of a login. */
export const CREDENTIALS = Input({
  email: Type.String({ minLength: 1, maxLength: 254, format: 'text' }),
  password: Type.String({ minLength: 1, maxLength: 200 }),
});

/** An example of credentials. */
export const CREDENTIALS_EXAMPLE = { email: 'ada@example.org', password: 'correct horse battery' };

/** The header of responses with a token or a user, which no cache may store. */
export const NO_STORE = { 'cache-control': 'no-store' };
