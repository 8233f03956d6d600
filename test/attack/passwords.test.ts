/** Users change their own password only with the current one, not with a token alone. Common passwords are refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';
import { type AttackTarget, type Body, expectDiscreet, startAttackTarget } from './attack-target.ts';

const NEXT = 'the next password';
const WRONG = 'not the password';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
  const conditions = [{ field: 'resource.id', operator: 'eq', value: '${user.id}' }];
  await target.createPolicy({ role: 'user', rules: [{ resource: 'User', action: 'list', conditions }] });
});
afterAll(() => target.close());

type Change = Readonly<Record<string, unknown>>;

interface Route {
  readonly name: string;
  send(user: TestUser, data: Change): readonly [method: string, path: string, body: Body];
}

const ROUTES: readonly Route[] = [
  { name: 'PUT', send: ({ id }, data) => ['PUT', `/api/User/${id}`, data] },
  { name: 'action update', send: ({ id }, data) => ['POST', '/api/User/update', { id, data }] },
  { name: 'updateIfExists', send: ({ email }, data) => ['POST', '/api/User/updateIfExists', { filter: { email }, data }] },
  { name: 'batch', send: ({ id }, data) => ['POST', '/api/batch', { requests: [{ resource: 'User', action: 'update', id, data }] }] },
  {
    name: 'batch with the id in data',
    send: ({ id }, data) => ['POST', '/api/batch', { requests: [{ resource: 'User', action: 'update', data: { id, ...data } }] }],
  },
  {
    name: 'atomic batch',
    send: ({ id }, data) => ['POST', '/api/batch', { atomic: true, requests: [{ resource: 'User', action: 'update', id, data }] }],
  },
];

async function send(route: Route, user: TestUser, data: Change): Promise<Reply> {
  const [method, path, body] = route.send(user, data);
  return target.call(method, path, { token: user.token, body });
}

/** Returns the status of the response, or of the batch item. */
function statusOf(reply: Reply): unknown {
  return reply.at('data.0.status') ?? reply.status;
}

async function canLogIn(email: string, password: string): Promise<boolean> {
  return (await target.call('POST', '/auth/login', { body: { email, password } })).status === 200;
}

async function outcomeOfLast(user: TestUser): Promise<unknown> {
  const [entry] = await target.decisions(`userId=${user.id}&resource=User&action=update&limit=1`);
  return entry?.['outcome'];
}

describe.each(ROUTES)("one's own password by $name", (route) => {
  it.each(['user', 'admin'])(`requires the current password to change one's own by ${route.name}, for a %s`, async (role) => {
    const user = await target.user({ role });
    for (const data of [{ password: NEXT }, { password: null }, { password: NEXT, name: 'x' }, { password: NEXT, currentPassword: 5 }]) {
      const refused = await send(route, user, data);
      expect(statusOf(refused), refused.text).toBe(422);
      expect(refused.text).toContain('currentPassword');
    }
    const wrong = await send(route, user, { password: NEXT, currentPassword: WRONG });
    expect(statusOf(wrong), wrong.text).toBe(403);
    expect(wrong.text).toContain('IDENTITY_CURRENT_PASSWORD');
    expectDiscreet(wrong);
    expect(await outcomeOfLast(user)).toBe('IDENTITY_CURRENT_PASSWORD');
    expect([await canLogIn(user.email, NEXT), await canLogIn(user.email, user.password)]).toEqual([false, true]);
    expect((await target.call('GET', '/auth/me', { token: user.token })).status).toBe(200);

    const right = await send(route, user, { password: NEXT, currentPassword: user.password });
    expect(statusOf(right), right.text).toBe(200);
    expect([await canLogIn(user.email, NEXT), await canLogIn(user.email, user.password)]).toEqual([true, false]);
    expect((await target.call('GET', '/auth/me', { token: user.token })).status, 'every session ends').toBe(401);
  });

  it(`removes one's own password by ${route.name} with the current one`, async () => {
    const user = await target.user();
    expect(statusOf(await send(route, user, { password: null, currentPassword: user.password }))).toBe(200);
    expect(await canLogIn(user.email, user.password)).toBe(false);
  });
});

it('an import does not change the password of its caller, even with the current one', async () => {
  const admin = await target.user({ role: 'admin' });
  for (const extra of [{}, { currentPassword: admin.password }]) {
    const data = [{ email: admin.email, password: NEXT, ...extra }];
    const reply = await target.call('POST', '/api/User/import', { token: admin.token, body: { mode: 'upsert', key: 'email', data } });
    expect(reply.status, reply.text).toBe(422);
    expect(reply.text).toContain('currentPassword');
  }
  expect(await canLogIn(admin.email, admin.password)).toBe(true);
});

it('refuses currentPassword in requests that do not change the password', async () => {
  const user = await target.user();
  const extra = { currentPassword: user.password };
  const replies = [
    await target.as('admin', 'PUT', `/api/User/${user.id}`, { body: { password: NEXT, ...extra } }),
    await target.call('PUT', `/api/User/${user.id}`, { token: user.token, body: { name: 'x', ...extra } }),
    await target.as('admin', 'POST', '/api/User', { body: { email: 'extra@example.com', ...extra } }),
    await target.as('admin', 'PUT', `/api/Case/${target.cases.alice}`, { body: { title: 'x', ...extra } }),
  ];
  for (const reply of replies) {
    expect(reply.status, reply.text).toBe(422);
    expect(reply.at('errors.0.path')).toBe('currentPassword');
    expect(reply.text).not.toContain(user.password);
  }
});

it('the current password is neither read by conditions nor stored in audit entries', async () => {
  const conditions = [{ field: 'request.data.currentPassword', operator: 'exists', value: true }];
  const rules = [{ resource: 'User', action: 'update', effect: 'DENY', priority: 900, conditions }];
  const policy = await target.createPolicy({ role: 'user', rules });
  const user = await target.user();
  const changed = await target.call('PUT', `/api/User/${user.id}`, {
    token: user.token,
    body: { password: NEXT, currentPassword: user.password },
  });
  expect(changed.status, changed.text).toBe(200);
  expect(JSON.stringify(await target.decisions(`userId=${user.id}`))).not.toContain(user.password);
  await target.as('admin', 'DELETE', `/admin/api/policies/${policy}`);
});

describe('guesses at the current password', () => {
  let service: RunningService;
  let user: TestUser;
  beforeAll(async () => {
    service = await startService({ settings: { loginAttempts: 3 } });
    user = await service.user();
    await service.createPolicy({ role: 'user', rules: [{ resource: 'User', action: 'update' }] });
  });
  afterAll(() => service.close());

  const guess = (currentPassword: string): Promise<Reply> =>
    service.call('PUT', `/api/User/${user.id}`, { token: user.token, body: { password: NEXT, currentPassword } });

  it('limits guesses at the current password to one per batch, and limits them like logins', async () => {
    const toItem = (currentPassword: string): object => ({
      resource: 'User',
      action: 'update',
      id: user.id,
      data: { password: NEXT, currentPassword },
    });
    const requests = ['guess 1', 'guess 2', user.password].map(toItem);
    const batch = await service.call('POST', '/api/batch', { token: user.token, body: { requests } });
    expect([0, 1, 2].map((index) => batch.at(`data.${index}.status`))).toEqual([403, 403, 403]);
    expect([(await guess('guess 3')).status, (await guess('guess 4')).status]).toEqual([403, 403]);
    const throttled = await guess(user.password);
    expect([throttled.status, throttled.at('code')]).toEqual([429, 'IDENTITY_THROTTLED']);
    expect(Number(throttled.headers['retry-after'])).toBeGreaterThan(0);
  });
});

describe('a password that is easy to guess', () => {
  const EASY = ['password1', 'PassWord1', 'qwertyuiop', 'Sunshine1', 'easy@example.com', 'EASY@example.com', 'Easy Rider', 'easy rider'];
  const PERSON = { email: 'easy@example.com', name: 'Easy Rider' };

  it.each(EASY)('refuses a password that is easy to guess on create, import and update: %s', async (password) => {
    const id = await target.createRecord('User', { ...PERSON, email: 'easy@example.com' });
    const data = { ...PERSON, email: `easy+${Math.random()}@example.com`, name: 'Easy Rider' };
    const refused = [
      await target.as('admin', 'PUT', `/api/User/${id}`, { body: { password } }),
      ...(password.includes('@')
        ? []
        : [
            await target.as('admin', 'POST', '/api/User', { body: { ...data, password } }),
            await target.as('admin', 'POST', '/api/User/import', { body: { data: [{ ...data, password }] } }),
          ]),
    ];
    for (const reply of refused) {
      expect(reply.status, reply.text).toBe(422);
      expect(['common', 'guessable']).toContain(reply.at('errors.0.code'));
      expect(reply.at('errors.0.detail')).not.toContain(password);
    }
    await target.as('admin', 'DELETE', `/api/User/${id}`);
  });

  it('refuses a password that is easy to guess for the first admin', async () => {
    const fresh = await startService();
    try {
      for (const password of EASY) {
        const reply = await fresh.call('POST', '/auth/setup', { body: { ...PERSON, password } });
        expect([reply.status, reply.at('errors.0.path')]).toEqual([422, 'password']);
      }
    } finally {
      await fresh.close();
    }
  });
});
