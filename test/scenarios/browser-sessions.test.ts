/** Browser sessions and the state of the setup: the responses, the cookie and the audit entries. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, SAME_ORIGIN } from '../browser.ts';
import { createChain } from '../chain.ts';
import { type RunningService, startService } from '../harness.ts';
import { checkScenarios, type ScenarioContext } from './scenario.ts';

const password = 'correct horse battery';

describe('the state of the setup', () => {
  const it = createChain();
  let service: RunningService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  const state = async (headers: Readonly<Record<string, string>> = {}): Promise<unknown> =>
    (await service.call('GET', '/auth/setup', { headers })).body;

  it('names a missing admin, and requires the token of callers that are not on this machine', async () => {
    expect(await state()).toEqual({ success: true, data: { needed: true, tokenRequired: false } });
    expect(await state({ 'x-forwarded-for': '192.0.2.1' })).toEqual({ success: true, data: { needed: true, tokenRequired: true } });
  });

  it('names no missing admin when one exists', async () => {
    await service.admin();
    for (const headers of [{}, { 'x-forwarded-for': '192.0.2.1' }])
      expect(await state(headers)).toEqual({ success: true, data: { needed: false, tokenRequired: false } });
  });

  it('no route returns it if setup is off', async () => {
    const closed = await startService({ settings: { setup: 'off' } });
    try {
      expect((await closed.call('GET', '/auth/setup')).status).toBe(404);
    } finally {
      await closed.close();
    }
  });
});

describe('a browser session', () => {
  const it = createChain();
  let stage: ScenarioContext;
  beforeAll(async () => {
    const service = await startService();
    const user = await service.user({ name: 'Uma' });
    const browser = openBrowser(service);
    await browser.logIn(user.email);
    const kept = new Map([
      ['user', user.id],
      ['email', user.email],
      ['cookie', String(browser.cookie)],
    ]);
    stage = { service, tokens: new Map(), kept };
  });
  afterAll(() => stage.service.close());

  const user = { id: '{user}', email: '{email}', name: 'Uma', role: 'user' };
  const tokens = { success: true, tokenType: 'Bearer', expiresIn: 3600, user };
  const entry = (action: string, members: object): object => ({ kind: 'auth', resource: 'Auth', action, ip: '127.0.0.1', ...members });
  const ofUser = (action: string): readonly object[] => [entry(action, { allowed: true, userId: '{user}', role: 'user' })];

  checkScenarios(
    () => stage,
    [
      {
        name: 'begins with an email and a password, without a refresh token',
        send: 'POST /auth/session',
        headers: SAME_ORIGIN,
        body: { email: '{email}', password },
        status: 200,
        body_has: { ...tokens, message: 'logged in' },
        body_lacks: ['refreshToken'],
        headers_have: { 'cache-control': 'no-store' },
        entries: ofUser('login'),
      },
      {
        name: 'is refused with a wrong password, as a login is',
        send: 'POST /auth/session',
        headers: SAME_ORIGIN,
        body: { email: '{email}', password: 'wrong horse battery' },
        status: 401,
        body_has: { code: 'IDENTITY_CREDENTIALS' },
        entries: [entry('login', { allowed: false, role: 'anon', outcome: 'IDENTITY_CREDENTIALS' })],
      },
      {
        name: 'lists every mistake of the credentials',
        send: 'POST /auth/session',
        headers: SAME_ORIGIN,
        body: { email: '', role: 'admin' },
        status: 400,
        body_has: { code: 'REQUEST_MALFORMED' },
        entries: [],
      },
      {
        name: 'is refused to a program, with one entry',
        send: 'POST /auth/session',
        body: { email: '{email}', password },
        status: 403,
        body_has: { code: 'IDENTITY_ORIGIN' },
        entries: [entry('login', { allowed: false, role: 'anon', outcome: 'IDENTITY_ORIGIN' })],
      },
      {
        name: 'a refresh without a cookie asks for a login',
        send: 'POST /auth/session/refresh',
        headers: SAME_ORIGIN,
        status: 401,
        body_has: { code: 'IDENTITY_REQUIRED', hint: 'log in with POST /auth/session' },
        entries: [],
      },
      {
        name: 'a refresh without a cookie says that browsers store none over plain HTTP',
        send: 'POST /auth/session/refresh',
        headers: { origin: 'http://192.0.2.2:8787', host: '192.0.2.2:8787' },
        status: 401,
        body_has: {
          code: 'IDENTITY_REQUIRED',
          hint: 'browsers store the cookie only over HTTPS, or on the machine of the service; log in again after each reload, or use HTTPS',
        },
        entries: [],
      },
    ],
    it,
  );

  it('a refresh with an unknown cookie is refused, with an entry', async () => {
    const { service, kept } = stage;
    const headers = { ...SAME_ORIGIN, cookie: `${kept.get('cookie')}x` };
    const reply = await service.call('POST', '/auth/session/refresh', { headers });
    expect([reply.status, reply.at('code')]).toEqual([401, 'IDENTITY_TOKEN']);
    const [entry] = await service.decisions('kind=auth&action=refresh');
    expect(entry).toMatchObject({ id: reply.at('decisionId'), allowed: false, role: 'anon', outcome: 'IDENTITY_TOKEN' });
  });

  it('a refresh returns a new token for the same session, and sets no cookie', async () => {
    const { service, kept } = stage;
    const headers = { ...SAME_ORIGIN, cookie: String(kept.get('cookie')) };
    const reply = await service.call('POST', '/auth/session/refresh', { headers });
    expect([reply.status, reply.headers['set-cookie'], reply.at('refreshToken')]).toEqual([200, undefined, undefined]);
    expect((await service.call('GET', '/auth/me', { token: String(reply.at('token')) })).status).toBe(200);
    const [entry] = await service.decisions('kind=auth&action=refresh&allowed=true');
    expect(entry).toMatchObject({ allowed: true, userId: kept.get('user'), role: 'user', recordId: expect.any(String) });
  });

  it('ends with DELETE, which deletes the cookie and is recorded once', async () => {
    const { service, kept } = stage;
    const send = () => service.call('DELETE', '/auth/session', { headers: { ...SAME_ORIGIN, cookie: String(kept.get('cookie')) } });
    const first = await send();
    expect([first.status, first.body]).toEqual([200, { success: true, message: 'logged out' }]);
    expect(first.headers['set-cookie']?.[0]).toContain('Max-Age=0');
    expect((await send()).status).toBe(200);
    expect(await service.decisions('kind=auth&action=logout')).toMatchObject([
      { allowed: true, userId: kept.get('user'), reason: 'logged out' },
    ]);
  });
});

it('two services on one host have cookies of different names', async () => {
  const services = [await startService(), await startService()];
  try {
    const names = new Set<string | undefined>();
    for (const service of services) {
      const browser = openBrowser(service);
      await browser.logIn((await service.admin()).email);
      names.add(browser.cookie?.split('=')[0]);
    }
    expect(names.size).toBe(2);
  } finally {
    for (const service of services) await service.close();
  }
});
