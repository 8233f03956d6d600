import { describe, expect, it } from 'vitest';
import type { Authentication } from '../../authn/index.ts';
import { Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import type { HttpRequest } from '../../request/index.ts';
import type { ApiDeps } from '../records/record-routes.ts';
import { createAuthRoutes } from './auth-endpoints.ts';

const ORIGIN = { requestId: 'r1', method: '', path: '', ip: '192.0.2.1', token: 'token' };
/** The parts of the request that a session stores. */
const CLIENT = { requestId: 'r1', ip: '192.0.2.1', userAgent: 'curl/8' };
const USER = { id: 'u1', email: 'ada@example.org', name: 'Ada', role: 'admin' };
const ISSUED = { token: 't', expiresIn: 60, refreshToken: 'r', user: USER };

/** Calls a route under `/auth`. Returns the status and body, or the code of the problem with its issues; and the calls of `identity`. */
async function call(name: string, body?: Json): Promise<{ readonly outcome: unknown; readonly calls: readonly unknown[] }> {
  const calls: unknown[] = [];
  const record =
    <T>(operation: string, result: T) =>
    async (...given: unknown[]): Promise<T> => {
      calls.push([operation, ...given]);
      return result;
    };
  const identity = {
    setUp: record('setUp', USER),
    logIn: record('logIn', ISSUED),
    refresh: record('refresh', ISSUED),
    ownSessions: { endCurrent: record('endCurrent', undefined) },
    loadUser: record('loadUser', USER),
  } as unknown as Authentication;
  const route = createAuthRoutes({ identity } as ApiDeps, { hasSetup: true }).find(({ method, path }) => `${method} ${path}` === name);
  const request = {
    method: 'POST',
    params: new Map(),
    query: new Map(),
    body,
    header: (header: string) => (header === 'user-agent' ? 'curl/8' : undefined),
    origin: ORIGIN,
  } as HttpRequest;
  try {
    const response = await route?.handle(request, () => undefined);
    return { outcome: [response?.status, response?.headers ?? {}, response?.body], calls };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { outcome: [error.code, error.extras.errors?.map(({ path, code }) => `${path}: ${code}`)], calls };
  }
}

describe('the endpoints under /auth', () => {
  it('passes the credentials and the origin of a login on, and forbids caches to store the tokens', async () => {
    const { outcome, calls } = await call('POST /auth/login', { email: 'ada@example.org', password: 'secret' });
    expect(calls).toEqual([['logIn', { email: 'ada@example.org', password: 'secret' }, CLIENT]]);
    expect(outcome).toEqual([
      200,
      { 'cache-control': 'no-store' },
      { success: true, message: expect.any(String), tokenType: 'Bearer', ...ISSUED },
    ]);
  });

  it('exchanges a refresh token', async () => {
    const { outcome, calls } = await call('POST /auth/refresh', { refreshToken: 'r0' });
    expect(calls).toEqual([['refresh', 'r0', CLIENT]]);
    expect(outcome).toMatchObject([200, { 'cache-control': 'no-store' }, { refreshToken: 'r' }]);
  });

  it.each([
    ['POST /auth/logout', 'endCurrent', ORIGIN, { success: true, message: expect.any(String) }],
    ['GET /auth/me', 'loadUser', 'token', { success: true, data: USER }],
  ])('%s passes the token to %s', async (name, operation, given, body) => {
    const { outcome, calls } = await call(name);
    expect([outcome, calls]).toMatchObject([[200, {}, body], [[operation, given]]]);
  });

  it('leaves the validation of a setup to authentication, which refuses callers without a setup token first', async () => {
    const { outcome, calls } = await call('POST /auth/setup', { nonsense: true });
    expect([outcome, calls]).toMatchObject([[201, {}, { user: USER }], [['setUp', { body: { nonsense: true } }]]]);
  });

  it('no route for setup exists if setup is off', () => {
    const paths = createAuthRoutes({} as ApiDeps, { hasSetup: false }).map(({ path }) => path);
    expect(paths).toContain('/auth/login');
    expect(paths).not.toContain('/auth/setup');
  });

  const refused: readonly (readonly [string, Json | undefined, readonly string[]])[] = [
    ['no body', undefined, ['email: required', 'password: required']],
    ['a text', 'email', [': type']],
    ['a list', [], [': type']],
    ['operators for texts', { email: { $ne: null }, password: ['password'] }, ['email: type', 'password: type']],
    ['texts of wrong lengths', { email: '', password: 'x'.repeat(201) }, ['email: tooShort', 'password: tooLong']],
    ['an unknown member', { email: 'a@b.c', password: 'password', role: 'admin' }, ['role: unknown']],
    [
      'names that objects inherit',
      JSON.parse('{"__proto__":{"email":"a@b.c"},"password":"password"}') as Json,
      ['email: required', '__proto__: unknown'],
    ],
  ];

  it.each(refused)('refuses a login with %s before credentials are compared, and lists every mistake', async (_, body, issues) => {
    const { outcome, calls } = await call('POST /auth/login', body);
    expect([outcome, calls]).toEqual([['REQUEST_MALFORMED', issues], []]);
  });
});
