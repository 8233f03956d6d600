/** The open sessions of a user: those of a browser and those with refresh tokens, seen and ended by the user and by an admin. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { openBrowser } from '../browser.ts';
import { createChain } from '../chain.ts';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const it = createChain();

let service: RunningService;
let admin: TestUser;
let uma: TestUser;
beforeAll(async () => {
  service = await startService();
  admin = await service.admin();
  uma = await service.user({ name: 'Uma' });
});
afterAll(() => service.close());

interface Listed {
  readonly id: string;
  readonly kind: string;
  readonly isCurrent?: boolean;
}
const list = async (token: string, path = '/auth/me/sessions'): Promise<readonly Listed[]> =>
  (await service.call('GET', path, { token })).at('data') as readonly Listed[];
const me = async (token: string): Promise<number> => (await service.call('GET', '/auth/me', { token })).status;
const end = (path: string, token: string): Promise<Reply> => service.call('DELETE', path, { token });
/** Opens a browser session of Uma; returns its token. */
const browse = async (): Promise<string> =>
  String((await openBrowser(service, { 'user-agent': 'Firefox/148' }).logIn(uma.email)).at('token'));
const newestEntry = async (query: string): Promise<unknown> => (await service.decisions(`limit=1&${query}`))[0];

describe('own sessions', () => {
  it('a user sees sessions of browsers and of tokens, with address and user agent, and the current one', async () => {
    const token = await browse();
    const reply = await service.call('GET', '/auth/me/sessions', { token });
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.body).toMatchObject({
      success: true,
      count: 2,
      data: [
        { kind: 'browser', isCurrent: true, ip: '127.0.0.1', userAgent: 'Firefox/148' },
        { kind: 'bearer', isCurrent: false, ip: '127.0.0.1' },
      ],
    });
    expect((await list(uma.token)).map(({ isCurrent }) => isCurrent)).toEqual([false, true]);
  });

  it('a user ends a session, which is refused from then on', async () => {
    const token = await browse();
    const [current] = await list(token);
    const reply = await end(`/auth/me/sessions/${current?.id}`, uma.token);
    expect([reply.status, await me(token), await me(uma.token)]).toEqual([200, 401, 200]);
    expect(await newestEntry('kind=auth&action=revoke')).toMatchObject({
      allowed: true,
      userId: uma.id,
      role: 'user',
      recordId: current?.id,
    });
    expect((await end(`/auth/me/sessions/${current?.id}`, uma.token)).at('code')).toBe('SESSION_UNKNOWN');
  });

  it('a user cannot end the session of another', async () => {
    const [session] = await list(admin.token);
    const reply = await end(`/auth/me/sessions/${session?.id}`, uma.token);
    expect([reply.status, reply.at('code'), await me(admin.token)]).toEqual([404, 'SESSION_UNKNOWN', 200]);
  });

  it('a user ends all sessions but the current one', async () => {
    const token = await browse();
    const count = (await list(token)).length;
    const reply = await end('/auth/me/sessions', token);
    expect(reply.at('data.ended')).toBe(count - 1);
    expect([await me(token), await me(uma.token)]).toEqual([200, 401]);
    expect(await list(token)).toHaveLength(1);
    expect(await newestEntry('kind=auth&action=revoke')).toMatchObject({ reason: `ended ${count - 1} other sessions`, userId: uma.id });
    uma = { ...uma, token };
  });

  it.each(['GET /auth/me/sessions', 'DELETE /auth/me/sessions', 'DELETE /auth/me/sessions/x'])('%s requires a token', async (route) => {
    const [method = '', path = ''] = route.split(' ');
    const reply = await service.call(method, path);
    expect([reply.status, reply.at('code')]).toEqual([401, 'IDENTITY_REQUIRED']);
  });
});

describe('the sessions of a user, for an admin', () => {
  const path = (): string => `/admin/api/users/${uma.id}/sessions`;

  it('an admin sees them, and the read is recorded', async () => {
    const token = await browse();
    const found = await list(admin.token, path());
    expect(found.map(({ id }) => id)).toEqual((await list(token)).map(({ id }) => id));
    expect(found[0]).not.toHaveProperty('isCurrent');
    expect(await newestEntry('kind=admin&action=sessions.list')).toMatchObject({ facts: { question: { userId: uma.id } } });
  });

  it('an admin ends one, and then all of them, with an audit entry each', async () => {
    const tokens = [await browse(), await browse()] as const;
    const [newest] = await list(tokens[1]);
    const one = await end(`${path()}/${newest?.id}`, admin.token);
    expect([one.status, await me(tokens[1]), await me(tokens[0])]).toEqual([200, 401, 200]);
    expect(await newestEntry('kind=admin&resource=Session')).toMatchObject({ action: 'delete', recordId: newest?.id, userId: admin.id });
    const all = await end(path(), admin.token);
    expect(all.at('data.ended')).toBeGreaterThan(1);
    expect([await me(tokens[0]), await me(uma.token), await me(admin.token)]).toEqual([401, 401, 200]);
    expect(await newestEntry('kind=admin&resource=Session')).toMatchObject({ action: 'delete', reason: expect.stringContaining(uma.id) });
  });

  it('other users get 403, and unknown users and sessions 404', async () => {
    const { token } = await service.user();
    for (const [method, each] of [
      ['GET', path()],
      ['DELETE', path()],
      ['DELETE', `${path()}/x`],
    ] as const)
      expect((await service.call(method, each, { token })).at('code')).toBe('ACCESS_ADMIN');
    expect((await end(`${path()}/x`, admin.token)).at('code')).toBe('SESSION_UNKNOWN');
    expect((await service.call('GET', '/admin/api/users/x/sessions', { token: admin.token })).at('code')).toBe('USER_UNKNOWN');
  });
});
