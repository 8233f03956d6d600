import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { casesOf } from '../../../test/budget.ts';
import { ALWAYS, all, type Condition, constant, NEVER } from '../../conditions/index.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { resolveSort } from '../../request/index.ts';
import type { Resource, StoredRecord } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { BudgetLimits } from '../budget.ts';
import { migrate } from '../migrations/migrate.ts';
import { deleteRecord, insertRecord } from '../records.ts';
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
import { type CursorPosition, shortenPosition } from './cursor-pagination.ts';
import type { ListQuery, Page } from './list-query.ts';
import { listRecords } from './record-lists.ts';

const definitions = define({
  Item: {
    fields: {
      // These are also column names of json_each.
      key: { type: 'integer' },
      value: { type: 'string' },
      price: { type: 'decimal' },
      rank: { type: 'number', required: true },
      tags: { type: 'list', of: 'string' },
      story: { type: 'text' },
      secret: { type: 'string', writeOnly: true },
    },
  },
});
const item: Resource = resourceOf(definitions, 'Item');
let test: TestDatabase;

beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
});
afterAll(() => test.dispose());
beforeEach(() => test.database.transaction((tx) => tx.run(sql`DELETE FROM "Item"`)));

function fill(records: readonly JsonObject[]): Promise<void> {
  return test.database.transaction(async (tx) => {
    await tx.run(sql`DELETE FROM "Item"`);
    for (const [index, values] of records.entries()) await insertRecord(tx, item, toRecord(`id-${index}`, { rank: 0, ...values }));
  });
}

const scopeFor = scopesOf(item);

/** A condition that cannot be compiled to SQL. */
const inMemory = (pattern: string): Condition => compare('value', 'matches', pattern);

/** A list with limits of its own for each page. */
interface TestQuery extends Partial<ListQuery> {
  readonly limits?: Partial<BudgetLimits>;
}

const list = ({ limits, ...query }: TestQuery): Promise<Page> =>
  test.database.transaction((tx) =>
    listRecords(tx, item, {
      where: ALWAYS,
      scopeFor,
      definitions,
      sort: [],
      limit: 100,
      budget: testBudget(limits),
      now: 0,
      timeZone: 'UTC',
      ...query,
    }),
  );

const sortBy = (...keys: readonly string[]) =>
  resolveSort(
    item,
    keys.map((key) => ({ field: key.replace('-', ''), descending: key.startsWith('-') })),
  );

/** Loads all pages of a list. */
async function pages(query: TestQuery): Promise<readonly Page[]> {
  const found: Page[] = [];
  let after: CursorPosition | undefined;
  do {
    const page = await list({ ...query, ...(after === undefined ? {} : { after, offset: undefined }) });
    found.push(page);
    after = page.next && shortenPosition(page.next);
  } while (after !== undefined && found.length < 500);
  return found;
}

const idsOf = (found: readonly Page[]): string[] => found.flatMap((page) => page.records.map(({ id }) => id));

/** Returns ids in the expected order: missing values first, or last if descending; then by `id`, in the direction of the last key. */
function sorted(records: readonly StoredRecord[], keys: readonly string[]): string[] {
  const complete = [...keys, keys.at(-1)?.startsWith('-') ? '-id' : 'id'];
  const by = (a: StoredRecord, b: StoredRecord): number => {
    for (const key of complete) {
      const [left, right] = [a, b].map((record) => record[key.replace('-', '')]);
      const order = left === right ? 0 : left === undefined ? -1 : right === undefined ? 1 : isLess(left, right) ? -1 : 1;
      if (order !== 0) return key.startsWith('-') ? -order : order;
    }
    return 0;
  };
  return records.toSorted(by).map(({ id }) => id);
}

function isLess(a: Json, b: Json): boolean {
  if (typeof a === 'string' && typeof b === 'string' && /^-?\d+\.\d\d$/.test(a)) return Number(a) < Number(b);
  return (a as string) < (b as string);
}

const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined });
const record = fc.record({
  key: optional(fc.integer({ min: -2, max: 2 })),
  value: optional(fc.constantFrom('', 'a', 'A', 'b', 'é', '%')),
  price: optional(fc.constantFrom('-1.00', '0.00', '2.50', '10.00')),
  rank: fc.constantFrom(-0.5, 0, 1.5),
});
const keysOf = fc
  .uniqueArray(fc.constantFrom('key', 'value', 'price', 'rank', 'createdAt'), { maxLength: 3 })
  .chain((fields) => fc.tuple(...fields.map((field) => fc.boolean().map((descending) => (descending ? `-${field}` : field)))));
const defined = (values: object): JsonObject => JSON.parse(JSON.stringify(values)) as JsonObject;

describe('consecutive pages', () => {
  it('consecutive pages contain the whole list in order, also with missing and duplicate values and mixed directions', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(record, { maxLength: 25 }), keysOf, fc.integer({ min: 1, max: 7 }), async (values, keys, limit) => {
        const records = values.map((each, index) => toRecord(`id-${index}`, defined(each)));
        await fill(values.map(defined));
        const found = await pages({ sort: sortBy(...keys), limit });
        expect(idsOf(found)).toEqual(sorted(records, keys));
        for (const page of found.slice(0, -1)) expect(page.records).toHaveLength(limit);
      }),
      { numRuns: casesOf(30) },
    );
  });

  it('consecutive pages contain exactly the records that match a condition in memory', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { maxLength: 25 }),
        keysOf,
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 9 }),
        async (values, keys, limit, rows) => {
          const records = values.map((each, index) => toRecord(`id-${index}`, defined(each)));
          await fill(values.map(defined));
          const found = await pages({ where: inMemory('[aé]'), sort: sortBy(...keys), limit, limits: { rows } });
          expect(idsOf(found)).toEqual(
            sorted(
              records.filter((each) => /[aé]/.test(String(each['value'] ?? ''))),
              keys,
            ),
          );
        },
      ),
      { numRuns: casesOf(20) },
    );
  });

  it('pages continue at the same position after inserts and deletes', async () => {
    await fill([{ key: 1 }, { key: 2 }, { key: 3 }, { key: 4 }]);
    const first = await list({ sort: sortBy('key'), limit: 2 });
    await test.database.transaction(async (tx) => {
      await deleteRecord(tx, item, { id: 'id-1' });
      await insertRecord(tx, item, toRecord('new', { key: 0, rank: 0 }));
    });
    expect(idsOf([await list({ sort: sortBy('key'), limit: 2, after: first.next })])).toEqual(['id-2', 'id-3']);
  });

  it('pages continue after values too long for a cursor, as long as the record exists and has them', async () => {
    const story = (end: string): string => 'é'.repeat(5000) + end;
    await fill([{ story: story('b') }, { story: story('a') }, { story: story('c') }]);
    const [first] = await pages({ sort: sortBy('story'), limit: 1 });
    const after = first?.next && shortenPosition(first.next);
    expect(JSON.stringify(after).length).toBeLessThan(100);
    expect(idsOf(await pages({ sort: sortBy('story'), limit: 1 }))).toEqual(['id-1', 'id-0', 'id-2']);
    for (const change of [sql`UPDATE "Item" SET "story" = 'd' WHERE "id" = 'id-1'`, sql`DELETE FROM "Item" WHERE "id" = 'id-1'`]) {
      await test.database.transaction((tx) => tx.run(change));
      expect(await failure(list({ sort: sortBy('story'), limit: 1, after }))).toMatchObject({ code: 'REQUEST_CURSOR' });
    }
  });

  it.each([
    ['of another sort order', { id: 'x', keys: [1, 2] }],
    ['whose field has another type now', { id: 'x', keys: ['text'] }],
  ])('refuses a cursor %s', async (_, after) => {
    expect(await failure(list({ sort: sortBy('key'), after }))).toMatchObject({ code: 'REQUEST_CURSOR' });
  });
});

describe('offset and total', () => {
  beforeEach(() => fill(Array.from({ length: 30 }, (_, key) => ({ key, value: key % 3 === 0 ? 'x' : 'y' }))));

  it('counts matching records at an offset', async () => {
    const page = await list({ where: compare('key', 'gte', 20), sort: sortBy('key'), offset: 3, limit: 2, total: true });
    expect(page).toMatchObject({ total: 10, records: [{ key: 23 }, { key: 24 }] });
    expect(await list({ where: compare('key', 'gt', 99), total: true })).toEqual({ records: [], total: 0 });
  });

  it('skips matching records if the condition is evaluated in memory, without a total', async () => {
    const page = await list({ where: inMemory('x'), sort: sortBy('key'), offset: 2, limit: 2, total: true });
    expect(page.records.map((each) => each['key'])).toEqual([6, 9]);
    expect(page).not.toHaveProperty('total');
  });

  it('continues the rest of an offset on the next page', async () => {
    const found = await pages({ where: inMemory('x'), sort: sortBy('key'), offset: 5, limit: 10, limits: { rows: 4 } });
    expect(found.flatMap((page) => page.records.map((each) => each['key']))).toEqual([15, 18, 21, 24, 27]);
    expect(found[0]).toMatchObject({ records: [], truncated: 'scanRows', next: { skip: 3 } });
  });
});

describe('lists', () => {
  it('evaluates at most scanRows records in memory', async () => {
    await fill(Array.from({ length: 50 }, () => ({ value: 'y' })));
    let evaluated = 0;
    const page = await list({
      where: inMemory('x'),
      limits: { rows: 20 },
      scopeFor: (each) => {
        evaluated++;
        return scopeFor(each);
      },
    });
    expect([evaluated, page.truncated, page.records]).toEqual([20, 'scanRows', []]);
  });

  it('filters in SQL before it evaluates records in memory', async () => {
    await fill(Array.from({ length: 50 }, (_, key) => ({ key, value: 'x' })));
    let evaluated = 0;
    const where = all([compare('key', 'lt', 5), inMemory('x')]);
    const page = await list({
      where,
      scopeFor: (each) => {
        evaluated++;
        return scopeFor(each);
      },
    });
    expect([evaluated, page.records.length]).toEqual([5, 5]);
  });

  it.each([NEVER, constant(null)])('runs no query for a condition that is never true: %j', async (where) => {
    await test.database.transaction(async (tx) => {
      const unusable = replaceMembers(tx, {
        all: () => Promise.reject(new Error('queried')),
        one: () => Promise.reject(new Error('queried')),
      });
      expect(
        await listRecords(unusable, item, {
          where,
          scopeFor,
          definitions,
          sort: [],
          limit: 1,
          budget: testBudget(),
          now: 0,
          timeZone: 'UTC',
          total: true,
        }),
      ).toEqual({ records: [], total: 0 });
    });
  });

  it('filters by list items, even if fields have column names of json_each', async () => {
    await fill([{ tags: ['a', 'b'], key: 1, value: 'a' }, { tags: ['b'], key: 2, value: 'a' }, {}]);
    expect(idsOf([await list({ where: compare('tags', 'has', 'a') })])).toEqual(['id-0']);
  });

  it('a list never reads write-only fields', async () => {
    await fill([{ secret: 'hush' }]);
    expect((await list({})).records[0]).not.toHaveProperty('secret');
    expect(idsOf([await list({ where: compare('secret', 'exists', true), scopeFor: (each) => scopeFor(each) })])).toEqual([]);
  });
});
