import { describe, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import { composeDefinitions } from '../resources/system/index.ts';
import { ADMIN, startAuthentication } from './authentication.fixture.ts';

const SETUP = 'POST /auth/setup';

describe('setup', () => {
  it('setup creates the first admin, once', async () => {
    const { call, rows, firstAdmins } = await startAuthentication();
    const first = await call(SETUP, ADMIN);
    expect(first.outcome).toBe(201);
    const { id } = first.body['user'] as { id: string };
    expect(first.body).toMatchObject({
      user: { id, email: 'ada@example.org', name: 'Ada', role: 'admin' },
    });
    expect((await call(SETUP, { ...ADMIN, email: 'b@example.org' })).outcome).toBe('IDENTITY_SETUP_DONE');
    expect(firstAdmins).toMatchObject([{ id, name: 'Ada' }]);
    expect(await rows('select * from "User"')).toMatchObject([
      {
        id,
        email: 'ada@example.org',
        role: 'admin',
        isActive: 1,
        version: 1,
        createdBy: id,
        password: expect.stringMatching(/^\$argon2id/),
      },
    ]);
  });

  it('setup succeeds for one of fifty concurrent requests', async () => {
    const { call, rows, firstAdmins } = await startAuthentication();
    const replies = await Promise.all(Array.from({ length: 50 }, (_, index) => call(SETUP, { ...ADMIN, email: `a${index}@example.org` })));
    const outcomes = replies.map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 201)).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'IDENTITY_SETUP_DONE')).toHaveLength(49);
    expect(await rows('select * from "User"')).toHaveLength(1);
    expect(firstAdmins).toHaveLength(1);
  });

  it('setup is rolled back if onFirstAdmin fails', async () => {
    let fails = true;
    const error = new Error('no policy today');
    const onFirstAdmin = async (): Promise<void> => {
      if (fails) throw error;
    };
    const { call, rows } = await startAuthentication({ onFirstAdmin });
    await expect(call(SETUP, ADMIN)).rejects.toBe(error);
    expect(await rows('select * from "User"')).toEqual([]);
    fails = false;
    expect((await call(SETUP, ADMIN)).outcome).toBe(201);
  });

  it('setup depends on whether an admin exists, not on the row of an earlier setup', async () => {
    const { call, run, rows } = await startAuthentication();
    await call(SETUP, ADMIN);
    await run(`update "User" set "role" = 'user'`);
    expect((await call(SETUP, { ...ADMIN, email: 'b@example.org' })).outcome).toBe(201);
    expect((await call(SETUP, { ...ADMIN, email: 'c@example.org' })).outcome).toBe('IDENTITY_SETUP_DONE');
    expect(
      await rows(`select 1 from "_State" s join "User" u on u."id" = s."text" where s."id" = 'setup' and u."role" = 'admin'`),
    ).toHaveLength(1);
  });

  it('setup is refused while the only admin is inactive', async () => {
    const { call, run } = await startAuthentication();
    await call(SETUP, ADMIN);
    await run(`update "User" set "isActive" = 0`);
    expect((await call(SETUP, { ...ADMIN, email: 'b@example.org' })).outcome).toBe('IDENTITY_SETUP_DONE');
  });

  it('setup reports an email that another user has', async () => {
    const { call, run } = await startAuthentication();
    await run(`insert into "User" ("id", "email", "role", "isActive") values ('u', 'ada@example.org', 'user', 1)`);
    expect((await call(SETUP, ADMIN)).outcome).toBe('RECORD_EXISTS');
  });

  it('setup sets the defaults of fields that a project adds', async () => {
    const source = { name: 'User', fields: { department: { type: 'string', required: true, default: 'none' }, badge: { type: 'string' } } };
    const { definitions } = composeDefinitions([{ file: 'user.yaml', source, locate: () => ({ line: 1, column: 1 }) }]);
    const { call, rows } = await startAuthentication({ definitions });
    expect((await call(SETUP, ADMIN)).outcome).toBe(201);
    expect(await rows('select "department", "badge" from "User"')).toEqual([{ department: 'none', badge: null }]);
  });

  describe('setup from another machine', () => {
    it('setup from another machine requires a valid token', async () => {
      const { identity, callRemotely, rows } = await startAuthentication();
      expect((await callRemotely(SETUP, ADMIN)).outcome).toBe('IDENTITY_SETUP_TOKEN');
      const token = await identity.openSetup();
      for (const wrong of ['', 'x', `${token}x`, token?.toUpperCase(), null, [token], { token }])
        expect((await callRemotely(SETUP, { ...ADMIN, token: wrong as Json })).outcome).toBe('IDENTITY_SETUP_TOKEN');
      expect(await rows('select * from "User"')).toEqual([]);
      expect((await callRemotely(SETUP, { ...ADMIN, token: token as string })).outcome).toBe(201);
    });

    it('setup from another machine does not validate the body without the token', async () => {
      const { callRemotely } = await startAuthentication();
      expect((await callRemotely(SETUP, { nonsense: true })).outcome).toBe('IDENTITY_SETUP_TOKEN');
      expect((await callRemotely(SETUP)).outcome).toBe('IDENTITY_SETUP_TOKEN');
    });

    it('setup from another machine accepts the tokens of the last ten starts, and stores only their hashes', async () => {
      const { identity, callRemotely, rows } = await startAuthentication();
      const tokens: string[] = [];
      for (let start = 0; start < 11; start++) tokens.push(String(await identity.openSetup()));
      const stored = JSON.stringify(await rows('select * from "_State"'));
      for (const token of tokens) expect(stored).not.toContain(token);
      const [first, second] = tokens as [string, string];
      expect((await callRemotely(SETUP, { ...ADMIN, token: first })).outcome).toBe('IDENTITY_SETUP_TOKEN');
      expect((await callRemotely(SETUP, { ...ADMIN, token: second })).outcome).toBe(201);
    });

    it('setup from another machine accepts no token twice, even if no admin is left', async () => {
      const { identity, callRemotely, run, rows } = await startAuthentication();
      const [token, other] = [await identity.openSetup(), await identity.openSetup()] as [string, string];
      await callRemotely(SETUP, { ...ADMIN, token });
      expect(await rows(`select * from "_State" where "id" = 'setupTokens'`)).toEqual([]);
      expect(await identity.openSetup()).toBeUndefined();
      await run(`update "User" set "role" = 'user'`);
      for (const used of [token, other])
        expect((await callRemotely(SETUP, { ...ADMIN, email: 'b@example.org', token: used })).outcome).toBe('IDENTITY_SETUP_TOKEN');
    });

    it('limits wrong setup tokens per address, and always accepts the right one', async () => {
      const { identity, callRemotely } = await startAuthentication({ options: { loginAttempts: 3 } });
      const token = String(await identity.openSetup());
      const from = async (ip: string, sent: string): Promise<unknown> =>
        (await callRemotely(SETUP, { ...ADMIN, token: sent }, { ip })).outcome;
      for (let attempt = 0; attempt < 3; attempt++) expect(await from('192.0.2.1', 'wrong')).toBe('IDENTITY_SETUP_TOKEN');
      expect(await from('192.0.2.1', 'wrong')).toBe('IDENTITY_THROTTLED');
      expect(await from('192.0.2.2', 'wrong')).toBe('IDENTITY_SETUP_TOKEN');
      expect(await from('192.0.2.1', token)).toBe(201);
    });
  });

  it('requires the setup token on this machine too with setup: token', async () => {
    const { identity, call } = await startAuthentication({ options: { setup: 'token' } });
    expect((await call(SETUP, ADMIN)).outcome).toBe('IDENTITY_SETUP_TOKEN');
    expect((await call(SETUP, { ...ADMIN, token: (await identity.openSetup()) as string })).outcome).toBe(201);
  });

  it('creates no setup token with setup: off', async () => {
    const { identity, rows } = await startAuthentication({ options: { setup: 'off' } });
    expect([await identity.openSetup(), await rows(`select * from "_State" where "id" = 'setupTokens'`)]).toEqual([undefined, []]);
  });

  const refused: readonly (readonly [string, Json | undefined, readonly string[]])[] = [
    ['no body', undefined, ['email', 'password', 'name']],
    ['an empty object', {}, ['email', 'password', 'name']],
    ['a short password and a broken email', { ...ADMIN, email: 'ada at example', password: 'short' }, ['password', 'email']],
    ['a role', { ...ADMIN, role: 'admin' }, ['role']],
    ['half a character', { ...ADMIN, name: '\ud800' }, ['name']],
  ];

  it.each(refused)('refuses a setup with %s and reports every mistake', async (_, body, paths) => {
    const { call, rows } = await startAuthentication();
    const { outcome, problem } = await call(SETUP, body);
    expect(outcome).toBe('VALUE_INVALID');
    expect(problem?.extras.errors?.map(({ path }) => path)).toEqual(paths);
    expect(await rows('select * from "User"')).toEqual([]);
  });
});
