import { describe, expect, it } from 'vitest';
import { Problem } from '../errors.ts';
import { ADMIN, type Outcome, startAuthentication, type TestAuthentication, type TestOptions } from './authentication.fixture.ts';

type Row = Readonly<Record<string, unknown>>;

/** Returns the entries of kind `auth`, oldest first, without the entries of setup. */
async function entriesOf({ rows }: TestAuthentication): Promise<readonly Row[]> {
  return rows(`select * from "_Decision" where "kind" = 'auth' and "action" <> 'setup' order by "at", "id"`);
}

async function startWithAdmin(options: TestOptions['options'] = {}): Promise<TestAuthentication & { readonly userId: string }> {
  const test = await startAuthentication({ options });
  const { body } = await test.call('POST /auth/setup', ADMIN);
  return { ...test, userId: (body['user'] as { id: string }).id };
}

function logIn({ call }: TestAuthentication, email: string, password = ADMIN.password): Promise<Outcome> {
  return call('POST /auth/login', { email, password }, { requestId: 'q7', ip: '192.0.2.9' });
}

const REFUSED = { kind: 'auth', resource: 'Auth', allowed: 0, role: 'anon', epoch: 0 };

describe('audit entries of authentication', () => {
  it('a login names user, session, address and request, and contains the email as a keyed hash only', async () => {
    const test = await startWithAdmin();
    await logIn(test, ADMIN.email);
    const [session] = await test.rows('select "id" from "_Session"');
    const [entry, ...others] = await entriesOf(test);
    expect(others).toEqual([]);
    const { userId } = test;
    const named = { userId, role: 'admin', recordId: session?.['id'], requestId: 'q7', ip: '192.0.2.9', outcome: null };
    expect(entry).toMatchObject({ kind: 'auth', resource: 'Auth', action: 'login', allowed: 1, reason: 'logged in', ...named });
    expect(JSON.parse(String(entry?.['facts']))).toEqual({ emailHash: expect.stringMatching(/^[\w-]{43}$/) });
    expect(JSON.stringify(entry).toLowerCase()).not.toContain('ada');
  });

  it('a refused login with a wrong password names the user, and with an unknown email a hash that is the same for every case', async () => {
    const test = await startWithAdmin();
    const outcomes = [
      await logIn(test, ADMIN.email, 'wrong'),
      await logIn(test, 'unknown@example.org'),
      await logIn(test, 'Unknown@Example.org'),
    ];
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array(3).fill('IDENTITY_CREDENTIALS'));
    const entries = await entriesOf(test);
    const refused = { ...REFUSED, action: 'login', outcome: 'IDENTITY_CREDENTIALS' };
    expect(entries).toMatchObject([
      { ...refused, userId: test.userId, reason: 'the password is wrong' },
      { ...refused, userId: null, reason: 'no active user with a password has this email' },
      { ...refused, userId: null },
    ]);
    expect(entries[1]?.['facts']).toBe(entries[2]?.['facts']);
    expect(entries[0]?.['facts']).not.toBe(entries[1]?.['facts']);
    expect(outcomes.map(({ problem }) => problem?.extras.decisionId)).toEqual(entries.map(({ id }) => id));
  });

  it('the problem of a refused login is the same for an unknown email as for a wrong password', async () => {
    const test = await startWithAdmin();
    const problems = [await logIn(test, ADMIN.email, 'wrong'), await logIn(test, 'unknown@example.org')].map(({ problem }) => problem);
    const [known, unknown] = problems.map((problem) => [problem?.code, problem?.detail, Object.keys(problem?.extras ?? {})]);
    expect(known).toEqual(unknown);
  });

  it('records the first and the tenth throttled login of a window', async () => {
    const test = await startWithAdmin({ loginAttempts: 2 });
    for (let attempt = 1; attempt <= 15; attempt++) await logIn(test, 'unknown@example.org');
    const entries = await entriesOf(test);
    expect(entries.map(({ outcome, reason }) => [outcome, reason])).toEqual([
      ['IDENTITY_CREDENTIALS', expect.any(String)],
      ['IDENTITY_CREDENTIALS', expect.any(String)],
      ['IDENTITY_THROTTLED', 'too many attempts to log in: 1 refused in this window'],
      ['IDENTITY_THROTTLED', 'too many attempts to log in: 10 refused in this window'],
    ]);
  });

  it('records the throttled logins of an address together, also if each names another email', async () => {
    const test = await startWithAdmin({ loginAttempts: 1, loginAttemptsPerAddress: 1 });
    for (let attempt = 1; attempt <= 15; attempt++) await logIn(test, `user${attempt % 7}@example.org`);
    expect((await entriesOf(test)).filter(({ outcome }) => outcome === 'IDENTITY_THROTTLED')).toHaveLength(2);
  });

  it('records refresh, log-out, and the second use of a refresh token with the session that it ended', async () => {
    const test = await startWithAdmin();
    const { refreshToken } = (await logIn(test, ADMIN.email)).body;
    const { token } = (await test.call('POST /auth/refresh', { refreshToken: String(refreshToken) })).body;
    await test.call('POST /auth/refresh', { refreshToken: String(refreshToken) });
    await logIn(test, ADMIN.email);
    const second = (await logIn(test, ADMIN.email)).body;
    await test.call('POST /auth/logout', undefined, { token: String(second['token']) });
    expect((await test.call('POST /auth/logout', undefined, { token: String(token) })).outcome).toBe('IDENTITY_TOKEN');
    const entries = await entriesOf(test);
    const session = entries[0]?.['recordId'];
    expect(entries.map(({ action, allowed, outcome }) => [action, allowed, outcome])).toEqual([
      ['login', 1, null],
      ['refresh', 1, null],
      ['refresh', 0, 'IDENTITY_TOKEN'],
      ['login', 1, null],
      ['login', 1, null],
      ['logout', 1, null],
    ]);
    expect([entries[1]?.['recordId'], entries[2]?.['recordId']]).toEqual([session, session]);
    expect(entries[5]?.['recordId']).toBe(entries[4]?.['recordId']);
  });

  it('records refused refresh tokens once a minute', async () => {
    const test = await startWithAdmin();
    for (const refreshToken of ['a', 'b', 'c']) await test.call('POST /auth/refresh', { refreshToken });
    expect(await entriesOf(test)).toMatchObject([{ ...REFUSED, action: 'refresh', userId: null, outcome: 'IDENTITY_TOKEN' }]);
  });

  it('records setup, and refused setups once a minute', async () => {
    const test = await startAuthentication({ options: { setup: 'token' } });
    for (let attempt = 1; attempt <= 3; attempt++) await test.callRemotely('POST /auth/setup', { ...ADMIN, token: 'wrong' });
    await test.callRemotely('POST /auth/setup', ADMIN);
    await test.callRemotely('POST /auth/setup', { ...ADMIN, token: (await test.identity.openSetup()) ?? '' });
    await test.callRemotely('POST /auth/setup', ADMIN);
    const entries = await test.rows(`select * from "_Decision" where "kind" = 'auth' order by "at", "id"`);
    expect(entries.map(({ action, allowed, outcome, reason }) => [action, allowed, outcome, reason])).toEqual([
      ['setup', 0, 'IDENTITY_SETUP_TOKEN', 'the setup token is wrong'],
      ['setup', 0, 'IDENTITY_SETUP_TOKEN', 'this request requires the setup token'],
      ['setup', 1, null, 'created the first admin'],
      ['setup', 0, 'IDENTITY_SETUP_DONE', 'an admin exists already'],
    ]);
    expect(entries[2]).toMatchObject({ role: 'admin', userId: expect.any(String) });
  });

  it('records refused tokens once a minute per user and network, and names the user of a genuine token', async () => {
    const test = await startWithAdmin();
    const refuse = async (userId: string | undefined, ip: string): Promise<unknown> => {
      const problem = new Problem('IDENTITY_TOKEN', 'the session of this token has ended', userId === undefined ? {} : { userId });
      return (await test.identity.recordRefusedToken(problem, { requestId: 'q', ip })).extras.decisionId;
    };
    const first = await refuse('u1', '2001:db8:1:2::1');
    expect(await refuse('u1', '2001:db8:1:2::2'), 'the same /64').toBe(first);
    const ids = [first, await refuse('u1', '192.0.2.1'), await refuse(undefined, '192.0.2.1'), await refuse('u2', '192.0.2.1')];
    const entries = await entriesOf(test);
    expect(entries.map(({ id, userId, action }) => [id, userId, action])).toEqual([
      [ids[0], 'u1', 'token'],
      [ids[1], 'u1', 'token'],
      [ids[2], null, 'token'],
      [ids[3], 'u2', 'token'],
    ]);
  });

  it('records the number of refused tokens after the first of a minute, and keeps a number that cannot be stored', async () => {
    const test = await startWithAdmin();
    const problem = new Problem('IDENTITY_TOKEN', 'the session of this token has ended', { userId: 'u1' });
    const refuse = (ip: string) => test.identity.recordRefusedToken(problem, { requestId: 'q', ip });
    for (const host of [1, 2, 3, 4]) await refuse(`2001:db8:1:2::${host}`);
    await refuse('192.0.2.1');
    await test.run('alter table "_Decision" rename to "_Away"');
    await expect(test.identity.recordRepeatedRefusals('all')).rejects.toThrow();
    await test.run('alter table "_Away" rename to "_Decision"');
    await test.identity.recordRepeatedRefusals('ended');
    await test.identity.recordRepeatedRefusals('all');
    const [first, other, repeats, ...others] = (await entriesOf(test)).toSorted(
      (a, b) => Number(a['requestId'] === '') - Number(b['requestId'] === ''),
    );
    expect([other?.['facts'], others]).toEqual([null, []]);
    const same = { userId: 'u1', action: 'token', outcome: 'IDENTITY_TOKEN', reason: 'the session of this token has ended' };
    expect(repeats).toMatchObject({ ...REFUSED, ...same, requestId: '', ip: '2001:db8:1:2::/64' });
    const facts: unknown = JSON.parse(String(repeats?.['facts']));
    expect(facts).toEqual({ first: first?.['id'], since: expect.any(String), last: repeats?.['at'], count: 3 });
  });
});
