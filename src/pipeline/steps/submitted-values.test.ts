import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../operators/index.ts';
import { resourceOf } from '../../storage/storage.fixture.ts';
import { codeOf, openPipeline, type TestPipeline, type TestUser } from '../pipeline.fixture.ts';
import type { Proposal, RequestContext } from '../request-context.ts';
import { proposeChange, proposeRecord, valuesForCreate, valuesForImport, valuesForRow, valuesForUpdate } from './submitted-values.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: {
      Article: {
        fields: {
          title: { type: 'string', required: true },
          views: { type: 'integer', default: 0 },
          note: { type: 'string' },
        },
      },
    },
  });
});
afterAll(() => test.dispose());

const STORED = {
  id: 'a1',
  version: 3,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  title: 'one',
  views: 5,
  note: 'n',
};
const issuesOf = (proposal: Proposal | undefined): readonly string[] | undefined =>
  proposal?.issues.map(({ path, code }) => `${path}:${code}`);

interface Sent {
  readonly as?: TestUser;
  readonly resource?: string;
  readonly data: Json;
}

const propose = <T>({ as = 'ann', resource = 'Article', data }: Sent, work: (context: RequestContext) => T): Promise<T> =>
  test.inContext({ as, request: { action: 'update', resource, data } }, async (context) => work(context));

describe('the record that a create would store', () => {
  it('a new record has the system fields, the defaults, and the caller as its owner', async () => {
    await propose({ data: { title: 'one' } }, (context) => {
      const now = new Date(context.tx.now).toISOString();
      const [proposal] = valuesForCreate(context);
      expect(proposal?.record).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        version: 1,
        createdAt: now,
        updatedAt: now,
        createdBy: 'ann',
        title: 'one',
        views: 0,
      });
      expect(proposal?.values).toEqual({ title: 'one', views: 0 });
    });
  });

  it('a new record has no owner for a caller without a token', async () => {
    const [proposal] = await propose({ as: 'anon', data: { title: 'one' } }, valuesForCreate);
    expect(proposal?.record).not.toHaveProperty('createdBy');
  });

  const promoted = { email: 'eve@example.com', role: 'admin' };
  const cases: readonly (readonly [title: string, sent: Sent, values: JsonObject, issues: readonly string[]])[] = [
    ['leaves out invalid values and lists them', { data: { title: 5, note: 'n' } }, { note: 'n', views: 0 }, ['title:type']],
    ['lists the missing fields', { data: {} }, { views: 0 }, ['title:required']],
    ['has no values if the data is not an object', { data: [] }, {}, [':type']],
    ['lists a guarded field of a user', { resource: 'User', data: promoted }, { email: promoted.email, isActive: true }, ['role:guarded']],
    ['accepts a guarded field of an admin', { as: 'ada', resource: 'User', data: promoted }, { ...promoted, isActive: true }, []],
    [
      'lists an increment, which has no stored value',
      { data: { title: 'one', views: { increment: 1 } } },
      { title: 'one' },
      ['views:increment'],
    ],
  ];
  it.each(cases)('the proposed record %s', async (_, sent, values, issues) => {
    const [proposal] = await propose(sent, valuesForCreate);
    expect({ values: proposal?.values, issues: issuesOf(proposal) }).toEqual({ values, issues });
  });

  it.each([
    ['User', ['password:guessable']],
    ['Article', ['email:unknown', 'password:unknown', 'title:required']],
  ])('the data of a new %s has these mistakes of the password: %j', async (resource, issues) => {
    const data = { email: 'ann.other@example.com', password: 'Ann.Other' };
    const [proposal] = await propose({ as: 'ada', resource, data }, valuesForCreate);
    expect([...(issuesOf(proposal) ?? [])].sort()).toEqual(issues);
  });
});

describe('the records that an import would store', () => {
  it.each([[{}], [[]], [null], ['text']])('an import of %j is refused', async (data) => {
    expect(await propose({ data }, async (context) => codeOf((async () => valuesForImport(context))()))).toBe('REQUEST_MALFORMED');
  });

  it('each record of an import has its own mistakes, also a row that is not an object', async () => {
    const proposals = await propose({ data: [{ title: 'one' }, { title: 5 }, 'text'] }, valuesForImport);
    expect(proposals.map(issuesOf)).toEqual([[], ['title:type'], [':type']]);
  });

  it('mistakes of an import are at most a hundred, and later rows suggest no names', async () => {
    const data = Array.from({ length: 150 }, () => ({ title: 'one', titel: 'two' }));
    const proposals = await propose({ data }, valuesForImport);
    const issues = proposals.flatMap((proposal) => proposal.issues);
    expect([issues.length, issues[99]?.path]).toEqual([100, 'titel']);
    expect(issues[99]?.detail).toContain('did you mean "title"');
  });

  it('each record of an import is computed once, so that its id does not change', async () => {
    const [proposal] = await propose({ data: [{ title: 'one' }] }, valuesForImport);
    expect(proposal?.record).toBe(proposal?.record);
    expect(proposal).toMatchObject({ values: { title: 'one' }, cleared: [] });
  });

  it('each record of an import has an id of its own', async () => {
    const proposals = await propose({ data: [{ title: 'one' }, { title: 'one' }] }, valuesForImport);
    expect(new Set(proposals.map(({ record }) => record.id)).size).toBe(2);
  });
});

describe('the record that an update would store', () => {
  it('the changed record keeps other values and the time of creation, and has the next version', async () => {
    await propose({ data: { title: 'two', note: null } }, (context) => {
      const [proposal] = valuesForUpdate(context, [STORED]);
      const { note: _, ...kept } = STORED;
      expect(proposal?.record).toEqual({ ...kept, title: 'two', version: 4, updatedAt: new Date(context.tx.now).toISOString() });
      expect(proposal).toMatchObject({ values: { title: 'two' }, cleared: ['note'], issues: [] });
    });
  });

  it('an update that found no record proposes nothing', async () => {
    expect(await propose({ data: { title: 'two' } }, (context) => valuesForUpdate(context, []))).toEqual([]);
  });

  const cases: readonly (readonly [string, typeof valuesForUpdate, readonly string[], JsonObject])[] = [
    ['an update may increment', valuesForUpdate, [], { views: 7 }],
    ['a row of an import may not increment, because rows may be sent again', valuesForRow, ['views:increment'], {}],
  ];
  it.each(cases)('computes the changed record: %s', async (_, valuesFor, issues, values) => {
    const [proposal] = await propose({ data: { views: { increment: 2 } } }, (context) => valuesFor(context, [STORED]));
    expect({ issues: issuesOf(proposal), values: proposal?.values }).toEqual({ issues, values });
  });

  it('a new password is compared with the stored name and email of the user', async () => {
    const ben = { id: 'ben', version: 1, name: 'Ben', email: 'ben.other@example.com' };
    const [proposal] = await propose({ as: 'ada', resource: 'User', data: { password: 'ben.other' } }, (context) =>
      valuesForUpdate(context, [ben]),
    );
    expect(issuesOf(proposal)).toEqual(['password:guessable']);
  });

  it('a new password of another user is listed as a mistake', async () => {
    const ben = { id: 'ben', version: 1, name: 'Ben', email: 'ben@example.com' };
    const data = { password: 'correct horse battery' };
    const [proposal] = await propose({ resource: 'User', data }, (context) => valuesForUpdate(context, [ben]));
    expect(issuesOf(proposal)).toEqual(['password:guarded']);
  });
});

it('a predicted record and a predicted change use the given time and caller', () => {
  const resource = resourceOf(test.deps.policyStore.definitions, 'Article');
  const options = { resource, principal: { id: 'ben', role: 'user', attributes: {} }, now: 0 };
  const time = '1970-01-01T00:00:00.000Z';
  expect(proposeRecord(options, { title: 'one' }).record).toMatchObject({ createdAt: time, updatedAt: time, createdBy: 'ben' });
  expect(proposeChange(options, STORED, { title: 'two' }).record).toMatchObject({ updatedAt: time, title: 'two' });
});
