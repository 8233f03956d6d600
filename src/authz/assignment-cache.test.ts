import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import {
  assignToUser,
  createPolicy,
  type Database,
  insertRecord,
  loadRevision,
  migrate,
  type Revision,
  type Transaction,
  updatePolicy,
} from '../storage/index.ts';
import { openTestDatabase, replaceMembers, type TestDatabase } from '../storage/storage.fixture.ts';
import { type AssignmentCache, createAssignmentCache } from './assignment-cache.ts';
import { PersistentMap, type Policy, toDamagedPolicy } from './policies/index.ts';

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
beforeEach(() => inTransaction((tx) => deleteAll(tx)));

// The rows of the history are deleted as well: without them, the assignments would be missing.
async function deleteAll(tx: Transaction): Promise<void> {
  for (const table of ['_UserPolicy', '_PolicyHistory']) await tx.run(sql`DELETE FROM ${sql.table(table)}`);
}

function inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
  return database.transaction(work);
}

/** Returns a transaction that counts its queries of user assignments, or of another table. */
function countQueries(tx: Transaction, table = '_UserPolicy'): { readonly tx: Transaction; queries(): number } {
  let queries = 0;
  const all: Transaction['all'] = (query) => {
    if (JSON.stringify(query).includes(`\\"${table}`)) queries++;
    return tx.all(query);
  };
  return { tx: replaceMembers(tx, { all }), queries: () => queries };
}

/** Returns the assignments at a revision whose snapshot has these policies. */
const atRevision = (cache: AssignmentCache, revision: Revision, policies = PersistentMap.empty<Policy>()) =>
  cache.at({ revision, policies });
const users = (...ids: readonly string[]) => ({ users: new Set(ids), policies: new Map() });
const assign = (tx: Transaction, userId: string, index = 0) => assignToUser(tx, { userId, policyId: policies[index] ?? '' }, { by });
const names = (assignments: readonly { readonly policyId: string }[]) => assignments.map(({ policyId }) => policies.indexOf(policyId));

it('loads the policy of a user for a snapshot that does not have it, although another of the same revision has it', async () => {
  await inTransaction((tx) => assign(tx, 'u1'));
  const cache = createAssignmentCache(100);
  await inTransaction(async (tx) => {
    const revision = await loadRevision(tx);
    cache.moveTo(revision);
    const id = policies[0] ?? '';
    const larger = atRevision(cache, revision, PersistentMap.of(new Map([[id, toDamagedPolicy(id)]])));
    const smaller = atRevision(cache, revision);
    const policyOf = async ({ of }: typeof larger) => (await of(tx, 'u1')).map(({ policy }) => policy?.name);
    for (const _ of [1, 2]) expect([await policyOf(larger), await policyOf(smaller)]).toEqual([[undefined], ['A']]);
  });
});

it('loads the assignments of each user once, also if there are none, and never for an undefined user', async () => {
  await inTransaction((tx) => assign(tx, 'u1'));
  const cache = createAssignmentCache(100);
  await inTransaction(async (inner) => {
    const { tx, queries } = countQueries(inner);
    const revision = await loadRevision(tx);
    cache.moveTo(revision);
    const { of } = atRevision(cache, revision);
    for (const _ of [1, 2]) expect([names(await of(tx, 'u1')), await of(tx, 'u2'), await of(tx, undefined)]).toEqual([[0], [], []]);
    expect(queries()).toBe(2);
  });
});

it('forgets the assignments of changed users, or of all users', async () => {
  const cache = createAssignmentCache(100);
  await inTransaction(async (inner) => {
    const { tx, queries } = countQueries(inner);
    const revision = await loadRevision(tx);
    const all = async () => {
      for (const id of USERS) await atRevision(cache, revision).of(tx, id);
      return queries();
    };
    cache.moveTo(revision);
    expect(await all()).toBe(3);
    cache.moveTo(revision, users('u2', 'u9'));
    expect(await all()).toBe(4);
    cache.moveTo(revision);
    expect(await all()).toBe(7);
  });
});

it('evicts the assignments of the least recently used users, weighted by their number', async () => {
  for (const index of [0, 1]) await inTransaction((tx) => assign(tx, 'u1', index));
  const cache = createAssignmentCache(4);
  await inTransaction(async (inner) => {
    const { tx, queries } = countQueries(inner);
    const revision = await loadRevision(tx);
    cache.moveTo(revision);
    const { of, ofEach } = atRevision(cache, revision);
    // u1 counts three, u2 one: both fit, and u3 does not.
    for (const id of ['u1', 'u2', 'u1', 'u2', 'u1', 'u3', 'u1']) await of(tx, id);
    expect(queries()).toBe(3);
    await of(tx, 'u2');
    expect(queries()).toBe(4);
    // ofEach caches nothing, so it evicts no user.
    expect(names((await ofEach(tx, USERS))('u1'))).toEqual([0, 1]);
    await of(tx, 'u2');
    expect(queries()).toBe(5);
  });
});

it('does not cache assignments that an uncommitted change of the same transaction may have set', async () => {
  const cache = createAssignmentCache(100);
  const revision = await inTransaction(loadRevision);
  cache.moveTo(revision);
  const { of } = atRevision(cache, revision);
  const rolledBack = inTransaction(async (tx) => {
    await assign(tx, 'u3');
    expect(names(await of(tx, 'u3'))).toEqual([0]);
    throw new Error('rolled back');
  });
  await expect(rolledBack).rejects.toThrow('rolled back');
  expect(await inTransaction(async (tx) => of(tx, 'u3'))).toEqual([]);
});

it('loads assignments from the database for a transaction at an earlier revision', async () => {
  const cache = createAssignmentCache(100);
  const before = await inTransaction(loadRevision);
  cache.moveTo(before);
  await inTransaction(async (tx) => atRevision(cache, before).of(tx, 'u3'));
  await inTransaction((tx) => assign(tx, 'u3'));
  const after = await inTransaction(loadRevision);
  cache.moveTo(after, users('u3'));
  expect(names(await inTransaction(async (tx) => atRevision(cache, before).of(tx, 'u3')))).toEqual([0]);
  await inTransaction(async (inner) => {
    const { tx, queries } = countQueries(inner);
    await atRevision(cache, after).of(tx, 'u3');
    await atRevision(cache, after).of(tx, 'u3');
    expect(queries()).toBe(1);
  });
});

it('loads the assignments of many users in chunks', async () => {
  await inTransaction((tx) => assign(tx, 'u1'));
  const cache = createAssignmentCache(100);
  await inTransaction(async (inner) => {
    const { tx, queries } = countQueries(inner);
    const ids = [...Array.from({ length: 1100 }, (_, index) => `unknown${index}`), 'u1'];
    const assignmentsOf = await atRevision(cache, await loadRevision(tx)).ofEach(tx, ids);
    expect([names(assignmentsOf('u1')), assignmentsOf('unknown7'), queries()]).toEqual([[0], [], 3]);
  });
});

it('returns assignments only for its own revision', async () => {
  const cache = createAssignmentCache(100);
  await inTransaction(async (inner) => {
    const { tx, queries } = countQueries(inner);
    const revision = await loadRevision(tx);
    cache.moveTo(revision);
    for (const at of [revision, revision, { ...revision, stamp: 'another' }]) await atRevision(cache, at).of(tx, 'u1');
    expect(queries()).toBe(2);
  });
});

it('does not cache assignments if the revision changed while they were loaded', async () => {
  const cache = createAssignmentCache(100);
  await inTransaction(async (inner) => {
    const { tx, queries } = countQueries(inner);
    const revision = await loadRevision(tx);
    const next = { number: revision.number + 1, stamp: 'next' };
    cache.moveTo(revision);
    const meanwhile: Transaction['one'] = async (query) => {
      const row = await tx.one(query);
      cache.moveTo(next, users('u1'));
      return row as never;
    };
    await atRevision(cache, revision).of(replaceMembers(tx, { one: meanwhile }), 'u1');
    await atRevision(cache, next).of(tx, 'u1');
    expect(queries()).toBe(2);
  });
});

const nameOf = (assignments: readonly { readonly policy?: Policy | undefined }[]) => assignments.map(({ policy }) => policy?.name);
const write = (tx: Transaction, index: number, isActive = true, name = 'ABC'[index] ?? '') =>
  updatePolicy(tx, { name, type: 'ROLE_BASED', isActive, priority: 100, tags: [], rules: [] }, { id: policies[index] ?? '', by });

it('loads the policies of a user with the assignments, once for all users, and none that the snapshot has', async () => {
  for (const userId of ['u1', 'u2']) await inTransaction((tx) => assign(tx, userId));
  await inTransaction((tx) => assign(tx, 'u2', 1));
  const cache = createAssignmentCache(100);
  await inTransaction(async (inner) => {
    const { tx, queries } = countQueries(inner, '_PolicyRule');
    const revision = await loadRevision(tx);
    cache.moveTo(revision);
    const { of } = atRevision(cache, revision);
    for (const _ of [1, 2]) expect([nameOf(await of(tx, 'u1')), queries()]).toEqual([['A'], 1]);
    const known = (await of(tx, 'u1'))[0]?.policy as Policy;
    const policiesOf = atRevision(cache, revision, PersistentMap.of(new Map([[policies[1] ?? '', known]])));
    expect([nameOf(await policiesOf.of(tx, 'u2')), queries()]).toEqual([['A', undefined], 1]);
    expect([nameOf((await policiesOf.ofEach(tx, USERS))('u1')), queries()]).toEqual([['A'], 1]);
  });
});

it('forgets the policies that a revision changed, for all users, and keeps their assignments', async () => {
  for (const userId of ['u1', 'u2']) for (const index of [0, 1]) await inTransaction((tx) => assign(tx, userId, index));
  const cache = createAssignmentCache(100);
  const namesAt = async () =>
    inTransaction(async (inner) => {
      const { tx, queries } = countQueries(inner, '_PolicyRule');
      const at = atRevision(cache, await loadRevision(tx));
      const found = [];
      for (const userId of ['u1', 'u2']) found.push(nameOf(await at.of(tx, userId)).toSorted());
      return [...found, queries()];
    });
  cache.moveTo(await inTransaction(loadRevision));
  expect(await namesAt()).toEqual([['A', 'B'], ['A', 'B'], 1]);
  await inTransaction((tx) => write(tx, 0, true, 'A2'));
  cache.moveTo(await inTransaction(loadRevision), { users: new Set(), policies: new Map([[policies[0] ?? '', undefined]]) });
  expect(await namesAt()).toEqual([['A2', 'B'], ['A2', 'B'], 1]);
  await inTransaction((tx) => write(tx, 0, false));
  cache.moveTo(await inTransaction(loadRevision), { users: new Set(), policies: new Map([[policies[0] ?? '', undefined]]) });
  expect(await namesAt()).toEqual([['B', undefined], ['B', undefined], 1]);
  await inTransaction((tx) => write(tx, 0));
  cache.moveTo(await inTransaction(loadRevision));
  expect(await namesAt()).toEqual([['A', 'B'], ['A', 'B'], 1]);
});

it('does not cache a policy that an uncommitted change of the same transaction has written', async () => {
  await inTransaction((tx) => assign(tx, 'u1'));
  const cache = createAssignmentCache(100);
  const revision = await inTransaction(loadRevision);
  cache.moveTo(revision);
  const { of } = atRevision(cache, revision);
  const rolledBack = inTransaction(async (tx) => {
    await write(tx, 0, true, 'A2');
    expect(nameOf(await of(tx, 'u1'))).toEqual(['A2']);
    throw new Error('rolled back');
  });
  await expect(rolledBack).rejects.toThrow('rolled back');
  expect(nameOf(await inTransaction(async (tx) => of(tx, 'u1')))).toEqual(['A']);
});

it('reports a damaged policy, denies everything in its place, and loads it again until it is repaired', async () => {
  await inTransaction((tx) => assign(tx, 'u1'));
  const reported: string[] = [];
  const cache = createAssignmentCache(100, (rows) => reported.push(...rows.map(({ id }) => id)));
  const rolledBack = inTransaction(async (tx) => {
    const revision = await loadRevision(tx);
    cache.moveTo(revision);
    const { of } = atRevision(cache, revision);
    await tx.run(sql`UPDATE "_Policy" SET "priority" = 99 WHERE "id" = ${policies[0]}`);
    for (const _ of [1, 2]) expect((await of(tx, 'u1')).map(({ policy }) => policy)).toEqual([toDamagedPolicy(policies[0] ?? '')]);
    await tx.run(sql`UPDATE "_Policy" SET "priority" = 100 WHERE "id" = ${policies[0]}`);
    expect([nameOf(await of(tx, 'u1')), reported]).toEqual([['A'], [policies[0], policies[0]]]);
    throw new Error('rolled back');
  });
  await expect(rolledBack).rejects.toThrow('rolled back');
});

it('loads the policies of many users without evicting those of the latest requests', async () => {
  for (const [index, userId] of ['u1', 'u2'].entries()) await inTransaction((tx) => assign(tx, userId, index));
  // One policy without rules and one user with an assignment fit.
  const cache = createAssignmentCache(1);
  await inTransaction(async (inner) => {
    const { tx, queries } = countQueries(inner, '_PolicyRule');
    const revision = await loadRevision(tx);
    cache.moveTo(revision);
    const { of, ofEach, policies: policiesOf } = atRevision(cache, revision);
    await of(tx, 'u1');
    for (const _ of [1, 2]) expect(nameOf((await ofEach(tx, USERS))('u2'))).toEqual(['B']);
    expect([[...(await policiesOf(tx, [policies[0] ?? ''])).values()].map(({ name }) => name), queries()]).toEqual([['A'], 3]);
  });
});
