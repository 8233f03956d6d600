import { afterAll, beforeAll, expect, it } from 'vitest';
import type { JsonObject } from '../operators/index.ts';
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

/** Returns what a request has prefetched, in a transaction that can be optimistic unless `canBeOptimistic` is false. */
function prefetched(request: TestRequest, canBeOptimistic = true): Promise<Prefetched | undefined> {
  const { database, policyStore } = test.deps;
  return database.transaction(async (tx: Transaction) => {
    const { queries, read } = prefetch(replaceMembers(tx, { canBeOptimistic }), policyStore.definitions, toApiRequest(request));
    return read(await tx.oneOfEach(queries));
  });
}

const article = (action: TestRequest['action'], id?: string): TestRequest => ({ action, resource: 'Article', id });

it.each<[string, string, unknown]>([
  ['finds the record', 'stored', { row: { title: 'one' } }],
  ['finds no record with an unknown id', 'unknown', { row: null }],
  ['finds no soft-deleted record', 'deleted', { row: null }],
])('the prefetch of a read %s', async (_, id, expected) => {
  expect(await prefetched(article('read', id), false)).toMatchObject(expected as object);
});

it.each<[string, TestRequest]>([
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
  expect((await prefetched({ action: 'create', resource: 'Article', data }))?.found?.isFree(data as { title: string })).toBe(expected);
});

it('the prefetch of a create finds the records that it references', async () => {
  const { policyStore } = test.deps;
  const user = policyStore.definitions.get('User');
  if (user === undefined) throw new Error('expected a definition of User');
  const has = async (authorId: string): Promise<boolean | undefined> =>
    (await prefetched({ action: 'create', resource: 'Article', data: { authorId } }))?.found?.has(user, authorId);
  expect([await has('ann'), await has('nobody')]).toEqual([true, false]);
});
