import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALWAYS, type Condition } from '../../conditions/index.ts';
import type { Json } from '../../operators/index.ts';
import type { Sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertRecord } from '../records.ts';
import {
  compare,
  define,
  explain,
  failure,
  openTestDatabase,
  replaceMembers,
  resourceOf,
  type TestDatabase,
  testBudget,
  toRecord,
} from '../storage.fixture.ts';
import { loadReferencing } from './referencing-records.ts';

const definitions = define({
  Article: { fields: { title: { type: 'string' } } },
  Comment: { fields: { articleId: { type: 'reference', to: 'Article', index: true }, text: { type: 'string', index: true } } },
});
const comment = resourceOf(definitions, 'Comment');

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
  await test.database.transaction(async (tx) => {
    for (const id of ['a', 'b', 'c']) await insertRecord(tx, resourceOf(definitions, 'Article'), toRecord(id, {}));
    for (const [id, articleId, text] of [
      ['5', 'a', 'x'],
      ['1', 'b', 'x'],
      ['3', 'a', 'y'],
      ['2', 'a', 'x'],
      ['4', 'c', 'x'],
      ['6', 'a', 'x'],
    ] as const)
      await insertRecord(tx, comment, toRecord(id, { articleId, text }));
  });
});
afterAll(() => test.dispose());

const compareText = (operator: string, value: Json): Condition => compare('text', operator, value);

const load = (tx: Transaction, where: Condition, { limit = 10, rows = 100 } = {}): ReturnType<typeof loadReferencing> => {
  const timeZone = 'UTC';
  return loadReferencing(tx, comment, {
    field: 'articleId',
    to: ['a', 'b', 'none'],
    limit,
    where,
    scopeFor: (record) => ({
      now: tx.now,
      timeZone,
      valueOf: ({ keys: [key = ''] }) => record[key],
      kindOf: () => ({ kind: 'text' }),
    }),
    definitions,
    budget: testBudget({ rows }),
    now: tx.now,
    timeZone,
  });
};

const referring = (where: Condition, bounds?: Parameters<typeof load>[2]): Promise<object> =>
  test.database.transaction(async (tx) => {
    const found = await load(tx, where, bounds);
    return Object.fromEntries([...found].map(([id, records]) => [id, records.map((record) => record.id).join('')]));
  });

describe.each<[string, Condition, Condition]>([
  ['in SQL', ALWAYS, compareText('eq', 'x')],
  ['in memory', compareText('matches', '.'), compareText('matches', 'x')],
])('referencing records, with a condition evaluated %s', (evaluated, all, some) => {
  it(`groups referencing records by the referenced record, ordered by id, with a condition ${evaluated}`, async () => {
    expect(await referring(all)).toEqual({ a: '2356', b: '1' });
  });

  it(`limits the records for each referenced record, after a condition ${evaluated}`, async () => {
    expect(await referring(some, { limit: 2 })).toEqual({ a: '25', b: '1' });
  });
});

it('loadReferencing uses the index of the reference, even if the condition has another index', async () => {
  const plan: string[] = [];
  await test.database.transaction(async (tx) => {
    const all = async (query: Sql): Promise<readonly never[]> => {
      plan.push(...(await explain(tx, query)));
      return [];
    };
    await load(replaceMembers(tx, { all: all as Transaction['all'] }), compareText('eq', 'x'));
  });
  expect(plan.filter((step) => step.includes('ix_'))).toEqual([expect.stringMatching(/(SEARCH|Index Scan) .*ix_Comment\$articleId/)]);
  // One sort for the whole result, and none before a LIMIT, which would read all referencing records first.
  expect(plan.filter((step) => /B-TREE|Sort$/.test(step))).toHaveLength(1);
});

it('loadReferencing fails if too many records would be evaluated in memory', async () => {
  expect(await failure(referring(compareText('matches', 'x'), { rows: 3 }))).toMatchObject({
    code: 'REQUEST_BUDGET',
    detail: expect.stringMatching(/expand.*Comment/),
  });
  expect(await referring(compareText('eq', 'x'), { rows: 3 })).toEqual({ a: '256', b: '1' });
});
