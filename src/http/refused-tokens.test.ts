import { afterEach, describe, expect, it } from 'vitest';
import { Problem } from '../errors.ts';
import type { HttpOptions } from './http-options.ts';
import { type Listening, startServer } from './server.fixture.ts';

let server: Listening;
afterEach(() => server.server.close());

const refuse = async (): Promise<never> => {
  throw new Problem('IDENTITY_TOKEN_EXPIRED', 'the token has expired', { userId: 'u1' });
};
const ROUTES: HttpOptions['routes'] = [
  { method: 'GET', path: '/api/:resource', handle: refuse },
  { method: 'POST', path: '/api/:resource', admission: { freeBytes: 0, admit: refuse }, handle: refuse },
  {
    method: 'GET',
    path: '/missing',
    handle: async () => {
      throw new Problem('IDENTITY_REQUIRED', 'expected a bearer token, given none');
    },
  },
  {
    method: 'GET',
    path: '/recorded',
    handle: async () => {
      throw new Problem('IDENTITY_TOKEN', 'the refresh token is not valid', { decisionId: 'entry-7' });
    },
  },
];

interface Recorded {
  readonly code: string;
  readonly userId: string | undefined;
  readonly ip: string;
  readonly requestId: string;
}

async function start(record: (problem: Problem) => Promise<Problem>): Promise<Recorded[]> {
  const recorded: Recorded[] = [];
  server = await startServer({
    routes: ROUTES,
    recordRefusedToken: async (problem, origin) => {
      recorded.push({ code: problem.code, userId: problem.extras.userId, ...origin });
      return record(problem);
    },
  });
  return recorded;
}

const withEntry = async ({ code, detail }: Problem): Promise<Problem> => new Problem(code, detail, { decisionId: 'entry-1' });

describe('recordRefusedToken', () => {
  it.each([
    ['a route', '/api/Article', {}, 'IDENTITY_TOKEN_EXPIRED', 'u1'],
    ['the admission of a body', '/api/Article', { method: 'POST', body: '{}' }, 'IDENTITY_TOKEN_EXPIRED', 'u1'],
    ['a malformed header', '/api/Article', { headers: { authorization: 'Basic YTpi' } }, 'IDENTITY_TOKEN', undefined],
  ])(
    'calls recordRefusedToken once for a token that is refused by %s, and the response names the entry',
    async (_, path, init: RequestInit, code, userId) => {
      const recorded = await start(withEntry);
      const headers = { 'x-request-id': 'q1', 'content-type': 'application/json', ...init.headers };
      const reply = await fetch(`${server.url}${path}`, { ...init, headers });
      expect([reply.status, reply.headers.get('x-decision-id')]).toEqual([401, 'entry-1']);
      const body = await reply.text();
      expect(JSON.parse(body)).toMatchObject({ code, decisionId: 'entry-1', requestId: 'q1' });
      expect(body).not.toContain('u1');
      expect(recorded).toEqual([{ code, userId, ip: '127.0.0.1', requestId: 'q1' }]);
    },
  );

  it.each([
    ['a request without a token', '/missing'],
    ['a refused token that has an entry', '/recorded'],
  ])('calls no recordRefusedToken for %s', async (_, path) => {
    const recorded = await start(withEntry);
    expect((await fetch(`${server.url}${path}`)).status).toBe(401);
    expect(recorded).toEqual([]);
  });

  it('lets the response wait until the entry is recorded', async () => {
    const { promise, resolve } = Promise.withResolvers<Problem>();
    const recorded = await start(() => promise);
    let isAnswered = false;
    const reply = fetch(`${server.url}/api/Article`).then(({ status }) => {
      isAnswered = true;
      return status;
    });
    await expect.poll(() => recorded.length).toBe(1);
    expect(isAnswered).toBe(false);
    resolve(await withEntry(new Problem('IDENTITY_TOKEN', 'the token is not valid')));
    expect(await reply).toBe(401);
  });

  it('responds with 503 if the entry cannot be recorded', async () => {
    await start(() => Promise.reject(new Problem('STORAGE_UNAVAILABLE', 'the change could not be stored')));
    const reply = await fetch(`${server.url}/api/Article`);
    expect([reply.status, ((await reply.json()) as { code: string }).code]).toEqual([503, 'STORAGE_UNAVAILABLE']);
  });
});
