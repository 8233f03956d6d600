import type { JsonObject } from '../../operators/index.ts';
import { type OperationParts, objectOf, schemaRef, success, toOperation } from './openapi-operation.ts';

const EMAIL: JsonObject = { type: 'string', format: 'email' };
const PASSWORD: JsonObject = { type: 'string', minLength: 8, maxLength: 200, format: 'password' };

const SETUP_TOKEN: JsonObject = {
  type: 'string',
  description:
    'The setup token that the service prints when it starts. Calls on its own machine may omit it, unless `--setup token` says otherwise.',
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

/** The paths of authentication. */
export const authPaths: JsonObject = {
  '/auth/setup': {
    post: signing('setup', {
      summary: 'Creates the first admin. Refused if an admin exists.',
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
      summary: 'Returns tokens for an email and a password.',
      body: objectOf({ email: { type: 'string' }, password: { type: 'string' } }),
      answers: { 200: { description: 'Tokens.', schema: SESSION } },
      problems: [401, 422],
    }),
  },
  '/auth/refresh': {
    post: signing('refresh', {
      summary: 'Returns new tokens for a refresh token. Using a refresh token twice ends its session.',
      body: objectOf({ refreshToken: { type: 'string' } }),
      answers: { 200: { description: 'New tokens. The old refresh token is no longer valid.', schema: SESSION } },
      problems: [401, 422],
    }),
  },
  '/auth/logout': {
    post: signing('logout', {
      summary: 'Ends the session of the token. The token and its refresh token are no longer valid.',
      answers: { 200: { description: 'Ended.', schema: objectOf({ success: { const: true }, message: { type: 'string' } }) } },
      caller: 'bearer',
    }),
  },
  '/auth/me': {
    get: signing('me', {
      summary: 'Returns the current user as stored.',
      answers: { 200: { description: 'The user.', schema: success(schemaRef('api.Caller')) } },
      caller: 'bearer',
    }),
  },
};

function signing(id: string, parts: Omit<OperationParts, 'id' | 'tag'>): JsonObject {
  return toOperation({ caller: 'public', ...parts, id: `auth.${id}`, tag: 'Signing in' });
}

const OK: JsonObject = objectOf({ success: { const: true }, status: { type: 'string', examples: ['ok'] } });

/** The paths of health, readiness and the OpenAPI document. */
export const servicePaths: JsonObject = {
  '/healthz': {
    get: toOperation({
      id: 'service.health',
      tag: 'Service health',
      summary: 'Returns 200 while the process is running.',
      answers: { 200: { description: 'Alive.', schema: OK } },
      caller: 'public',
    }),
  },
  '/readyz': {
    get: toOperation({
      id: 'service.readiness',
      tag: 'Service health',
      summary: 'Returns 200 if decisions can be recorded, 503 otherwise.',
      answers: { 200: { description: 'Ready.', schema: OK } },
      caller: 'public',
    }),
  },
  '/openapi.json': {
    get: toOperation({
      id: 'service.description',
      tag: 'Service health',
      summary: 'Returns this document with the resources that the caller may read or list.',
      answers: { 200: { description: 'OpenAPI 3.1.', schema: { type: 'object' } } },
      problems: [403],
    }),
  },
};
