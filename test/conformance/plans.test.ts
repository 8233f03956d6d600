/** How SQLite answers lists: through indexes wherever rules can be said of one, and never by less than the rules say. */
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

/** Entered by an index: no row is looked at that a range of an index does not bring. */
const INDEXED: readonly PlanCase[] = [
  { name: 'own records, said of the user', rules: [when(own)] },
  { name: 'own records, said of the record', rules: [when(createdByMe)] },
  { name: 'own records, in one of several rules', rules: [when(own), when(createdByMe)] },
  { name: 'own records and what is published', rules: [when(own), when(published)] },
  { name: 'own records, never what is under review', rules: [when(own), { ...deny, ...when(is('resource.status', 'eq', 'review')) }] },
  {
    name: 'priorities interleaved: published, but none of few views, but one’s own whatever they have',
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
  { name: 'own records, said in CEL', rules: [when({ expression: 'resource.authorId == user.id' })] },
  { name: 'a constant, said in CEL', rules: [when({ expression: 'resource.views == 100 + 201' })] },
  { name: 'what follows from the user, said in CEL', rules: [when({ expression: 'resource.title == "Report " + string(size(user.id))' })] },
  { name: 'a list of the user, said in CEL', rules: [when({ expression: '[user.id, "u8"].exists(id, id == resource.authorId)' })] },
  {
    name: 'a choice by the user, said in CEL',
    rules: [when({ expression: 'user.role == "user" ? resource.status == "review" : resource.views > 10' })],
  },
  {
    name: 'own records, never what is under review, where a status is said at all',
    rules: [when(own), { ...deny, ...when({ ...is('resource.status', 'eq', 'review'), ifExists: true }) }],
  },
  { name: 'own records, the next page', rules: [when(own)], page: 2 },
  { name: 'published, newest first', rules: [when(published)], sort: newest },
  { name: 'own records that the caller filters', rules: [when(own)], where: { status: 'draft' } },
  { name: 'own records, counted', rules: [when(own)], total: true },
  { name: 'everything by an indexed field, further on', rules: [{}], sort: [upwards], page: 7 },
  { name: 'everything by an indexed field, behind the last without a value', rules: [{}], sort: [upwards], page: 5 },
  { name: 'everything by an indexed field, downwards, further on', rules: [{}], sort: [downwards], page: 7 },
  {
    name: 'own records whose title SQL cannot judge: SQL narrows, memory decides',
    rules: [when(own, is('resource.title', 'matches', '^Rep.rt'))],
  },
];

/** Walked in the order asked for: every row may be looked at, none has to be sorted. */
const WALKED: readonly PlanCase[] = [
  { name: 'everything, to a role', rules: [{}] },
  { name: 'everything, the next page', rules: [{}], page: 2 },
  { name: 'everything by an indexed field', rules: [{}], sort: [upwards] },
  { name: 'those of an index on one desk', rules: [when(is('resource.desk', 'eq', 'one'))], sort: newest },
  { name: 'those of an index on one desk, as the caller filters', rules: [{}], where: { desk: 'one' }, sort: newest, total: true },
  { name: 'those of an index on one large number', rules: [when(is('resource.weight', 'eq', WEIGHT))], sort: newest },
  { name: 'what leads', rules: [when(is('resource.isLead', 'eq', true))], sort: newest },
  { name: 'what is not published', rules: [when({ not: published })] },
  { name: 'an item of a list', rules: [when(is('resource.tags', 'has', '${user.department}'))] },
  { name: 'everything but one reference away', rules: [{}, { ...deny, ...when(is('resource.authorId.department', 'eq', 'politics')) }] },
  {
    name: 'own records, or one reference away: no index knows of both tables',
    rules: [when(own), when(is('resource.authorId.department', 'eq', '${user.department}'))],
  },
  {
    name: 'a timestamp, said in CEL',
    rules: [when({ expression: 'resource.publishedAt > timestamp("2026-01-01T00:00:00Z")' })],
  },
  {
    name: 'arithmetic of integers, said in CEL',
    rules: [when({ expression: 'resource.views % 2 == 0 && !(resource.views * 3 - 5 <= 100)' })],
  },
  { name: 'records with items, said in CEL', rules: [when({ expression: 'size(resource.tags) > 0' })] },
  { name: 'an item of a list, said in CEL', rules: [when({ expression: 'resource.tags.exists(t, t == user.department)' })] },
  { name: 'a path into JSON', rules: [when(is('resource.extra.desk', 'eq', 'one'))] },
  {
    name: 'what SQL cannot judge, or one’s own: memory decides',
    rules: [when({ anyOf: [own, is('resource.title', 'matches', '^Rep.rt')] })],
  },
];

let tables: PlanTables;
beforeAll(async () => {
  tables = await createPlanTables();
});
afterAll(() => tables.close());

describe('lists in SQLite', () => {
  it('are answered as was reviewed (UPDATE_GOLDEN=1 writes it anew)', async () => {
    const texts: string[] = [];
    for (const asked of [...INDEXED, ...WALKED]) texts.push((await tables.explain(asked)).text);
    const now = texts.join('\n');
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, now);
    expect(now).toBe(readFileSync(GOLDEN, 'utf8'));
  });

  it.each(INDEXED)('enter an index for $name', async (asked) => {
    for (const { sql, plan } of await statementsOf(asked)) {
      expect(plan.join('\n')).toMatch(/SEARCH Article USING (COVERING )?INDEX/);
      expect(plan.join('\n')).not.toMatch(/SCAN Article/);
      expect(sql).not.toContain('CASE');
    }
  });

  it.each(WALKED)('sort nothing for $name', async (asked) => {
    for (const { plan } of await statementsOf(asked)) expect(plan.join('\n')).not.toContain('TEMP B-TREE');
    expect((await tables.explain(asked)).records).toHaveLength(10);
  });
});

async function statementsOf(asked: PlanCase): Promise<Explained['statements']> {
  const { statements } = await tables.explain(asked);
  expect(statements).not.toHaveLength(0);
  return statements;
}
