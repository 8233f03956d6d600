import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiRequest } from '../../request/index.ts';
import { codeOf, openPipeline, type TestPipeline, type TestRequest, toApiRequest } from '../pipeline.fixture.ts';
import type { Found } from '../request-context.ts';
import { isPrefetched, loadById, loadDeletedById, recordQuery } from './load-record.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: {
      Article: { softDelete: true, fields: { title: { type: 'string' }, secret: { type: 'string', writeOnly: true } } },
    },
    records: {
      Article: {
        stored: { title: 'one', secret: 'hush' },
        deleted: { title: 'two', deletedAt: '2026-01-02T00:00:00.000Z', deletedBy: 'ada' },
      },
    },
  });
});
afterAll(() => test.dispose());

const article = (action: TestRequest['action'], id?: string): TestRequest => ({ action, resource: 'Article', id });
const titlesOf = (found: Found | undefined): unknown => found?.map(({ title }) => title);

const actions = ['read', 'update', 'delete', 'restore'] as const;
const loaders = [
  { name: 'loadById', load: loadById, finds: { stored: ['one'], deleted: [], unknown: [] } },
  { name: 'loadDeletedById', load: loadDeletedById, finds: { stored: [], deleted: ['two'], unknown: [] } },
];

describe.each(loaders)('$name', ({ name, load, finds }) => {
  it.each(Object.entries(finds).flatMap(([id, titles]) => actions.map((action) => ({ id, titles, action }))))(
    `${name} returns $titles for the $id record of a request to $action`,
    async ({ id, titles, action }) => {
      await test.inContext({ as: 'ann', request: article(action, id) }, async (context) => {
        expect(titlesOf(await load(context))).toEqual(titles);
      });
    },
  );

  it(`${name} refuses a request without an id`, async () => {
    await test.inContext({ as: 'ann', request: article('read') }, async (context) => {
      expect(await codeOf(Promise.resolve(load(context)))).toBe('REQUEST_MALFORMED');
    });
  });
});

it('loads no write-only field', async () => {
  await test.inContext({ as: 'ada', request: article('read', 'stored') }, async (context) => {
    const [record] = await loadById(context);
    expect(record).toMatchObject({ title: 'one' });
    expect(record).not.toHaveProperty('secret');
  });
});

it('uses the prefetched record instead of loading it again', async () => {
  await test.inContext({ as: 'ann', request: article('read', 'stored') }, async (context) => {
    expect(await loadById({ ...context, prefetched: { row: undefined } })).toEqual([]);
  });
});

/** Returns the title of the prefetched record. */
function titleOfPrefetched(request: ApiRequest): Promise<unknown> {
  const { database, policyStore } = test.deps;
  return database.transaction(async (tx) => {
    const query = recordQuery(tx, policyStore.definitions, request);
    return query && (await tx.one(query))?.['title'];
  });
}

it.each<[string, TestRequest, unknown]>([
  ['finds the record of a read', article('read', 'stored'), 'one'],
  ['finds no record for an unknown id', article('read', 'unknown'), undefined],
  ['finds no soft-deleted record', article('read', 'deleted'), undefined],
  ['finds no record of an unknown resource', { action: 'read', resource: 'Nothing', id: 'stored' }, undefined],
])('the prefetch %s', async (_, request, expected) => {
  expect(isPrefetched({ canBeOptimistic: false }, test.deps.policyStore.definitions, toApiRequest(request))).toBe(true);
  expect(await titleOfPrefetched(toApiRequest(request))).toBe(expected);
});

it.each<[string, TestRequest]>([
  ['a read without an id', article('read')],
  ['a delete, which locks its record', article('delete', 'stored')],
  ['a list', article('list')],
])('%s has no prefetched record', (_, request) => {
  expect(isPrefetched({ canBeOptimistic: true }, test.deps.policyStore.definitions, toApiRequest(request))).toBe(false);
});

it('an update has a prefetched record only if its commit compares the version', () => {
  const isLoaded = (resource: string, canBeOptimistic: boolean): boolean =>
    isPrefetched({ canBeOptimistic }, test.deps.policyStore.definitions, toApiRequest({ action: 'update', resource, id: 'stored' }));
  expect([isLoaded('Article', true), isLoaded('Article', false), isLoaded('Unknown', true)]).toEqual([true, false, false]);
  // A login locks the user, so that a change of the password ends the sessions that it opens.
  expect(isLoaded('User', true)).toBe(false);
});

it('the prefetch finds no record of an internal resource', async () => {
  const { database, policyStore } = test.deps;
  const [policy] = await test.rows('_Policy');
  const request = toApiRequest({ action: 'read', resource: '_Policy', id: String(policy?.['id']) });
  expect(await database.transaction(async (tx) => recordQuery(tx, policyStore.definitions, request))).toBeUndefined();
});
