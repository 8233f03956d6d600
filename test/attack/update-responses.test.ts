/** A change discloses nothing of a record that its caller may not read: neither its response nor the counts of an import. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reply, TestUser } from '../harness.ts';
import { type AttackTarget, type Body, expectDiscreet, startAttackTarget, withoutIds } from './attack-target.ts';

const TARGET = { title: 'Hidden case', code: 'U-1', amount: 731, tags: ['z'], isOpen: false, origin: 'post' };
/** A role whose policies allow reading open cases only. */
const IN_NO_ROLE = { role: 'anon' };

let target: AttackTarget;
let id: string;
/** Updates and imports every case, and reads none. */
let blind: TestUser;
/** Updates every case, and reads those that have the amount in the data sent: none, because a read sends no data. */
let guesser: TestUser;
/** Updates every case, and reads those with the title "Shown case". */
let partial: TestUser;
/** Updates every case, and reads those whose owner is in the department "claims". */
let colleague: TestUser;

beforeAll(async () => {
  target = await startAttackTarget();
  [blind, guesser, partial, colleague] = [await newUser(), await newUser(), await newUser(), await newUser()];
  const reads = (condition?: object): object => ({ resource: 'Case', action: 'read', ...(condition && { conditions: [condition] }) });
  const writes = ['update', 'import'].map((action) => ({ resource: 'Case', action }));
  const may = (user: TestUser, rule: object): Promise<string> => target.createPolicy({ userId: user.id, rules: [...writes, rule] });
  await may(blind, { ...reads(), effect: 'DENY', priority: 900 });
  await may(guesser, reads({ field: 'resource.amount', operator: 'eq', value: `\${request.data.amount}` }));
  await may(partial, reads({ field: 'resource.title', operator: 'eq', value: 'Shown case' }));
  await may(colleague, reads({ field: 'resource.ownerId.department', operator: 'eq', value: 'claims' }));
});
afterAll(() => target.close());

beforeEach(async () => {
  id = await target.createRecord('Case', TARGET);
  return async () => {
    await target.as('admin', 'DELETE', `/api/Case/${id}`);
  };
});

const newUser = (): Promise<TestUser> => target.user(IN_NO_ROLE);

type Send = (data: Body) => readonly [method: string, path: string, body: Body];

/** Every route that changes one record by its id. */
const ROUTES: readonly (readonly [name: string, send: Send, at: string])[] = [
  ['PUT', (data) => ['PUT', `/api/Case/${id}`, data], ''],
  ['action update', (data) => ['POST', '/api/Case/update', { id, data }], ''],
  ['batch', (data) => ['POST', '/api/batch', { requests: [{ resource: 'Case', action: 'update', id, data }] }], 'data.0.'],
  [
    'atomic batch',
    (data) => ['POST', '/api/batch', { atomic: true, requests: [{ resource: 'Case', action: 'update', id, data }] }],
    'data.0.',
  ],
];

async function change({ token }: TestUser, [method, path, body]: ReturnType<Send>): Promise<Reply> {
  const reply = await target.call(method, path, { token, body });
  expectDiscreet(reply);
  return reply;
}

describe.each(ROUTES)('the response of an update by %s', (route, send, at) => {
  it.each<[string, Body]>([
    ['nothing', {}],
    ['a value', { title: 'Changed' }],
  ])(`returns only the id and the version from an update by ${route} if the caller may not read the record: %s`, async (_what, data) => {
    const reply = await change(blind, send(data));
    expect(reply.status).toBe(200);
    expect(reply.at(`${at}data`)).toEqual({ id, version: 2 });
    if (at === '') expect(reply.headers.etag).toBe('"2"');
  });

  it.each<[string, Body]>([
    ['in range', { amount: { increment: 1 } }],
    ['out of range', { amount: { increment: Number.MAX_SAFE_INTEGER } }],
    ['of a field without a value', { price: { increment: '1.00' } }],
  ])(`refuses an increment by ${route} with 403 if the caller may not read the record: %s`, async (_what, data) => {
    const reply = await change(blind, send(data));
    expect(reply.at('data.0.status') ?? reply.status, reply.text).toBe(403);
    const stored = await target.as('admin', 'GET', `/api/Case/${id}`);
    expect([stored.at('data.version'), stored.at('data.amount')]).toEqual([1, 731]);
  });

  it(`returns no record from an update by ${route} if only a condition on the sent data allows reading it`, async () => {
    expect((await change(guesser, send({ amount: 731 }))).at(`${at}data`)).toEqual({ id, version: 2 });
  });

  it(`returns the record from an update by ${route} if the caller may read it after the change`, async () => {
    const shown = await change(partial, send({ title: 'Shown case' }));
    expect(shown.at(`${at}data`)).toMatchObject({ id, version: 2, title: 'Shown case', code: 'U-1', amount: 731 });
    expect((await change(partial, send({ title: 'Hidden again' }))).at(`${at}data`)).toEqual({ id, version: 3 });
  });

  it(`returns the record from an update by ${route} if the caller may read it because of its new reference`, async () => {
    const { alice, eve } = target.ids;
    expect((await change(colleague, send({ ownerId: alice }))).at(`${at}data`)).toMatchObject({ id, code: 'U-1', ownerId: alice });
    expect((await change(colleague, send({ ownerId: eve }))).at(`${at}data`)).toEqual({ id, version: 3 });
  });

  it(`records an update by ${route} with one entry in the audit log`, async () => {
    await change(blind, send({ title: 'Changed' }));
    const entries = await target.as('admin', 'GET', `/admin/api/decisions?userId=${blind.id}&limit=20`);
    const found = entries.at('data') as readonly { action: string; allowed: boolean; recordId?: string }[];
    expect(found.filter(({ recordId }) => recordId === id).map(({ action, allowed }) => [action, allowed])).toEqual([['update', true]]);
  });
});

it('updateIfExists returns only the id and the version if the caller may no longer read the record', async () => {
  await target.as('admin', 'PUT', `/api/Case/${id}`, { body: { title: 'Shown case' } });
  const body = { filter: { code: 'U-1' }, data: { title: 'Hidden again' } };
  const reply = await change(partial, ['POST', '/api/Case/updateIfExists', body]);
  expect([reply.at('updated'), reply.at('data')]).toEqual([true, { id, version: 3 }]);
});

it('a batch can refer to an updated record that the caller may not read', async () => {
  const requests = [
    { resource: 'Case', action: 'update', id, data: { title: 'One' } },
    { resource: 'Case', action: 'update', id: '$0.id', data: { title: 'Two' } },
  ];
  const reply = await change(blind, ['POST', '/api/batch', { requests }]);
  expect(reply.at('data.1.data')).toEqual({ id, version: 3 });
});

/** Rows with a value of the hidden record, and with another value. */
const GUESSES: readonly (readonly [name: string, row: (value: 'right' | 'wrong') => object])[] = [
  ['an amount', (value) => ({ amount: value === 'right' ? 731 : 732 })],
  ['a list', (value) => ({ tags: [value === 'right' ? 'z' : 'y'] })],
  ['no value', (value) => (value === 'right' ? { price: null } : { amount: null })],
  ['an immutable value', (value) => ({ origin: value === 'right' ? 'post' : 'phone' })],
];

describe.each(['code', 'id'])('an import row with a guessed value of an unreadable record, found by its %s', (key) => {
  const imported = async ({ token }: TestUser, query: string, row: object): Promise<string> => {
    const path = `/api/Case/import?mode=upsert&key=${key}${query}`;
    const raw = JSON.stringify({ ...(key === 'id' ? { id } : { code: 'U-1' }), ...row });
    const reply = await target.call('POST', path, { token, raw, headers: { 'content-type': 'application/x-ndjson' } });
    expectDiscreet(reply);
    return withoutIds(reply);
  };

  describe.each(['', '&dryRun=true', '&onError=skip', '&onError=skip&dryRun=true', '&atomic=true'])('the query "%s"', (query) => {
    it.each(GUESSES)(
      `answers a right and a wrong guess in an import row alike, by ${key} with the query "${query}": %s`,
      async (_name, row) => {
        const outcomes: string[] = [];
        for (const value of ['right', 'wrong'] as const) {
          const before = (await target.as('admin', 'GET', `/api/Case/${id}`)).at('data.version');
          const answer = await imported(blind, query, row(value));
          const after = (await target.as('admin', 'GET', `/api/Case/${id}`)).at('data.version');
          expect(answer).not.toContain('ACCESS_DENIED');
          expect(answer).not.toContain('"unchanged":1');
          outcomes.push(`${answer} ${Number(after) - Number(before)}`);
        }
        expect(outcomes[0]).toBe(outcomes[1]);
      },
    );
  });

  it(`counts an import row as unchanged by ${key} for a caller who may read the record`, async () => {
    await target.as('admin', 'PUT', `/api/Case/${id}`, { body: { title: 'Shown case' } });
    expect(await imported(partial, '', { amount: 731, origin: 'post' })).toContain('"unchanged":1');
  });
});
