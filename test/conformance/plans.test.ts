/** Query plans of lists in SQLite: an index is used if the rules allow it, and the result always satisfies the rules. */
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/operators/index.ts';
import { createPlanTables, type Explained, type PlanCase, type PlanTables, WEIGHT } from './plans.ts';

const GOLDEN = new URL('../golden/plans.sqlite.txt', import.meta.url);

const is = (field: string, operator: string, value: JsonObject[string]): JsonObject => ({ field, operator, value });
const when = (...conditions: readonly JsonObject[]) => ({ conditions });
const deny = { effect: 'DENY' } as const;
const own = is('user.id', 'eq', '${resource.authorId}');
const createdByMe = is('resource.createdBy', 'eq', '${user.id}');
const published = is('resource.status', 'eq', 'published');

const upwards = { field: 'views', descending: false };
const downwards = { field: 'views', descending: true };
const newest = [{ field: 'publishedAt', descending: true }];

/** Lists that search an index: SQLite reads only rows in a range of the index. */
const INDEXED: readonly PlanCase[] = [
  { name: 'own records, user on the left side', rules: [when(own)] },
  { name: 'own records, record on the left side', rules: [when(createdByMe)] },
  { name: 'own records, in one of several rules', rules: [when(own), when(createdByMe)] },
  { name: 'own and published records', rules: [when(own), when(published)] },
  { name: 'own records, except those in review', rules: [when(own), { ...deny, ...when(is('resource.status', 'eq', 'review')) }] },
  {
    name: 'interleaved priorities: published records, except those with few views, but own records in any case',
    rules: [
      { priority: 300, ...when(own) },
      { priority: 200, ...deny, ...when(is('resource.views', 'lt', 10)) },
      { priority: 100, ...when(published) },
    ],
  },
  { name: 'one of several values', rules: [when(is('resource.status', 'in', ['draft', 'review']))] },
  { name: 'between', rules: [when(is('resource.views', 'between', [100, 200]))] },
  { name: 'a prefix', rules: [when(is('resource.title', 'startsWith', 'Report'))] },
  { name: 'a pattern that begins with letters', rules: [when(is('resource.title', 'like', 'Report 1*'))] },
  { name: 'one reference away', rules: [when(is('resource.authorId.department', 'eq', '${user.department}'))] },
  { name: 'two references away', rules: [when(is('resource.authorId.leadId.department', 'eq', '${user.department}'))] },
  { name: 'own records, in CEL', rules: [when({ expression: 'resource.authorId == user.id' })] },
  { name: 'a constant, in CEL', rules: [when({ expression: 'resource.views == 100 + 201' })] },
  { name: 'a value computed from the user, in CEL', rules: [when({ expression: 'resource.title == "Report " + string(size(user.id))' })] },
  { name: 'a list of the user, in CEL', rules: [when({ expression: '[user.id, "u8"].exists(id, id == resource.authorId)' })] },
  {
    name: 'a conditional on the user, in CEL',
    rules: [when({ expression: 'user.role == "user" ? resource.status == "review" : resource.views > 10' })],
  },
  {
    name: 'own records, except those in review if a status exists',
    rules: [when(own), { ...deny, ...when({ ...is('resource.status', 'eq', 'review'), ifExists: true }) }],
  },
  { name: 'own records, the next page', rules: [when(own)], page: 2 },
  { name: 'published, newest first', rules: [when(published)], sort: newest },
  { name: 'own records with a filter of the caller', rules: [when(own)], where: { status: 'draft' } },
  { name: 'own records, counted', rules: [when(own)], total: true },
  { name: 'all records by an indexed field, a later page', rules: [{}], sort: [upwards], page: 7 },
  { name: 'all records by an indexed field, after the last record without a value', rules: [{}], sort: [upwards], page: 5 },
  { name: 'all records by an indexed field descending, a later page', rules: [{}], sort: [downwards], page: 7 },
  {
    name: 'own records with a condition that SQL cannot express, narrowed by SQL',
    rules: [when(own, is('resource.title', 'matches', '^Rep.rt'))],
  },
];

/** Lists that scan in sort order: SQLite may read every row, but sorts none. */
const WALKED: readonly PlanCase[] = [
  { name: 'all records', rules: [{}] },
  { name: 'all records, the next page', rules: [{}], page: 2 },
  { name: 'all records by an indexed field', rules: [{}], sort: [upwards] },
  { name: 'the records of a partial index on an enum', rules: [when(is('resource.desk', 'eq', 'one'))], sort: newest },
  {
    name: 'the records of a partial index on an enum, by a filter of the caller',
    rules: [{}],
    where: { desk: 'one' },
    sort: newest,
    total: true,
  },
  { name: 'the records of a partial index on a large number', rules: [when(is('resource.weight', 'eq', WEIGHT))], sort: newest },
  { name: 'the records of a partial index on a boolean', rules: [when(is('resource.isLead', 'eq', true))], sort: newest },
  { name: 'unpublished records', rules: [when({ not: published })] },
  { name: 'an item of a list', rules: [when(is('resource.tags', 'has', '${user.department}'))] },
  {
    name: 'all records except by a condition one reference away',
    rules: [{}, { ...deny, ...when(is('resource.authorId.department', 'eq', 'politics')) }],
  },
  {
    name: 'own records or a condition one reference away, for which no index has both tables',
    rules: [when(own), when(is('resource.authorId.department', 'eq', '${user.department}'))],
  },
  {
    name: 'a timestamp, in CEL',
    rules: [when({ expression: 'resource.publishedAt > timestamp("2026-01-01T00:00:00Z")' })],
  },
  {
    name: 'integer arithmetic, in CEL',
    rules: [when({ expression: 'resource.views % 2 == 0 && !(resource.views * 3 - 5 <= 100)' })],
  },
  { name: 'records with list items, in CEL', rules: [when({ expression: 'size(resource.tags) > 0' })] },
  { name: 'an item of a list, in CEL', rules: [when({ expression: 'resource.tags.exists(t, t == user.department)' })] },
  { name: 'a path into JSON', rules: [when(is('resource.extra.desk', 'eq', 'one'))] },
  {
    name: 'own records or a condition that SQL cannot express',
    rules: [when({ anyOf: [own, is('resource.title', 'matches', '^Rep.rt')] })],
  },
];

/** Lists of the records of others whom one search of an index finds. */
const SEARCHED_ONCE: readonly PlanCase[] = [
  {
    name: 'records of the users of a department, found by one search',
    rules: [when({ related: { resource: 'User', as: 'u', on: { department: '${user.department}', id: '${resource.authorId}' } } })],
  },
];

/** Lists that search an index for other records of each row, each with the search. */
const SEARCHED_FOR_EACH: readonly (readonly [search: RegExp, planCase: PlanCase])[] = [
  [
    /SEARCH related\.u USING INDEX ix_User\$department \(department=\?\)/,
    {
      name: 'related records by a field of the row, with a condition that reads the row',
      rules: [
        when({
          related: {
            resource: 'User',
            as: 'u',
            on: { department: '${resource.desk}' },
            where: [is('u.leadId', 'eq', '${resource.authorId}')],
          },
        }),
      ],
    },
  ],
  [
    /SEARCH related\.u USING INDEX ix_User\$leadId \(leadId=\?\)/,
    {
      name: 'related records by two fields of the row',
      rules: [
        when({ related: { resource: 'User', as: 'u', on: { department: '${resource.desk}', leadId: '${resource.authorId}' }, atMost: 0 } }),
      ],
    },
  ],
  [
    /SEARCH related\.u USING INDEX sqlite_autoindex_User_1 \(id=\?\)[\s\S]*SEARCH related\.l USING INDEX ix_User\$leadId \(leadId=\?\)/,
    {
      name: 'a related record within another',
      rules: [
        when({
          related: {
            ...{ resource: 'User', as: 'u', on: { id: '${resource.authorId}' } },
            where: [{ related: { resource: 'User', as: 'l', on: { leadId: '${u.id}' } } }],
          },
        }),
      ],
    },
  ],
  [
    /RECURSIVE STEP[\s\S]*SEARCH ancestor\.next USING INDEX sqlite_autoindex_User_1 \(id=\?\)/,
    { name: 'records below one of the user', rules: [when(is('resource.authorId', 'within', '${user.id}'))] },
  ],
  [
    /SEARCH \S+ USING INDEX sqlite_autoindex_Desk_1 \(id=\?\)/,
    { name: 'the records of a list of references', rules: [when(is('resource.deskIds.name', 'eq', 'desk 1'))] },
  ],
];

let tables: PlanTables;
beforeAll(async () => {
  tables = await createPlanTables();
});
afterAll(() => tables.close());

describe('lists in SQLite', () => {
  it('lists in SQLite have the reviewed query plans (UPDATE_GOLDEN=1 writes them)', async () => {
    const texts: string[] = [];
    for (const planCase of [...INDEXED, ...WALKED, ...SEARCHED_ONCE, ...SEARCHED_FOR_EACH.map(([, each]) => each)])
      texts.push((await tables.explain(planCase)).text);
    const now = texts.join('\n');
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, now);
    expect(now).toBe(readFileSync(GOLDEN, 'utf8'));
  });

  it.each(INDEXED.map((planCase) => [planCase.name, planCase] as const))('searches an index for a list: %s', async (_, planCase) => {
    for (const { sql, plan } of await statementsOf(planCase)) {
      expect(plan.join('\n')).toMatch(/SEARCH Article USING (COVERING )?INDEX/);
      expect(plan.join('\n')).not.toMatch(/SCAN Article/);
      expect(sql).not.toContain('CASE');
    }
  });

  it.each(SEARCHED_ONCE.map((planCase) => [planCase.name, planCase] as const))(
    'searches two indexes for a list: %s',
    async (_, planCase) => {
      for (const { plan } of await statementsOf(planCase)) {
        expect(plan.join('\n')).toMatch(/SEARCH Article USING COVERING INDEX[\s\S]*LIST SUBQUERY \d+\s+SEARCH User USING COVERING INDEX/);
        expect(plan.join('\n')).not.toMatch(/SCAN|CORRELATED/);
      }
    },
  );

  it.each(SEARCHED_FOR_EACH.map(([search, planCase]) => [planCase.name, search, planCase] as const))(
    'searches an index for each row of a list: %s',
    async (_, search, planCase) => {
      for (const { plan } of await statementsOf(planCase)) {
        expect(plan.join('\n')).toMatch(search);
        expect(plan.join('\n')).not.toMatch(/SCAN (User|Desk)/);
      }
    },
  );

  it.each(WALKED.map((planCase) => [planCase.name, planCase] as const))('sorts no rows for a list: %s', async (_, planCase) => {
    for (const { plan } of await statementsOf(planCase)) expect(plan.join('\n')).not.toContain('TEMP B-TREE');
    expect((await tables.explain(planCase)).records).toHaveLength(10);
  });
});

async function statementsOf(planCase: PlanCase): Promise<Explained['statements']> {
  const { statements } = await tables.explain(planCase);
  expect(statements).not.toHaveLength(0);
  return statements;
}
