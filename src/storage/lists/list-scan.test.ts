import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseCasesOf } from '../../../test/budget.ts';
import { ALWAYS, type Condition, evaluate } from '../../conditions/index.ts';
import { resolveSort } from '../../request/index.ts';
import { fromRow, type Resource, type Row, type StoredRecord } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Budget, BudgetLimits } from '../budget.ts';
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
  scopesOf,
  type TestDatabase,
  testBudget,
  toRecord,
} from '../storage.fixture.ts';
import type { CursorPosition } from './cursor-pagination.ts';
import type { ListQuery, Page } from './list-query.ts';
import { listRecords } from './record-lists.ts';

const definitions = define({
  Item: {
    softDelete: true,
    fields: {
      key: { type: 'integer', index: true },
      value: { type: 'string' },
      price: { type: 'decimal', index: true },
      story: { type: 'text' },
    },
  },
  Report: { fields: { body: { type: 'text' } } },
});
const item: Resource = resourceOf(definitions, 'Item');
const report: Resource = resourceOf(definitions, 'Report');
const RECORDS = 40;

let test: TestDatabase;
let stored: readonly StoredRecord[];
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
  await test.database.transaction(async (tx) => {
    for (let n = 0; n < RECORDS; n++) await insertRecord(tx, item, toItem(`id-${String(n).padStart(2, '0')}`, n));
    stored = (await tx.all<Row>(sql`SELECT * FROM "Item" WHERE "deletedAt" IS NULL`)).map((row) => fromRow(item, row));
  });
});
afterAll(() => test.dispose());

/** Returns a record whose values repeat and are missing in different rows; every fifth record is soft-deleted. */
function toItem(id: string, n: number): StoredRecord {
  return toRecord(id, {
    ...(n % 4 > 0 && { key: n % 3 }),
    ...(n % 7 > 0 && { price: `${n % 6}.00` }),
    value: n % 2 === 0 ? 'even' : 'odd',
    story: 'é'.repeat(n * 10),
    ...(n % 5 === 4 && { deletedAt: '2026-01-02T00:00:00.000Z' }),
  });
}

const scopeFor = scopesOf(item);

interface TestQuery extends Partial<ListQuery> {
  readonly limits: Partial<BudgetLimits>;
}

/** The budget of the last list. Each attempt has its own, as in the service: on a busy machine, a second attempt follows the short one. */
let lastBudget: Budget;

const list = ({ limits, ...query }: TestQuery): Promise<Page> =>
  test.database.transaction((tx) => {
    lastBudget = testBudget(limits);
    return listRecords(tx, item, {
      ...{ where: ALWAYS, scopeFor, definitions, sort: [], limit: 100, now: 0, timeZone: 'UTC' },
      budget: lastBudget,
      ...query,
    });
  });

const sortBy = (keys: readonly string[]) =>
  resolveSort(
    item,
    keys.map((key) => ({ field: key.replace('-', ''), descending: key.startsWith('-') })),
  );

/** Loads all pages, and calls `between` before each page but the first. */
async function pages(query: TestQuery, between?: (page: Page) => Promise<void>): Promise<readonly Page[]> {
  const found: Page[] = [];
  for (let after: CursorPosition | undefined; found.length < 500; ) {
    const page = await list({ ...query, ...(after !== undefined && { after, offset: undefined }) });
    found.push(page);
    if (page.next === undefined) return found;
    after = page.next;
    await between?.(page);
  }
  throw new Error('the list does not end');
}

const idsOf = (found: readonly Page[]): readonly string[] => found.flatMap(({ records }) => records.map(({ id }) => id));

/** Conditions that the database evaluates, and one that only memory can evaluate. */
const filters: Readonly<Record<string, Condition>> = {
  all: ALWAYS,
  some: compare('value', 'eq', 'odd'),
  few: compare('key', 'eq', 2),
  none: compare('value', 'eq', 'neither'),
  inMemory: compare('value', 'matches', '^o'),
};

const queries = fc.record({
  filter: fc.constantFrom(...Object.keys(filters)),
  sort: fc.constantFrom([], ['key'], ['-key'], ['key', '-price'], ['-price'], ['price', 'value'], ['-id'], ['value'], ['-createdAt']),
  limit: fc.integer({ min: 1, max: 9 }),
  offset: fc.constantFrom(0, 0, 3, 11, 100),
  rows: fc.integer({ min: 1, max: 12 }),
  windowRows: fc.constantFrom(undefined, 1, 2, 3, 5, 50),
  answerBytes: fc.constantFrom(1, 1500, 5000, 1_000_000),
});

/** Queries whose pages end early for either reason. A few random queries may not include both. */
const endingByRows = { filter: 'few', sort: [], limit: 9, offset: 0, rows: 3, windowRows: 2, answerBytes: 1_000_000 } as const;
const endingByBytes = { filter: 'all', sort: [], limit: 9, offset: 0, rows: 12, windowRows: 50, answerBytes: 1500 } as const;

/** Returns the ids of the whole list, read in one page. */
async function wholeList(filter: string, sort: readonly string[]): Promise<readonly string[]> {
  const where = filters[filter] ?? ALWAYS;
  const all = (await list({ sort: sortBy(sort), limits: {} })).records;
  expect(all.map(({ id }) => id).toSorted()).toEqual(stored.map(({ id }) => id).toSorted());
  return all.filter((record) => evaluate(where, scopeFor(record)) === true).map(({ id }) => id);
}

describe('pages that end early', () => {
  it('pages that end early continue to the exact complete list', async () => {
    const reasons = new Set<unknown>();
    await fc.assert(
      fc.asyncProperty(queries, async ({ filter, sort, limit, offset, ...limits }) => {
        const found = await pages({ where: filters[filter] ?? ALWAYS, sort: sortBy(sort), limit, offset, limits });
        expect(idsOf(found)).toEqual((await wholeList(filter, sort)).slice(offset));
        for (const { records, truncated } of found) {
          expect(records.length).toBeLessThanOrEqual(limit);
          reasons.add(truncated);
        }
      }),
      { numRuns: databaseCasesOf(150), examples: [[endingByRows], [endingByBytes]] },
    );
    expect(reasons).toEqual(new Set([undefined, 'scanRows', 'answerBytes']));
  });

  it('pages contain every record exactly once, also while records are inserted', async () => {
    let count = 0;
    await fc.assert(
      fc.asyncProperty(queries, fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 1, maxLength: 5 }), async (query, positions) => {
        const { filter, sort, limit, offset: _, ...limits } = query;
        const before = await wholeListNow(filter, sort);
        let next = 0;
        const insert = async (): Promise<void> => {
          const position = positions[next++];
          if (position === undefined) return;
          count++;
          await test.database.transaction((tx) =>
            insertRecord(tx, item, toItem(`id-${String(position).padStart(2, '0')}-${count}`, position)),
          );
        };
        const found = idsOf(await pages({ where: filters[filter] ?? ALWAYS, sort: sortBy(sort), limit, limits }, insert));
        expect(new Set(found).size).toBe(found.length);
        const known = new Set(before);
        expect(found.filter((id) => known.has(id))).toEqual(before);
        await test.database.transaction((tx) => tx.run(sql`DELETE FROM "Item" WHERE length("id") > 5`));
      }),
      { numRuns: databaseCasesOf(60) },
    );
  });

  const wholeListNow = async (filter: string, sort: readonly string[]): Promise<readonly string[]> =>
    idsOf([await list({ where: filters[filter] ?? ALWAYS, sort: sortBy(sort), limits: {} })]);

  it('examines at most as many rows as the budget has, also if no record matches', async () => {
    const page = await list({ where: filters['none'] ?? ALWAYS, limits: { rows: 10, windowRows: 4 } });
    expect(page).toMatchObject({ records: [], truncated: 'scanRows', next: { id: 'id-09' } });
    expect(lastBudget.rowsLeft).toBe(0);
  });

  it('continues after a soft-deleted record that ends a window', async () => {
    const page = await list({ where: filters['none'] ?? ALWAYS, limits: { rows: 5, windowRows: 5 } });
    expect(page.next).toEqual({ id: 'id-04', keys: [] });
  });

  it('a page has at most the bytes of the answer, but at least one record', async () => {
    const found = await pages({ sort: sortBy(['-id']), limits: { answerBytes: 3000 } });
    expect(found[0]).toMatchObject({ truncated: 'answerBytes' });
    for (const { records } of found) if (records.length > 1) expect(Buffer.byteLength(JSON.stringify(records))).toBeLessThan(3000);
    expect(found.some(({ records }) => records.length > 1)).toBe(true);
  });

  it('refuses a page whose first record does not fit beside the rest of the answer', async () => {
    const budget = testBudget({ answerBytes: 300 });
    expect(budget.answer.add('x'.repeat(250))).toBe(true);
    expect(await failure(list({ budget, limits: {} }))).toMatchObject({
      code: 'REQUEST_BUDGET',
      detail: expect.stringContaining('300 bytes (answerBytes)'),
    });
  });

  it('leaves out a total if the budget is used up', async () => {
    expect(await list({ total: true, limits: { rows: 5, windowRows: 5 } })).toMatchObject({
      withoutTotal: 'budget',
      truncated: 'scanRows',
    });
    expect(await list({ total: true, limits: {} })).toMatchObject({ total: stored.length });
  });
});

describe('the time of a list', () => {
  /** Lists all records of a resource, and returns its statements, the beginning of evaluation in memory, and the checks of the time in order. */
  async function eventsOf(resource: Resource, query: Pick<ListQuery, 'where' | 'budget'>): Promise<string> {
    const events: string[] = [];
    await test.database.transaction(async (tx) => {
      const members: Partial<Transaction> = {
        beginInMemory: () => void events.push('in memory'),
        async all(text) {
          events.push('rows');
          return tx.all(text);
        },
        async checkTime() {
          events.push('check');
        },
      };
      const whole = { scopeFor: scopesOf(resource), definitions, sort: [], limit: 100, now: 0, timeZone: 'UTC', ...query };
      await listRecords(replaceMembers(tx, members), resource, whole);
    });
    return events.join(',');
  }

  it.each([
    { conditions: 'in SQL', where: ALWAYS, events: /^rows(,check)+,rows/ },
    // Once before the conditions are evaluated, and once after it.
    { conditions: 'in memory', where: filters['inMemory'] ?? ALWAYS, events: /^in memory,rows(,check){2,},rows/ },
  ])('counts before each further statement, with conditions $conditions', async ({ where, events }) => {
    // An answer of this size makes the first statement load about half of the records.
    expect(await eventsOf(item, { where, budget: testBudget({ answerBytes: 100_000 }) })).toMatch(events);
  });

  it('counts while large records are measured', async () => {
    await test.database.transaction(async (tx) => {
      // Characters to escape make the measurement take some milliseconds on fast machines too.
      for (let n = 0; n < 70; n++) await insertRecord(tx, report, toRecord(`report-${n}`, { body: '\n"é'.repeat(33_000) }));
    });
    expect(await eventsOf(report, { where: ALWAYS, budget: testBudget() })).toMatch(/^rows(,check){2,},rows/);
  });
});
