/** The change of the own password: the proof, the policies, the sessions and the audit entries. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../browser.ts';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startService({ settings: { loginAttempts: 4 } });
  const own = [{ field: 'resource.id', operator: 'eq', value: '${user.id}' }];
  await service.createPolicy({ name: 'Own account', role: 'user', rules: [{ resource: 'User', action: 'update', conditions: own }] });
});
afterAll(() => service.close());

const NEW = 'a longer horse battery';
const change = (token: string, body: object): Promise<Reply> => service.call('PUT', '/auth/me/password', { token, body });
const me = async (token: string): Promise<number> => (await service.call('GET', '/auth/me', { token })).status;
const logIn = (email: string, password: string): Promise<Reply> => service.call('POST', '/auth/login', { body: { email, password } });

describe('a change of the own password', () => {
  it('sets the password, and ends every session but the current one', async () => {
    const uma = await service.user();
    const other = String((await openBrowser(service).logIn(uma.email)).at('token'));
    const reply = await change(uma.token, { currentPassword: uma.password, newPassword: NEW });
    expect([reply.status, reply.body]).toEqual([200, { success: true, message: expect.any(String) }]);
    expect([await me(uma.token), await me(other)]).toEqual([200, 401]);
    expect((await logIn(uma.email, uma.password)).status).toBe(401);
    expect((await logIn(uma.email, NEW)).status).toBe(200);
  });

  it('an access token and a cookie of the kept session go on', async () => {
    const { email, password } = await service.user();
    const browser = openBrowser(service);
    const token = String((await browser.logIn(email)).at('token'));
    expect((await change(token, { currentPassword: password, newPassword: NEW })).status).toBe(200);
    expect([await me(token), (await browser.refresh()).status]).toEqual([200, 200]);
  });

  it('each change has an entry of its decision and one of kind auth', async () => {
    const uma = await service.user();
    const reply = await change(uma.token, { currentPassword: uma.password, newPassword: NEW });
    const [auth, decision] = await service.decisions(`userId=${uma.id}&limit=2`);
    expect(auth).toMatchObject({
      kind: 'auth',
      action: 'password',
      allowed: true,
      userId: uma.id,
      role: 'user',
      recordId: expect.any(String),
    });
    expect(decision).toMatchObject({ kind: 'access', resource: 'User', action: 'update', allowed: true, recordId: uma.id });
    expect(reply.headers['x-decision-id']).toBe(decision?.['id']);
    expect(JSON.stringify(await service.decisions(`userId=${uma.id}`))).not.toContain('horse battery');
  });

  it('a wrong current password is refused, recorded, and limited, and does not count as a login to the account', async () => {
    const uma = await service.user();
    const wrong = { currentPassword: 'wrong horse battery', newPassword: NEW };
    const codes: unknown[] = [];
    for (let times = 0; times < 5; times++) codes.push((await change(uma.token, wrong)).at('code'));
    expect(codes).toEqual([...Array(4).fill('IDENTITY_CURRENT_PASSWORD'), 'IDENTITY_THROTTLED']);
    expect((await logIn(uma.email, uma.password)).status).toBe(200);
    expect((await change(uma.token, { currentPassword: uma.password, newPassword: NEW })).at('code')).toBe('IDENTITY_THROTTLED');
    const entries = await service.decisions(`userId=${uma.id}&kind=auth&action=password`);
    expect(entries.map(({ allowed, outcome }) => [allowed, outcome])).toEqual([
      ...Array(2).fill([false, 'IDENTITY_THROTTLED']),
      ...Array(4).fill([false, 'IDENTITY_CURRENT_PASSWORD']),
    ]);
    expect(await me(uma.token)).toBe(200);
  });

  it('a user who changes the own email has no further attempts', async () => {
    const uma = await service.user();
    const guess = async (): Promise<unknown> =>
      (await change(uma.token, { currentPassword: 'wrong horse battery', newPassword: NEW })).at('code');
    for (let times = 0; times < 4; times++) expect(await guess()).toBe('IDENTITY_CURRENT_PASSWORD');
    const renamed = await service.call('PUT', `/api/User/${uma.id}`, { token: uma.token, body: { email: `next-${uma.email}` } });
    expect([renamed.status, await guess()]).toEqual([200, 'IDENTITY_THROTTLED']);
  });

  it('policies decide it, before the current password is verified', async () => {
    const { id, email, password, token } = await service.user();
    await service.createPolicy({
      name: `Shared ${id}`,
      userId: id,
      rules: [{ resource: 'User', action: 'update', effect: 'DENY', description: 'shared accounts keep their password' }],
    });
    const reply = await change(token, { currentPassword: 'wrong horse battery', newPassword: NEW });
    expect([reply.status, reply.at('code')]).toEqual([403, 'ACCESS_DENIED']);
    expect(reply.at('detail')).toContain('shared accounts keep their password');
    expect((await logIn(email, password)).status).toBe(200);
  });

  it('an admin needs the current password too', async () => {
    const { email, password } = await service.admin();
    const token = await service.logIn(email, password);
    expect((await change(token, { currentPassword: 'wrong horse battery', newPassword: NEW })).at('code')).toBe(
      'IDENTITY_CURRENT_PASSWORD',
    );
  });
});

describe('a change of the own password with a mistake', () => {
  let uma: TestUser;
  beforeAll(async () => {
    uma = await service.user();
  });

  const refused: readonly (readonly [string, () => object, readonly string[]])[] = [
    ['no current password', () => ({ newPassword: NEW }), ['currentPassword: required']],
    ['a short password', () => ({ currentPassword: uma.password, newPassword: 'short' }), ['newPassword: tooShort']],
    ['a common password', () => ({ currentPassword: uma.password, newPassword: 'PassWord1' }), ['newPassword: common']],
    ['the own email', () => ({ currentPassword: uma.password, newPassword: uma.email }), ['newPassword: guessable']],
    ['control characters', () => ({ currentPassword: uma.password, newPassword: 'horse\u0000battery' }), ['newPassword: characters']],
    ['an operator', () => ({ currentPassword: { $ne: null }, newPassword: NEW }), ['currentPassword: type']],
    ['another field', () => ({ currentPassword: uma.password, newPassword: NEW, role: 'admin' }), ['role: unknown']],
  ];

  it.each(refused)('refuses a change with %s', async (_, body, issues) => {
    const reply = await change(uma.token, body());
    const found = ((reply.at('errors') ?? []) as readonly { path: string; code: string }[]).map(({ path, code }) => `${path}: ${code}`);
    expect([reply.status, found]).toEqual([422, issues]);
    expect(reply.text).not.toContain('"password');
  });

  it('requires a token', async () => {
    const reply = await service.call('PUT', '/auth/me/password', { body: { currentPassword: 'x', newPassword: NEW } });
    expect([reply.status, reply.at('code')]).toEqual([401, 'IDENTITY_REQUIRED']);
  });
});

it('two changes at once from one current password: one succeeds', async () => {
  const uma = await service.user();
  const passwords = [NEW, 'another horse battery'];
  const replies = await Promise.all(passwords.map((newPassword) => change(uma.token, { currentPassword: uma.password, newPassword })));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 403]);
  const winner = passwords[replies.findIndex(({ status }) => status === 200)] ?? '';
  expect((await logIn(uma.email, winner)).status).toBe(200);
});

it('a service that requires If-Match for updates changes an own password without it', async () => {
  const strict = await startService({ settings: { ifMatch: 'required' } });
  try {
    const { token, password } = await strict.admin();
    const body = { currentPassword: password, newPassword: NEW };
    expect((await strict.call('PUT', '/auth/me/password', { token, body })).status).toBe(200);
  } finally {
    await strict.close();
  }
});
