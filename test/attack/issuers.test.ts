/** An identity is the pair of issuer and subject. No claim in the token of a trusted issuer makes its holder a local user. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reply } from '../harness.ts';
import { type AttackTarget, expectDiscreet, startAttackTarget } from './attack-target.ts';

const SECRET = 'a secret of the tests, which is long enough';
const ISSUER = 'https://login.example';
const OTHER = 'https://login.example/second';

type Part = Readonly<Record<string, unknown>>;

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget({ jwtSecret: SECRET, trustedIssuers: [ISSUER, OTHER] });
});
afterAll(() => target.close());

const encode = (part: Part): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Claims of a token that a trusted issuer signs. */
function foreign(claims: Part): string {
  const iat = Math.floor(Date.now() / 1000);
  const payload = { iss: ISSUER, aud: 'bailiwick', iat, exp: iat + 600, ...claims };
  const text = `${encode({ alg: 'HS256', typ: 'at+jwt' })}.${encode(payload)}`;
  return `${text}.${createHmac('sha256', SECRET).update(text).digest('base64url')}`;
}

const send = (claims: Part, method: string, path: string, body?: unknown): Promise<Reply> =>
  target.call(method, path, { token: foreign(claims), body });

describe('a subject that is the id of a local user', () => {
  it.each<[string, Part]>([
    ['alone', {}],
    ['with claims that name the user', { id: 'admin', userId: 'admin', email: 'admin@example.com' }],
    ['with claims that name another issuer', { issuer: 'bailiwick', subject: 'admin' }],
    ['with a session', { sid: '01890a5d-ac96-774b-bcce-b302099a8057' }],
  ])('a subject that is the id of a local user is not that user: %s', async (_name, claims) => {
    const sub = target.ids.admin;
    const said = Object.fromEntries(Object.entries(claims).map(([name, value]) => [name, value === 'admin' ? sub : value]));
    const token = { ...said, sub, role: 'user' };
    expect((await send(token, 'GET', '/admin/api/policies')).status).toBe(403);
    expect((await send(token, 'GET', '/auth/me')).at('data')).toMatchObject({
      id: `${ISSUER}|${sub}`,
      issuer: ISSUER,
      subject: sub,
      role: 'user',
    });
  });

  it('refuses records of a local user to a subject that is the id of the user', async () => {
    const token = { sub: target.ids.alice, role: 'user' };
    expect((await send(token, 'GET', '/api/Case')).at('data')).toEqual([]);
    for (const [method, path, body] of [
      ['GET', `/api/Case/${target.cases.alice}`, undefined],
      ['PUT', `/api/Case/${target.cases.alice}`, { title: 'taken' }],
      ['DELETE', `/api/Case/${target.cases.alice}`, undefined],
      ['GET', `/api/User/${target.ids.alice}`, undefined],
      ['PUT', `/api/User/${target.ids.alice}`, { password: 'a password of the attacker' }],
    ] as const) {
      const reply = await send(token, method, path, body);
      expect(reply.status, reply.text).toBe(403);
      expectDiscreet(reply);
    }
    expect((await target.as('alice', 'GET', '/auth/me')).status).toBe(200);
  });

  it('gives a subject no policies that are assigned to the local user with its id', async () => {
    const id = await target.createPolicy({ userId: target.ids.alice, rules: [{ resource: 'Case', action: 'list' }] });
    try {
      expect((await target.as('alice', 'GET', '/api/Case')).at('count')).toBe(await target.countCases());
      expect((await send({ sub: target.ids.alice, role: 'viewer' }, 'GET', '/api/Case')).status).toBe(403);
    } finally {
      await target.as('admin', 'DELETE', `/admin/api/policies/${id}`);
    }
  });

  it('a subject does not end the sessions of the local user with its id, and is valid without the user', async () => {
    const user = await target.user();
    const token = { sub: user.id, role: 'user' };
    expect((await send(token, 'POST', '/auth/logout')).status).toBe(403);
    expect((await target.call('GET', '/auth/me', { token: user.token })).status).toBe(200);
    await target.as('admin', 'PUT', `/api/User/${user.id}`, { body: { isActive: false } });
    expect((await send(token, 'GET', '/api/Case')).status).toBe(200);
  });
});

describe('an identity of an issuer', () => {
  it('an identity of an issuer owns the records it creates, distinct from the same subject of another issuer', async () => {
    const claims = { sub: target.ids.bob, role: 'user' };
    const made = await send(claims, 'POST', '/api/Case', { title: 'made elsewhere' });
    expect(made.at('data.createdBy')).toBe(`${ISSUER}|${target.ids.bob}`);
    const id = String(made.at('data.id'));
    expect((await send(claims, 'GET', `/api/Case/${id}`)).status).toBe(200);
    expect((await send({ ...claims, iss: OTHER }, 'GET', `/api/Case/${id}`)).status).toBe(403);
    expect((await target.as('bob', 'GET', `/api/Case/${id}`)).status).toBe(403);
    const [entry] = await target.decisions(`userId=${encodeURIComponent(`${ISSUER}|${target.ids.bob}`)}&action=create`);
    expect(entry).toMatchObject({ role: 'user', resource: 'Case', action: 'create', allowed: true });
    const explained = await target.as('admin', 'GET', `/admin/api/decisions/${String(entry?.['id'])}`);
    expect([explained.status, explained.at('data.warnings')]).toEqual([200, undefined]);
  });

  it('an identity of an issuer has an issuer and a subject in conditions, which a local user does not have', async () => {
    const conditions = [
      { field: 'user.issuer', operator: 'eq', value: ISSUER },
      { field: 'resource.origin', operator: 'eq', value: `\${user.subject}` },
    ];
    const written = await target.as('admin', 'POST', '/admin/api/policies', {
      body: { name: 'by subject', type: 'ATTRIBUTE_BASED', rules: [{ resource: 'Case', action: 'read', conditions }] },
    });
    expect([written.status, written.text]).toEqual([201, expect.not.stringContaining('attribute-never-set')]);
    const id = String(written.at('data.id'));
    for (const role of ['viewer', 'user']) await target.as('admin', 'POST', `/admin/api/policies/${id}/assign/role/${role}`, { body: {} });
    const theirs = String((await target.as('admin', 'POST', '/api/Case', { body: { title: 'x', origin: 'them-1' } })).at('data.id'));
    const read = async (claims: Part): Promise<number> => (await send({ role: 'viewer', ...claims }, 'GET', `/api/Case/${theirs}`)).status;
    expect([await read({ sub: 'them-1' }), await read({ sub: 'them-2' }), await read({ sub: 'them-1', iss: OTHER })]).toEqual([
      200, 403, 403,
    ]);
    expect(await read({ sub: 'them-2', subject: 'them-1' })).toBe(403);
    expect((await target.as('alice', 'GET', `/api/Case/${theirs}`)).status).toBe(403);
    await target.as('admin', 'DELETE', `/admin/api/policies/${id}`);
  });

  it('refuses to assign a policy to an identity of an issuer', async () => {
    for (const id of ['them-1', `x|them-1`, target.ids.alice.replace(/.$/, '|')]) {
      const path = `/admin/api/policies/${target.policies.user}/assign/user/${encodeURIComponent(id)}`;
      const reply = await target.as('admin', 'POST', path, { body: {} });
      expect([reply.status, reply.at('code')]).toEqual([404, 'USER_UNKNOWN']);
    }
  });

  it('creates no local user with the id of an identity, because no route accepts an id', async () => {
    const id = `${ISSUER}|them-1`;
    const user = { id, email: 'them@example.com', name: 'Them' };
    const routes: readonly (readonly [string, unknown])[] = [
      ['/api/User', user],
      ['/api/User/create', { data: user }],
      ['/api/User/createIfNotExists', { filter: { email: user.email }, data: user }],
      ['/api/User/import', { data: [user] }],
      ['/api/User/import?mode=upsert&key=email', { data: [user] }],
      ['/api/batch', { atomic: true, requests: [{ resource: 'User', action: 'create', data: user }] }],
      ['/auth/setup', { ...user, password: 'a long password' }],
    ];
    for (const [path, body] of routes) {
      const reply = await target.as('admin', 'POST', path, { body });
      expect([400, 409, 422], `${path}: ${reply.text}`).toContain(reply.status);
    }
    const users = await target.as('admin', 'GET', '/api/User?limit=1000');
    expect((users.at('data') as readonly { id: string }[]).filter((each) => !/^[0-9a-f-]{36}$/.test(each.id))).toEqual([]);
  });

  it('an identity of an issuer has the role in its claims, also admin, and is the author of its changes', async () => {
    const admin = { sub: 'root-1', role: 'admin' };
    const made = await send(admin, 'POST', '/admin/api/policies', { name: 'by an admin elsewhere', type: 'ROLE_BASED', rules: [] });
    expect([made.status, made.at('data.createdBy')]).toEqual([201, `${ISSUER}|root-1`]);
    const id = String(made.at('data.id'));
    const assigned = await send(admin, 'POST', `/admin/api/policies/${id}/assign/role/viewer`, {});
    expect([assigned.status, assigned.at('data.assignedBy')]).toEqual([201, `${ISSUER}|root-1`]);
    expect((await send({ ...admin, role: 'user' }, 'DELETE', `/admin/api/policies/${id}`)).status).toBe(403);
    expect((await send(admin, 'DELETE', `/admin/api/policies/${id}`)).status).toBe(200);
  });
});

describe('a token of a trusted issuer', () => {
  it.each<[string, string, unknown?]>([
    ['GET', '/auth/me/sessions'],
    ['DELETE', '/auth/me/sessions'],
    ['DELETE', '/auth/me/sessions/01890a5d-ac96-774b-bcce-b302099a8057'],
    ['PUT', '/auth/me/password', { currentPassword: 'old', newPassword: 'a longer password 7' }],
  ])('a token of a trusted issuer manages no local session or password: %s %s', async (method, path, body) => {
    const reply = await send({ sub: 'someone-elsewhere' }, method, path, body);
    expect([reply.status, reply.at('code'), reply.headers['www-authenticate']]).toEqual([403, 'IDENTITY_ISSUER', undefined]);
  });

  it.each<[string, Part]>([
    ['no role', { role: undefined }],
    ['an unknown role', { role: 'root' }],
    ['a role that is a name of Object.prototype', { role: 'constructor' }],
    ['roles', { role: ['admin'] }],
    ['no subject', { sub: undefined }],
    ['an empty subject', { sub: '' }],
    ['a subject with NUL', { sub: 'a\u0000b' }],
    ['a subject with a line break', { sub: 'a\nb' }],
    ['a subject with half a surrogate pair', { sub: 'a\ud800' }],
    ['a subject that is a list', { sub: ['a'] }],
    ['a subject that is too long for an audit entry', { sub: 'x'.repeat(190) }],
    ['another audience', { aud: 'elsewhere' }],
    ['no expiry', { exp: undefined }],
    ['an issuer with the same prefix', { iss: `${ISSUER}.evil.example` }],
    ['the issuer as a list', { iss: [ISSUER] }],
    ['an issuer with a subject appended', { iss: `${ISSUER}|them-1` }],
  ])('refuses a token of a trusted issuer with %s', async (_name, claims) => {
    const reply = await send({ sub: 'someone-elsewhere', role: 'admin', ...claims }, 'GET', '/admin/api/policies');
    expectDiscreet(reply);
    expect([reply.status, reply.at('code')]).toEqual([401, 'IDENTITY_TOKEN']);
  });
});
