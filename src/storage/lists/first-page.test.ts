/** Kept statements of first pages: lists with one condition in several orders, with several limits and totals, by turns. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { any, type Condition } from '../../conditions/index.ts';
import { resolveSort } from '../../request/index.ts';
import type { StoredRecord } from '../../resources/index.ts';
import { renderSql, type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { deleteRecord, insertRecord } from '../records.ts';
import {
  compare,
  define,
  onPostgres,
  openTestDatabase,
  replaceMembers,
  resourceOf,
  scopesOf,
  type TestDatabase,
  testBudget,
  toRecord,
} from '../storage.fixture.ts';
import { toOrder } from './cursor-pagination.ts';
import { type FirstPage, type KeptPage, loadFirstPage } from './first-page.ts';
import type { ListQuery, Page } from './list-query.ts';
import { listRecords } from './record-lists.ts';

const DEFINITIONS = define({
  Note: {
    softDelete: true,
    fields: { owner: { type: 'string', index: true }, team: { type: 'string', index: true }, rank: { type: 'integer', index: true } },
    indexes: [{ fields: ['owner', 'rank'] }, { fields: ['team', 'rank'] }],
  },
});
const NOTE = resourceOf(DEFINITIONS, 'Note');
const OWN = compare('owner', 'eq', 'o1');
const OWN_OR_TEAM = any([OWN, compare('team', 'eq', 't1')]);

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, DEFINITIONS);
  await test.database.transaction(async (tx) => {
    for (let index = 0; index < 12; index++) {
      const record = toRecord(`n${index % 10}${index}`, { owner: `o${index % 2}`, team: `t${index % 3}`, rank: index % 4 });
      await insertRecord(tx, NOTE, record);
      if (index === 9) await deleteRecord(tx, NOTE, { id: record.id });
    }
  });
});
afterAll(() => test.dispose());

const PAGE = { scopeFor: scopesOf(NOTE), sort: [], now: 0, timeZone: 'UTC' };
const list = (tx: Transaction, query: Partial<ListQuery>): Promise<Page> =>
  listRecords(tx, NOTE, { ...PAGE, where: OWN, definitions: DEFINITIONS, limit: 100, budget: testBudget(), ...query });

const idsOf = ({ records }: Page): readonly string[] => records.map(({ id }) => id);
const sortBy = (field: string, descending = false) => resolveSort(NOTE, [{ field, descending }]);

/** Lists whose statements differ. */
const QUERIES: readonly Partial<ListQuery>[] = [
  {},
  { limit: 2 },
  { limit: 3 },
  { limit: 2, sort: sortBy('id', true) },
  { limit: 2, sort: sortBy('rank') },
  { limit: 2, sort: sortBy('rank', true) },
  { limit: 2, offset: 1 },
  { limit: 2, total: true },
  { limit: 100, existence: 'deleted' },
  { limit: 2, isIndexed: true },
];

describe('the first page of a list', () => {
  it.each<[title: string, condition: Condition]>([
    ['with one filter', OWN],
    ['from alternatives', OWN_OR_TEAM],
  ])('%s is the same after lists in other orders and with other limits', async (_, where) => {
    await test.database.transaction(async (tx) => {
      // A condition that is listed only once has a filter of its own.
      const expected = await Promise.all(QUERIES.map(async (query) => idsOf(await list(tx, { where, ...query, isIndexed: true }))));
      expect(new Set(expected.map(String)).size).toBeGreaterThan(5);
      for (const order of [QUERIES, QUERIES.toReversed(), QUERIES])
        for (const query of order) expect(idsOf(await list(tx, { where, ...query }))).toEqual(expected[QUERIES.indexOf(query)]);
    });
  });

  it('renders the statement once for equal lists', async () => {
    await test.database.transaction(async (tx) => {
      const sent: unknown[] = [];
      const recording = replaceMembers(tx, {
        all: (statement) => {
          sent.push(statement);
          return tx.all(statement);
        },
      });
      for (let count = 0; count < 2; count++) await list(recording, { where: OWN, limit: 7 });
      expect(sent).toHaveLength(2);
      expect(sent[1]).toBe(sent[0]);
    });
  });

  it.skipIf(!onPostgres)('needs another statement for a page that is loaded by the ids of its count', async () => {
    const insert = (id: string): Promise<void> =>
      test.database.transaction((tx) => insertRecord(tx, NOTE, toRecord(id, { owner: 'o9', rank: 1 })));
    await insert('z2');
    await insert('z3');
    const sent: Sql[] = [];
    const work = (tx: Transaction): Promise<Page> => {
      const one: Transaction['one'] = async (statement) => {
        if (sent.length === 1) await insert('z1');
        return tx.one(statement);
      };
      const all: Transaction['all'] = (statement) => {
        if ('texts' in statement) sent.push(statement);
        return tx.all(statement);
      };
      return list(replaceMembers(tx, { one, all }), {
        where: compare('owner', 'eq', 'o9'),
        limit: 1,
        total: true,
        budget: testBudget({ windowRows: 100 }),
      });
    };
    expect(await test.database.transaction(work, { beginsLong: true })).toMatchObject({ records: [{ id: 'z1' }], total: 3 });
    expect(sent.map((statement) => JSON.stringify(statement).includes('z1'))).toEqual([false, true]);
  });

  it('belongs to its definitions, also with a condition that is unknown for all records', async () => {
    const never = compare('owner', 'eq', 5);
    await test.database.transaction(async (tx) => expect(idsOf(await list(tx, { where: never, limit: 8 }))).toEqual([]));
    const definitions = define({ Note: { softDelete: true, fields: { owner: { type: 'string' }, place: { type: 'integer' } } } });
    const other = openTestDatabase();
    await migrate(other.database, definitions);
    const query = { ...PAGE, where: never, limit: 8, definitions, budget: testBudget() };
    const page = await other.database.transaction((tx) => listRecords(tx, resourceOf(definitions, 'Note'), query));
    expect(idsOf(page)).toEqual([]);
    await other.dispose();
  });

  it('belongs to its resource if the definitions do not contain it', async () => {
    await test.database.transaction(async (tx) => {
      const definitions = define({});
      const query = { ...PAGE, where: OWN, limit: 8, definitions, budget: testBudget() };
      const all = await listRecords(tx, NOTE, query);
      const withDeleted = { ...NOTE, softDelete: false };
      expect((await listRecords(tx, withDeleted, query)).records.length).toBeGreaterThan(all.records.length);
    });
  });
});

describe('loadFirstPage', () => {
  /** Records of a list, of which each statement of the page reads the first two up to the value that it binds. */
  const pageOf = (ids: readonly string[], loaded: Sql[] = []): FirstPage => ({
    limit: 2,
    render: (range) => (range === undefined ? sql`SELECT ${'~'}` : sql`SELECT ${range}`),
    async load(statement) {
      loaded.push(statement);
      const [end = ''] = valuesOf(statement);
      return ids
        .filter((id) => id <= end)
        .slice(0, 2)
        .map((id) => toRecord(id, {}) as StoredRecord);
    },
    rangeTo: async ({ id }) => sql`${id}`,
  });
  const order = toOrder(NOTE, []);
  const valuesOf = (statement: Sql): readonly string[] => renderSql(statement, () => '?').parameters as readonly string[];

  it('keeps the last statement', async () => {
    const keptPage: KeptPage = {};
    const load = async (more = {}, limit = 2): Promise<Sql | undefined> => {
      const loaded: Sql[] = [];
      await loadFirstPage({ keptPage, order, ...more }, { ...pageOf(['a', 'b', 'c'], loaded), limit });
      return loaded[0];
    };
    const kept = await load();
    expect(await load()).toBe(kept);
    const marks = { column: sql`"b"` };
    for (const more of [{ marks }, { sortsIds: true }, { byCount: {} }, { order: toOrder(NOTE, sortBy('rank')) }]) {
      expect(await load(more)).not.toBe(kept);
      expect(await load(more)).toBe(await load(more));
    }
    await load({ marks });
    expect(await load({ marks: { column: sql`"b"` } })).not.toBe(await load({ marks }));
    expect(await load({}, 3)).not.toBe(await load({}, 2));
  });

  it('keeps no long statement', async () => {
    const keptPage: KeptPage = {};
    const long = sql.join(Array.from({ length: 2000 }, (_, index) => sql`"a" <> ${index}`));
    let rendered = 0;
    const render = (): Sql => {
      rendered++;
      return long;
    };
    for (let count = 0; count < 3; count++) await loadFirstPage({ keptPage, order }, { ...pageOf([]), render });
    expect(rendered).toBe(3);
    expect(keptPage.last?.whole).toBeUndefined();
  });

  it('reads alternatives up to the end of the last page, which is full', async () => {
    const keptPage: KeptPage = {};
    const load = async (...ids: readonly string[]): Promise<readonly unknown[]> => {
      const loaded: Sql[] = [];
      const records = await loadFirstPage({ keptPage, order, alternatives: {} }, pageOf(ids, loaded));
      return [records.map(({ id }) => id).join(''), ...loaded.flatMap(valuesOf)];
    };
    expect(await load('c')).toEqual(['c', '~']);
    expect(await load('c', 'e', 'g')).toEqual(['ce', '~']);
    expect(await load('c', 'e', 'g')).toEqual(['ce', 'e']);
    expect(await load('b', 'c', 'e')).toEqual(['bc', 'e']);
    expect(await load('b', 'c', 'e')).toEqual(['bc', 'c']);
    // A record of the page is deleted. This page and the next 15 are read from all rows.
    expect(await load('c', 'e')).toEqual(['ce', 'c', '~']);
    for (let count = 0; count < 15; count++) expect(await load('c', 'e', 'g')).toEqual(['ce', '~']);
    expect(await load('c', 'e', 'g')).toEqual(['ce', 'e']);
  });
});
