import { afterAll, beforeAll, expect, it } from 'vitest';
import { SYSTEM } from '../resources/system/index.ts';
import { assignToUser, createPolicy, type Database, insertRecord, loadRevision, migrate, type Transaction } from '../storage/index.ts';
import { openTestDatabase, type TestDatabase } from '../storage/storage.fixture.ts';
import { createAssignmentCache } from './assignment-cache.ts';

const by = 'admin-1';
const AT = '2026-01-01T00:00:00.000Z';
const USERS = ['u1', 'u2', 'u3'];
let opened: TestDatabase;
let database: Database;
const policies: string[] = [];

beforeAll(async () => {
  opened = openTestDatabase();
  database = opened.database;
  await migrate(database, SYSTEM);
  await inTransaction(async (tx) => {
    const user = SYSTEM.get('User');
    if (user === undefined) throw new Error('no User');
    const values = { role: 'user', isActive: true, password: 'x', version: 1, createdAt: AT, updatedAt: AT };
    for (const id of USERS) await insertRecord(tx, user, { ...values, id, name: id, email: `${id}@example.com` });
    for (const name of ['A', 'B']) {
      const policy = { name, type: 'ROLE_BASED', isActive: true, priority: 100, tags: [], rules: [] } as const;
      policies.push((await createPolicy(tx, policy, { by })).id);
    }
  });
});
afterAll(() => opened.dispose());

function inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
  return database.transaction(work);
}

/** A transaction that counts what it asks of the table of assignments. */
function counted(tx: Transaction): { readonly tx: Transaction; asked(): number } {
  let asked = 0;
  const all: Transaction['all'] = (query) => {
    asked++;
    return tx.all(query);
  };
  return { tx: { ...tx, all }, asked: () => asked };
}

const assign = (tx: Transaction, userId: string, index = 0) => assignToUser(tx, { userId, policyId: policies[index] ?? '' }, { by });
const names = (grants: readonly { readonly policyId: string }[]) => grants.map(({ policyId }) => policies.indexOf(policyId));

it('asks once for each user, those who are assigned nothing too, and never for nobody', async () => {
  await inTransaction((tx) => assign(tx, 'u1'));
  const keeper = createAssignmentCache(100);
  await inTransaction(async (one) => {
    const { tx, asked } = counted(one);
    const epoch = await loadRevision(tx);
    keeper.moveTo(epoch);
    const { of } = keeper.at(epoch);
    for (const _ of [1, 2]) expect([names(await of(tx, 'u1')), await of(tx, 'u2'), await of(tx, undefined)]).toEqual([[0], [], []]);
    expect(asked()).toBe(2);
  });
});

it('forgets who is named, or everybody', async () => {
  const keeper = createAssignmentCache(100);
  await inTransaction(async (one) => {
    const { tx, asked } = counted(one);
    const epoch = await loadRevision(tx);
    const all = async () => {
      for (const id of USERS) await keeper.at(epoch).of(tx, id);
      return asked();
    };
    keeper.moveTo(epoch);
    expect(await all()).toBe(3);
    keeper.moveTo(epoch, new Set(['u2', 'u9']));
    expect(await all()).toBe(4);
    keeper.moveTo(epoch);
    expect(await all()).toBe(7);
  });
});

it('drives out who asked longest ago, by how much they are assigned', async () => {
  await inTransaction((tx) => assign(tx, 'u1', 1));
  const keeper = createAssignmentCache(4);
  await inTransaction(async (one) => {
    const { tx, asked } = counted(one);
    const epoch = await loadRevision(tx);
    keeper.moveTo(epoch);
    const { of, ofEach } = keeper.at(epoch);
    // u1 counts three, u2 one: there is room for both, and not for u3.
    for (const id of ['u1', 'u2', 'u1', 'u2', 'u1', 'u3', 'u1']) await of(tx, id);
    expect(asked()).toBe(3);
    await of(tx, 'u2');
    expect(asked()).toBe(4);
    // Who is only looked at drives nobody out.
    expect(names((await ofEach(tx, USERS))('u1'))).toEqual([0, 1]);
    await of(tx, 'u2');
    expect(asked()).toBe(5);
  });
});

it('keeps nothing that was read after a change that may be undone', async () => {
  const keeper = createAssignmentCache(100);
  const epoch = await inTransaction(loadRevision);
  keeper.moveTo(epoch);
  const { of } = keeper.at(epoch);
  const undone = inTransaction(async (tx) => {
    await assign(tx, 'u3');
    expect(names(await of(tx, 'u3'))).toEqual([0]);
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(await inTransaction((tx) => of(tx, 'u3'))).toEqual([]);
});

it('answers a transaction of an epoch before out of the database', async () => {
  const keeper = createAssignmentCache(100);
  const before = await inTransaction(loadRevision);
  keeper.moveTo(before);
  await inTransaction((tx) => keeper.at(before).of(tx, 'u3'));
  await inTransaction((tx) => assign(tx, 'u3'));
  const after = await inTransaction(loadRevision);
  keeper.moveTo(after, new Set(['u3']));
  expect(names(await inTransaction((tx) => keeper.at(before).of(tx, 'u3')))).toEqual([0]);
  await inTransaction(async (one) => {
    const { tx, asked } = counted(one);
    await keeper.at(after).of(tx, 'u3');
    await keeper.at(after).of(tx, 'u3');
    expect(asked()).toBe(1);
  });
});

it('asks for many in stretches', async () => {
  const keeper = createAssignmentCache(100);
  await inTransaction(async (one) => {
    const { tx, asked } = counted(one);
    const ids = [...Array.from({ length: 1100 }, (_, index) => `nobody${index}`), 'u1'];
    const grantsOf = await keeper.at(await loadRevision(tx)).ofEach(tx, ids);
    expect([names(grantsOf('u1')), grantsOf('nobody7'), asked()]).toEqual([[0, 1], [], 3]);
  });
});

it('answers what is kept as of its own epoch alone', async () => {
  const keeper = createAssignmentCache(100);
  await inTransaction(async (one) => {
    const { tx, asked } = counted(one);
    const epoch = await loadRevision(tx);
    keeper.moveTo(epoch);
    for (const at of [epoch, epoch, { ...epoch, stamp: 'another' }]) await keeper.at(at).of(tx, 'u1');
    expect(asked()).toBe(2);
  });
});

it('keeps nothing of an epoch that was gone on from while it was read', async () => {
  const keeper = createAssignmentCache(100);
  await inTransaction(async (one) => {
    const { tx, asked } = counted(one);
    const epoch = await loadRevision(tx);
    const next = { number: epoch.number + 1, stamp: 'next' };
    keeper.moveTo(epoch);
    const meanwhile: Transaction['one'] = async (query) => {
      const row = await tx.one(query);
      keeper.moveTo(next, new Set(['u1']));
      return row as never;
    };
    await keeper.at(epoch).of({ ...tx, one: meanwhile }, 'u1');
    await keeper.at(next).of(tx, 'u1');
    expect(asked()).toBe(2);
  });
});
