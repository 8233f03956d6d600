import { type Authentication, SETUP_BODY } from '../authn/index.ts';
import {
  type Answers,
  type EndpointDescription,
  envelope,
  type HttpRequest,
  type NO_MEMBERS,
  parseEndpointRequest,
  type ResponseOf,
  type Route,
  respond,
  toSuccess,
} from '../request/index.ts';
import { component, Input, Nullable, type Schema, Type, type TypeOf } from '../schemas/index.ts';
import { DONE, SUCCESS, TEXT } from './schema-members.ts';

/** Maximum bytes of a request body. The bodies are small, and callers without a token may send them. */
const BODY_BYTES = 16_384;

/** An endpoint under `/auth`: its description, and the handler of its requests. */
export interface AuthEndpoint<Body extends Schema = Schema, Returns extends Answers = Answers>
  extends EndpointDescription<typeof NO_MEMBERS, typeof NO_MEMBERS, Body, Returns> {
  handle(identity: Authentication, request: HttpRequest, body: TypeOf<Body>): Promise<ResponseOf<Returns>>;
}

/** The user of a session. */
const CALLER = component(
  'api.Caller',
  Type.Object(
    { id: TEXT, email: TEXT, name: Nullable(TEXT), role: TEXT },
    { description: 'The current user. `GET /auth/me` returns every field that is not secret.', additionalProperties: true },
  ),
);

const EXAMPLE_USER = { id: '01890a5d-ac96-774b-bcce-b302099a8057', email: 'ada@example.org', name: 'Ada', role: 'admin' };

const SESSION = Type.Object({
  ...SUCCESS,
  message: TEXT,
  token: Type.String({ description: 'Access token, for `Authorization: Bearer`.' }),
  tokenType: Type.Unsafe<'Bearer'>({ const: 'Bearer' }),
  expiresIn: Type.Integer({ description: 'Seconds until the access token expires.' }),
  refreshToken: Type.String({ description: 'For `POST /auth/refresh`, once.' }),
  user: CALLER,
});

const SESSION_EXAMPLE = {
  success: true,
  message: 'logged in',
  token: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIwMTg5MGE1ZCJ9.c2lnbmF0dXJl',
  tokenType: 'Bearer',
  expiresIn: 3600,
  refreshToken: 'b0zWk2i7QyqXH3kq0xSgqYzq1Tj0v7b3mQ2mJ5y7b0Q',
  user: EXAMPLE_USER,
};

/** No cache may store a response with a token or a user. */
const NO_STORE = { 'cache-control': 'no-store' };

/** `POST /auth/setup`. */
const setup = authEndpoint({
  method: 'POST',
  path: '/auth/setup',
  id: 'auth.setup',
  summary: 'Creates the first admin. Refused if an admin exists.',
  caller: 'public',
  body: SETUP_BODY,
  bodyProblem: 'VALUE_INVALID',
  // A caller without the setup token must learn nothing about the body.
  validatesBody: 'handler',
  bodyExample: { email: 'ada@example.org', password: 'correct horse battery', name: 'Ada' },
  answers: {
    201: {
      description: 'The admin.',
      schema: Type.Object({ ...SUCCESS, message: TEXT, user: CALLER }),
      example: { success: true, message: 'the first admin was created; log in with POST /auth/login', user: EXAMPLE_USER },
    },
  },
  problems: [403, 409],
  async handle(identity, request) {
    const user = await identity.setUp(request);
    return respond(201, { success: true, message: 'the first admin was created; log in with POST /auth/login', user });
  },
});

/** The endpoints of sessions. */
const sessionEndpoints: readonly AuthEndpoint[] = [
  authEndpoint({
    method: 'POST',
    path: '/auth/login',
    id: 'auth.login',
    summary: 'Returns tokens for an email and a password.',
    caller: 'public',
    body: Input({
      email: Type.String({ minLength: 1, maxLength: 254 }),
      password: Type.String({ minLength: 1, maxLength: 200 }),
    }),
    bodyExample: { email: 'ada@example.org', password: 'correct horse battery' },
    answers: { 200: { description: 'Tokens.', schema: SESSION, example: SESSION_EXAMPLE } },
    problems: [401],
    async handle(identity, { origin }, { email, password }) {
      const issued = await identity.logIn({ email, password }, origin);
      return respond(200, { success: true, message: 'logged in', tokenType: 'Bearer', ...issued }, NO_STORE);
    },
  }),
  authEndpoint({
    method: 'POST',
    path: '/auth/refresh',
    id: 'auth.refresh',
    summary: 'Returns new tokens for a refresh token. Using a refresh token twice ends its session.',
    caller: 'public',
    body: Input({ refreshToken: Type.String({ minLength: 1, maxLength: 200 }) }),
    bodyExample: { refreshToken: SESSION_EXAMPLE.refreshToken },
    answers: {
      200: {
        description: 'New tokens. The old refresh token is no longer valid.',
        schema: SESSION,
        example: { ...SESSION_EXAMPLE, message: 'refreshed' },
      },
    },
    problems: [401],
    async handle(identity, { origin }, { refreshToken }) {
      const issued = await identity.refresh(refreshToken, origin);
      return respond(200, { success: true, message: 'refreshed', tokenType: 'Bearer', ...issued }, NO_STORE);
    },
  }),
  authEndpoint({
    method: 'POST',
    path: '/auth/logout',
    id: 'auth.logout',
    summary: 'Ends the session of the token. The token and its refresh token are no longer valid.',
    caller: 'bearer',
    answers: { 200: { description: 'Ended.', schema: DONE, example: { success: true, message: 'logged out' } } },
    async handle(identity, { origin }) {
      await identity.logOut(origin);
      return respond(200, { success: true, message: 'logged out' });
    },
  }),
  authEndpoint({
    method: 'GET',
    path: '/auth/me',
    id: 'auth.me',
    summary: 'Returns the current user as stored.',
    caller: 'bearer',
    answers: { 200: { description: 'The user.', schema: envelope(CALLER), example: { success: true, data: EXAMPLE_USER } } },
    async handle(identity, { origin: { token } }) {
      const user = await identity.loadUser(token);
      return respond(200, toSuccess(user as TypeOf<typeof CALLER>), NO_STORE);
    },
  }),
];

/** Returns the endpoints under `/auth`. */
export function authEndpoints({ hasSetup }: { readonly hasSetup: boolean }): readonly AuthEndpoint[] {
  return hasSetup ? [setup, ...sessionEndpoints] : sessionEndpoints;
}

/** Creates the routes of the endpoints under `/auth`. */
export function createAuthRoutes(identity: Authentication, options: { readonly hasSetup: boolean }): readonly Route[] {
  return authEndpoints(options).map((endpoint) => ({
    method: endpoint.method,
    path: endpoint.path,
    bodyBytes: BODY_BYTES,
    handle: async (request) => endpoint.handle(identity, request, parseEndpointRequest(endpoint, request).body),
  }));
}

/** Creates an endpoint under `/auth`. The types of its handler are those of its schemas. */
function authEndpoint<Returns extends Answers, Body extends Schema = Schema>(
  endpoint: Omit<AuthEndpoint<Body, Returns>, 'tag'>,
): AuthEndpoint {
  return { ...endpoint, tag: 'Signing in' } as unknown as AuthEndpoint;
}
