/** Lists that are read from alternatives of their condition: the same pages as from one filter, and the statements that are sent. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../test/policy-fixtures.ts';
import { describePath, describeRelated } from '../authz/context/index.ts';
import { all, any, type Condition, parseConditions } from '../conditions/index.ts';
import type { JsonObject } from '../operators/index.ts';
import { resolveSort, type SortKey } from '../request/index.ts';
import { renderSql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import type { ListQuery, Page } from './list-query.ts';
import { migrate } from './migrations/migrate.ts';
import { listRecords } from './record-lists.ts';
import { insertRecord } from './records.ts';
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
} from './storage.fixture.ts';

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
const TEAM = compare('team', 'eq', 't2');
const OPEN = compare('status', 'eq', 'open');

/** The condition that a user is a member of the team of the document, with a level other than `guest`. */
function isMember(user: string, { limit = 1000, ...more }: { readonly limit?: number } & JsonObject = {}): Condition {
  const on = { user, team: '${resource.team}' };
  const where = [{ field: 'm.level', operator: 'ne', value: 'guest' }];
  const { condition, issues } = parseConditions([{ related: { resource: 'Membership', as: 'm', on, where, ...more } }], {
    at: '',
    expressions: false,
    limits: { ...LIMITS.conditions, relatedRecords: limit },
    describePath: describePath(DEFINITIONS, 'Document'),
    describeRelated: describeRelated(DEFINITIONS),
  });
  expect(issues).toEqual([]);
  return condition;
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

interface Listing extends Pick<ListQuery, 'offset' | 'existence'> {
  readonly sort?: readonly SortKey[];
  readonly limit?: number;
}

interface Listed {
  readonly ids: readonly string[];
  /** The texts of the statements that load records. */
  readonly sent: readonly string[];
}

const QUERY = { definitions: DEFINITIONS, scopeFor: scopesOf(DOCUMENT), now: 0, timeZone: 'UTC' };

/** Lists all pages. */
function list(where: Condition, { sort = [], limit = 7, ...listing }: Listing = {}): Promise<Listed> {
  return test.database.transaction(async (tx) => {
    const sent: string[] = [];
    const recording: Transaction = replaceMembers(tx, {
      all: (query) => {
        sent.push('parameters' in query ? query.sql : renderSql(query, tx.dialect.placeholder).sql);
        return tx.all(query);
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

/** The same condition, which is not split: the first part is never true. */
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
  ['an offset', any([OWN, TEAM]), { offset: 5 }],
  ['an offset and an order', any([OWN, TEAM]), { offset: 9, sort: by('-rank') }],
  ['deleted records', any([OWN, TEAM]), { existence: 'deleted' }],
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
  ['a field without an index', any([OWN, OPEN]), {}],
  ['another operator', any([OWN, compare('team', 'ne', 't2')]), {}],
  ['an order without an index', any([OWN, TEAM]), { sort: by('status') }],
  ['an order in two directions', any([OWN, TEAM]), { sort: by('rank', '-createdAt') }],
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

  it('lists some records in each of these tests', async () => {
    const without = ['own, for a caller without memberships', 'without memberships'];
    for (const [name, where, listing] of [...SPLIT, ...SPLIT_ON_POSTGRES])
      if (!without.includes(name)) expect({ name, listed: (await list(where, listing)).ids.length > 1 }).toEqual({ name, listed: true });
  });

  it.skipIf(!onPostgres)('searches each row if the caller has more related records than the limit', async () => {
    const listed = await list(any([OWN, isMember('ann', { limit: 3 })]), { limit: 100 });
    expect(listed.ids).toEqual((await list(any([OWN, isMember('ann')]), { limit: 100 })).ids);
    // The first statement reads no row, and the second one has no alternatives.
    expect(listed.sent.map((text) => text.includes('LATERAL'))).toEqual([true, false]);
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
  for (const name of ['owner', 'team'])
    expect(plan).toMatch(
      new RegExp(`Index Scan using "ix_Document\\$${name}\\$rank"|SEARCH Document USING INDEX ix_Document\\$${name}\\$rank`),
    );
});
