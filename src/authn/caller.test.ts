import { SignJWT } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { ADMIN, KEY_BYTES, startAuthentication, type TestAuthentication } from './authentication.fixture.ts';
import { type AdminUserChange, hasAdmin, validateAdminRemains } from './last-admin.ts';
import { revokeSessions } from './sessions.ts';

let test: TestAuthentication;
let id: string;
let token: string;

beforeEach(async () => {
  test = await startAuthentication();
  await test.call('POST /auth/setup', ADMIN);
  const { body } = await test.call('POST /auth/login', { email: ADMIN.email, password: ADMIN.password });
  token = String(body['token']);
  id = (body['user'] as { id: string }).id;
});

function foreign(sub: string, claims: Record<string, unknown>): Promise<string> {
  return new SignJWT({ ...claims })
    .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
    .setIssuer('friend')
    .setAudience('us')
    .setSubject(sub)
    .setIssuedAt()
    .setExpirationTime('1h')
    .sign(KEY_BYTES);
}

describe('identify', () => {
  it('identifies a caller without a token as anon', async () => {
    expect(await test.identify(undefined)).toEqual({ role: 'anon', attributes: {} });
  });

  it('identifies a caller by the stored user, without secret fields', async () => {
    const stored = { id, email: 'ada@example.org', name: 'Ada', role: 'admin', isActive: true, version: 1 };
    const principal = await test.identify(token);
    expect(principal).toMatchObject({ id, role: 'admin', attributes: stored });
    expect(JSON.stringify(principal)).not.toContain('argon2');
  });

  it.each([
    ['no characters', ''],
    ['one part', 'x'],
    ['three broken parts', 'a.b.c'],
    ['9000 characters', 'A'.repeat(9000)],
  ])('refuses a token of %s and does not return anon', async (_, bad) => {
    expect(await test.identify(bad)).toBe('IDENTITY_TOKEN');
  });

  it.each([
    ['deactivated', `update "User" set "isActive" = 0`],
    ['of unknown activity', `update "User" set "isActive" = null`],
    ['deleted', `delete from "User"`],
    ['without a role', `update "User" set "role" = null`],
    ['out of time', `update "_Session" set "expiresAt" = '2000-01-01T00:00:00.000Z'`],
    ['of another', `update "_Session" set "userId" = 'someone'`],
  ])('refuses at once the token of a user who is %s', async (_, change) => {
    await test.run(change);
    expect(await test.identify(token)).toBe('IDENTITY_TOKEN');
  });

  it('identifies a demoted user by the new role at once', async () => {
    await test.run(`update "User" set "role" = 'user', "name" = null`);
    const principal = await test.identify(token);
    expect(principal).toMatchObject({ role: 'user' });
    expect(Object.keys((principal as { attributes: object }).attributes)).not.toContain('name');
  });

  it.each([
    ['role', `update "User" set "role" = 'user'`],
    ['name', `update "User" set "name" = null`],
    ['checksum', `update "_RecordChecksum" set "checksum" = 'x' where "id" like 'User/%'`],
  ])('refuses a user whose %s was damaged after it was found intact, until it is restored', async (_, damage) => {
    const intact = await test.identify(token);
    expect(intact).toMatchObject({ id });
    const [user] = await test.rows('select "role", "name", "checksum" from "User", "_RecordChecksum"');
    await test.database.transaction((tx) => tx.run({ sql: damage, parameters: [] }));
    expect(await test.identify(token)).toBe('STORAGE_DAMAGED');
    expect(await test.identify(token)).toBe('STORAGE_DAMAGED');
    await test.run('update "User" set "role" = ?, "name" = ?', user?.['role'], user?.['name']);
    expect(await test.identify(token)).toEqual(intact);
  });

  it('refuses the token after all sessions of the user are revoked', async () => {
    await test.database.transaction((tx) => revokeSessions(tx, id));
    expect(await test.identify(token)).toBe('IDENTITY_TOKEN');
  });
});

describe('a token of a trusted issuer', () => {
  it('a token of a trusted issuer has role and attributes from its claims', async () => {
    const claims = { role: 'editor', department: 'news', email: 'e@example.org' };
    const identity = { id: 'friend|them-1', issuer: 'friend', subject: 'them-1' };
    expect(await test.identify(await foreign('them-1', claims))).toEqual({
      id: identity.id,
      role: 'editor',
      attributes: { ...claims, ...identity },
    });
  });

  it('a token of a trusted issuer is never a stored user, even if its subject is the id of one', async () => {
    const other = { id: `friend|${id}`, role: 'viewer', attributes: { id: `friend|${id}`, role: 'viewer', issuer: 'friend', subject: id } };
    expect(await test.identify(await foreign(id, { role: 'viewer' }))).toEqual(other);
    await test.run(`update "User" set "isActive" = 0`);
    expect(await test.identify(await foreign(id, { role: 'viewer' }))).toEqual(other);
  });

  it('a token of a trusted issuer cannot change its identity by other claims', async () => {
    const identity = { id: 'friend|them-1', issuer: 'friend', subject: 'them-1' };
    expect(await test.identify(await foreign('them-1', { role: 'viewer', id, issuer: 'us', subject: id }))).toMatchObject({
      id: identity.id,
      attributes: identity,
    });
  });

  it.each([
    ['a NUL', 'a\u0000b'],
    ['a line break', 'a\nb'],
    ['a control character of C1', 'a\u0085b'],
    ['half a surrogate pair', 'a\ud800'],
    ['200 characters', 'x'.repeat(200)],
  ])('refuses a token of a trusted issuer whose subject contains %s', async (_, sub) => {
    expect(await test.identify(await foreign(sub, { role: 'user' }))).toBe('IDENTITY_TOKEN');
  });

  it.each([[undefined], ['root'], ['constructor'], [''], [null], [['admin']]])(
    'refuses a token of a trusted issuer with the role %j',
    async (role) => {
      expect(await test.identify(await foreign('them-1', { role }))).toBe('IDENTITY_TOKEN');
    },
  );

  it('a token of a trusted issuer cannot be logged out', async () => {
    const { outcome } = await test.call('POST /auth/logout', undefined, { token: await foreign('them-1', { role: 'user' }) });
    expect(outcome).toBe('IDENTITY_ISSUER');
  });
});

describe('GET /auth/me', () => {
  it('returns the stored user from GET /auth/me, without secret fields', async () => {
    const { outcome, body } = await test.call('GET /auth/me', undefined, { token });
    expect(outcome).toBe(200);
    expect(body).toMatchObject({ data: { id, email: 'ada@example.org', name: 'Ada', role: 'admin', isActive: true } });
    expect(body['data']).not.toHaveProperty('password');
  });

  it('returns the claims of a token of a trusted issuer from GET /auth/me', async () => {
    const { body } = await test.call('GET /auth/me', undefined, { token: await foreign('them-1', { role: 'viewer', name: 'Eve' }) });
    expect(body['data']).toEqual({ id: 'friend|them-1', issuer: 'friend', subject: 'them-1', name: 'Eve', role: 'viewer' });
  });

  it('requires a token for GET /auth/me', async () => {
    expect((await test.call('GET /auth/me')).outcome).toBe('IDENTITY_REQUIRED');
  });
});

describe('the last active admin', () => {
  const others: readonly (readonly [string, string, number, string | null])[] = [
    ['no other admin', 'user', 1, 'a hash'],
    ['an inactive admin', 'admin', 0, 'a hash'],
    ['an active admin without a password', 'admin', 1, null],
    ['another active admin', 'admin', 1, 'a hash'],
  ];
  const changes: readonly (readonly [string, Omit<AdminUserChange, 'userId'>, boolean])[] = [
    ['the deletion', { deleted: true }, true],
    ['the demotion', { role: 'user' }, true],
    ['the deactivation', { isActive: false }, true],
    ['the removal of the password', { role: 'admin', isActive: true, removesPassword: true }, true],
    ['a change of the name', { role: 'admin', isActive: true }, false],
    ['an empty change', {}, false],
  ];

  const cases = others.flatMap(([other, role, isActive, password]) =>
    changes.map(([name, change, takesAway]) => ({ other, stored: [role, isActive, password], name, change, takesAway })),
  );
  it.each(cases)('decides on $name of an active admin beside $other', async ({ other, stored, change, takesAway }) => {
    await test.run(
      `insert into "User" ("id", "email", "role", "isActive", "password") values ('other', 'o@example.org', ?, ?, ?)`,
      ...stored,
    );
    const refused = takesAway && other !== 'another active admin';
    const check = test.database.transaction((tx) => validateAdminRemains(tx, { userId: id, ...change }));
    await (refused ? expect(check).rejects.toMatchObject({ code: 'IDENTITY_LAST_ADMIN' }) : expect(check).resolves.toBeUndefined());
  });

  it('validateAdminRemains does not protect an inactive admin or an unknown user', async () => {
    await test.run(`insert into "User" ("id", "email", "role", "isActive") values ('other', 'o@example.org', 'admin', 0)`);
    await test.database.transaction((tx) => validateAdminRemains(tx, { userId: 'other', deleted: true }));
    await test.database.transaction((tx) => validateAdminRemains(tx, { userId: 'unknown', deleted: true }));
  });

  it('an admin remains if two admins demote each other concurrently', async () => {
    await test.run(
      `insert into "User" ("id", "email", "role", "isActive", "password") values ('other', 'o@example.org', 'admin', 1, 'a hash')`,
    );
    const demote = (userId: string): Promise<unknown> =>
      test.database.transaction(async (tx) => {
        await validateAdminRemains(tx, { userId, role: 'user' });
        await tx.run({ sql: `update "User" set "role" = 'user' where "id" = ?`, parameters: [userId] });
      });
    const settled = await Promise.allSettled([demote(id), demote('other')]);
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await test.database.transaction(hasAdmin)).toBe(true);
  });
});
