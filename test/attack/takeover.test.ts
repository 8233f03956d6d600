/** Taking over the account of another user, or keeping access that has ended. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestUser } from '../harness.ts';
import { type Attack, type AttackTarget, type Body, checkAttacks, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

const TAKEN = 'a password of the attacker';

/** A user whose password Eve would like to set. */
interface Victim {
  readonly id: string;
  readonly email: string;
}

/** Every route that sets a password. Eve may update every user, which must not make her an admin. */
const ROUTES: readonly (readonly [string, (victim: Victim) => readonly [send: string, body: Body]])[] = [
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

/** Attacked users, with the expected status and code. */
const VICTIMS = [
  ['bob', 422, 'guarded'],
  ['admin', 403, 'ACCESS_PROTECTED'],
] as const;

describe('the password of another user', () => {
  checkAttacks(
    () => target,
    VICTIMS.flatMap(([victim, answers, code]) =>
      ROUTES.map(([name, make]): Attack => {
        const request = ({ ids, emails }: AttackTarget): ReturnType<typeof make> => make({ id: ids[victim], email: emails[victim] });
        return {
          name: `${name} of ${victim}`,
          as: 'eve',
          send: (target) => request(target)[0],
          body: (target) => request(target)[1],
          answers,
          also: (reply) => expect(reply.text).toContain(`"code":"${code}"`),
        };
      }),
    ),
    'refuses to set the password of another user by ',
  );

  it.each(VICTIMS)('keeps the password and the sessions of %s', async (victim) => {
    expect((await target.call('POST', '/auth/login', { body: { email: target.emails[victim], password: TAKEN } })).status).toBe(401);
    expect((await target.as(victim, 'GET', '/auth/me')).status).toBe(200);
  });

  it('an admin and the user can set the password of the user', async () => {
    const user = await target.user();
    expect((await target.as('admin', 'PUT', `/api/User/${user.id}`, { body: { password: 'a second password' } })).status).toBe(200);
    const token = await target.logIn(user.email, 'a second password');
    const own = await target.call('PUT', `/api/User/${user.id}`, {
      token,
      body: { password: 'a third password', currentPassword: 'a second password' },
    });
    expect([own.status, typeof (await target.logIn(user.email, 'a third password'))]).toEqual([200, 'string']);
  });
});

it('a removed password ends the sessions that were opened with it', async () => {
  const user = await target.user();
  expect((await target.as('admin', 'PUT', `/api/User/${user.id}`, { body: { password: null } })).status).toBe(200);
  expect((await target.call('GET', '/auth/me', { token: user.token })).status).toBe(401);
});

describe.each([false, true])('a batch that changes its caller, atomic: %s', (atomic) => {
  const run = async (user: TestUser, data: Body): Promise<readonly [unknown, unknown]> => {
    const requests = [
      { resource: 'User', action: 'update', id: user.id, data },
      { resource: 'Case', action: 'create', data: { title: 'by then' } },
    ];
    const reply = await target.call('POST', '/api/batch', { token: user.token, body: { atomic, requests } });
    return atomic && reply.status !== 200 ? [reply.status, reply.status] : [reply.at('data.0.status'), reply.at('data.1.status')];
  };

  it(`decides a batch request for a caller whose department an earlier request has changed, atomic: ${atomic}`, async () => {
    const conditions = [{ field: 'user.department', operator: 'eq', value: 'barred' }];
    const id = await target.createPolicy({
      role: 'user',
      rules: [{ resource: 'Case', action: 'create', effect: 'DENY', priority: 900, conditions }],
    });
    const user = await target.user({ department: 'claims' });
    expect(await run(user, { department: 'barred' })).toEqual(atomic ? [403, 403] : [200, 403]);
    await target.as('admin', 'DELETE', `/admin/api/policies/${id}`);
  });

  it(`refuses a batch request of a caller whose session an earlier request has ended, atomic: ${atomic}`, async () => {
    const user = await target.user();
    expect(await run(user, { password: 'a new password', currentPassword: user.password })).toEqual(atomic ? [409, 409] : [200, 401]);
  });
});

it('an import is decided on the data of each record', async () => {
  const conditions = [{ field: 'request.data.amount', operator: 'lte', value: 5 }];
  const id = await target.createPolicy({
    role: 'editor',
    rules: [{ resource: 'Case', action: 'import', effect: 'DENY', priority: 900, conditions }],
  });
  const of = async (...amounts: readonly number[]): Promise<number> =>
    (await target.as('eve', 'POST', '/api/Case/import', { body: { data: amounts.map((amount) => ({ title: 'x', amount })) } })).status;
  expect([await of(6, 7), await of(6, 5)]).toEqual([201, 403]);
  await target.as('admin', 'DELETE', `/admin/api/policies/${id}`);
});

it('an access test refuses an invalid action', async () => {
  for (const action of [{ toString: null }, { toString: 1, valueOf: 1 }, ['read'], null]) {
    const body = { user: { role: 'user' }, resource: { name: 'Case' }, action };
    expect((await target.as('admin', 'POST', '/admin/api/policies/test-access', { body })).status).toBe(400);
  }
});
