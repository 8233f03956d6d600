import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BATCH_ACTIONS, READ_ONLY_ACTIONS } from '../actions.ts';
import { Problem } from '../errors.ts';
import { deleteRecord, loadRecord } from '../storage/index.ts';
import { failure } from '../storage/storage.fixture.ts';
import { inCode, inShort, openPipeline, type TestPipeline, type TestRequest, type TestRule } from './pipeline.fixture.ts';
import { appendAsDecided, appendWithOutcome, PIPELINE, runInSavepoint, runPipeline } from './pipeline.ts';
import type { RequestContext } from './request-context.ts';
import { rollBackUnless } from './roll-back.ts';
import { authorize } from './steps/decide-request.ts';
import { listPage } from './steps/list-records.ts';
import { HashNeeded } from './steps/password-changes.ts';
import { describe as describeResource, show } from './steps/project-record.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: { Article: { fields: { title: { type: 'string' } } } },
    records: { Article: { a1: { title: 'one' } } },
  });
});
afterAll(() => test.dispose());

const allow = (action: string): TestRule => ({ resource: 'Article', action });
const request: TestRequest = { action: 'update', resource: 'Article', id: 'a1', data: { title: 'two' } };
const asAnn = <T>(rules: readonly TestRule[], work: (context: RequestContext) => Promise<T>, more: Partial<TestRequest> = {}): Promise<T> =>
  test.inContext({ as: 'ann', request: { ...request, ...more }, rules }, work);
const removeArticle = (context: RequestContext): Promise<boolean> => deleteRecord(context.tx, context.resource, { id: 'a1' });
const titleIn = async (context: RequestContext): Promise<unknown> => (await loadRecord(context.tx, context.resource, 'a1'))?.['title'];

describe('the table of steps', () => {
  it('the table has a row for each action, and none without authorization and a result', () => {
    expect(Object.keys(PIPELINE).sort()).toEqual([...BATCH_ACTIONS.keys()].sort());
    for (const [, , authorizeStep, , , perform] of Object.values(PIPELINE)) {
      expect([typeof authorizeStep, typeof perform]).toEqual(['function', 'function']);
    }
  });

  it('the actions that change no records are those whose last step only reads', () => {
    const reading = Object.entries(PIPELINE).filter(([, steps]) => [show, listPage, describeResource].includes(steps[5]));
    expect(reading.map(([action]) => action).sort()).toEqual([...READ_ONLY_ACTIONS].sort());
  });
});

describe('the order of the steps', () => {
  it.each<[string, readonly TestRule[], Partial<TestRequest>, string]>([
    ['a denial is reported before an unknown record', [], { id: 'unknown' }, 'ACCESS_DENIED'],
    ['an unknown record is reported before another version', [allow('update')], { id: 'unknown', ifMatch: [7] }, 'RECORD_UNKNOWN'],
    ['another version is reported before invalid values', [allow('update')], { ifMatch: [7], data: { title: 5 } }, 'RECORD_VERSION'],
    ['invalid values are reported after them', [allow('update')], { ifMatch: [1], data: { title: 5 } }, 'VALUE_INVALID title:type'],
    [
      'invalid values are reported before the denial of the changed record',
      [{ ...allow('update'), conditions: [{ field: 'resource.title', operator: 'eq', value: 'one' }] }],
      { data: { title: 'two', titel: 'x' } },
      'VALUE_INVALID titel:unknown',
    ],
    [
      'the denial of the changed record is reported before the change is performed',
      [{ ...allow('update'), conditions: [{ field: 'resource.title', operator: 'eq', value: 'one' }] }],
      {},
      'ACCESS_DENIED',
    ],
  ])('reports the first problem in the order of the steps: %s', async (_, rules, more, code) => {
    await asAnn(
      rules,
      async (context) => {
        const outcome = await runPipeline(context);
        expect('problem' in outcome ? inCode(outcome.problem) : outcome).toBe(code);
        expect(outcome.decisionId).toBe(context.entries[0]?.id);
        expect(await titleIn(context)).toBe('one');
      },
      more,
    );
  });

  it('a request that is allowed has the result and the id of its first entry', async () => {
    await asAnn([allow('*')], async (context) => {
      const outcome = await runPipeline(context);
      expect(outcome).toMatchObject({ result: { status: 200, version: 2 }, decisionId: context.entries[0]?.id });
      expect(await titleIn(context)).toBe('two');
    });
  });
});

describe('the savepoint of the steps', () => {
  it('a problem rolls back the writes, and keeps the entries of the decisions', async () => {
    await asAnn([allow('*')], async (context) => {
      const outcome = await runInSavepoint(context, async () => {
        await authorize(context, { record: undefined, recordId: 'a1' });
        await removeArticle(context);
        throw new Problem('RECORD_REFERENCED', 'refused');
      });
      expect(outcome).toMatchObject({ problem: { code: 'RECORD_REFERENCED' }, decisionId: context.entries[0]?.id });
      expect(await titleIn(context)).toBe('one');
      expect(inShort(context.entries)).toEqual(['allow update Article a1']);
    });
  });

  it('a denial names its own entry instead of the first', async () => {
    await asAnn([allow('update')], async (context) => {
      const outcome = await runInSavepoint(context, async () => {
        await authorize(context, { record: undefined });
        await authorize(context, { record: undefined, action: 'read' });
      });
      expect(outcome).toMatchObject({ problem: { code: 'ACCESS_DENIED' }, decisionId: context.entries[1]?.id });
    });
  });

  it('another error is an internal problem with its cause, and rolls back the writes', async () => {
    const cause = new Error('defect');
    await asAnn([], async (context) => {
      const outcome = await runInSavepoint(context, async () => {
        await removeArticle(context);
        throw cause;
      });
      expect(outcome).toMatchObject({ problem: { code: 'INTERNAL', extras: { cause } }, decisionId: undefined });
      expect(await titleIn(context)).toBe('one');
    });
  });

  it.each([
    ['a database that is unavailable', new Problem('STORAGE_UNAVAILABLE', 'disk')],
    ['a database that is busy', new Problem('STORAGE_BUSY', 'busy')],
    ['a missing password hash', new HashNeeded(['new'])],
  ])('%s ends the transaction, because no entry could be written', async (_, error) => {
    await asAnn([], async (context) => {
      expect(await failure(runInSavepoint(context, () => Promise.reject(error)))).toBe(error);
    });
  });
});

describe('rollBackUnless', () => {
  it.each([
    [true, false, undefined],
    [false, true, 'one'],
  ])('work that returns %s is rolled back: %s', async (returned, rolledBack, title) => {
    await asAnn([], async (context) => {
      expect(await rollBackUnless(context.tx, async () => (await removeArticle(context)) && returned)).toBe(rolledBack);
      expect(await titleIn(context)).toBe(title);
    });
  });

  it('an error of the work is thrown, and rolls back', async () => {
    const error = new Error('defect');
    await asAnn([], async (context) => {
      const work = rollBackUnless(context.tx, async () => {
        await removeArticle(context);
        throw error;
      });
      expect(await failure(work)).toBe(error);
      expect(await titleIn(context)).toBe('one');
    });
  });
});

describe('the appended entries', () => {
  /** Appends the entries of an allowed update and a denied read, and returns those that the unit of work appended. */
  async function appended(append: (context: RequestContext) => Promise<void>): Promise<readonly string[]> {
    return asAnn([allow('update')], async (context) => {
      await runInSavepoint(context, async () => {
        await authorize(context, { record: undefined });
        await authorize(context, { record: undefined, action: 'read' });
      });
      await append(context);
      return inShort(context.appended);
    });
  }

  const decisionId = undefined;
  const asDecided = ['allow update Article', 'deny read Article'];
  it.each<[string, (context: RequestContext) => Promise<void>, readonly string[]]>([
    ['have no outcome after a success', async (context) => appendWithOutcome(context, { result: {}, decisionId }), asDecided],
    [
      'of allowed decisions have the failure as their outcome',
      async (context) => appendWithOutcome(context, { problem: new Problem('RECORD_EXISTS', 'taken'), decisionId }),
      ['allow update Article RECORD_EXISTS', 'deny read Article'],
    ],
    ['are unchanged if they are appended as decided', async (context) => appendAsDecided(context, context.entries), asDecided],
  ])('the appended entries %s', async (_, append, expected) => {
    expect(await appended(append)).toEqual(expected);
  });
});
