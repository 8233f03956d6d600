import type { JsonObject } from '../../operators/index.ts';
import { envelope, type OperationParts, objectOf, schemaRef, toOperation } from './openapi-operation.ts';

const EMAIL: JsonObject = { type: 'string', format: 'email' };
const PASSWORD: JsonObject = { type: 'string', minLength: 8, maxLength: 200, format: 'password' };

const SETUP_TOKEN: JsonObject = {
  type: 'string',
  description:
    'The set-up token that the service prints when it starts. Calls on its own machine may omit it, unless `--setup token` says otherwise.',
};

const SESSION: JsonObject = objectOf({
  success: { const: true },
  message: { type: 'string' },
  token: { type: 'string', description: 'Access token, for `Authorization: Bearer`.' },
  tokenType: { const: 'Bearer' },
  expiresIn: { type: 'integer', description: 'Seconds until the access token expires.' },
  refreshToken: { type: 'string', description: 'For `POST /auth/refresh`, once.' },
  user: schemaRef('api.Caller'),
});

/** The first admin, tokens, and who one is. */
export const authPaths: JsonObject = {
  '/auth/setup': {
    post: signing('setup', {
      summary: 'Makes the first admin. Works while there is none.',
      body: objectOf({ email: EMAIL, password: PASSWORD, name: { type: 'string' }, token: SETUP_TOKEN }, ['token']),
      answers: {
        201: {
          description: 'The admin.',
          schema: objectOf({ success: { const: true }, message: { type: 'string' }, user: schemaRef('api.Caller') }),
        },
      },
      problems: [403, 409, 422],
    }),
  },
  '/auth/login': {
    post: signing('login', {
      summary: 'Gives tokens for an email and a password.',
      body: objectOf({ email: { type: 'string' }, password: { type: 'string' } }),
      answers: { 200: { description: 'Tokens.', schema: SESSION } },
      problems: [401, 422],
    }),
  },
  '/auth/refresh': {
    post: signing('refresh', {
      summary: 'Gives new tokens for a refresh token. Using one twice ends its session.',
      body: objectOf({ refreshToken: { type: 'string' } }),
      answers: { 200: { description: 'New tokens; the refresh token sent is used up.', schema: SESSION } },
      problems: [401, 422],
    }),
  },
  '/auth/logout': {
    post: signing('logout', {
      summary: 'Ends the session of the token: it and its refresh token are of no use afterwards.',
      answers: { 200: { description: 'Ended.', schema: objectOf({ success: { const: true }, message: { type: 'string' } }) } },
      caller: 'bearer',
    }),
  },
  '/auth/me': {
    get: signing('me', {
      summary: 'Says who the token stands for, as stored now.',
      answers: { 200: { description: 'The user.', schema: envelope(schemaRef('api.Caller')) } },
      caller: 'bearer',
    }),
  },
};

function signing(id: string, parts: Omit<OperationParts, 'id' | 'tag'>): JsonObject {
  return toOperation({ caller: 'public', ...parts, id: `auth.${id}`, tag: 'Signing in' });
}

const OK: JsonObject = objectOf({ success: { const: true }, status: { type: 'string', examples: ['ok'] } });

/** Addresses for those who operate the service. */
export const servicePaths: JsonObject = {
  '/healthz': {
    get: toOperation({
      id: 'service.health',
      tag: 'Service health',
      summary: 'Says that the process is alive.',
      answers: { 200: { description: 'Alive.', schema: OK } },
      caller: 'public',
    }),
  },
  '/readyz': {
    get: toOperation({
      id: 'service.readiness',
      tag: 'Service health',
      summary: 'Says whether decisions can be recorded: 503 where they cannot.',
      answers: { 200: { description: 'Ready.', schema: OK } },
      caller: 'public',
    }),
  },
  '/openapi.json': {
    get: toOperation({
      id: 'service.description',
      tag: 'Service health',
      summary: 'This document, with the resources that the caller may read or list.',
      answers: { 200: { description: 'OpenAPI 3.1.', schema: { type: 'object' } } },
      problems: [403],
    }),
  },
};
