import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Condition, printCondition, relatedIn, UNRESOLVED } from '../../conditions/index.ts';
import { openPipeline, type TestPipeline, type TestRule } from '../pipeline.fixture.ts';
import { allowedWhere, decideOn, restrictionFor } from './decide-request.ts';

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
      Article: { a: { status: 'open' }, b: { status: 'open' } },
      Grant: { g: { userId: 'ann', articleId: 'a', level: 'owner' }, h: { userId: 'ben', articleId: 'b' } },
      Unindexed: { g: { userId: 'ann', articleId: 'a', level: 'owner' } },
    },
  });
});
afterAll(() => test.dispose());

/** Returns the condition with which Ann lists articles. */
async function listCondition(related: object): Promise<Condition> {
  const on = { userId: '${user.id}', articleId: '${resource.id}' };
  const rule = { resource: 'Article', action: 'list', conditions: [{ related: { as: 'g', on, ...related } }] } as TestRule;
  let found: Condition | undefined;
  await test.inContext({ as: 'ann', request: { action: 'list', resource: 'Article' }, rules: [rule] }, async (context) => {
    const where = allowedWhere(await decideOn(context, { record: UNRESOLVED, action: 'list' }));
    ({ where: found } = await restrictionFor(context, { resource: context.resource, action: 'list', where }));
  });
  if (found === undefined) throw new Error('expected a condition');
  return found;
}

describe('the condition of a list', () => {
  it('compares the records with those of the related records of the caller', async () => {
    expect(printCondition(await listCondition({ resource: 'Grant' }))).toBe('resource.id in ["a"]');
  });

  it('matches no record if the caller has no related records', async () => {
    const where = [{ field: 'g.level', operator: 'eq', value: 'reader' }];
    expect(await listCondition({ resource: 'Grant', where })).toEqual({ type: 'constant', value: false });
  });

  it('counts related records for each row if no index finds those of the caller', async () => {
    expect(relatedIn(await listCondition({ resource: 'Unindexed' }))).toHaveLength(1);
  });
});
