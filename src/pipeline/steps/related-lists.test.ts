import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Condition, printCondition, relatedIn, UNRESOLVED } from '../../conditions/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { loadRecord } from '../../storage/index.ts';
import { openPipeline, type TestPipeline, type TestRecords, type TestRule } from '../pipeline.fixture.ts';
import { allowedWhere, decideOn, restrictionFor } from './decide-request.ts';
import { listPage } from './list-records.ts';

const LINKS = { userId: { type: 'string' }, articleId: { type: 'string' }, level: { type: 'string' } } as const;
let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: {
      Article: { fields: { status: { type: 'string' } } },
      Grant: { fields: LINKS, indexes: [{ fields: ['userId', 'articleId'] }] },
      Unindexed: { fields: LINKS },
    },
    records: {
      Grant: { g: { userId: 'ann', articleId: 'a', level: 'owner' }, h: { userId: 'ben', articleId: 'b' } },
      Unindexed: { g: { userId: 'ann', articleId: 'a', level: 'owner' } },
    },
  });
});
afterAll(() => test.dispose());

/** Returns the condition with which Ann lists articles. By default, the id of an article links a grant. */
async function listCondition(related: object, ...others: readonly object[]): Promise<Condition> {
  const on = { userId: '${user.id}', articleId: '${resource.id}' };
  const rule = { resource: 'Article', action: 'list', conditions: [{ related: { as: 'g', on, ...related } }, ...others] } as TestRule;
  let found: Condition | undefined;
  await test.inContext({ as: 'ann', request: { action: 'list', resource: 'Article' }, rules: [rule] }, async (context) => {
    const where = allowedWhere(await decideOn(context, { record: UNRESOLVED, action: 'list' }));
    ({ where: found } = await restrictionFor(context, { resource: context.resource, action: 'list', where }));
  });
  if (found === undefined) throw new Error('expected a condition');
  return found;
}

/** Two fields of the article link a grant: comparisons replace the condition. */
const BOTH = { resource: 'Grant', on: { userId: '${user.id}', articleId: '${resource.id}', level: '${resource.status}' } };

describe('the condition of a list', () => {
  it('compares the records with those of the related records of the caller', async () => {
    expect(printCondition(await listCondition(BOTH))).toBe('resource.id eq "a" and resource.status eq "owner"');
  });

  it('matches no record if the caller has no related records', async () => {
    const where = [{ field: 'g.level', operator: 'eq', value: 'reader' }];
    expect(await listCondition({ ...BOTH, where })).toEqual({ type: 'constant', value: false });
  });

  it('counts related records for each row if no index finds those of the caller', async () => {
    expect(relatedIn(await listCondition({ resource: 'Unindexed' }))).toHaveLength(1);
  });

  it('compares the records with those of the related records of the caller if the list is evaluated in memory', async () => {
    const matches = { field: 'resource.status', operator: 'matches', value: '^o' };
    expect(printCondition(await listCondition({ resource: 'Grant' }, matches))).toBe(
      'resource.id in ["a"] and resource.status matches "^o"',
    );
  });

  it('stays in the statement if one search finds the related records of all rows', async () => {
    expect(relatedIn(await listCondition({ resource: 'Grant' }))).toHaveLength(1);
  });
});

describe('one search for the related records of all rows', () => {
  const records: TestRecords = {
    Article: { a: { status: 'x' }, b: { status: 'owner' }, c: {}, d: { status: 'y' } },
    Grant: {
      a1: { userId: 'ann', articleId: 'a', level: 'owner' },
      b1: { userId: 'ann', articleId: 'b', level: 'owner' },
      b2: { userId: 'ann', articleId: 'b', level: 'owner' },
      // Without a level, it is unknown whether it is one of an owner.
      c1: { userId: 'ann', articleId: 'c' },
      d1: { userId: 'ben', articleId: 'd', level: 'owner' },
      none: { userId: 'ann', level: 'owner' },
    },
  };
  const byId = { on: { userId: '${user.id}', articleId: '${resource.id}' }, where: [{ field: 'g.level', operator: 'eq', value: 'owner' }] };
  const byStatus = { on: { userId: '${user.id}', level: '${resource.status}' } };
  const cases: readonly (readonly [name: string, related: object, listed: string, listedIfNegated: string])[] = [
    ['at least one', { ...byId, atLeast: 1 }, 'a b', 'd'],
    ['at least two', { ...byId, atLeast: 2 }, 'b', 'a c d'],
    ['at most none', { ...byId, atMost: 0 }, 'd', 'a b'],
    ['at most one', { ...byId, atMost: 1 }, 'a c d', 'b'],
    ['exactly one', { ...byId, atLeast: 1, atMost: 1 }, 'a', 'b d'],
    ['a record without the linking value', { ...byStatus, atMost: 0 }, 'a d', 'b'],
  ];
  it.each(cases)('lists what single decisions allow: %s', async (_, related, listed, listedIfNegated) => {
    const condition = { related: { as: 'g', resource: 'Grant', ...related } };
    expect(await listAndDecide(condition, records)).toEqual({ listed, decided: listed });
    expect(await listAndDecide({ not: condition }, records)).toEqual({ listed: listedIfNegated, decided: listedIfNegated });
  });
});

describe('a search for more related records than a condition may count', () => {
  it('finds the records with few related records, and not those with too many', async () => {
    const grants = Array.from({ length: 1001 }, (_, index) => [`many${index}`, { userId: 'ann', articleId: 'a', level: 'owner' }] as const);
    const few = { b1: { userId: 'ann', articleId: 'b', level: 'owner' }, b2: { userId: 'ann', articleId: 'b', level: 'owner' } };
    const records: TestRecords = { Article: { a: {}, b: {}, c: {} }, Grant: { ...Object.fromEntries(grants), ...few } };
    const condition = { related: { as: 'g', resource: 'Grant', on: { userId: '${user.id}', articleId: '${resource.id}' } } };
    expect(await listAndDecide(condition, records)).toEqual({ listed: 'b', decided: 'b' });
    expect(await listAndDecide({ not: condition }, records)).toEqual({ listed: 'c', decided: 'c' });
  });
});

/** Returns the ids of the articles that Ann lists, and of those that she may list by a decision on each. */
async function listAndDecide(condition: object, records: TestRecords): Promise<{ readonly listed: string; readonly decided: string }> {
  const rules = [{ resource: 'Article', action: 'list', conditions: [condition] }] as unknown as readonly TestRule[];
  return test.inContext({ as: 'ann', request: { action: 'list', resource: 'Article' }, rules, records }, async (context) => {
    await context.tx.run(sql`DELETE FROM "Grant" WHERE "id" IN ('g', 'h')`);
    const decision = await decideOn(context, { record: UNRESOLVED, action: 'list' });
    const { data } = await listPage(context, { decision, found: [], proposals: [] });
    const decided: string[] = [];
    for (const id of Object.keys(records['Article'] ?? {})) {
      const record = await loadRecord(context.tx, context.resource, id);
      if ((await decideOn(context, { record, action: 'list' })).effect === 'allow') decided.push(id);
    }
    return { listed: (data as readonly JsonObject[]).map(({ id }) => id).join(' '), decided: decided.join(' ') };
  });
}
