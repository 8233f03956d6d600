/** Becoming somebody else, or staying who one no longer is. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestUser } from '../harness.ts';
import { type Attack, type Body, checkAttacks, createWorld, type World } from './target.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const TAKEN = 'a password of the attacker';

/** A user whose password Eve would like to set. */
interface Victim {
  readonly id: string;
  readonly email: string;
}

/** Every door to the password of another. Eve may update every user: that must not make her an admin. */
const DOORS: readonly (readonly [string, (victim: Victim) => readonly [send: string, body: Body]])[] = [
  ['update', ({ id }) => [`PUT /api/User/${id}`, { password: TAKEN }]],
  ['update, among others', ({ id }) => [`PUT /api/User/${id}`, { name: 'x', password: TAKEN }]],
  ['update to none', ({ id }) => [`PUT /api/User/${id}`, { password: null }]],
  ['action update', ({ id }) => ['POST /api/User/update', { id, data: { password: TAKEN } }]],
  ['updateIfExists', ({ email }) => ['POST /api/User/updateIfExists', { filter: { email }, data: { password: TAKEN } }]],
  [
    'atomic batch',
    ({ id }) => ['POST /api/batch', { atomic: true, requests: [{ resource: 'User', action: 'update', id, data: { password: TAKEN } }] }],
  ],
];

/** Attacked users, with the answer that each attack gets. */
const VICTIMS = [
  ['bob', 422, 'only the user and an admin may set it'],
  ['admin', 403, 'admins are changed by admins or by themselves'],
] as const;

describe("another's password", () => {
  checkAttacks(
    () => world,
    VICTIMS.flatMap(([victim, answers, detail]) =>
      DOORS.map(([name, make]): Attack => {
        const request = ({ ids, emails }: World): ReturnType<typeof make> => make({ id: ids[victim], email: emails[victim] });
        return {
          name: `${name} of ${victim}`,
          as: 'eve',
          send: (target) => request(target)[0],
          body: (target) => request(target)[1],
          answers,
          also: (reply) => expect(reply.text).toContain(detail),
        };
      }),
    ),
  );

  it.each(VICTIMS)('of %s stays what it was, and its sessions stand', async (victim) => {
    expect((await world.call('POST', '/auth/login', { body: { email: world.emails[victim], password: TAKEN } })).status).toBe(401);
    expect((await world.as(victim, 'GET', '/auth/me')).status).toBe(200);
  });

  it('is set by admins, and by its user', async () => {
    const user = await world.user();
    expect((await world.as('admin', 'PUT', `/api/User/${user.id}`, { body: { password: 'a second password' } })).status).toBe(200);
    const token = await world.logIn(user.email, 'a second password');
    const own = await world.call('PUT', `/api/User/${user.id}`, {
      token,
      body: { password: 'a third password', currentPassword: 'a second password' },
    });
    expect([own.status, typeof (await world.logIn(user.email, 'a third password'))]).toEqual([200, 'string']);
  });
});

it('a password taken away ends the sessions that it opened', async () => {
  const user = await world.user();
  expect((await world.as('admin', 'PUT', `/api/User/${user.id}`, { body: { password: null } })).status).toBe(200);
  expect((await world.call('GET', '/auth/me', { token: user.token })).status).toBe(401);
});

describe.each([false, true])('in a batch, atomic: %s, each request is of who the caller is by then', (atomic) => {
  const run = async (user: TestUser, data: Body): Promise<readonly [unknown, unknown]> => {
    const requests = [
      { resource: 'User', action: 'update', id: user.id, data },
      { resource: 'Case', action: 'create', data: { title: 'by then' } },
    ];
    const reply = await world.call('POST', '/api/batch', { token: user.token, body: { atomic, requests } });
    return atomic && reply.status !== 200 ? [reply.status, reply.status] : [reply.at('data.0.status'), reply.at('data.1.status')];
  };

  it('a new department', async () => {
    const conditions = [{ field: 'user.department', operator: 'eq', value: 'barred' }];
    const id = await world.createPolicy({
      role: 'user',
      rules: [{ resource: 'Case', action: 'create', effect: 'DENY', priority: 900, conditions }],
    });
    const user = await world.user({ department: 'claims' });
    expect(await run(user, { department: 'barred' })).toEqual(atomic ? [403, 403] : [200, 403]);
    await world.as('admin', 'DELETE', `/admin/api/policies/${id}`);
  });

  it('a session that is over', async () => {
    const user = await world.user();
    expect(await run(user, { password: 'a new password', currentPassword: user.password })).toEqual(atomic ? [401, 401] : [200, 401]);
  });
});

it('an import is decided on what is sent for each record', async () => {
  const conditions = [{ field: 'request.data.amount', operator: 'lte', value: 5 }];
  const id = await world.createPolicy({
    role: 'editor',
    rules: [{ resource: 'Case', action: 'import', effect: 'DENY', priority: 900, conditions }],
  });
  const of = async (...amounts: readonly number[]): Promise<number> =>
    (await world.as('eve', 'POST', '/api/Case/import', { body: { data: amounts.map((amount) => ({ title: 'x', amount })) } })).status;
  expect([await of(6, 7), await of(6, 5)]).toEqual([201, 403]);
  await world.as('admin', 'DELETE', `/admin/api/policies/${id}`);
});

it('what a test of access is asked about must be an action', async () => {
  for (const action of [{ toString: null }, { toString: 1, valueOf: 1 }, ['read'], null]) {
    const body = { user: { role: 'user' }, resource: { name: 'Case' }, action };
    expect((await world.as('admin', 'POST', '/admin/api/policies/test-access', { body })).status).toBe(422);
  }
});
