/** Browser sessions: requests that other sites send, cookies that others have chosen, and sessions that have ended. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, SAME_ORIGIN } from '../browser.ts';
import type { Reply } from '../harness.ts';
import { type AttackTarget, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

const ROUTES = ['POST /auth/session', 'POST /auth/session/refresh', 'DELETE /auth/session'] as const;

type Headers = Readonly<Record<string, string>>;

/** Sends a request with the cookie of an open session of Alice. */
async function sendTo(route: string, headers: Headers): Promise<Reply> {
  const browser = openBrowser(target);
  await browser.logIn(target.emails.alice, target.passwords);
  const [method = '', path = ''] = route.split(' ');
  const body = route === 'POST /auth/session' ? { email: target.emails.alice, password: target.passwords } : undefined;
  const reply = await target.call(method, path, { body, headers: { cookie: String(browser.cookie), ...headers } });
  if (reply.status === 403) expect((await browser.refresh()).status, 'the session is unchanged').toBe(200);
  return reply;
}

describe('a request of another site', () => {
  const origins: readonly (readonly [name: string, headers: Headers])[] = [
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another origin of the same site', { 'sec-fetch-site': 'same-site' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
    ['no browser', {}],
    ['an unknown value', { 'sec-fetch-site': 'same-origin, cross-site' }],
    ['another Origin', { origin: 'https://evil.example' }],
    ['the Origin null', { origin: 'null' }],
    ['another port', { origin: 'http://127.0.0.1:1', host: '127.0.0.1:8787' }],
    ['a subdomain', { origin: 'http://www.localhost:8787', host: 'localhost:8787' }],
    ['a name that begins like the host', { origin: 'http://localhost:87870', host: 'localhost:8787' }],
    ['another site with our Origin', { 'sec-fetch-site': 'cross-site', origin: 'http://127.0.0.1:8787', host: '127.0.0.1:8787' }],
  ];
  it.each(ROUTES.flatMap((route) => origins.map(([name, headers]) => [route, name, headers] as const)))(
    '%s is refused to %s, and sets no cookie',
    async (route, _, headers) => {
      const reply = await sendTo(route, headers);
      expect([reply.status, reply.at('code'), reply.headers['set-cookie']]).toEqual([403, 'IDENTITY_ORIGIN', undefined]);
    },
  );

  it.each(ROUTES)('%s is open to a page of the service, by either header', async (route) => {
    for (const headers of [
      SAME_ORIGIN,
      { 'sec-fetch-site': 'same-origin', origin: 'null' },
      { origin: 'http://127.0.0.1:8787', host: '127.0.0.1:8787' },
      { origin: 'https://localhost', host: 'LOCALHOST' },
    ])
      expect((await sendTo(route, headers)).status).toBe(200);
  });

  it.each(['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain'])(
    'a form of type %s is refused',
    async (type) => {
      const raw = `email=${target.emails.alice}&password=${target.passwords}`;
      const headers = { ...SAME_ORIGIN, 'content-type': type };
      expect((await target.call('POST', '/auth/session', { raw, headers })).status).toBe(415);
      expect((await target.call('POST', '/auth/session/refresh', { raw, headers })).status).toBe(415);
    },
  );

  it('a refused request has one audit entry per minute', async () => {
    const count = async () => {
      const entries = await target.decisions('kind=auth&action=refresh&allowed=false&limit=1000');
      return entries.filter(({ outcome }) => outcome === 'IDENTITY_ORIGIN').length;
    };
    const refused = () => target.call('POST', '/auth/session/refresh', { headers: { 'sec-fetch-site': 'cross-site' } });
    await refused();
    const before = await count();
    for (let times = 0; times < 20; times++) await refused();
    expect((await count()) - before).toBe(0);
    expect(before).toBeGreaterThan(0);
  });
});

describe('a session cookie', () => {
  it('carries the attributes that keep scripts, other sites and other hosts away, and 256 random bits', async () => {
    const [first, second] = [openBrowser(target), openBrowser(target)];
    const reply = await first.logIn(target.emails.alice, target.passwords);
    expect(reply.headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-bailiwick-[0-9a-f]{16}=[\w-]{43}; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Strict$/),
    ]);
    expect(reply.at('refreshToken')).toBeUndefined();
    expect(reply.text).not.toContain(first.cookie?.split('=')[1]);
    await second.logIn(target.emails.alice, target.passwords);
    expect(second.cookie?.split('=')[0]).toBe(first.cookie?.split('=')[0]);
    expect(second.cookie).not.toBe(first.cookie);
  });

  it('a cookie that another person has chosen is replaced at the login, and opens nothing', async () => {
    const [mallory, victim] = [openBrowser(target), openBrowser(target)];
    await mallory.logIn(target.emails.bob, target.passwords);
    const planted = String(mallory.cookie);
    for (const cookie of [planted, `${planted.split('=')[0]}=${'x'.repeat(43)}`]) {
      victim.cookie = cookie;
      expect((await victim.logIn(target.emails.alice, target.passwords)).status).toBe(200);
      expect(victim.cookie).not.toBe(cookie);
      mallory.cookie = cookie;
      expect((await mallory.refresh()).status).toBe(401);
    }
  });

  it('two cookies of the same name are refused', async () => {
    const browser = openBrowser(target);
    await browser.logIn(target.emails.alice, target.passwords);
    const own = String(browser.cookie);
    browser.cookie = `${own.split('=')[0]}=${'x'.repeat(43)}; ${own}`;
    expect((await browser.refresh()).status).toBe(401);
    browser.cookie = `other=1; ${own}; last=2`;
    expect((await browser.refresh()).status).toBe(200);
  });

  it('the cookie authenticates no other request', async () => {
    const browser = openBrowser(target);
    await browser.logIn(target.emails.admin, target.passwords);
    const headers = { ...SAME_ORIGIN, cookie: String(browser.cookie) };
    const send = (method: string, path: string, body?: unknown) => target.call(method, path, { headers, body });
    const anonymous = (method: string, path: string, body?: unknown) => target.call(method, path, { body });
    for (const [method, path, body] of [
      ['GET', '/auth/me'],
      ['POST', '/auth/logout'],
      ['GET', '/admin/api/policies'],
      ['GET', '/admin/api/decisions'],
      ['POST', '/admin/api/policies', { name: 'x', type: 'CUSTOM', rules: [] }],
      ['DELETE', `/admin/api/policies/${target.policies.user}`],
    ] as const)
      expect([`${method} ${path}`, (await send(method, path, body)).status]).toEqual([`${method} ${path}`, 401]);
    for (const [method, path, body] of [
      ['GET', '/api/Case'],
      ['GET', `/api/Case/${target.cases.bob}`],
      ['DELETE', `/api/Case/${target.cases.bob}`],
      ['POST', '/api/Case', { title: 'x' }],
      ['POST', '/api/Case/export', {}],
      ['GET', '/api/User'],
    ] as const) {
      const [given, expected] = [await send(method, path, body), await anonymous(method, path, body)];
      expect([path, given.status, given.at('detail')]).toEqual([path, expected.status, expected.at('detail')]);
    }
    const requests = [{ resource: 'Case', action: 'delete', data: { id: target.cases.bob } }];
    expect((await send('POST', '/api/batch', { requests })).at('data.0.status')).toBe(403);
  });

  it('every other operation of the API answers a cookie as it answers no credentials', async () => {
    const browser = openBrowser(target);
    await browser.logIn(target.emails.admin, target.passwords);
    const headers = { ...SAME_ORIGIN, cookie: String(browser.cookie) };
    const token = await target.logIn(target.emails.admin, target.passwords);
    const paths = (await target.call('GET', '/openapi.json', { token })).at('paths') as Readonly<Record<string, object>>;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
    );
    expect(operations.length).toBeGreaterThan(50);
    for (const [method, template] of operations.filter(([, path]) => !path.startsWith('/auth/session') && path !== '/auth/setup')) {
      const path = template.replace(/\{\w+\}/g, target.cases.bob);
      const body = method === 'POST' || method === 'PUT' ? {} : undefined;
      const given = await target.call(method, path, { headers, body });
      const expected = await target.call(method, path, { body });
      const stable = ({ status, at }: Reply): unknown => [method, path, status, at('code'), at('detail')];
      expect(stable(given)).toEqual(stable(expected));
    }
    expect((await browser.refresh()).status).toBe(200);
  });

  it('the value of a cookie is neither an access token nor a refresh token', async () => {
    const browser = openBrowser(target);
    await browser.logIn(target.emails.alice, target.passwords);
    const value = browser.cookie?.split('=')[1];
    expect((await target.call('GET', '/auth/me', { token: value })).status).toBe(401);
    expect((await target.call('POST', '/auth/refresh', { body: { refreshToken: value } })).status).toBe(401);
  });

  it('neither a refresh token nor an access token is a cookie, and a token opens no browser session', async () => {
    const login = await target.call('POST', '/auth/login', { body: { email: target.emails.alice, password: target.passwords } });
    const browser = openBrowser(target);
    await browser.logIn(target.emails.alice, target.passwords);
    const name = browser.cookie?.split('=')[0];
    for (const value of [login.at('token'), login.at('refreshToken')]) {
      browser.cookie = `${name}=${value}`;
      expect((await browser.refresh()).status).toBe(401);
    }
    const byToken = await target.call('POST', '/auth/session', { token: String(login.at('token')), headers: SAME_ORIGIN, body: {} });
    expect([byToken.status, byToken.headers['set-cookie']]).toEqual([400, undefined]);
  });
});

describe('the limits of logins', () => {
  it('wrong passwords are counted together with those of POST /auth/login, and recorded in the same way', async () => {
    const limited = await startAttackTarget({ loginAttempts: 4 });
    try {
      const body = { email: limited.emails.bob, password: 'wrong horse battery' };
      const paths = ['/auth/session', '/auth/login', '/auth/session', '/auth/login', '/auth/session', '/auth/login'];
      const statuses: number[] = [];
      for (const path of paths) statuses.push((await limited.call('POST', path, { body, headers: SAME_ORIGIN })).status);
      expect(statuses).toEqual([401, 401, 401, 401, 429, 429]);
      const entries = await limited.decisions(`kind=auth&action=login&userId=${limited.ids.bob}&allowed=false`);
      expect(entries.map(({ outcome, reason }) => [outcome, reason])).toEqual(
        Array(4).fill(['IDENTITY_CREDENTIALS', 'the password is wrong']),
      );
    } finally {
      await limited.close();
    }
  });
});

describe('the end of a browser session', () => {
  it('two tabs that refresh at the same time both get a token, many times', async () => {
    const browser = openBrowser(target);
    await browser.logIn(target.emails.alice, target.passwords);
    const cookie = browser.cookie;
    for (let times = 0; times < 5; times++) {
      const replies = await Promise.all(Array.from({ length: 4 }, () => browser.refresh()));
      expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      for (const reply of replies) expect((await target.call('GET', '/auth/me', { token: String(reply.at('token')) })).status).toBe(200);
    }
    expect(browser.cookie).toBe(cookie);
  });

  it('a session that is ended in use is refused at once, with its cookie and all its access tokens', async () => {
    const browser = openBrowser(target);
    const tokens = [await browser.logIn(target.emails.alice, target.passwords), await browser.refresh()].map((reply) =>
      String(reply.at('token')),
    );
    const stolen = String(browser.cookie);
    expect((await browser.logOut()).status).toBe(200);
    expect(browser.cookie).toBeUndefined();
    for (const token of tokens) expect((await target.call('GET', '/auth/me', { token })).status).toBe(401);
    browser.cookie = stolen;
    expect((await browser.refresh()).at('code')).toBe('IDENTITY_TOKEN');
  });

  it('a new password and a deactivation end browser sessions', async () => {
    const token = await target.logIn(target.emails.admin, target.passwords);
    for (const change of [{ password: 'another horse battery' }, { isActive: false }]) {
      const { id, email } = await target.user();
      const browser = openBrowser(target);
      await browser.logIn(email);
      expect((await target.call('PUT', `/api/User/${id}`, { token, body: change })).status).toBe(200);
      expect((await browser.refresh()).status).toBe(401);
    }
  });

  it('a session ends by its idle timeout', async () => {
    const short = await startAttackTarget({ sessionIdleSeconds: 1 });
    try {
      const browser = openBrowser(short);
      const token = String((await browser.logIn(short.emails.alice, short.passwords)).at('token'));
      await pause(1100);
      expect((await short.call('GET', '/auth/me', { token })).status).toBe(401);
      expect((await browser.refresh()).status).toBe(401);
    } finally {
      await short.close();
    }
  });

  it('a session ends by its maximum length, however often it is refreshed', async () => {
    const short = await startAttackTarget({ sessionMaxSeconds: 2 });
    try {
      const browser = openBrowser(short);
      const started = Date.now();
      let token = String((await browser.logIn(short.emails.alice, short.passwords)).at('token'));
      while (Date.now() < started + 2100) {
        await pause(200);
        const reply = await browser.refresh();
        if (reply.status === 200) token = String(reply.at('token'));
      }
      expect((await browser.refresh()).status).toBe(401);
      expect((await short.call('GET', '/auth/me', { token })).status).toBe(401);
    } finally {
      await short.close();
    }
  });
});
