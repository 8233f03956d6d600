import { afterAll, beforeAll, expect, it } from 'vitest';
import type { WatchedFields } from '../authz/policies/index.ts';
import type { JsonObject } from '../operators/index.ts';
import type { Resource } from '../resources/index.ts';
import type { Transaction } from '../storage/index.ts';
import { replaceMembers } from '../storage/storage.fixture.ts';
import { openPipeline, type TestPipeline, type TestRequest, toApiRequest } from './pipeline.fixture.ts';
import { prefetch } from './prefetch.ts';
import type { Prefetched } from './request-context.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: {
      Article: {
        softDelete: true,
        fields: { title: { type: 'string', unique: true }, authorId: { type: 'reference', to: 'User' } },
      },
    },
    records: {
      Article: {
        stored: { title: 'one' },
        deleted: { title: 'two', deletedAt: '2026-01-02T00:00:00.000Z', deletedBy: 'ada' },
      },
    },
  });
});
afterAll(() => test.dispose());

/** Returns what a request has prefetched, in a transaction whose reads are validated. It can be optimistic unless `canBeOptimistic` is false. */
function prefetched(
  requests: TestRequest | readonly TestRequest[],
  canBeOptimistic = true,
  watched?: WatchedFields,
): Promise<Prefetched | undefined> {
  const { database, policyStore } = test.deps;
  return database.transaction(async (tx: Transaction) => {
    const { queries, read } = prefetch(
      replaceMembers(tx, { validatesReads: true, canBeOptimistic, watched: () => watched }),
      policyStore.definitions,
      [requests].flat().map(toApiRequest),
    );
    return read(await tx.oneOfEach(queries));
  });
}

function articles(): Resource {
  const found = test.deps.policyStore.definitions.get('Article');
  if (found === undefined) throw new Error('expected a definition of Article');
  return found;
}

const article = (action: TestRequest['action'], id?: string): TestRequest => ({ action, resource: 'Article', id });

const create = (data: JsonObject): TestRequest => ({ action: 'create', resource: 'Article', data });

it.each<[string, string, unknown]>([
  ['finds the record', 'stored', { row: { title: 'one' } }],
  ['finds no record with an unknown id', 'unknown', { row: null }],
  ['finds no soft-deleted record', 'deleted', { row: null }],
])('the prefetch of a read %s', async (_, id, expected) => {
  expect(await prefetched(article('read', id), false)).toMatchObject(expected as object);
});

it.each<[string, TestRequest | readonly TestRequest[]]>([
  ['a read without an id', article('read')],
  ['a delete, which locks its record', article('delete', 'stored')],
  ['a list', article('list')],
  ['a read of an unknown resource', { action: 'read', resource: 'Nothing', id: 'stored' }],
  ['a read of an internal resource', { action: 'read', resource: '_Policy', id: 'stored' }],
  ['a create of several records', { action: 'import', resource: 'Article', data: [{ title: 'a' }] }],
  ['a create that searches first', { action: 'createIfNotExists', resource: 'Article', data: { title: 'a' } }],
  ['a create without values', { action: 'create', resource: 'Article', data: 'a' }],
  // Its email is unique, and its checksum is stored in another table.
  ['a create of a user', { action: 'create', resource: 'User', data: { email: 'eve@example.com' } }],
  ['several reads', [article('read', 'stored'), article('read', 'stored')]],
  ['creates beside another action', [create({ title: 'a' }), article('read', 'stored')]],
  ['another action beside creates', [article('read', 'stored'), create({ title: 'a' })]],
  ['a create beside one that locks', [create({ title: 'a' }), { action: 'create', resource: 'User', data: {} }]],
  ['more than a hundred creates', Array.from({ length: 101 }, () => create({}))],
  ['more than 128 lookups', Array.from({ length: 65 }, (_, at) => create({ title: `${at}`, authorId: `author ${at}` }))],
  // A login locks the user, so that a change of the password ends the sessions that it opens.
  ['an update of a user', { action: 'update', resource: 'User', id: 'ann' }],
])('%s prefetches nothing', async (_, request) => {
  expect(await prefetched(request)).toBeUndefined();
});

it.each(['update', 'create'] as const)('%s prefetches only in a transaction that runs again if the rows have changed', async (action) => {
  const request = { ...article(action, action === 'update' ? 'stored' : undefined), data: { title: 'a' } };
  expect([await prefetched(request, true), await prefetched(request, false)]).toEqual([expect.anything(), undefined]);
});

it.each<[string, JsonObject, boolean]>([
  ['finds that a unique value is taken', { title: 'one' }, false],
  ['finds that a unique value is free', { title: 'three' }, true],
  ['ignores the values of soft-deleted records', { title: 'two' }, true],
])('the prefetch of a create %s', async (_, data, expected) => {
  expect((await prefetched({ action: 'create', resource: 'Article', data }))?.found?.isFree(articles(), data as { title: string })).toBe(
    expected,
  );
});

it('the prefetch of a create finds the records that it references', async () => {
  const { policyStore } = test.deps;
  const user = policyStore.definitions.get('User');
  if (user === undefined) throw new Error('expected a definition of User');
  const has = async (authorId: string): Promise<boolean | undefined> =>
    (await prefetched({ action: 'create', resource: 'Article', data: { authorId } }))?.found?.has(user, authorId);
  expect([await has('ann'), await has('unknown')]).toEqual([true, false]);
});

it('creates of a batch look up each of the records on which they depend once', async () => {
  const requests = [create({ title: 'one', authorId: 'ann' }), create({ title: 'three', authorId: 'ann' }), create({ title: 'three' })];
  const { found } = (await prefetched(requests)) ?? {};
  expect(['one', 'three', 'four'].map((title) => found?.isFree(articles(), { title }))).toEqual([false, true, false]);
  const { policyStore, database } = test.deps;
  const queries = await database.transaction(async (tx) => {
    const optimistic = replaceMembers(tx, { canBeOptimistic: true });
    return prefetch(optimistic, policyStore.definitions, requests.map(toApiRequest)).queries;
  });
  expect(queries).toHaveLength(3);
});

it('creates look up their references, and no unique values, in a transaction whose reads cannot change', async () => {
  const requests = [create({ title: 'three', authorId: 'ann' }), create({ title: 'four', authorId: 'ann' })].map(toApiRequest);
  const { policyStore, database } = test.deps;
  const found = await database.transaction(async (tx) => {
    const { queries, read } = prefetch(tx, policyStore.definitions, requests);
    expect(queries).toHaveLength(1);
    return read(await tx.oneOfEach(queries))?.found;
  });
  const user = policyStore.definitions.get('User') as Resource;
  expect([found?.has(user, 'ann'), found?.isFree(articles(), { title: 'three' })]).toEqual([true, false]);
});

it('creates of a batch insert records at once that conditions read, and a single create does not', async () => {
  const watched = { links: [], isReferenced: true };
  expect(await prefetched([create({}), create({})], true, watched)).toBeUndefined();
  expect(await prefetched(create({}), true, watched)).toMatchObject({ found: expect.anything() });
});
