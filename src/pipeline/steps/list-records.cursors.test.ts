/** Cursors: the lists for which they are valid, and lists that are sorted by values that are too long for a cursor. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { updateRecord } from '../../storage/index.ts';
import { resourceOf } from '../../storage/storage.fixture.ts';
import { handle } from '../handle.ts';
import { openPipeline, type TestPipeline, toApiRequest } from '../pipeline.fixture.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const long = (name: string): string => name + 'x'.repeat(1100);

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({ definitions: { Note: { fields: { text: { type: 'text' }, views: { type: 'integer' } } } } });
});
afterAll(() => test.dispose());
beforeEach(async () => {
  await test.deps.database.transaction((tx) => tx.run(sql`DELETE FROM "Note"`));
  await test.store({ Note: Object.fromEntries(NAMES.map((name) => [name, { text: long(name), views: 1 }])) });
});

const list = (cursor?: string, fields?: readonly string[]): ReturnType<typeof handle> => {
  const sort = [{ field: 'text', descending: false }];
  return handle(test.deps, toApiRequest({ action: 'list', resource: 'Note', sort, limit: 2, cursor, fields }), test.originOf('ada'));
};

/** Lists the first page, which ends with the record b, and returns its cursor. */
async function firstCursor(fields?: readonly string[]): Promise<string> {
  const outcome = await list(undefined, fields);
  return String('result' in outcome && outcome.result.extras?.['nextCursor']);
}

const change = (values: JsonObject): Promise<unknown> =>
  test.deps.database.transaction((tx) =>
    updateRecord(tx, resourceOf(test.deps.policyStore.definitions, 'Note'), { id: 'b', version: 1, values, cleared: [], now: tx.now }),
  );

describe('a list that is sorted by a long value', () => {
  it.each<[string, () => Promise<unknown>, string]>([
    ['has changed', () => change({ text: long('e1') }), 'the sort values of the record of the cursor have changed since the previous page'],
    [
      'no longer exists',
      () => test.deps.database.transaction((tx) => tx.run(sql`DELETE FROM "Note" WHERE "id" = ${'b'}`)),
      'the record of the cursor no longer exists',
    ],
  ])('refuses the cursor of a record that %s, instead of skipping records', async (_, write, detail) => {
    const cursor = await firstCursor();
    await write();
    const outcome = await list(cursor);
    expect(outcome).toMatchObject({ problem: { code: 'REQUEST_CURSOR', detail } });
    expect('problem' in outcome && outcome.problem.extras.hint).toBe(
      'begin again with the first page: the cursor does not hold sort values of more than 1000 characters, so they are read from the record again; if records change often, sort by a shorter field',
    );
  });

  it('continues after a change of another field of the record of the cursor', async () => {
    const cursor = await firstCursor();
    await change({ views: 2 });
    expect(await list(cursor)).toMatchObject({ result: { data: [{ id: 'c' }, { id: 'd' }] } });
  });

  it('returns cursors that disclose nothing of the sort values', async () => {
    const cursor = await firstCursor(['text']);
    expect(cursor.length).toBeLessThan(300);
    expect(cursor).not.toContain('.');
  });
});

describe('a list with a filter', () => {
  type Filter = readonly (readonly [field: string, operator: string, value: Json])[];
  const filtered = (typed: boolean, filter: Filter, cursor?: string): ReturnType<typeof handle> => {
    const where = filter.map(([field, operator, value]) => ({ field, operator, value }));
    return handle(test.deps, toApiRequest({ action: 'list', resource: 'Note', where, typed, limit: 2, cursor }), test.originOf('ada'));
  };
  const FILTER: Filter = [
    ['views', 'in', [1, 2]],
    ['text', 'ne', 'a'],
  ];

  const CONTINUED = { result: { data: [{ id: 'c' }, { id: 'd' }] } };
  const REFUSED = { problem: { code: 'REQUEST_CURSOR' } };

  it.each<[string, boolean, Filter, object]>([
    ['is valid for the same filter in another order', true, [FILTER[1], FILTER[0]] as Filter, CONTINUED],
    [
      'is valid for the same filter in a query string',
      false,
      [
        ['views', 'in', '2,1'],
        ['text', 'ne', 'a'],
      ],
      CONTINUED,
    ],
    [
      'is refused for a filter with another value',
      true,
      [
        ['views', 'in', [1, 3]],
        ['text', 'ne', 'a'],
      ],
      REFUSED,
    ],
    [
      'is refused for a filter with another operator',
      true,
      [
        ['views', 'nin', [1, 2]],
        ['text', 'ne', 'a'],
      ],
      REFUSED,
    ],
    ['is refused for a part of the filter', true, [['views', 'in', [1, 2]]], REFUSED],
  ])('a cursor %s', async (_, typed, filter, expected) => {
    const first = await filtered(true, FILTER);
    const cursor = String('result' in first && first.result.extras?.['nextCursor']);
    expect(await filtered(typed, filter, cursor)).toMatchObject(expected);
  });
});
