import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ADMIN, type Outcome, startAuthentication, type TestAuthentication } from './authentication.fixture.ts';
import type { AuthenticationOptions } from './authentication-deps.ts';
import { revokeSessions } from './sessions.ts';

const { email, password } = ADMIN;

// The clock begins in the past. A clock ahead of the present would give the ids of later test files a time in the future, because ids only grow.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 100 * 86_400_000 }));
afterEach(() => void vi.useRealTimers());

async function startWithAdmin(options: Partial<AuthenticationOptions> = {}): Promise<TestAuthentication> {
  const test = await startAuthentication({ options });
  expect((await test.call('POST /auth/setup', ADMIN)).outcome).toBe(201);
  return test;
}

const logIn = ({ call }: TestAuthentication, given: { email?: string; password?: string } = {}, ip = '192.0.2.1'): Promise<Outcome> =>
  call('POST /auth/login', { email, password, ...given }, { ip });
const refresh = ({ call }: TestAuthentication, refreshToken: unknown): Promise<Outcome> =>
  call('POST /auth/refresh', { refreshToken: String(refreshToken) });
const outcomesOf = (replies: readonly Outcome[]): (number | string)[] => replies.map(({ outcome }) => outcome);
const codeOf = async (test: TestAuthentication, token: unknown): Promise<unknown> => {
  const found = await test.identify(String(token));
  return typeof found === 'string' ? found : 'identified';
};

describe('login', () => {
  it('login returns tokens and the user', async () => {
    const test = await startWithAdmin();
    const { outcome, body } = await logIn(test, { email: 'ADA@example.org' });
    expect(outcome).toBe(200);
    expect(body).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expiresIn: 3600,
      refreshToken: expect.stringMatching(/^[\w-]{43}$/),
      user: { id: expect.any(String), email: 'ada@example.org', name: 'Ada', role: 'admin' },
    });
    expect(await codeOf(test, body['token'])).toBe('identified');
  });

  it('stores only the digest of a refresh token', async () => {
    const test = await startWithAdmin();
    const { body } = await logIn(test);
    const digest = createHash('sha256').update(String(body['refreshToken'])).digest('hex');
    expect(await test.rows('select "id" from "_RefreshToken"')).toEqual([{ id: digest }]);
  });

  it.each([
    ['an unknown user', '', { email: 'unknown@example.org' }],
    ['an inactive user', `update "User" set "isActive" = 0`, {}],
    ['a user without a password', `update "User" set "password" = null`, {}],
  ])('refuses the login of %s with the same message as a wrong password', async (_, change, given) => {
    const test = await startWithAdmin();
    const wrong = await logIn(test, { password: 'wrong horse' });
    expect(wrong.outcome).toBe('IDENTITY_CREDENTIALS');
    if (change !== '') await test.run(change);
    const { problem } = await logIn(test, given);
    expect([problem?.code, problem?.detail]).toEqual([wrong.problem?.code, wrong.problem?.detail]);
  });

  it('limits login attempts per account, known or not, and returns the seconds to wait', async () => {
    const test = await startWithAdmin({ loginAttempts: 3 });
    for (const given of [{ password: 'wrong' }, { email: 'unknown@example.org' }]) {
      const replies = [await logIn(test, given), await logIn(test, given), await logIn(test, given), await logIn(test, given)];
      expect(outcomesOf(replies)).toEqual([...Array(3).fill('IDENTITY_CREDENTIALS'), 'IDENTITY_THROTTLED']);
      expect(replies[3]?.problem?.extras.retryAfter).toBeGreaterThan(890);
    }
    expect((await logIn(test)).outcome).toBe('IDENTITY_THROTTLED');
    expect(JSON.stringify(await test.rows('select * from "_LoginAttempt"'))).not.toContain('ada');
  });

  it('allows login attempts again when the window has ended, and clears the count after a login', async () => {
    const test = await startWithAdmin({ loginAttempts: 2 });
    const wrong = { password: 'wrong' };
    expect(outcomesOf([await logIn(test, wrong), await logIn(test), await logIn(test, wrong), await logIn(test)])).toEqual([
      'IDENTITY_CREDENTIALS',
      200,
      'IDENTITY_CREDENTIALS',
      200,
    ]);
    expect(outcomesOf([await logIn(test, wrong), await logIn(test, wrong), await logIn(test)]).at(-1)).toBe('IDENTITY_THROTTLED');
    vi.setSystemTime(Date.now() + 900_000);
    expect((await logIn(test)).outcome).toBe(200);
  });

  it('limits login attempts per address over all accounts, and a login to another account does not reset the count', async () => {
    const test = await startWithAdmin({ loginAttemptsPerAddress: 3 });
    const strangers = [0, 1].map((index) => ({ email: `n${index}@example.org` }));
    for (const given of [...strangers, {}, {}]) await logIn(test, given, '2001:db8::1');
    expect((await logIn(test, { email: 'n3@example.org' }, '2001:db8::2')).outcome).toBe('IDENTITY_CREDENTIALS');
    expect((await logIn(test, {}, '2001:db8::3')).outcome).toBe('IDENTITY_THROTTLED');
    expect((await logIn(test, {}, '192.0.2.9')).outcome).toBe(200);
  });

  it('counts login attempts before hashing, so that concurrent attempts are limited too', async () => {
    const test = await startWithAdmin({ loginAttempts: 4 });
    const outcomes = outcomesOf(await Promise.all(Array.from({ length: 64 }, () => logIn(test, { password: 'wrong' }))));
    expect(outcomes.filter((outcome) => outcome === 'IDENTITY_CREDENTIALS')).toHaveLength(4);
    expect(outcomes.filter((outcome) => outcome === 'IDENTITY_THROTTLED')).toHaveLength(60);
  });

  it('concurrent logins with the right password wait a second for those that are being verified', async () => {
    const test = await startWithAdmin({ loginAttempts: 4 });
    const replies = await Promise.all(Array.from({ length: 30 }, () => logIn(test)));
    const refused = replies.filter(({ outcome }) => outcome !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(refused.map(({ problem }) => `${problem?.code} ${problem?.extras.retryAfter}`))).toEqual(
      new Set(['IDENTITY_THROTTLED 1']),
    );
    expect((await logIn(test)).outcome).toBe(200);
  });

  it('a login waits for the end of the window once all counted passwords were wrong', async () => {
    const test = await startWithAdmin({ loginAttempts: 4 });
    await Promise.all(Array.from({ length: 30 }, () => logIn(test, { password: 'wrong' })));
    const replies = await Promise.all([logIn(test), logIn(test)]);
    for (const { problem } of replies) expect(problem?.extras.retryAfter).toBeGreaterThan(890);
  });

  it('stores digests of the addresses of the latest logins, up to a number per user', async () => {
    const test = await startWithAdmin();
    for (let host = 1; host <= 25; host++) await logIn(test, {}, `198.51.100.${host}`);
    expect(await test.rows('select * from "_LoginAddress"')).toHaveLength(20);
    expect(JSON.stringify(await test.rows('select * from "_LoginAddress"'))).not.toContain('198.51');
    vi.setSystemTime(Date.now() + 91 * 86_400_000);
    await logIn(test, {}, '198.51.100.99');
    expect(await test.rows('select * from "_LoginAddress"')).toHaveLength(1);
  });

  it('refuses a password that changes while it is verified', async () => {
    const test = await startWithAdmin();
    const pending = logIn(test);
    await test.run(`update "User" set "password" = 'another'`);
    expect((await pending).outcome).toBe('IDENTITY_CREDENTIALS');
    expect(await test.rows('select * from "_Session"')).toEqual([]);
  });

  it('login deletes expired sessions, refresh tokens and attempts', async () => {
    const test = await startWithAdmin();
    await logIn(test);
    vi.setSystemTime(Date.now() + 100_000_000);
    await logIn(test);
    for (const table of ['_Session', '_RefreshToken', '_LoginAttempt']) expect(await test.rows(`select * from "${table}"`)).toHaveLength(1);
  });

  it('refresh deletes expired sessions too, because clients that refresh may never log in again', async () => {
    const test = await startWithAdmin({ refreshTokenSeconds: 36_000 });
    let { body } = await logIn(test);
    for (let hour = 0; hour < 30; hour++) {
      vi.setSystemTime(Date.now() + 3_600_001);
      body = (await refresh(test, body['refreshToken'])).body;
    }
    // Used tokens are kept until they expire after ten hours, so that their reuse is detected.
    expect(await test.rows('select * from "_RefreshToken"')).toHaveLength(10);
  });

  it('sessions that are revoked while the clock is ahead stay revoked after it is corrected', async () => {
    const test = await startWithAdmin();
    const { body } = await logIn(test);
    const now = Date.now();
    vi.setSystemTime(now + 365 * 86_400_000);
    const { id } = body['user'] as { id: string };
    expect(await test.database.transaction((tx) => revokeSessions(tx, id))).toBe(0);
    vi.setSystemTime(now);
    expect(await codeOf(test, body['token'])).toBe('IDENTITY_TOKEN');
    expect((await refresh(test, body['refreshToken'])).outcome).toBe('IDENTITY_TOKEN');
  });

  it('login deletes at most 200 expired rows of a table, and the next login continues', async () => {
    const test = await startWithAdmin();
    for (let n = 0; n < 450; n++)
      await test.run(
        `insert into "_Session" ("id", "userId", "createdAt", "expiresAt") values (?, 'u1', '2001-01-01T00:00:00.000Z', '2001-01-01T00:00:00.000Z')`,
        `s${n}`,
      );
    const left: number[] = [];
    for (let logins = 1; logins <= 4; logins++) {
      await logIn(test);
      left.push((await test.rows(`select * from "_Session" where "userId" = 'u1'`)).length);
    }
    expect(left).toEqual([250, 50, 0, 0]);
  });
});

describe('the newest 1,000 sessions of a user', () => {
  const isOpen = `"revokedAt" is null`;
  const ids = async (test: TestAuthentication, where: string): Promise<unknown[]> =>
    (await test.rows(`select "id" from "_Session" where ${where} order by "id"`)).map(({ id }) => id);

  /** Adds open sessions that are older than all others. Their ids are numbers of five digits. */
  const addOlder = (test: TestAuthentication, userId: string, count: number): Promise<unknown> =>
    test.run(
      `insert into "_Session" ("id", "userId", "createdAt", "expiresAt") with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
      select printf('%05d', i), ?, '2001-01-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z' from n`,
      count,
      userId,
    );

  it('login ends the oldest session of a user who has 1,000, and no session of others', async () => {
    const test = await startWithAdmin();
    const { body } = await logIn(test);
    const { id } = body['user'] as { id: string };
    await addOlder(test, id, 999);
    await test.run(`update "_Session" set "userId" = 'other' where "id" = '00001'`);
    await logIn(test);
    expect(await ids(test, `not ${isOpen}`)).toEqual([]);
    const { body: next } = await logIn(test);
    expect(await ids(test, `not ${isOpen}`)).toEqual(['00002']);
    expect(await ids(test, `"userId" = '${id}' and ${isOpen}`)).toHaveLength(1000);
    for (const { token } of [body, next]) expect(await codeOf(test, token)).toBe('identified');
  });

  it('login ends at most 200 sessions, and the next login continues', async () => {
    const test = await startWithAdmin();
    const { id } = (await logIn(test)).body['user'] as { id: string };
    await addOlder(test, id, 1300);
    const left: number[] = [];
    for (let logins = 1; logins <= 3; logins++) {
      await logIn(test);
      left.push((await ids(test, isOpen)).length);
    }
    expect(left).toEqual([1102, 1000, 1000]);
  });

  it('statements about the open sessions of a user search an index of open sessions', async () => {
    const test = await startWithAdmin();
    for (const order of ['', ' order by "revokedAt" desc, "id" desc limit 200 offset 1000']) {
      const plan = await test.rows(`explain query plan select "id" from "_Session" where "userId" = 'u1' and ${isOpen}${order}`);
      expect(plan.map(({ detail }) => detail)).toEqual([expect.stringMatching(/^SEARCH _Session USING .*\(userId=\? AND revokedAt=\?\)$/)]);
    }
  });
});

describe('refresh', () => {
  it('exchanges a refresh token for a new pair, once', async () => {
    const test = await startWithAdmin();
    const first = (await logIn(test)).body;
    const second = await refresh(test, first['refreshToken']);
    expect(second.outcome).toBe(200);
    expect(second.body).toMatchObject({ expiresIn: 3600, user: { role: 'admin' } });
    expect(second.body['refreshToken']).not.toBe(first['refreshToken']);
    expect(await codeOf(test, second.body['token'])).toBe('identified');
  });

  it('ends the session if a refresh token is used twice', async () => {
    const test = await startWithAdmin();
    const stolen = (await logIn(test)).body;
    const other = (await logIn(test)).body;
    const next = (await refresh(test, stolen['refreshToken'])).body;
    expect((await refresh(test, stolen['refreshToken'])).outcome).toBe('IDENTITY_TOKEN');
    expect((await refresh(test, next['refreshToken'])).outcome).toBe('IDENTITY_TOKEN');
    expect(await codeOf(test, next['token'])).toBe('IDENTITY_TOKEN');
    expect(await codeOf(test, other['token'])).toBe('identified');
  });

  it('issues one pair of tokens for two concurrent requests with the same refresh token', async () => {
    const test = await startWithAdmin();
    const { body } = await logIn(test);
    const replies = await Promise.all([refresh(test, body['refreshToken']), refresh(test, body['refreshToken'])]);
    expect(outcomesOf(replies).sort()).toEqual([200, 'IDENTITY_TOKEN']);
  });

  it.each([
    ['after it expired', async () => void vi.setSystemTime(Date.now() + 86_400_001)],
    ['of an inactive user', (test: TestAuthentication) => test.run(`update "User" set "isActive" = 0`)],
    ['of a deleted user', (test: TestAuthentication) => test.run(`delete from "User"`)],
    ['of a revoked session', (test: TestAuthentication) => test.run(`update "_Session" set "revokedAt" = "createdAt"`)],
  ])('refuses a refresh token %s', async (_, change) => {
    const test = await startWithAdmin();
    const { body } = await logIn(test);
    await change(test);
    expect((await refresh(test, body['refreshToken'])).outcome).toBe('IDENTITY_TOKEN');
  });

  it('refuses an unknown refresh token', async () => {
    expect((await refresh(await startWithAdmin(), 'x'.repeat(43))).outcome).toBe('IDENTITY_TOKEN');
  });
});

describe('logout', () => {
  it('logout ends its session at once, and no other session', async () => {
    const test = await startWithAdmin();
    const [{ body: mine }, { body: other }] = [await logIn(test), await logIn(test)];
    const out = (): Promise<Outcome> => test.call('POST /auth/logout', undefined, { token: String(mine['token']) });
    expect((await out()).outcome).toBe(200);
    expect((await out()).outcome).toBe('IDENTITY_TOKEN');
    expect(await codeOf(test, mine['token'])).toBe('IDENTITY_TOKEN');
    expect((await refresh(test, mine['refreshToken'])).outcome).toBe('IDENTITY_TOKEN');
    expect(await codeOf(test, other['token'])).toBe('identified');
  });

  it('logout requires a token', async () => {
    expect((await (await startWithAdmin()).call('POST /auth/logout')).outcome).toBe('IDENTITY_REQUIRED');
  });
});
