import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Condition } from '../../conditions/index.ts';
import { sql } from '../../sql.ts';
import type { Attempt } from '../attempt.ts';
import type { BudgetLimits } from '../budget.ts';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertRecord } from '../records.ts';
import {
  compare,
  define,
  failure,
  openTestDatabase,
  replaceMembers,
  resourceOf,
  type TestDatabase,
  testBudget,
  toRecord,
} from '../storage.fixture.ts';
import { findMatches } from './find-matches.ts';

const definitions = define({ Item: { fields: { key: { type: 'integer' }, price: { type: 'decimal' }, value: { type: 'string' } } } });
const item = resourceOf(definitions, 'Item');
let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
  const values = [
    { price: '2.50', value: 'xa' },
    { key: 7, price: '2.50', value: 'xb' },
    { value: 'xc' },
    ...Array.from({ length: 6 }, () => ({ value: 'no' })),
  ];
  await test.database.transaction(async (tx) => {
    for (const [index, each] of values.entries()) await insertRecord(tx, item, toRecord(`id-${index}`, each));
  });
});
afterAll(() => test.dispose());

interface Search {
  readonly limit?: number;
  readonly limits?: Partial<BudgetLimits>;
  readonly toChange?: boolean;
}

const findIn = (tx: Transaction, filter: Condition, { limit = 2, limits, toChange }: Search) =>
  findMatches(tx, item, { filter, budget: testBudget(limits), limit, toChange });
const find = (filter: Condition, search: Search = {}) => test.database.transaction((tx) => findIn(tx, filter, search));
const idsOf = (found: readonly { readonly id: string }[]): readonly string[] => found.map(({ id }) => id);

describe('findMatches', () => {
  it.each([
    ['key', 'eq', 7, ['id-1']],
    ['price', 'eq', '2.50', ['id-0', 'id-1']],
    ['value', 'eq', 'none', []],
    // Evaluated in memory.
    ['value', 'matches', '^x', ['id-0', 'id-1']],
    ['value', 'matches', 'b$', ['id-1']],
  ] as const)('finds records by the field %s with %s %j', async (field, operator, value, expected) => {
    const filter = compare(field, operator, value);
    expect(idsOf(await find(filter))).toEqual(expected);
    expect(idsOf(await find(filter, { toChange: true }))).toEqual(expected);
    expect(idsOf(await find(filter, { limits: { windowRows: 1 } }))).toEqual(expected);
  });

  it.each([
    ['in memory', compare('value', 'matches', 'b$'), { rows: 1 }],
    ['window by window', compare('value', 'eq', 'xc'), { rows: 2, windowRows: 1 }],
  ])('refuses a search that reaches a limit before it is complete: %s', async (_, filter, limits) => {
    for (const toChange of [false, true]) {
      expect(await failure(find(filter, { limits, toChange }))).toMatchObject({
        code: 'REQUEST_BUDGET',
        detail: expect.stringContaining('rows (scanRows)'),
      });
    }
  });

  it('finds as many records as requested before a limit is reached', async () => {
    expect(idsOf(await find(compare('value', 'matches', '^x'), { limit: 1, limits: { rows: 1 } }))).toEqual(['id-0']);
  });
});

describe('the candidates of a long attempt', () => {
  /** Runs the search as a long attempt, changes the records, and runs it again as the writer. */
  async function findTwice(filter: Condition, change: (tx: Transaction) => Promise<unknown>): Promise<readonly string[]> {
    const retained = new Map<string, unknown>();
    const during = (tx: Transaction, attempt: Attempt): Transaction => replaceMembers(tx, { attempt, retained });
    await test.database.transaction((tx) => findIn(during(tx, 'long'), filter, { toChange: true }));
    let found: readonly string[] = [];
    const rolledBack = test.database.transaction(async (tx) => {
      await change(tx);
      // Too few rows for another search.
      found = idsOf(await findIn(during(tx, 'writer'), filter, { toChange: true, limits: { rows: 3 } }));
      throw new Error('rolled back by the test');
    });
    const error = await failure(rolledBack);
    if (!String(error).includes('rolled back by the test')) throw error;
    return found;
  }

  const filter = compare('value', 'matches', '[bc]$');

  it('tries the filter again on the candidates only', async () => {
    expect(await findTwice(compare('value', 'matches', 'b$'), async () => undefined)).toEqual(['id-1']);
  });

  it.each([
    ['no longer matches', sql`UPDATE "Item" SET "value" = 'other' WHERE "id" = 'id-1'`],
    ['is deleted', sql`DELETE FROM "Item" WHERE "id" = 'id-2'`],
  ])('fails with STORAGE_BUSY if a candidate %s', async (_, statement) => {
    expect(await failure(findTwice(filter, (tx) => tx.run(statement)))).toMatchObject({ code: 'STORAGE_BUSY' });
  });

  it('another search with the same filter uses no candidates', async () => {
    const retained = new Map<string, unknown>();
    await test.database.transaction(async (tx) => {
      await findIn(replaceMembers(tx, { attempt: 'long', retained }), filter, { toChange: true });
      const writer = replaceMembers(tx, { attempt: 'writer', retained });
      await findIn(writer, filter, { toChange: true });
      await insertRecord(tx, item, toRecord('id-9', { value: 'xb' }));
      expect(idsOf(await findIn(writer, filter, { toChange: true, limit: 5 }))).toEqual(['id-1', 'id-2', 'id-9']);
      await tx.run(sql`DELETE FROM "Item" WHERE "id" = 'id-9'`);
    });
  });
});
