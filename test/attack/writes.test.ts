/** What a client sends is what it may set: never an owner, an id, a time or a role, through whatever door. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reply } from '../harness.ts';
import { type Attack, type Body, type Caller, checkAttacks, createWorld, expectDiscreet, type World } from './target.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

type Values = Readonly<Record<string, unknown>>;

interface Door {
  readonly name: string;
  send(world: World): string;
  body(values: Values, world: World): Body;
  /** The status for values with an id; 422 if absent, as for any field that the service sets. */
  readonly ofAnotherId?: Readonly<Record<'alice' | 'admin', number>>;
}

/** Every door through which values of a case come in. */
const DOORS: readonly Door[] = [
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
    // Another id names another record, which alice may not change and which does not exist.
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
    // Given twice.
    ofAnotherId: { alice: 400, admin: 400 },
  },
  {
    name: 'atomic batch',
    send: () => 'POST /api/batch',
    body: (data, { cases }) => ({ atomic: true, requests: [{ resource: 'Case', action: 'update', id: cases.alice, data }] }),
    // Given twice.
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
  it.each(DOORS)('cannot be set by $name', async ({ send, body, ofAnotherId }) => {
    for (const caller of ['alice', 'admin'] as const) {
      const before = await world.as('admin', 'GET', `/api/Case/${world.cases.alice}`);
      const count = await world.countCases();
      const reply = await sendAs(caller, send(world), body({ [field]: value }, world));
      expect(statusOf(reply), reply.text).toBe(field === 'id' && ofAnotherId !== undefined ? ofAnotherId[caller] : 422);
      expect((await world.as('admin', 'GET', `/api/Case/${world.cases.alice}`)).body).toEqual(before.body);
      expect(await world.countCases()).toBe(count);
    }
  });
});

/** The status of the answer, or of the first item of a batch. */
function statusOf(reply: Reply): unknown {
  return reply.at('data.0.status') ?? reply.status;
}

async function sendAs(caller: Caller, sent: string, body: Body): Promise<Reply> {
  const [method = '', path = ''] = sent.split(' ');
  const reply = await world.as(caller, method, path, { body });
  expectDiscreet(reply);
  return reply;
}

const ROLE_DOORS: readonly (readonly [string, (world: World, values: Values) => readonly [string, Body]])[] = [
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
  it.each(ROLE_DOORS)('gets nowhere by %s', async (_name, toRequest) => {
    const [sent, body] = toRequest(world, values);
    for (const caller of ['alice', 'eve'] as const) {
      const reply = await sendAs(caller, sent, body);
      expect([403, 422], reply.text).toContain(statusOf(reply));
    }
    const alice = await world.as('admin', 'GET', `/api/User/${world.ids.alice}`);
    expect([alice.at('data.role'), alice.at('data.isActive')]).toEqual(['user', true]);
    expect((await world.as('admin', 'GET', '/api/User?where[email]=new@example.com')).at('count')).toBe(0);
  });
});

describe('changes', () => {
  checkAttacks(
    () => world,
    [
      ...([null, false, '', 0, 'other'] as const).map(
        (origin): Attack => ({
          name: `an immutable field set to ${JSON.stringify(origin)}`,
          as: ['alice', 'admin'],
          send: ({ cases }) => `PUT /api/Case/${cases.alice}`,
          body: { origin },
          answers: 422,
        }),
      ),
      { name: "another's record", send: ({ cases }) => `PUT /api/Case/${cases.bob}`, body: { title: 'mine' }, answers: 403 },
      {
        name: "another's record, by batch",
        send: 'POST /api/batch',
        body: ({ cases }) => ({ requests: [{ resource: 'Case', action: 'delete', id: cases.bob }] }),
        answers: 200,
        also: (reply) => expect(reply.at('data.0.status')).toBe(403),
      },
      { name: "another's user record", send: ({ ids }) => `PUT /api/User/${ids.bob}`, body: { name: 'x' }, answers: 403 },
      { name: "another's password", send: ({ ids }) => `PUT /api/User/${ids.admin}`, body: { password: 'a long password' }, answers: 403 },
      {
        name: 'a reference to nobody',
        send: 'POST /api/Case',
        body: { title: 'x', ownerId: '01890a5d-ac96-774b-bcce-b302099a8057' },
        answers: 422,
      },
      {
        name: 'a reference to a record of another kind',
        send: 'POST /api/Case',
        body: ({ cases }) => ({ title: 'x', ownerId: cases.alice }),
        answers: 422,
      },
      { name: 'a reference that is no id', send: 'POST /api/Case', body: { title: 'x', ownerId: '../User' }, answers: 422 },
      {
        name: 'a taken value',
        send: 'POST /api/Case',
        body: { title: 'x', code: 'B-1' },
        answers: 409,
        also: (reply) => expect(reply.text).not.toContain("Bob's"),
      },
      {
        name: 'a taken email, in another case',
        as: 'admin',
        send: 'POST /api/User',
        body: { email: 'ADMIN@example.com', password: 'a long password' },
        answers: 409,
      },
      {
        name: 'another version',
        send: ({ cases }) => `PUT /api/Case/${cases.alice}`,
        body: { title: 'x' },
        headers: { 'if-match': '"999"' },
        answers: 412,
      },
      {
        name: 'another version, deleting',
        send: ({ cases }) => `DELETE /api/Case/${cases.alice}`,
        headers: { 'if-match': '"999"' },
        answers: 412,
      },
      { name: 'the last admin deleted', as: 'admin', send: ({ ids }) => `DELETE /api/User/${ids.admin}`, answers: 409 },
      {
        name: 'the last admin demoted',
        as: 'admin',
        send: ({ ids }) => `PUT /api/User/${ids.admin}`,
        body: { role: 'user' },
        answers: 409,
      },
      {
        name: 'the last admin deactivated',
        as: 'admin',
        send: ({ ids }) => `PUT /api/User/${ids.admin}`,
        body: { isActive: false },
        answers: 409,
      },
      {
        name: 'the last admin deleted by batch',
        as: 'admin',
        send: 'POST /api/batch',
        body: ({ ids }) => ({ requests: [{ resource: 'User', action: 'delete', id: ids.admin }] }),
        answers: 200,
        also: (reply) => expect(reply.at('data.0.status')).toBe(409),
      },
      {
        name: 'an import with one bad row',
        send: 'POST /api/Case/import',
        body: { data: [{ title: 'good' }, { title: 5 }] },
        answers: 422,
        also: async (_, { countCases }) => expect(await countCases()).toBe(2),
      },
      {
        name: 'an import with one row taken',
        send: 'POST /api/Case/import',
        body: { data: [{ title: 'good' }, { title: 'x', code: 'B-1' }] },
        answers: 409,
        also: async (_, { countCases }) => expect(await countCases()).toBe(2),
      },
      {
        name: 'an atomic batch with one denial',
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
  );

  it('a field that is not sent keeps its value', async () => {
    const id = await world.createRecord('Case', { title: 'whole', amount: 7, tags: ['a'], extra: { a: 1 }, pin: 'kept' });
    const changed = await world.as('admin', 'PUT', `/api/Case/${id}`, { body: { title: 'changed' } });
    expect([changed.at('data.amount'), changed.at('data.tags'), changed.at('data.extra')]).toEqual([7, ['a'], { a: 1 }]);
    await world.as('admin', 'DELETE', `/api/Case/${id}`);
  });

  it('of many at once on one version, one is made', async () => {
    const id = await world.createRecord('Case', { title: 'contested' });
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        world.as('admin', 'PUT', `/api/Case/${id}`, { body: { title: `by ${index}` }, headers: { 'if-match': '"1"' } }),
      ),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, ...Array.from({ length: 19 }, () => 412)]);
    await world.as('admin', 'DELETE', `/api/Case/${id}`);
  });

  it('of fifty createIfNotExists at once, one creates', async () => {
    const filters = [
      { title: 'only one', price: '1.50', amount: { in: [3, 4] } },
      { amount: { in: [4, 3, 3] }, price: '1.5', title: 'only one' },
    ];
    const data = { title: 'only one', price: '1.50', amount: 4 };
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        world.as('alice', 'POST', '/api/Case/createIfNotExists', { body: { filter: filters[index % 2], data } }),
      ),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(49);
    await world.as('alice', 'DELETE', `/api/Case/${replies[0]?.at('data.id')}`);
  });

  it('a deleted id is not used again', async () => {
    const ids = new Set<string>();
    for (let count = 0; count < 5; count++) {
      const id = await world.createRecord('Case', { title: 'gone' });
      ids.add(id);
      expect((await world.as('admin', 'DELETE', `/api/Case/${id}`)).status).toBe(200);
      expect((await world.as('admin', 'GET', `/api/Case/${id}`)).status).toBe(404);
    }
    expect(ids.size).toBe(5);
  });

  it('nothing of all this has stayed', async () => {
    expect(await world.countCases()).toBe(2);
  });
});
