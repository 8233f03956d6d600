import { describe, expect, it } from 'vitest';
import type { Authentication } from '../../authn/index.ts';
import { type HttpRequest, parseQuery } from '../../request/index.ts';
import type { ApiDeps } from '../records/record-routes.ts';
import { createAuthRoutes } from './auth-endpoints.ts';

const ORIGIN = { requestId: 'r1', method: '', path: '', ip: '192.0.2.1', token: 'token' };
const session = (id: string) => ({ id, kind: 'bearer', createdAt: 'now', expiresAt: 'later' });

/** Calls a route of own sessions. Returns the response, and the calls of `ownSessions`. */
async function call(name: string, { query = '', id }: { readonly query?: string; readonly id?: string } = {}) {
  const calls: unknown[] = [];
  const record =
    <T>(operation: string, result: T) =>
    async (...given: unknown[]): Promise<T> => {
      calls.push([operation, ...given]);
      return result;
    };
  const ownSessions = {
    list: record('list', { sessions: [session('s2'), session('s1')], current: 's1', nextCursor: 's1' }),
    end: record('end', undefined),
    endOthers: record('endOthers', 3),
  };
  const deps = { identity: { ownSessions } as unknown as Authentication } as ApiDeps;
  const route = createAuthRoutes(deps, { hasSetup: true }).find(({ method, path }) => `${method} ${path}` === name);
  const params = new Map(id === undefined ? [] : [['id', id]]);
  const request = { method: 'GET', params, query: parseQuery(query), body: undefined, header: () => undefined, origin: ORIGIN };
  return { response: await route?.handle(request as HttpRequest, () => undefined), calls };
}

describe('the endpoints of own sessions', () => {
  it('a list passes the page on, and marks the session of the token', async () => {
    const { response, calls } = await call('GET /auth/me/sessions', { query: 'limit=2&cursor=s3' });
    expect(calls).toEqual([['list', ORIGIN, { limit: 2, cursor: 's3' }]]);
    expect(response).toEqual({
      status: 200,
      headers: { 'cache-control': 'no-store' },
      body: {
        success: true,
        data: [
          { ...session('s2'), isCurrent: false },
          { ...session('s1'), isCurrent: true },
        ],
        count: 2,
        nextCursor: 's1',
      },
    });
  });

  it('one session is ended by its id', async () => {
    const { response, calls } = await call('DELETE /auth/me/sessions/:id', { id: 's2' });
    expect([response?.status, calls]).toEqual([200, [['end', ORIGIN, 's2']]]);
  });

  it('the response to the end of all others contains their number', async () => {
    const { response, calls } = await call('DELETE /auth/me/sessions');
    expect(calls).toEqual([['endOthers', ORIGIN]]);
    expect(response?.body).toEqual({ success: true, data: { ended: 3 }, message: 'ended 3 other sessions' });
  });

  it.each(['limit=0', 'limit=1001', 'offset=1'])('a list refuses the query %s', async (query) => {
    await expect(call('GET /auth/me/sessions', { query })).rejects.toMatchObject({ code: 'REQUEST_PARAMETER' });
  });
});
