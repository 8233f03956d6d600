/** Lists that are read from alternatives of their condition: the same pages as from one filter, and the statements that are sent. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { all, any, type Condition } from '../../conditions/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { resolveSort, type SortKey } from '../../request/index.ts';
import { renderSql, sql } from '../../sql.ts';
import { parseCondition } from '../condition.fixture.ts';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertRecord } from '../records.ts';
import {
  compare,
  define,
  explain,
  onPostgres,
  openTestDatabase,
  replaceMembers,
  resourceOf,
  scopesOf,
  type TestDatabase,
  testBudget,
  toRecord,
} from '../storage.fixture.ts';
import type { ListQuery, Page } from './list-query.ts';
import { listRecords } from './record-lists.ts';

const DEFINITIONS = define({
  Document: {
    softDelete: true,
    fields: {
      owner: { type: 'string', index: true },
      team: { type: 'string', index: true },
      status: { type: 'string' },
      code: { type: 'string', unique: true },
      rank: { type: 'integer' },
      note: { type: 'json' },
    },
    indexes: [{ fields: ['owner', 'rank'] }, { fields: ['team', 'rank'] }, { fields: ['team', 'status'], where: { status: 'open' } }],
  },
  Membership: {
    fields: { user: { type: 'string' }, team: { type: 'string' }, level: { type: 'string' } },
    indexes: [{ fields: ['user', 'team'] }],
  },
});
const DOCUMENT = resourceOf(DEFINITIONS, 'Document');
const MEMBERSHIP = resourceOf(DEFINITIONS, 'Membership');

const OWN = compare('owner', 'eq', 'o1');
const TEAM = compare('team', 'eq', 't3');
const OPEN = compare('status', 'eq', 'open');

/** The condition that a user is a member of the team of the document, with a level other than `guest`. */
function isMember(user: string, { limit = 1000, ...more }: { readonly limit?: number } & JsonObject = {}): Condition {
  const on = { user, team: '${resource.team}' };
  const where = [{ field: 'm.level', operator: 'ne', value: 'guest' }];
  const related = { resource: 'Membership', as: 'm', on, where, ...more };
  return parseCondition({ definitions: DEFINITIONS, resource: 'Document', relatedRecords: limit }, { related });
}

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, DEFINITIONS);
  await test.database.transaction(async (tx) => {
    for (let n = 0; n < 120; n++) {
      const rank = n % 5 === 0 ? {} : { rank: n % 7 };
      const deleted = n % 11 === 0 ? { deletedAt: '2026-01-01T00:00:00.000Z' } : {};
      const status = n % 5 < 2 ? 'open' : 'closed';
      const values = { owner: `o${n % 6}`, team: `t${n % 8}`, status, code: `c${n}`, note: { n }, ...rank, ...deleted };
      await insertRecord(tx, DOCUMENT, toRecord(`d${String(n).padStart(3, '0')}`, values));
    }
    const members = [
      ...['t1', 't3', 't5'].flatMap((team) => ['editor', 'owner'].map((level) => ({ user: 'ann', team, level }))),
      { user: 'ann', team: 't4', level: 'guest' },
    ];
    for (const [n, values] of members.entries()) await insertRecord(tx, MEMBERSHIP, toRecord(`m${n}`, values));
  });
});
afterAll(() => test.dispose());

const remove = (id: string): Promise<unknown> =>
  test.database.transaction((tx) => tx.run(sql`DELETE FROM "Membership" WHERE "id" = ${id}`));

interface Listing extends Pick<ListQuery, 'offset' | 'existence'> {
  readonly sort?: readonly SortKey[];
  readonly limit?: number;
  /** Called after each statement. */
  readonly afterEach?: () => Promise<unknown>;
}

interface Listed {
  readonly ids: readonly string[];
  /** The texts of the statements that load records. */
  readonly sent: readonly string[];
}

const QUERY = { definitions: DEFINITIONS, scopeFor: scopesOf(DOCUMENT), now: 0, timeZone: 'UTC' };

/** Lists all pages. */
function list(where: Condition, { sort = [], limit = 7, afterEach, ...listing }: Listing = {}): Promise<Listed> {
  return test.database.transaction(async (tx) => {
    const sent: string[] = [];
    const recording: Transaction = replaceMembers(tx, {
      async all(query) {
        sent.push('parameters' in query ? query.sql : renderSql(query, tx.dialect.placeholder).sql);
        const rows = await tx.all<never>(query);
        await afterEach?.();
        return rows;
      },
    });
    const pages: Page[] = [];
    do {
      pages.push(
        await listRecords(recording, DOCUMENT, {
          ...QUERY,
          ...{ ...listing, where, sort: resolveSort(DOCUMENT, sort), limit, budget: testBudget() },
          ...(pages.length > 0 && { after: pages.at(-1)?.next, offset: undefined }),
        }),
      );
    } while (pages.at(-1)?.next !== undefined);
    return { ids: pages.flatMap(({ records }) => records.map(({ id }) => id)), sent };
  });
}

/** Returns the same condition with a first part that is never true, so that it is not split. */
const notSplit = (where: Condition): Condition => any([all([compare('rank', 'eq', -1), compare('rank', 'eq', -2)]), where]);

const isFromAlternatives = ({ sent }: Listed): boolean => sent.some((text) => / UNION |LATERAL/.test(text));

const by = (...fields: readonly string[]): readonly SortKey[] =>
  fields.map((field) => (field.startsWith('-') ? { field: field.slice(1), descending: true } : { field, descending: false }));

const SPLIT: readonly (readonly [name: string, where: Condition, listing: Listing])[] = [
  ['two fields', any([OWN, TEAM]), {}],
  ['two fields, backwards', any([OWN, TEAM]), { sort: by('-id') }],
  ['two fields with a filter', all([any([OWN, TEAM]), OPEN]), {}],
  ['alternatives with more conditions', any([all([OWN, OPEN]), all([TEAM, compare('rank', 'gt', 2)])]), {}],
  ['a unique field', any([compare('code', 'eq', 'c17'), OWN]), { sort: by('rank') }],
  ['three values of one field', any(['t1', 't2', 't3'].map((team) => compare('team', 'eq', team))), {}],
  ['an indexed order', any([OWN, TEAM]), { sort: by('rank') }],
  ['an indexed order, backwards', any([OWN, TEAM]), { sort: by('-rank') }],
  ['an offset', any([OWN, TEAM]), { offset: 12 }],
  ['an offset and an order', any([OWN, TEAM]), { offset: 9, sort: by('-rank') }],
  ['own, or as a member', any([OWN, isMember('ann')]), {}],
  ['own, or as a member, by rank', any([OWN, isMember('ann')]), { sort: by('rank') }],
  ['own, or with two memberships', any([OWN, isMember('ann', { atLeast: 2 })]), {}],
  ['own, or as a member with a filter', all([any([OWN, isMember('ann')]), OPEN]), {}],
  ['own, for a caller without memberships', any([OWN, isMember('ben')]), {}],
];

const SPLIT_ON_POSTGRES: typeof SPLIT = [
  ['as a member', isMember('ann'), {}],
  ['as a member, by rank', isMember('ann'), { sort: by('-rank') }],
  ['as a member, with a filter', all([isMember('ann'), OPEN]), {}],
  ['without memberships', isMember('ben'), {}],
];

const NOT_SPLIT: typeof SPLIT = [
  ['one alternative', OWN, {}],
  ['deleted records', any([OWN, TEAM]), { existence: 'deleted' }],
  ['a field without an index', any([OWN, TEAM, OPEN]), {}],
  ['an order with a partial index', any([TEAM, compare('team', 'eq', 't5')]), { sort: by('status') }],
  ['another operator', any([OWN, compare('team', 'ne', 't3')]), {}],
  ['an order without an index', any([OWN, TEAM]), { sort: by('status') }],
  ['an order in two directions', any([OWN, TEAM]), { sort: by('rank', '-id') }],
  ['a filter by an index', all([any([OWN, TEAM]), compare('code', 'in', ['c1', 'c2', 'c6'])]), {}],
  ['a membership and alternatives', all([isMember('ann'), any([OWN, TEAM]), isMember('ann', { atLeast: 2 })]), {}],
  ['without a membership', any([OWN, isMember('ann', { atMost: 0 })]), {}],
  ['nine alternatives', any(Array.from({ length: 9 }, (_, n) => compare('team', 'eq', `t${n}`))), {}],
  ['a condition in memory', any([OWN, all([TEAM, compare('status', 'matches', '^o')])]), {}],
];

describe('alternatives of a list', () => {
  it.each([...SPLIT, ...(onPostgres ? SPLIT_ON_POSTGRES : [])])('lists the same records as one filter: %s', async (_, where, listing) => {
    const listed = await list(where, listing);
    expect(isFromAlternatives(listed)).toBe(true);
    const unsplit = await list(notSplit(where), listing);
    expect(isFromAlternatives(unsplit)).toBe(false);
    expect(listed.ids).toEqual(unsplit.ids);
    expect(new Set(listed.ids).size).toBe(listed.ids.length);
  });

  it.each([...NOT_SPLIT, ...(onPostgres ? [] : SPLIT_ON_POSTGRES)])('lists with one filter: %s', async (_, where, listing) => {
    expect(isFromAlternatives(await list(where, listing))).toBe(false);
  });

  it('finds the alternatives of a condition on other records for each order', async () => {
    const where = any([OWN, isMember('ann')]);
    const listings = [{}, { sort: by('rank') }, { sort: by('status') }];
    const found: boolean[] = [];
    for (const listing of listings) found.push(isFromAlternatives(await list(where, listing)));
    expect(found).toEqual([true, true, false]);
  });

  it('lists some records in each of these tests', async () => {
    const without = ['own, for a caller without memberships', 'without memberships'];
    for (const [name, where, listing] of [...SPLIT, ...SPLIT_ON_POSTGRES])
      if (!without.includes(name)) expect({ name, listed: (await list(where, listing)).ids.length > 1 }).toEqual({ name, listed: true });
  });

  it.skipIf(!onPostgres)('reads no alternative if the caller has more related records than the limit', async () => {
    const listed = await list(any([OWN, isMember('ann', { limit: 3 })]), { limit: 100 });
    expect(listed.ids).toEqual((await list(any([OWN, isMember('ann')]), { limit: 100 })).ids);
    expect(listed.sent.map((text) => text.includes('LATERAL'))).toEqual([true, false]);
  });

  it.skipIf(!onPostgres)('lists all records if a related record is deleted between two statements', async () => {
    const where = any([OWN, isMember('cleo', { limit: 2 })]);
    const add = (n: number): Promise<unknown> =>
      test.database.transaction((tx) => insertRecord(tx, MEMBERSHIP, toRecord(`c${n}`, { user: 'cleo', team: `t${n}`, level: 'editor' })));
    for (const n of [1, 3]) await add(n);
    const expected = await list(where, { limit: 100 });
    await add(5);
    const listed = await list(where, { limit: 100, afterEach: () => remove('c5') });
    expect({ ids: listed.ids, statements: listed.sent.length }).toEqual({ ids: expected.ids, statements: 2 });
  });

  it.skipIf(!onPostgres).each([
    ['in the order of an index', {}],
    ['in another order', { sort: by('status') }],
  ])('lists all records if the last of more than a thousand related records is deleted between two statements, %s', async (_, listing) => {
    const automatic = sql`1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'`;
    await test.database.transaction(async (tx) => {
      await tx.run(sql`DELETE FROM "Membership" WHERE "user" = 'max'`);
      await tx.run(sql`INSERT INTO "Membership" ("id", "version", "createdAt", "updatedAt", "user", "team", "level")
        SELECT 'x' || n, ${automatic}, 'max', 't' || n % 8, 'editor' FROM generate_series(1, 1001) AS n`);
    });
    const expected = await list(any(Array.from({ length: 8 }, (__, n) => compare('team', 'eq', `t${n}`))), { ...listing, limit: 200 });
    const listed = await list(isMember('max', { limit: 2000 }), { ...listing, limit: 200, afterEach: () => remove('x1') });
    expect(listed.ids).toEqual(expected.ids);
  });

  it('finds the few matching ones among related records that are more than the limit', async () => {
    await test.database.transaction(async (tx) => {
      for (const n of [0, 1, 2, 4, 6]) {
        const level = n === 6 ? 'editor' : 'guest';
        await insertRecord(tx, MEMBERSHIP, toRecord(`e${n}`, { user: 'eli', team: `t${n}`, level }));
      }
    });
    const ofTeam = compare('team', 'eq', 't6');
    expect((await list(isMember('eli', { limit: 3 }))).ids).toEqual((await list(ofTeam)).ids);
    expect((await list(any([OWN, isMember('eli', { limit: 3 })]))).ids).toEqual((await list(any([OWN, ofTeam]))).ids);
  });

  it('splits no condition whose values would be bound many times', async () => {
    const others = any([all(Array.from({ length: 60 }, (_, n) => compare('status', 'ne', `s${n}`))), OPEN]);
    const teams = (count: number): Condition => any(Array.from({ length: count }, (_, n) => compare('team', 'eq', `t${n}`)));
    const found: boolean[] = [];
    for (const count of [2, 8]) found.push(isFromAlternatives(await list(all([teams(count), others]))));
    expect(found).toEqual([true, false]);
  });

  it('lists no record whose related records are more than the limit', async () => {
    const without = any([OWN, compare('team', 'eq', 'none')]);
    expect((await list(any([OWN, isMember('ann', { limit: 1 })]))).ids).toEqual((await list(without)).ids);
  });

  it('counts the records of all alternatives once', async () => {
    const where = any([OWN, isMember('ann')]);
    const query = { ...QUERY, where, sort: [], limit: 5, total: true };
    const page = await test.database.transaction((tx) => listRecords(tx, DOCUMENT, { ...query, budget: testBudget() }));
    const { ids } = await list(where);
    expect({ total: page.total, ids: page.records.map(({ id }) => id) }).toEqual({ total: ids.length, ids: ids.slice(0, 5) });
  });
});

it('reads each alternative in the order of an index', async () => {
  const plan = await test.database.transaction(async (tx) => {
    const plans: (readonly string[])[] = [];
    const explaining = replaceMembers(tx, {
      all: async (query) => {
        if (!('parameters' in query)) plans.push(await explain(tx, query));
        return tx.all(query);
      },
    });
    await listRecords(explaining, DOCUMENT, {
      ...QUERY,
      where: any([OWN, TEAM]),
      sort: resolveSort(DOCUMENT, by('rank')),
      limit: 5,
      budget: testBudget(),
    });
    return plans.flat().join('\n');
  });
  for (const name of ['ix_Document$owner$rank', 'ix_Document$team$rank']) expect(plan).toContain(name);
});
