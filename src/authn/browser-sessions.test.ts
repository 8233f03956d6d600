import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Problem } from '../errors.ts';
import { ADMIN, startAuthentication, type TestAuthentication } from './authentication.fixture.ts';
import type { AuthenticationOptions } from './authentication-deps.ts';
import type { BrowserLogin, BrowserRequest } from './browser-sessions.ts';

// The clock begins in the past. A clock ahead of the present would give the ids of later test files a time in the future, because ids only grow.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 100 * 86_400_000 }));
afterEach(() => void vi.useRealTimers());

async function startWithAdmin(options: Partial<AuthenticationOptions> = {}): Promise<TestAuthentication> {
  const test = await startAuthentication({ options });
  expect((await test.call('POST /auth/setup', ADMIN)).outcome).toBe(201);
  return test;
}

function toRequest(headers: Readonly<Record<string, string>> = {}, ip = '192.0.2.1'): BrowserRequest {
  const sent: Readonly<Record<string, string>> = { 'sec-fetch-site': 'same-origin', ...headers };
  return { origin: { requestId: 'r1', method: '', path: '', ip }, header: (name) => sent[name] };
}

const withCookie = ({ setCookie }: BrowserLogin): BrowserRequest => toRequest({ cookie: String(setCookie.split(';')[0]) });
const logIn = ({ identity }: TestAuthentication, request = toRequest()): Promise<BrowserLogin> =>
  identity.browserSessions.logIn({ email: ADMIN.email, password: ADMIN.password }, request);

/** Refreshes and returns the seconds of the access token, or the code of the problem. */
async function refresh({ identity }: TestAuthentication, request: BrowserRequest): Promise<number | string> {
  try {
    return (await identity.browserSessions.refresh(request)).expiresIn;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.code;
  }
}

const wait = (seconds: number): unknown => vi.setSystemTime(Date.now() + seconds * 1000);

describe('a browser session', () => {
  it('stores the hash of its cookie, and its client without control characters', async () => {
    const test = await startWithAdmin();
    const request = toRequest({ 'user-agent': `Fire\u202efox\u0000/1 ${'x'.repeat(500)}` }, '192.0.2.7');
    const { setCookie } = await logIn(test, request);
    const value = /=([^;]*)/.exec(setCookie)?.[1] ?? '';
    const now = new Date().toISOString();
    expect(await test.rows('select * from "_Session"')).toEqual([
      expect.objectContaining({
        cookieHash: createHash('sha256').update(value).digest('hex'),
        createdAt: now,
        lastUsedAt: now,
        ip: '192.0.2.7',
        userAgent: `Firefox/1 ${'x'.repeat(190)}`,
      }),
    ]);
    expect(await test.rows('select * from "_RefreshToken"')).toEqual([]);
  });

  it.each([
    [28_799, 3600],
    [28_800, 'IDENTITY_TOKEN'],
  ])('a refresh after %i idle seconds returns %s', async (seconds, expected) => {
    const test = await startWithAdmin();
    const request = withCookie(await logIn(test));
    wait(20_000);
    expect(await refresh(test, request)).toBe(3600);
    wait(seconds);
    expect(await refresh(test, request)).toBe(expected);
  });

  it('ends 7 days after the login although it is in use, and its last tokens expire with it', async () => {
    const test = await startWithAdmin();
    const request = withCookie(await logIn(test));
    const found: (number | string)[] = [];
    for (let hour = 4; hour <= 168; hour += 4) {
      wait(4 * 3600 - (hour === 168 ? 100 : 0));
      found.push(await refresh(test, request));
    }
    expect(new Set(found.slice(0, -1))).toEqual(new Set([3600]));
    expect(found.at(-1)).toBe(100);
    const { token } = await test.identity.browserSessions.refresh(request);
    wait(100);
    expect(await refresh(test, request)).toBe('IDENTITY_TOKEN');
    expect(await test.identify(token)).toBe('IDENTITY_TOKEN');
  });

  it('a shorter maximum length applies to sessions that are open', async () => {
    const test = await startWithAdmin({ sessionMaxSeconds: 60 });
    const request = withCookie(await logIn(test));
    await test.run(`update "_Session" set "createdAt" = ?`, new Date(Date.now() - 60_000).toISOString());
    expect(await refresh(test, request)).toBe('IDENTITY_TOKEN');
  });

  it('its last use is written by a login and a refresh, and not by requests with its token', async () => {
    const test = await startWithAdmin();
    const login = await logIn(test);
    const lastUse = async (): Promise<unknown> => (await test.rows('select "lastUsedAt" from "_Session"'))[0]?.['lastUsedAt'];
    const first = await lastUse();
    wait(600);
    await test.identify(login.token);
    expect(await lastUse()).toBe(first);
    await refresh(test, withCookie(login));
    expect(await lastUse()).toBe(new Date().toISOString());
  });

  it('a login ends the earlier session of the same browser, with an audit entry', async () => {
    const test = await startWithAdmin();
    const [other, first] = [await logIn(test), await logIn(test)];
    const second = await logIn(test, withCookie(first));
    expect(await test.identify(first.token)).toBe('IDENTITY_TOKEN');
    for (const { token } of [other, second]) expect(await test.identify(token)).toMatchObject({ role: 'admin' });
    expect(await test.rows(`select "reason" from "_Decision" where "action" = 'logout'`)).toEqual([{ reason: 'replaced by a new login' }]);
  });

  it('a log-out without an open session changes nothing, and deletes the cookie', async () => {
    const test = await startWithAdmin();
    expect(await test.identity.browserSessions.logOut(toRequest())).toBeUndefined();
    const login = await logIn(test);
    expect(await test.identity.browserSessions.logOut(toRequest())).toMatch(/^__Host-bailiwick-[0-9a-f]{16}=; .*Max-Age=0/);
    expect(await test.identify(login.token)).toMatchObject({ role: 'admin' });
    await test.identity.browserSessions.logOut(withCookie(login));
    expect(await test.identify(login.token)).toBe('IDENTITY_TOKEN');
  });

  it.each([
    ['of an inactive user', `update "User" set "isActive" = 0`],
    ['of a deleted user', `delete from "User"`],
    ['of a revoked session', `update "_Session" set "revokedAt" = "createdAt"`],
  ])('refuses the cookie %s', async (_, change) => {
    const test = await startWithAdmin();
    const request = withCookie(await logIn(test));
    await test.run(change);
    expect(await refresh(test, request)).toBe('IDENTITY_TOKEN');
  });

  it('a refresh without a cookie asks for a login and has no audit entry', async () => {
    const test = await startWithAdmin();
    expect(await refresh(test, toRequest())).toBe('IDENTITY_REQUIRED');
    await logIn(test);
    expect(await refresh(test, toRequest())).toBe('IDENTITY_REQUIRED');
    expect(await test.rows(`select 1 from "_Decision" where "action" = 'refresh'`)).toEqual([]);
  });
});

describe('the state of the setup', () => {
  it.each([
    ['on this machine', {}, true, { needed: true, tokenRequired: false }],
    ['elsewhere', {}, false, { needed: true, tokenRequired: true }],
    ['on this machine, if every caller needs the token', { setup: 'token' }, true, { needed: true, tokenRequired: true }],
    ['if setup is off', { setup: 'off' }, true, { needed: false, tokenRequired: false }],
  ] as const)('returns what a caller needs %s', async (_, options, isLocal, expected) => {
    const test = await startAuthentication({ options });
    expect(await test.identity.loadSetupState({ ...toRequest(), body: undefined, isLocal: () => isLocal })).toEqual(expected);
  });

  it('names no missing admin to any caller when one exists', async () => {
    const test = await startWithAdmin();
    for (const isLocal of [true, false])
      expect(await test.identity.loadSetupState({ ...toRequest(), body: undefined, isLocal: () => isLocal })).toEqual({
        needed: false,
        tokenRequired: false,
      });
  });
});
