import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import {
  codeOf,
  openPipeline,
  type Situation,
  type TestPipeline,
  type TestRequest,
  type TestRule,
  type TestUser,
} from '../pipeline.fixture.ts';
import { runPipeline } from '../pipeline.ts';
import type { PipelineOptions, Result } from '../request-context.ts';

let test: TestPipeline;
beforeAll(async () => {
  const deletedAt = (second: number) => ({ deletedAt: `2026-01-02T00:00:0${second}.000Z`, deletedBy: 'ada' });
  test = await openPipeline({
    definitions: {
      Article: {
        softDelete: true,
        fields: { title: { type: 'string' }, status: { type: 'string' }, secret: { type: 'string', writeOnly: true } },
      },
    },
    records: {
      Article: {
        a1: { title: 'one', status: 'open' },
        a2: { title: 'two', status: 'late' },
        a3: { title: 'three', status: 'open' },
        d1: { title: 'four', status: 'open', ...deletedAt(1) },
        d2: { title: 'five', status: 'late', ...deletedAt(2) },
        d3: { title: 'six', status: 'open', ...deletedAt(3) },
      },
    },
  });
});
afterAll(() => test.dispose());

const allow = (action: string, ...conditions: readonly JsonObject[]): TestRule => ({ resource: 'Article', action, conditions });
const isOpen: JsonObject = { field: 'resource.status', operator: 'eq', value: 'open' };
/** No SQL of SQLite compares text with a pattern, so this condition is evaluated in memory. */
const matchesO: JsonObject = { field: 'resource.title', operator: 'matches', value: 'o' };

const BUDGET: PipelineOptions['budget'] = { milliseconds: 60_000, rows: 10_000, answerBytes: 1_000_000 };

interface Case {
  readonly as?: TestUser | undefined;
  readonly request?: Partial<TestRequest>;
  readonly rules?: readonly TestRule[];
  readonly options?: Partial<PipelineOptions>;
}

function situationOf({ as = 'ann', request, rules = [allow('*')], options }: Case): Situation {
  return { as, request: { action: 'list', resource: 'Article', ...request }, rules, options };
}

/** Lists articles through the whole pipeline. @throws Problem */
function list(given: Case): Promise<Result> {
  return test.inContext(situationOf(given), async (context) => {
    const outcome = await runPipeline(context);
    if ('problem' in outcome) throw outcome.problem;
    return outcome.result;
  });
}

const idsOf = ({ data }: Result): readonly unknown[] => (data as readonly JsonObject[]).map(({ id }) => id);

describe('the records of a list', () => {
  it.each<[string, Case, readonly string[]]>([
    ['all records that are not deleted', {}, ['a1', 'a2', 'a3']],
    ['the records that the decision allows', { rules: [allow('list', isOpen)] }, ['a1', 'a3']],
    ['the records that the filter matches', { request: { where: [{ field: 'title', operator: 'eq', value: 'two' }] } }, ['a2']],
    [
      'the records that both allow',
      { rules: [allow('list', isOpen)], request: { where: [{ field: 'title', operator: 'ne', value: 'one' }] } },
      ['a3'],
    ],
    [
      'no records if the filter excludes all allowed ones',
      { rules: [allow('list', isOpen)], request: { where: [{ field: 'status', operator: 'eq', value: 'late' }] } },
      [],
    ],
    ['the requested order', { request: { sort: [{ field: 'title', descending: true }] } }, ['a2', 'a3', 'a1']],
    ['the records after an offset', { request: { sort: [{ field: 'title', descending: false }], offset: 1 } }, ['a3', 'a2']],
    ['at most the limit', { request: { limit: 2 } }, ['a1', 'a2']],
    ['at most the default page', { options: { pageDefault: 1 } }, ['a1']],
    ['a larger page of an export', { request: { action: 'export' }, options: { pageDefault: 1, exportMax: 2 } }, ['a1', 'a2']],
    ['soft-deleted records, the latest deletion first', { request: { action: 'listDeleted' } }, ['d3', 'd2', 'd1']],
    [
      'soft-deleted records in the requested order',
      { request: { action: 'listDeleted', sort: [{ field: 'title', descending: false }] } },
      ['d2', 'd1', 'd3'],
    ],
    [
      'soft-deleted records that the caller may both list and delete',
      {
        request: { action: 'listDeleted' },
        rules: [allow('list', isOpen), allow('delete', { field: 'resource.title', operator: 'ne', value: 'six' })],
      },
      ['d1'],
    ],
    ['the records that a condition in memory allows', { rules: [allow('list', matchesO)] }, ['a1', 'a2']],
    [
      'soft-deleted records with a condition in memory on delete',
      { request: { action: 'listDeleted' }, rules: [allow('list'), allow('delete', matchesO)] },
      ['d1'],
    ],
  ])('a list returns %s', async (_, given, expected) => {
    const result = await list(given);
    expect(idsOf(result)).toEqual(expected);
    expect(result).toMatchObject({ status: 200, extras: { count: expected.length } });
  });

  it('a list returns the requested fields, and never a write-only one', async () => {
    expect((await list({ request: { fields: ['title'], limit: 1 } })).data).toEqual([{ id: 'a1', title: 'one' }]);
  });

  it.each<[string, Partial<TestRequest>, string]>([
    ['a filter by an unknown field', { where: [{ field: 'titel', operator: 'eq', value: 'x' }] }, 'REQUEST_FIELD'],
    [
      'a filter by a write-only field, like by an unknown one',
      { where: [{ field: 'secret', operator: 'eq', value: 'x' }] },
      'REQUEST_FIELD',
    ],
    ['an order by a write-only field, like by an unknown one', { sort: [{ field: 'secret', descending: false }] }, 'REQUEST_FIELD'],
    ['a cursor that the service did not issue', { cursor: 'x' }, 'REQUEST_CURSOR'],
  ])('a list refuses %s', async (_, request, code) => {
    expect((await codeOf(list({ request }))).split(' ')[0]).toBe(code);
  });
});

describe('the pages of a list', () => {
  const firstPage: Case = { request: { limit: 1, sort: [{ field: 'title', descending: false }] } };
  const cursorOf = async (given: Case): Promise<string> => String((await list(given)).extras?.['nextCursor']);

  it('a cursor continues the list, and the last page has none', async () => {
    const seen: unknown[] = [];
    let cursor: unknown;
    do {
      const page = await list({ request: { ...firstPage.request, ...(typeof cursor === 'string' && { cursor }) } });
      seen.push(...idsOf(page));
      cursor = page.extras?.['nextCursor'];
    } while (cursor !== undefined);
    expect(seen).toEqual(['a1', 'a3', 'a2']);
  });

  it.each<[string, Case]>([
    ['another user', { as: 'ben' }],
    ['another filter', { request: { where: [{ field: 'title', operator: 'ne', value: 'x' }] } }],
    ['another order', { request: { sort: [{ field: 'title', descending: true }] } }],
    ['another action', { request: { action: 'export' } }],
  ])('a cursor is refused for %s', async (_, { as, request }) => {
    const cursor = await cursorOf(firstPage);
    expect(await codeOf(list({ as, request: { ...firstPage.request, ...request, cursor } }))).toBe('REQUEST_CURSOR');
  });

  it.each<[string, Case, object]>([
    ['has a total on request', { request: { total: true, limit: 1 } }, { count: 1, total: 3, nextCursor: expect.any(String) }],
    ['has a total of the allowed records', { request: { total: true }, rules: [allow('list', isOpen)] }, { count: 2, total: 2 }],
    ['has no total if it was not requested', {}, { count: 3 }],
    [
      'has a warning instead of a total that a condition in memory decides',
      { request: { total: true }, rules: [allow('list', matchesO)] },
      { count: 2, warnings: [expect.stringContaining('total')] },
    ],
    [
      'ends early with a warning and a cursor at the maximum number of rows',
      { rules: [allow('list', matchesO)], options: { budget: { ...BUDGET, rows: 1 } } },
      { count: 1, nextCursor: expect.any(String), warnings: [expect.stringContaining('scanRows')] },
    ],
    [
      'ends early with a warning and a cursor at the maximum time',
      { rules: [allow('list', matchesO)], options: { budget: { ...BUDGET, milliseconds: 0 } } },
      { count: 1, nextCursor: expect.any(String), warnings: [expect.stringContaining('scanMilliseconds')] },
    ],
  ])('a page %s', async (_, given, extras) => {
    expect((await list(given)).extras).toEqual(extras);
  });
});
