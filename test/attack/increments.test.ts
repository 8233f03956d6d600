/** The transaction adds an increment to the stored value; the sum is decided and validated like a sent value. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import type { Reply, TestUser } from '../harness.ts';
import { type Attack, type AttackTarget, checkAttacks, startAttackTarget } from './attack-target.ts';

// The tests of this file build on each other.
const it = createChain();

let target: AttackTarget;
/** May update cases while their amount stays below 100. */
let clerk: TestUser;
beforeAll(async () => {
  target = await startAttackTarget();
  await target.as('admin', 'PUT', `/api/Case/${target.cases.alice}`, { body: { amount: 10, price: '1.50' } });
  clerk = await target.user({ role: 'anon' });
  const small = [{ field: 'resource.amount', operator: 'lt', value: 100 }];
  await target.createPolicy({
    userId: clerk.id,
    rules: ['read', 'update'].map((action) => ({ resource: 'Case', action, conditions: small })),
  });
});
afterAll(() => target.close());

const by = (increment: unknown): Readonly<Record<string, unknown>> => ({ amount: { increment } });
const amountIs =
  (amount: number): NonNullable<Attack['also']> =>
  (reply) =>
    expect(reply.at('data.amount') ?? reply.at('data.0.data.amount')).toBe(amount);

const REFUSED: readonly Attack[] = [
  {
    name: 'on a stale version',
    send: ({ cases }) => `PUT /api/Case/${cases.alice}`,
    headers: { 'if-match': '"1"' },
    body: by(1),
    answers: 412,
  },
  { name: 'of another’s record', send: ({ cases }) => `PUT /api/Case/${cases.bob}`, body: by(1), answers: 403 },
  { name: 'of text', send: ({ cases }) => `PUT /api/Case/${cases.alice}`, body: { title: { increment: 1 } }, answers: 422 },
  { name: 'of a secret', send: ({ cases }) => `PUT /api/Case/${cases.alice}`, body: { pin: { increment: 1 } }, answers: 422 },
  { name: 'of the version', send: ({ cases }) => `PUT /api/Case/${cases.alice}`, body: { version: { increment: 1 } }, answers: 422 },
  {
    name: 'beyond exact integers',
    send: ({ cases }) => `PUT /api/Case/${cases.alice}`,
    body: by(Number.MAX_SAFE_INTEGER),
    answers: 422,
  },
  { name: 'by text', send: ({ cases }) => `PUT /api/Case/${cases.alice}`, body: by('1'), answers: 422 },
  { name: 'by an increment', send: ({ cases }) => `PUT /api/Case/${cases.alice}`, body: by({ increment: 1 }), answers: 422 },
  { name: 'in a create', send: 'POST /api/Case', body: { title: 'x', ...by(1) }, answers: 422 },
  { name: 'in an import', send: 'POST /api/Case/import', body: { data: [{ title: 'x', ...by(1) }] }, answers: 422 },
  {
    name: 'in createIfNotExists',
    send: 'POST /api/Case/createIfNotExists',
    body: { filter: { code: 'no such' }, data: { title: 'x', ...by(1) } },
    answers: 422,
  },
];

describe('an increment', () => {
  checkAttacks(
    () => target,
    [
      { name: 'by PUT', send: ({ cases }) => `PUT /api/Case/${cases.alice}`, body: by(5), answers: 200, also: amountIs(15) },
      {
        name: 'by action',
        send: 'POST /api/Case/update',
        body: ({ cases }) => ({ id: cases.alice, data: by(-5) }),
        answers: 200,
        also: amountIs(10),
      },
      {
        name: 'by a filter on the value that it changes',
        send: 'POST /api/Case/updateIfExists',
        body: { filter: { code: 'A-1', amount: { gte: 10 } }, data: { ...by(-10), price: { increment: '0.25' } } },
        answers: 200,
        also: (reply) => expect([reply.at('data.amount'), reply.at('data.price')]).toEqual([0, '1.75']),
      },
      {
        name: 'only by a filter that matches',
        send: 'POST /api/Case/updateIfExists',
        body: { filter: { code: 'A-1', amount: { gte: 10 } }, data: by(-10) },
        answers: 200,
        also: (reply) => expect(reply.at('updated')).toBe(false),
      },
      {
        name: 'in a batch',
        send: 'POST /api/batch',
        body: ({ cases }) => ({ requests: [{ resource: 'Case', action: 'update', id: cases.alice, data: by(10) }] }),
        answers: 200,
        also: amountIs(10),
      },
    ],
    { start: 'adds an increment ', it },
  );

  checkAttacks(
    () => target,
    REFUSED.map((attack) => ({ ...attack, also: expectUnchanged })),
    { start: 'refuses an increment ', it },
  );

  it('refuses an increment in an import row that changes a record, because a file may be sent twice', async () => {
    const reply = await target.as('admin', 'POST', '/api/Case/import?mode=upsert&key=code', {
      raw: JSON.stringify({ code: 'A-1', ...by(1) }),
      headers: { 'content-type': 'application/x-ndjson' },
    });
    expect([reply.status, reply.at('errors.0.path'), reply.at('errors.0.code')]).toEqual([422, 'amount', 'increment']);
    await expectUnchanged();
  });
});

async function expectUnchanged(): Promise<void> {
  const stored = await target.as('admin', 'GET', `/api/Case/${target.cases.alice}`);
  expect([stored.at('data.amount'), stored.at('data.version')]).toEqual([10, 6]);
}

describe('the sum of an increment', () => {
  it('denies an increment if the sum may not be set', async () => {
    const put = (increment: number): Promise<Reply> =>
      target.call('PUT', `/api/Case/${target.cases.alice}`, { token: clerk.token, body: by(increment) });
    expect((await put(90)).status).toBe(403);
    expect((await put(89)).status).toBe(200);
    expect((await put(1)).status).toBe(403);
  });

  it('counts every concurrent increment', async () => {
    const id = await target.createRecord('Case', { title: 'counted', amount: 0, price: '0' });
    const body = { amount: { increment: 1 }, price: { increment: '0.10' } };
    const replies = await Promise.all(Array.from({ length: 40 }, () => target.as('admin', 'PUT', `/api/Case/${id}`, { body })));
    expect(replies.map(({ status }) => status)).toEqual(Array(40).fill(200));
    const stored = await target.as('admin', 'GET', `/api/Case/${id}`);
    expect([stored.at('data.amount'), stored.at('data.price'), stored.at('data.version')]).toEqual([40, '4.00', 41]);
    expect(new Set(replies.map((reply) => reply.at('data.amount'))).size).toBe(40);
  });
});
