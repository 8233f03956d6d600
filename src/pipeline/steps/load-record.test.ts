import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, openPipeline, type TestPipeline, type TestRequest } from '../pipeline.fixture.ts';
import type { Found } from '../request-context.ts';
import { loadToDelete, loadToRead, loadToRestore, loadToUpdate } from './load-record.ts';

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

const present = { stored: ['one'], deleted: [], unknown: [] };
const loaders = [
  { name: 'loadToRead', load: loadToRead, action: 'read', finds: present },
  { name: 'loadToUpdate', load: loadToUpdate, action: 'update', finds: present },
  { name: 'loadToDelete', load: loadToDelete, action: 'delete', finds: present },
  { name: 'loadToRestore', load: loadToRestore, action: 'restore', finds: { stored: [], deleted: ['two'], unknown: [] } },
] as const;

describe.each(loaders)('$name', ({ name, load, action, finds }) => {
  it.each(Object.entries(finds))(`${name} finds for an id of a record that is %s: %j`, async (id, titles) => {
    await test.inContext({ as: 'ann', request: article(action, id) }, async (context) => {
      expect(titlesOf(await load(context))).toEqual(titles);
    });
  });

  it(`${name} refuses a request without an id`, async () => {
    await test.inContext({ as: 'ann', request: article(action) }, async (context) => {
      expect(await codeOf(Promise.resolve(load(context)))).toBe('REQUEST_MALFORMED');
    });
  });
});

it('loads no write-only field', async () => {
  await test.inContext({ as: 'ada', request: article('read', 'stored') }, async (context) => {
    const [record] = await loadToRead(context);
    expect(record).toMatchObject({ title: 'one' });
    expect(record).not.toHaveProperty('secret');
  });
});

it('uses the prefetched record instead of loading it again', async () => {
  await test.inContext({ as: 'ann', request: article('read', 'stored') }, async (context) => {
    expect(await loadToRead({ ...context, prefetched: { row: null } })).toEqual([]);
  });
});
