/** A client cannot set an owner, an id, a time or a role through any route. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reply } from '../harness.ts';
import {
  type Attack,
  type AttackTarget,
  type Body,
  type Caller,
  checkAttacks,
  expectDiscreet,
  startAttackTarget,
} from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

type Values = Readonly<Record<string, unknown>>;

interface Route {
  readonly name: string;
  send(target: AttackTarget): string;
  body(values: Values, target: AttackTarget): Body;
  /** The expected status for values with an id. Default: 422, as for any field that the service sets. */
  readonly ofAnotherId?: Readonly<Record<'alice' | 'admin', number>>;
}

/** Every route that accepts values of a case. */
const ROUTES: readonly Route[] = [
  { name: 'create', send: () => 'POST /api/Case', body: (values) => ({ title: 'x', ...values }) },
  { name: 'update', send: ({ cases }) => `PUT /api/Case/${cases.alice}`, body: (values) => values },
  { name: 'action create', send: () => 'POST /api/Case/create', body: (values) => ({ data: { title: 'x', ...values } }) },
  { name: 'action update', send: () => 'POST /api/Case/update', body: (data, { cases }) => ({ id: cases.alice, data }) },
  { name: 'import', send: () => 'POST /api/Case/import', body: (values) => ({ data: [{ title: 'good' }, { title: 'x', ...values }] }) },
  {
    name: 'createIfNotExists',
    send: () => 'POST /api/Case/createIfNotExists',
    body: (values) => ({ filter: { code: 'no such' }, data: { title: 'x', ...values } }),
  },
  { name: 'updateIfExists', send: () => 'POST /api/Case/updateIfExists', body: (data) => ({ filter: { code: 'A-1' }, data }) },
  {
    name: 'batch create',
    send: () => 'POST /api/batch',
    body: (values) => ({ requests: [{ resource: 'Case', action: 'create', data: { title: 'x', ...values } }] }),
  },
  {
    name: 'batch update, its id in data',
    send: () => 'POST /api/batch',
    body: (data, { cases }) => ({ requests: [{ resource: 'Case', action: 'update', data: { id: cases.alice, ...data } }] }),
    // The id names another record, which does not exist and which Alice may not change.
    ofAnotherId: { alice: 403, admin: 404 },
  },
  {
    name: 'batch createIfNotExists, in data',
    send: () => 'POST /api/batch',
    body: (values) => ({
      requests: [{ resource: 'Case', action: 'createIfNotExists', data: { filter: { code: 'no such' }, data: { title: 'x', ...values } } }],
    }),
  },
  {
    name: 'batch update',
    send: () => 'POST /api/batch',
    body: (data, { cases }) => ({ requests: [{ resource: 'Case', action: 'update', id: cases.alice, data }] }),
    // A duplicate id.
    ofAnotherId: { alice: 400, admin: 400 },
  },
  {
    name: 'atomic batch',
    send: () => 'POST /api/batch',
    body: (data, { cases }) => ({ atomic: true, requests: [{ resource: 'Case', action: 'update', id: cases.alice, data }] }),
    // A duplicate id.
    ofAnotherId: { alice: 400, admin: 400 },
  },
];

const FORBIDDEN: readonly (readonly [string, unknown])[] = [
  ['id', '01890a5d-ac96-774b-bcce-b302099a8057'],
  ['createdBy', 'someone else'],
  ['createdBy', null],
  ['createdAt', '2000-01-01T00:00:00.000Z'],
  ['updatedAt', '2000-01-01T00:00:00.000Z'],
  ['version', 99],
  ['nosuch', 'x'],
];

describe.each(FORBIDDEN)('%s: %j', (field, value) => {
  it.each(ROUTES)(`does not set ${field} to ${JSON.stringify(value)} by $name`, async ({ send, body, ofAnotherId }) => {
    for (const caller of ['alice', 'admin'] as const) {
      const before = await target.as('admin', 'GET', `/api/Case/${target.cases.alice}`);
      const count = await target.countCases();
      const reply = await sendAs(caller, send(target), body({ [field]: value }, target));
      expect(statusOf(reply), reply.text).toBe(field === 'id' && ofAnotherId !== undefined ? ofAnotherId[caller] : 422);
      expect((await target.as('admin', 'GET', `/api/Case/${target.cases.alice}`)).body).toEqual(before.body);
      expect(await target.countCases()).toBe(count);
    }
  });
});

/** Returns the status of the response, or of the first item of a batch. */
function statusOf(reply: Reply): unknown {
  return reply.at('data.0.status') ?? reply.status;
}

async function sendAs(caller: Caller, sent: string, body: Body): Promise<Reply> {
  const [method = '', path = ''] = sent.split(' ');
  const reply = await target.as(caller, method, path, { body });
  expectDiscreet(reply);
  return reply;
}

const ROLE_ROUTES: readonly (readonly [string, (target: AttackTarget, values: Values) => readonly [string, Body]])[] = [
  ['update', ({ ids }, values) => [`PUT /api/User/${ids.alice}`, values]],
  ['action update', ({ ids }, data) => ['POST /api/User/update', { id: ids.alice, data }]],
  ['updateIfExists', ({ emails }, data) => ['POST /api/User/updateIfExists', { filter: { email: emails.alice }, data }]],
  ['batch', ({ ids }, data) => ['POST /api/batch', { requests: [{ resource: 'User', action: 'update', id: ids.alice, data }] }]],
  [
    'atomic batch',
    ({ ids }, data) => ['POST /api/batch', { atomic: true, requests: [{ resource: 'User', action: 'update', id: ids.alice, data }] }],
  ],
  ['create', (_, values) => ['POST /api/User', { email: 'new@example.com', password: 'a long password', ...values }]],
  ['import', (_, values) => ['POST /api/User/import', { data: [{ email: 'new@example.com', password: 'a long password', ...values }] }]],
  [
    'createIfNotExists',
    (_, values) => [
      'POST /api/User/createIfNotExists',
      { filter: { email: 'new@example.com' }, data: { email: 'new@example.com', ...values } },
    ],
  ],
  [
    'batch create',
    (_, values) => [
      'POST /api/batch',
      { requests: [{ resource: 'User', action: 'create', data: { email: 'new@example.com', ...values } }] },
    ],
  ],
];

describe.each([
  { role: 'admin' },
  { role: 'editor' },
  { role: 'moderator' },
  { role: null },
  { role: ['admin'] },
  { isActive: false },
  { isActive: null },
])('a user who sends %j', (values) => {
  it.each(ROLE_ROUTES)(`gives neither role nor status to a user who sends ${JSON.stringify(values)} by %s`, async (_name, toRequest) => {
    const [sent, body] = toRequest(target, values);
    for (const caller of ['alice', 'eve'] as const) {
      const reply = await sendAs(caller, sent, body);
      expect([403, 422], reply.text).toContain(statusOf(reply));
    }
    const alice = await target.as('admin', 'GET', `/api/User/${target.ids.alice}`);
    expect([alice.at('data.role'), alice.at('data.isActive')]).toEqual(['user', true]);
    expect((await target.as('admin', 'GET', '/api/User?where[email]=new@example.com')).at('count')).toBe(0);
  });
});

describe('a change', () => {
  checkAttacks(
    () => target,
    [
      ...([null, false, '', 0, 'other'] as const).map(
        (origin): Attack => ({
          name: `of an immutable field to ${JSON.stringify(origin)}`,
          as: ['alice', 'admin'],
          send: ({ cases }) => `PUT /api/Case/${cases.alice}`,
          body: { origin },
          answers: 422,
        }),
      ),
      { name: "of another user's record", send: ({ cases }) => `PUT /api/Case/${cases.bob}`, body: { title: 'mine' }, answers: 403 },
      {
        name: "of another user's record, by batch",
        send: 'POST /api/batch',
        body: ({ cases }) => ({ requests: [{ resource: 'Case', action: 'delete', id: cases.bob }] }),
        answers: 200,
        also: (reply) => expect(reply.at('data.0.status')).toBe(403),
      },
      { name: 'of another user', send: ({ ids }) => `PUT /api/User/${ids.bob}`, body: { name: 'x' }, answers: 403 },
      {
        name: "of another user's password",
        send: ({ ids }) => `PUT /api/User/${ids.admin}`,
        body: { password: 'a long password' },
        answers: 403,
      },
      {
        name: 'with a reference to a missing record',
        send: 'POST /api/Case',
        body: { title: 'x', ownerId: '01890a5d-ac96-774b-bcce-b302099a8057' },
        answers: 422,
      },
      {
        name: 'with a reference to a record of another resource',
        send: 'POST /api/Case',
        body: ({ cases }) => ({ title: 'x', ownerId: cases.alice }),
        answers: 422,
      },
      { name: 'with a reference that is not an id', send: 'POST /api/Case', body: { title: 'x', ownerId: '../User' }, answers: 422 },
      {
        name: 'to a taken value',
        send: 'POST /api/Case',
        body: { title: 'x', code: 'B-1' },
        answers: 409,
        also: (reply) => expect(reply.text).not.toContain("Bob's"),
      },
      {
        name: 'to a taken email in other case',
        as: 'admin',
        send: 'POST /api/User',
        body: { email: 'ADMIN@example.com', password: 'a long password' },
        answers: 409,
      },
      {
        name: 'of another version',
        send: ({ cases }) => `PUT /api/Case/${cases.alice}`,
        body: { title: 'x' },
        headers: { 'if-match': '"999"' },
        answers: 412,
      },
      {
        name: 'of another version, by delete',
        send: ({ cases }) => `DELETE /api/Case/${cases.alice}`,
        headers: { 'if-match': '"999"' },
        answers: 412,
      },
      { name: 'that deletes the last admin', as: 'admin', send: ({ ids }) => `DELETE /api/User/${ids.admin}`, answers: 409 },
      {
        name: 'that demotes the last admin',
        as: 'admin',
        send: ({ ids }) => `PUT /api/User/${ids.admin}`,
        body: { role: 'user' },
        answers: 409,
      },
      {
        name: 'that deactivates the last admin',
        as: 'admin',
        send: ({ ids }) => `PUT /api/User/${ids.admin}`,
        body: { isActive: false },
        answers: 409,
      },
      {
        name: 'that deletes the last admin by batch',
        as: 'admin',
        send: 'POST /api/batch',
        body: ({ ids }) => ({ requests: [{ resource: 'User', action: 'delete', id: ids.admin }] }),
        answers: 200,
        also: (reply) => expect(reply.at('data.0.status')).toBe(409),
      },
      {
        name: 'by an import with an invalid row',
        send: 'POST /api/Case/import',
        body: { data: [{ title: 'good' }, { title: 5 }] },
        answers: 422,
        also: async (_, { countCases }) => expect(await countCases()).toBe(2),
      },
      {
        name: 'by an import with a taken value',
        send: 'POST /api/Case/import',
        body: { data: [{ title: 'good' }, { title: 'x', code: 'B-1' }] },
        answers: 409,
        also: async (_, { countCases }) => expect(await countCases()).toBe(2),
      },
      {
        name: 'by an atomic batch with a denied item',
        send: 'POST /api/batch',
        body: ({ cases }) => ({
          atomic: true,
          requests: [
            { resource: 'Case', action: 'create', data: { title: 'good' } },
            { resource: 'Case', action: 'delete', id: cases.bob },
          ],
        }),
        answers: 403,
        also: async (_, { countCases }) => expect(await countCases()).toBe(2),
      },
    ],
    'refuses a change ',
  );

  it('a change keeps the values of fields that are not sent', async () => {
    const id = await target.createRecord('Case', { title: 'whole', amount: 7, tags: ['a'], extra: { a: 1 }, pin: 'kept' });
    const changed = await target.as('admin', 'PUT', `/api/Case/${id}`, { body: { title: 'changed' } });
    expect([changed.at('data.amount'), changed.at('data.tags'), changed.at('data.extra')]).toEqual([7, ['a'], { a: 1 }]);
    await target.as('admin', 'DELETE', `/api/Case/${id}`);
  });

  it('one of many concurrent changes of one version succeeds', async () => {
    const id = await target.createRecord('Case', { title: 'contested' });
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        target.as('admin', 'PUT', `/api/Case/${id}`, { body: { title: `by ${index}` }, headers: { 'if-match': '"1"' } }),
      ),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 412)]);
    await target.as('admin', 'DELETE', `/api/Case/${id}`);
  });

  it('fifty concurrent createIfNotExists create one record', async () => {
    const filters = [
      { title: 'only one', price: '1.50', amount: { in: [3, 4] } },
      { amount: { in: [4, 3, 3] }, price: '1.5', title: 'only one' },
    ];
    const data = { title: 'only one', price: '1.50', amount: 4 };
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        target.as('alice', 'POST', '/api/Case/createIfNotExists', { body: { filter: filters[index % 2], data } }),
      ),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(49);
    await target.as('alice', 'DELETE', `/api/Case/${replies[0]?.at('data.id')}`);
  });

  it('does not reuse the id of a deleted record', async () => {
    const ids = new Set<string>();
    for (let count = 0; count < 5; count++) {
      const id = await target.createRecord('Case', { title: 'gone' });
      ids.add(id);
      expect((await target.as('admin', 'DELETE', `/api/Case/${id}`)).status).toBe(200);
      expect((await target.as('admin', 'GET', `/api/Case/${id}`)).status).toBe(404);
    }
    expect(ids.size).toBe(5);
  });

  it('stores no change that was refused', async () => {
    expect(await target.countCases()).toBe(2);
  });
});
