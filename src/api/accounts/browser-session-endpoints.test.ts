import { describe, expect, it } from 'vitest';
import type { Authentication } from '../../authn/index.ts';
import type { Json } from '../../operators/index.ts';
import type { HttpRequest } from '../../request/index.ts';
import type { ApiDeps } from '../records/record-routes.ts';
import { createAuthRoutes } from './auth-endpoints.ts';

const ISSUED = { token: 't', expiresIn: 60, user: { id: 'u1', email: 'ada@example.org', name: 'Ada', role: 'admin' } };

/** Calls a route of browser sessions. Returns the response, and the calls of `browserSessions`. */
async function call(name: string, { body, setCookie }: { body?: Json; setCookie?: string } = {}) {
  const calls: unknown[] = [];
  const record =
    <T>(operation: string, result: T) =>
    async (...given: unknown[]): Promise<T> => {
      calls.push([operation, ...given]);
      return result;
    };
  const browserSessions = {
    logIn: record('logIn', { ...ISSUED, setCookie }),
    refresh: record('refresh', ISSUED),
    logOut: record('logOut', setCookie),
  };
  const deps = { identity: { browserSessions } as unknown as Authentication } as ApiDeps;
  const route = createAuthRoutes(deps, { hasSetup: true }).find(({ method, path }) => `${method} ${path}` === name);
  const request = { method: 'POST', params: new Map(), query: new Map(), body, header: () => undefined, origin: {} };
  return { response: await route?.handle(request as unknown as HttpRequest, () => undefined), request, calls };
}

describe('the endpoints of browser sessions', () => {
  it('a login passes the credentials and the request on, and returns the cookie in a header only', async () => {
    const body = { email: 'ada@example.org', password: 'secret' };
    const { response, request, calls } = await call('POST /auth/session', { body, setCookie: 'c=1' });
    expect(calls).toEqual([['logIn', body, request]]);
    expect(response).toEqual({
      status: 200,
      headers: { 'cache-control': 'no-store', 'set-cookie': 'c=1' },
      body: { success: true, message: 'logged in', tokenType: 'Bearer', ...ISSUED },
    });
  });

  it('a refresh returns a token and sets no cookie', async () => {
    const { response, calls, request } = await call('POST /auth/session/refresh');
    expect(calls).toEqual([['refresh', request]]);
    expect(response?.headers).toEqual({ 'cache-control': 'no-store' });
    expect(response?.body).toEqual({ success: true, message: 'refreshed', tokenType: 'Bearer', ...ISSUED });
  });

  it('a log-out deletes the cookie', async () => {
    const { response } = await call('DELETE /auth/session', { setCookie: 'c=; Max-Age=0' });
    expect(response?.headers).toEqual({ 'cache-control': 'no-store', 'set-cookie': 'c=; Max-Age=0' });
  });

  it('a log-out of a service without browser sessions sets no cookie', async () => {
    const { response } = await call('DELETE /auth/session');
    expect(response?.headers).toEqual({ 'cache-control': 'no-store' });
  });

  it.each([['POST /auth/session/refresh'], ['DELETE /auth/session']])('%s takes no body', async (name) => {
    await expect(call(name, { body: {} })).rejects.toMatchObject({ code: 'REQUEST_MALFORMED' });
  });
});
