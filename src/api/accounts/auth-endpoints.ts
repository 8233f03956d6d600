import { SETUP_BODY, toSessionOrigin } from '../../authn/index.ts';
import { envelope, type Route, respond, toSuccess } from '../../request/index.ts';
import { Input, Type, type TypeOf } from '../../schemas/index.ts';
import type { ApiDeps } from '../records/index.ts';
import { DONE, SUCCESS, TEXT } from '../schema-members.ts';
import {
  ACCESS,
  ACCESS_EXAMPLE,
  type AuthEndpoint,
  authEndpoint,
  CALLER,
  CREDENTIALS,
  CREDENTIALS_EXAMPLE,
  EXAMPLE_USER,
  NO_STORE,
  toAuthRoute,
} from './auth-endpoint.ts';
import { browserSessionEndpoints } from './browser-session-endpoints.ts';
import { ownCatalogueEndpoint } from './own-catalogue-endpoint.ts';
import { ownPasswordEndpoint } from './own-password-endpoint.ts';
import { ownPermissionsEndpoint } from './own-permissions-endpoint.ts';
import { ownSessionEndpoints } from './own-session-endpoints.ts';
import { savedViewEndpoints } from './saved-view-endpoints.ts';

const SESSION = Type.Object({ ...ACCESS, refreshToken: Type.String({ description: 'For `POST /auth/refresh`, once.' }) });

const SESSION_EXAMPLE = { ...ACCESS_EXAMPLE, refreshToken: 'b0zWk2i7QyqXH3kq0xSgqYzq1Tj0v7b3mQ2mJ5y7b0Q' };

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
  async handle({ deps: { identity }, request }) {
    const user = await identity.setUp(request);
    return respond(201, { success: true, message: 'the first admin was created; log in with POST /auth/login', user });
  },
});

/** `GET /auth/setup`. */
const setupState = authEndpoint({
  method: 'GET',
  path: '/auth/setup',
  id: 'auth.setupState',
  summary: 'Returns if the service needs a first admin.',
  caller: 'public',
  answers: {
    200: {
      description: 'The state of the setup.',
      schema: envelope(
        Type.Object({
          needed: Type.Boolean({ description: 'True if no admin exists.' }),
          tokenRequired: Type.Boolean({
            description: 'True if this caller must send the setup token. Callers on the machine of the service may omit it.',
          }),
        }),
      ),
      example: toSuccess({ needed: true, tokenRequired: true }),
    },
  },
  async handle({ deps: { identity }, request }) {
    return respond(200, toSuccess(await identity.loadSetupState(request)), NO_STORE);
  },
});

/** The endpoints of sessions with tokens. */
const sessionEndpoints: readonly AuthEndpoint[] = [
  authEndpoint({
    method: 'POST',
    path: '/auth/login',
    id: 'auth.login',
    summary: 'Returns tokens for an email and a password.',
    caller: 'public',
    body: CREDENTIALS,
    bodyExample: CREDENTIALS_EXAMPLE,
    answers: { 200: { description: 'Tokens.', schema: SESSION, example: SESSION_EXAMPLE } },
    problems: [401],
    async handle({ deps: { identity }, request, body }) {
      const issued = await identity.logIn(body, toSessionOrigin(request));
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
    async handle({ deps: { identity }, request, body }) {
      const issued = await identity.refresh(body.refreshToken, toSessionOrigin(request));
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
    problems: [403],
    async handle({ deps: { identity }, request }) {
      await identity.ownSessions.endCurrent(request.origin);
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
    async handle({ deps: { identity }, request }) {
      const user = await identity.loadUser(request.origin.token);
      return respond(200, toSuccess(user as TypeOf<typeof CALLER>), NO_STORE);
    },
  }),
];

/** Returns the endpoints under `/auth`. */
export function authEndpoints({ hasSetup }: { readonly hasSetup: boolean }): readonly AuthEndpoint[] {
  return [
    ...(hasSetup ? [setup, setupState] : []),
    ...sessionEndpoints,
    ...browserSessionEndpoints,
    ...ownSessionEndpoints,
    ownPasswordEndpoint,
    ownPermissionsEndpoint,
    ownCatalogueEndpoint,
    ...savedViewEndpoints,
  ];
}

/** Creates the routes of the endpoints under `/auth`. */
export function createAuthRoutes(deps: ApiDeps, options: { readonly hasSetup: boolean }): readonly Route[] {
  return authEndpoints(options).map((endpoint) => toAuthRoute(deps, endpoint));
}
