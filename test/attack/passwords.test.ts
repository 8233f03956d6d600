/** Users change their own password only with the current one, a token is not enough; and common passwords are refused. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';
import { type Body, createWorld, expectDiscreet, type World } from './target.ts';

const NEXT = 'the next password';
const WRONG = 'not the password';

let world: World;
beforeAll(async () => {
  world = await createWorld();
  const conditions = [{ field: 'resource.id', operator: 'eq', value: '${user.id}' }];
  await world.createPolicy({ role: 'user', rules: [{ resource: 'User', action: 'list', conditions }] });
});
afterAll(() => world.close());

type Change = Readonly<Record<string, unknown>>;

interface Door {
  readonly name: string;
  send(user: TestUser, data: Change): readonly [method: string, path: string, body: Body];
}

const DOORS: readonly Door[] = [
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

async function send(door: Door, user: TestUser, data: Change): Promise<Reply> {
  const [method, path, body] = door.send(user, data);
  return world.call(method, path, { token: user.token, body });
}

/** The status of the answer, or of the item in a batch. */
function statusOf(reply: Reply): unknown {
  return reply.at('data.0.status') ?? reply.status;
}

async function canLogIn(email: string, password: string): Promise<boolean> {
  return (await world.call('POST', '/auth/login', { body: { email, password } })).status === 200;
}

async function outcomeOfLast(user: TestUser): Promise<unknown> {
  const [entry] = await world.decisions(`userId=${user.id}&resource=User&action=update&limit=1`);
  return entry?.['outcome'];
}

describe.each(DOORS)("one's own password by $name", (door) => {
  it.each(['user', 'admin'])('needs the current one, of a %s', async (role) => {
    const user = await world.user({ role });
    for (const data of [{ password: NEXT }, { password: null }, { password: NEXT, name: 'x' }, { password: NEXT, currentPassword: 5 }]) {
      const refused = await send(door, user, data);
      expect(statusOf(refused), refused.text).toBe(422);
      expect(refused.text).toContain('currentPassword');
    }
    const wrong = await send(door, user, { password: NEXT, currentPassword: WRONG });
    expect(statusOf(wrong), wrong.text).toBe(403);
    expect(wrong.text).toContain('IDENTITY_CURRENT_PASSWORD');
    expectDiscreet(wrong);
    expect(await outcomeOfLast(user)).toBe('IDENTITY_CURRENT_PASSWORD');
    expect([await canLogIn(user.email, NEXT), await canLogIn(user.email, user.password)]).toEqual([false, true]);
    expect((await world.call('GET', '/auth/me', { token: user.token })).status).toBe(200);

    const right = await send(door, user, { password: NEXT, currentPassword: user.password });
    expect(statusOf(right), right.text).toBe(200);
    expect([await canLogIn(user.email, NEXT), await canLogIn(user.email, user.password)]).toEqual([true, false]);
    expect((await world.call('GET', '/auth/me', { token: user.token })).status, 'every session ends').toBe(401);
  });

  it('is removed with the current one', async () => {
    const user = await world.user();
    expect(statusOf(await send(door, user, { password: null, currentPassword: user.password }))).toBe(200);
    expect(await canLogIn(user.email, user.password)).toBe(false);
  });
});

it('no import changes the password of its own caller, even with the current one', async () => {
  const admin = await world.user({ role: 'admin' });
  for (const extra of [{}, { currentPassword: admin.password }]) {
    const data = [{ email: admin.email, password: NEXT, ...extra }];
    const reply = await world.call('POST', '/api/User/import', { token: admin.token, body: { mode: 'upsert', key: 'email', data } });
    expect(reply.status, reply.text).toBe(422);
    expect(reply.text).toContain('currentPassword');
  }
  expect(await canLogIn(admin.email, admin.password)).toBe(true);
});

it('is no member of anything else', async () => {
  const user = await world.user();
  const extra = { currentPassword: user.password };
  const replies = [
    await world.as('admin', 'PUT', `/api/User/${user.id}`, { body: { password: NEXT, ...extra } }),
    await world.call('PUT', `/api/User/${user.id}`, { token: user.token, body: { name: 'x', ...extra } }),
    await world.as('admin', 'POST', '/api/User', { body: { email: 'extra@example.com', ...extra } }),
    await world.as('admin', 'PUT', `/api/Case/${world.cases.alice}`, { body: { title: 'x', ...extra } }),
  ];
  for (const reply of replies) {
    expect(reply.status, reply.text).toBe(422);
    expect(reply.at('errors.0.path')).toBe('currentPassword');
    expect(reply.text).not.toContain(user.password);
  }
});

it('no condition reads the current password, and no audit entry keeps it', async () => {
  const conditions = [{ field: 'request.data.currentPassword', operator: 'exists', value: true }];
  const rules = [{ resource: 'User', action: 'update', effect: 'DENY', priority: 900, conditions }];
  const policy = await world.createPolicy({ role: 'user', rules });
  const user = await world.user();
  const changed = await world.call('PUT', `/api/User/${user.id}`, {
    token: user.token,
    body: { password: NEXT, currentPassword: user.password },
  });
  expect(changed.status, changed.text).toBe(200);
  expect(JSON.stringify(await world.decisions(`userId=${user.id}`))).not.toContain(user.password);
  await world.as('admin', 'DELETE', `/admin/api/policies/${policy}`);
});

describe('guessing the current password', () => {
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

  it('allows one guess per batch, and counts guesses like logins', async () => {
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

  it.each(EASY)('%s is refused on create, import and update', async (password) => {
    const id = await world.createRecord('User', { ...PERSON, email: 'easy@example.com' });
    const data = { ...PERSON, email: `easy+${Math.random()}@example.com`, name: 'Easy Rider' };
    const refused = [
      await world.as('admin', 'PUT', `/api/User/${id}`, { body: { password } }),
      ...(password.includes('@')
        ? []
        : [
            await world.as('admin', 'POST', '/api/User', { body: { ...data, password } }),
            await world.as('admin', 'POST', '/api/User/import', { body: { data: [{ ...data, password }] } }),
          ]),
    ];
    for (const reply of refused) {
      expect(reply.status, reply.text).toBe(422);
      expect(['common', 'guessable']).toContain(reply.at('errors.0.code'));
      expect(reply.at('errors.0.detail')).not.toContain(password);
    }
    await world.as('admin', 'DELETE', `/api/User/${id}`);
  });

  it('is refused of the first admin', async () => {
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
