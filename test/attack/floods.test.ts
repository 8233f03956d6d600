/** Filling the audit log with requests that cost nothing: refused tokens, refused refresh tokens, throttled logins and setups. */
import { get, type OutgoingHttpHeaders } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, type Reply, type RunningService, startService } from '../harness.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startService({ settings: { trustProxy: '127.0.0.1', rateLimit: 0, loginAttempts: 2, loginAttemptsPerAddress: 5 } });
  await service.admin();
});
afterAll(() => service.close());

/** Sends 60 requests from an address, ten at a time, and returns their statuses and the entries of kind `auth` that they left. */
async function flood(ip: string, send: (index: number, options: CallOptions) => Promise<Reply>) {
  const replies: Reply[] = [];
  const options = { headers: { 'x-forwarded-for': ip } };
  for (let sent = 0; sent < 60; sent += 10)
    replies.push(...(await Promise.all(Array.from({ length: 10 }, (_, index) => send(sent + index, options)))));
  const entries = (await service.decisions('kind=auth&limit=1000')).filter((entry) => entry['ip'] === ip);
  return { statuses: [...new Set(replies.map(({ status }) => status))].sort(), replies, entries };
}

/** Sends a request with headers of several values, each in a line of its own, which `fetch` would join. Returns the status. */
async function sendHeaders(headers: Readonly<Record<string, string | readonly string[]>>): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  get(`${service.url}/api/User`, { headers: headers as OutgoingHttpHeaders }, (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  }).on('error', reject);
  return promise;
}

describe('a flood of requests that any client can send', () => {
  it('refused tokens leave one entry, which every response names', async () => {
    const paths = ['/api/User', '/admin/api/policies', '/auth/me'];
    const send = (index: number, options: CallOptions) =>
      service.call('GET', paths[index % 3] ?? '', { ...options, token: `a.b.c${index}` });
    const { statuses, replies, entries } = await flood('198.51.100.1', send);
    expect(statuses).toEqual([401]);
    expect(entries).toMatchObject([{ kind: 'auth', action: 'token', allowed: false, outcome: 'IDENTITY_TOKEN' }]);
    expect(new Set(replies.map(({ headers }) => headers['x-decision-id']))).toEqual(new Set([entries[0]?.['id']]));
  });

  it('refused tokens from every address of an IPv6 network leave one entry', async () => {
    for (let host = 1; host <= 30; host++) {
      const headers = { 'x-forwarded-for': `2001:db8:7:7::${host.toString(16)}` };
      expect((await service.call('GET', '/api/User', { token: 'x.y.z', headers })).status).toBe(401);
    }
    const entries = (await service.decisions('kind=auth&limit=1000')).filter(({ ip }) => String(ip).startsWith('2001:db8:7:7:'));
    expect(entries).toHaveLength(1);
  });

  it('requests with several Authorization headers leave one entry, with any number of them', async () => {
    const send = async (index: number, { headers }: CallOptions): Promise<Reply> => {
      const authorization = Array.from({ length: 2 + index }, () => 'x');
      const status = await sendHeaders({ ...headers, authorization });
      return { status } as Reply;
    };
    const { statuses, entries } = await flood('198.51.100.5', send);
    expect([statuses, entries.length]).toEqual([[401], 1]);
  });

  it('refused refresh tokens leave one entry', async () => {
    const send = (index: number, options: CallOptions) =>
      service.call('POST', '/auth/refresh', { ...options, body: { refreshToken: `t${index}` } });
    const { statuses, entries } = await flood('198.51.100.2', send);
    expect([statuses, entries.length]).toEqual([[401], 1]);
  });

  it('refused setups leave one entry', async () => {
    const body = { email: 'eve@example.com', password: 'correct horse battery', name: 'Eve' };
    const { statuses, entries } = await flood('198.51.100.3', (_, options) => service.call('POST', '/auth/setup', { ...options, body }));
    expect([statuses, entries.length]).toEqual([[409], 1]);
  });

  it('logins leave an entry for each guess at a password, and two for 55 throttled ones', async () => {
    const send = (index: number, options: CallOptions) =>
      service.call('POST', '/auth/login', { ...options, body: { email: `user${index}@example.com`, password: 'not the password' } });
    const { statuses, entries } = await flood('198.51.100.4', send);
    expect(statuses).toEqual([401, 429]);
    const outcomes = Map.groupBy(entries, ({ outcome }) => String(outcome));
    expect([outcomes.get('IDENTITY_CREDENTIALS')?.length, outcomes.get('IDENTITY_THROTTLED')?.length]).toEqual([5, 2]);
  });
});
