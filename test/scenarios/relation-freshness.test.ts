/**
 * Related and referenced records that others change between a decision and its commit. On SQLite only reads can meet such a change: a request
 * that writes holds the write lock from its decision to its commit.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { evaluateOwnPermissions } from '../../src/api/accounts/own-permissions.ts';
import { loadOwnResources } from '../../src/api/accounts/own-resources.ts';
import type { TestRequest, TestRule } from '../../src/pipeline/pipeline.fixture.ts';
import { sql } from '../../src/sql.ts';
import { onPostgres } from '../../src/storage/storage.fixture.ts';
import { type Change, type InterruptedPipeline, openInterrupted } from './interrupted-pipeline.ts';

const to = (name: string, onDelete = 'setNull') => ({ type: 'reference', to: name, onDelete });
const MEMBERSHIP = {
  fields: {
    userId: to('User'),
    organisationId: to('Organisation'),
    level: { type: 'enum', values: ['reader', 'editor'] },
    seats: { type: 'integer' },
  },
  indexes: [{ fields: ['userId', 'organisationId'] }],
};
const DEFINITIONS = {
  Organisation: { softDelete: true, fields: { name: { type: 'string' }, parentId: to('Organisation') } },
  Membership: { softDelete: true, ...MEMBERSHIP },
  // Its checksums are compared in memory, and so are conditions on it.
  Sealed: { checksum: true, ...MEMBERSHIP },
  Folder: { softDelete: true, fields: { parentId: { ...to('Folder', 'restrict'), hierarchy: true } } },
  Document: {
    fields: {
      ...{ title: { type: 'string' }, organisationId: to('Organisation'), authorId: to('User'), folderId: to('Folder') },
      sharedIds: { type: 'list', of: to('Organisation') },
    },
  },
};

/** Data of a request must be the id of a record as the service creates it. */
const NEWS = '018f4e6a-1c2b-7d3e-8f40-000000000001';

const ABSENT = '018f4e6a-1c2b-7d3e-8f40-000000000002';

let pipeline: InterruptedPipeline;
beforeAll(async () => {
  pipeline = await openInterrupted({ definitions: DEFINITIONS });
});
afterAll(() => pipeline.dispose());
beforeEach(() =>
  pipeline.test.store({
    Organisation: { root: { name: 'root' }, [NEWS]: { name: 'news', parentId: 'root' }, sports: { name: 'sports' } },
    Membership: { m1: { userId: 'ann', organisationId: NEWS, level: 'editor', seats: 7 } },
    Sealed: { s1: { userId: 'ann', organisationId: NEWS, level: 'editor' } },
    Folder: { f1: {}, f2: { parentId: 'f1' }, f3: { parentId: 'f2' } },
    Document: {
      d1: { title: 'one', organisationId: NEWS, authorId: 'ben', folderId: 'f3', sharedIds: ['sports', NEWS, ABSENT] },
      d2: { title: 'two', organisationId: NEWS, authorId: 'ben' },
    },
  }),
);
afterEach(async () => {
  await pipeline.revoke();
  await pipeline.test.deps.database.transaction(async (tx) => {
    await change('User', 'ben', { name: 'Ben' })(tx);
    for (const table of ['Document', 'Folder', 'Membership', 'Sealed', 'Organisation']) await tx.run(sql`DELETE FROM ${sql.table(table)}`);
    await tx.run(sql`DELETE FROM "_RecordChecksum" WHERE "id" LIKE 'Sealed/%'`);
  });
});

const rule = (conditions: readonly object[], more: Partial<TestRule> = {}): TestRule =>
  ({ resource: 'Document', conditions, ...more }) as TestRule;
const related = (resource: string, more: object = {}) => ({
  related: { resource, as: 'm', on: { userId: '${user.id}', organisationId: '${resource.organisationId}' }, ...more },
});
const MEMBER = related('Membership');
/** A condition that a list compares for each record, because `where` reads the record. */
const BY_RECORD = { where: [{ field: 'm.organisationId', operator: 'eq', value: '${resource.organisationId}' }] };
const MEMBER_BY_RECORD = related('Membership', BY_RECORD);
const EDITOR = related('Membership', { where: [{ field: 'm.level', operator: 'eq', value: 'editor' }] });
const BEN_IS_MEMBER = { related: { resource: 'Membership', as: 'm', on: { userId: 'ben', organisationId: '${resource.organisationId}' } } };
const IN_NEWS = { field: 'resource.organisationId.name', operator: 'eq', value: 'news' };
const BELOW_ROOT = { field: 'resource.organisationId.parentId.name', operator: 'eq', value: 'root' };
const OF_BEN = { field: 'resource.authorId.name', operator: 'eq', value: 'Ben' };
const CALLER_IS_MEMBER = { related: { resource: 'Membership', as: 'm', on: { userId: '${user.id}' } } };
const MEMBER_BELOW_ROOT = related('Membership', { where: [{ field: 'm.organisationId.name', operator: 'eq', value: 'news' }] });
const BELOW_F1 = { field: 'resource.folderId', operator: 'within', value: ['f1'] };
const SHARED_WITH_NEWS = { field: 'resource.sharedIds.name', operator: 'eq', value: 'news' };
const SHARED_BELOW_ROOT = { field: 'resource.sharedIds.parentId.name', operator: 'eq', value: 'root' };
const SHARED_MATCHES = { field: 'resource.sharedIds.name', operator: 'matches', value: '^news$' };
const SHARED_WITH_ABSENT = { field: 'resource.sharedIds.name', operator: 'exists', value: false };
const IS_ONE = { field: 'resource.title', operator: 'eq', value: 'one' };
const NOT_SHARED = related('Sealed', { atMost: 1 });

const change =
  (resource: string, id: string, values: object): Change =>
  (tx) =>
    pipeline.change(resource, id, values)(tx);
const remove =
  (resource: string, id: string): Change =>
  (tx) =>
    pipeline.remove(resource, id)(tx);
const create =
  (resource: string, id: string, values: object): Change =>
  (tx) =>
    pipeline.create(resource, id, values)(tx);

/** Changes after which the rules allow nothing, each with the rules. */
const REVOCATIONS: readonly (readonly [change: string, rules: readonly TestRule[], change: Change])[] = [
  ['a membership is soft-deleted', [rule([MEMBER])], remove('Membership', 'm1')],
  ['a membership that is compared for each record is deleted', [rule([MEMBER_BY_RECORD])], remove('Membership', 'm1')],
  ['a membership is moved', [rule([MEMBER])], change('Membership', 'm1', { organisationId: 'sports' })],
  ['a membership loses its link', [rule([MEMBER])], change('Membership', 'm1', { userId: null })],
  ['the level of a membership is changed', [rule([EDITOR])], change('Membership', 'm1', { level: 'reader' })],
  ['a membership with a checksum is deleted', [rule([related('Sealed')])], remove('Sealed', 's1')],
  [
    'a membership with a checksum that is compared for each record is deleted',
    [rule([related('Sealed', BY_RECORD)])],
    remove('Sealed', 's1'),
  ],
  ['the only membership of the caller is deleted', [rule([CALLER_IS_MEMBER])], remove('Membership', 'm1')],
  [
    'a record that denies access is added',
    [rule([]), rule([BEN_IS_MEMBER], { effect: 'DENY' })],
    create('Membership', 'm2', { userId: 'ben', organisationId: NEWS }),
  ],
  ['a record above atMost is added', [rule([NOT_SHARED])], create('Sealed', 's2', { userId: 'ann', organisationId: NEWS })],
  [
    'a record is moved to those that deny access',
    [rule([]), rule([BEN_IS_MEMBER], { effect: 'DENY' })],
    change('Membership', 'm1', { userId: 'ben' }),
  ],
  ['a referenced value is changed', [rule([IN_NEWS])], change('Organisation', NEWS, { name: 'other' })],
  ['a value behind two references is changed', [rule([BELOW_ROOT])], change('Organisation', 'root', { name: 'other' })],
  ['a referenced record is soft-deleted', [rule([IN_NEWS])], remove('Organisation', NEWS)],
  ['a value of a referenced user is changed', [rule([OF_BEN])], change('User', 'ben', { name: 'Benno' })],
  ['an ancestor is moved', [rule([BELOW_F1])], change('Folder', 'f2', { parentId: null })],
  ['an ancestor is soft-deleted', [rule([BELOW_F1])], remove('Folder', 'f2')],
  ['a record of a list is changed', [rule([SHARED_WITH_NEWS])], change('Organisation', NEWS, { name: 'other' })],
  ['a record of a list that is compared in memory is changed', [rule([SHARED_MATCHES])], change('Organisation', NEWS, { name: 'other' })],
  ['a record of a list is soft-deleted', [rule([SHARED_WITH_NEWS])], remove('Organisation', NEWS)],
  ['a value that a record of a list references is changed', [rule([SHARED_BELOW_ROOT])], change('Organisation', 'root', { name: 'other' })],
  ['the record of an item without one is created', [rule([SHARED_WITH_ABSENT, IS_ONE])], create('Organisation', ABSENT, { name: 'other' })],
  ['a value that a related record references is changed', [rule([MEMBER_BELOW_ROOT])], change('Organisation', NEWS, { name: 'other' })],
];

const READ: TestRequest = { action: 'read', resource: 'Document', id: 'd1' };
const LIST: TestRequest = { action: 'list', resource: 'Document' };
const UPDATE: TestRequest = { action: 'update', resource: 'Document', id: 'd1', data: { title: 'new' } };

describe('a request that reads', () => {
  it.each(REVOCATIONS)('a read is decided again if, before it commits, %s', async (_, rules, revoke) => {
    await pipeline.test.grant(...rules);
    expect(await pipeline.interrupt(READ, revoke)).toEqual({ answer: 'ACCESS_DENIED', runs: 2 });
  });

  it.each(REVOCATIONS)('a list is read again if, before it commits, %s', async (_, rules, revoke) => {
    await pipeline.test.grant(...rules);
    const { answer, runs } = await pipeline.interrupt(LIST, revoke);
    // The list of a caller without any membership is refused.
    expect([['', 'ACCESS_DENIED'].includes(answer), runs]).toEqual([true, 2]);
  });

  it.each(REVOCATIONS)('the permissions of the caller are evaluated again if, before their commit, %s', async (_, rules, revoke) => {
    await pipeline.test.grant(...rules);
    const question = { resource: 'Document', ids: ['d1'], actions: ['read'] } as const;
    const { answer, runs } = await pipeline.ask((unit) => evaluateOwnPermissions(unit, question, true), revoke);
    expect([answer.permissions.map(({ effect }) => effect), runs]).toEqual([['deny'], 2]);
  });

  it('the resources of the caller are listed again if, before their commit, the only membership of the caller is deleted', async () => {
    await pipeline.test.grant(rule([CALLER_IS_MEMBER]));
    const { answer, runs } = await pipeline.ask(loadOwnResources, remove('Membership', 'm1'));
    expect([answer.resources, runs]).toEqual([[], 2]);
  });

  it.each<[string, TestRule, Change]>([
    ['a membership of another organisation is changed', rule([MEMBER]), change('Membership', 'm0', { level: 'reader' })],
    [
      'a membership is added to another organisation',
      rule([MEMBER]),
      create('Membership', 'm9', { userId: 'ann', organisationId: 'sports' }),
    ],
    ['another organisation is changed', rule([IN_NEWS]), change('Organisation', 'sports', { name: 'other' })],
    ['a record of no list is changed', rule([SHARED_WITH_NEWS]), change('Organisation', 'root', { name: 'other' })],
    ['a record that no condition reads is added', rule([IN_NEWS]), create('Sealed', 's2', { userId: 'ann', organisationId: NEWS })],
  ])('a read is not decided again if %s', async (_, given, unrelated) => {
    await pipeline.test.store({ Membership: { m0: { userId: 'ann', organisationId: 'root' } } });
    await pipeline.test.grant(given);
    expect(await pipeline.interrupt(READ, unrelated)).toEqual({ answer: 'd1', runs: 1 });
  });

  describe('of an organisation and another one', () => {
    beforeEach(() =>
      pipeline.test.store({
        Document: { d3: { organisationId: 'sports' } },
        Membership: { m3: { userId: 'ann', organisationId: 'sports' } },
      }),
    );
    const ONE: TestRequest = { ...LIST, where: [{ field: 'title', operator: 'eq', value: 'one' }] as never };
    const TOTAL: TestRequest = { ...LIST, limit: 1, total: true };

    it('a list is not read again if a change concerns none of its records', async () => {
      await pipeline.test.grant(rule([MEMBER_BY_RECORD]));
      expect(await pipeline.interrupt(ONE, remove('Membership', 'm3'))).toEqual({ answer: 'd1', runs: 1 });
    });

    it('a list is read again for a membership that none of its records needs if it has loaded the memberships first', async () => {
      await pipeline.test.grant(rule([MEMBER]));
      // On PostgreSQL, the statement of the list finds them.
      expect(await pipeline.interrupt(ONE, remove('Membership', 'm3'))).toEqual({ answer: 'd1', runs: onPostgres ? 1 : 2 });
    });

    it.each([
      ['with memberships of the caller', MEMBER],
      ['with memberships that are compared for each record', MEMBER_BY_RECORD],
      ['with memberships linked by a number', related('Membership', { on: { userId: '${user.id}', seats: '${resource.version}' } })],
    ])('a list is read again if a record moves to another membership and its former one is deleted, %s', async (_, member) => {
      await pipeline.test.store({ Membership: { s1: { userId: 'ann', seats: 1 }, s2: { userId: 'ann', seats: 2 } } });
      await pipeline.test.grant(rule([member]));
      const moveAndRevoke: Change = async (tx) => {
        await change('Document', 'd1', { title: 'one', organisationId: 'sports' })(tx);
        for (const id of ['m1', 's1']) await remove('Membership', id)(tx);
      };
      expect(await pipeline.interrupt(ONE, moveAndRevoke)).toEqual({ answer: 'd1', runs: 2 });
    });

    it.each([
      ['of the caller', MEMBER],
      ['compared for each record', MEMBER_BY_RECORD],
    ])(
      'a list is not read again if a record no longer matches the filter of the caller, with memberships that are %s',
      async (_, member) => {
        await pipeline.test.grant(rule([member]));
        expect(await pipeline.interrupt(ONE, change('Document', 'd1', { title: 'new' }))).toEqual({ answer: 'd1', runs: 1 });
      },
    );

    it('the total of a list is counted again if the access to one of its records changes', async () => {
      await pipeline.test.grant(rule([MEMBER_BY_RECORD]));
      expect(await pipeline.interrupt(TOTAL, remove('Membership', 'm3'))).toEqual({ answer: 'd1 of 2', runs: 2 });
      expect(await pipeline.interrupt(TOTAL, remove('Membership', 'm1'))).toEqual({ answer: 'of 0', runs: 2 });
    });

    it('the total of a list of the memberships of the caller is counted again if the access to one of its records changes', async () => {
      await pipeline.test.grant(rule([MEMBER]));
      expect(await pipeline.interrupt(TOTAL, remove('Membership', 'm3'))).toEqual({ answer: 'd1 of 2', runs: 2 });
    });
  });

  it('a damaged referenced record does not make a read run again', async () => {
    await pipeline.test.grant(
      rule([]),
      rule([{ related: { resource: 'Sealed', as: 's', on: { userId: '${user.id}' } } }], { effect: 'DENY' }),
    );
    await pipeline.test.deps.database.transaction((tx) => tx.run(sql`UPDATE "Sealed" SET "level" = 'reader'`));
    expect(await pipeline.interrupt(READ, create('Organisation', 'x', {}))).toEqual({ answer: 'ACCESS_DENIED', runs: 1 });
  });
});

describe.runIf(onPostgres)('a request that writes', () => {
  it.each(REVOCATIONS)('an update is decided again if, before it commits, %s', async (_, rules, revoke) => {
    await pipeline.test.grant(...rules);
    expect(await pipeline.interrupt(UPDATE, revoke)).toEqual({ answer: 'ACCESS_DENIED', runs: 2 });
    expect(await pipeline.test.rows('Document')).toMatchObject([{ title: 'one' }, { title: 'two' }]);
  });

  const QUOTA = {
    related: { resource: 'Document', as: 'd', on: { organisationId: '${request.data.organisationId}' }, atMost: 2 },
  };
  const CREATE: TestRequest = { action: 'create', resource: 'Document', data: { title: 'mine', organisationId: NEWS } };

  it('a create is decided again if another one has used up the quota', async () => {
    await pipeline.test.grant(rule([QUOTA]));
    expect(await pipeline.interrupt(CREATE, create('Document', 'd3', { organisationId: NEWS }))).toEqual({
      answer: 'ACCESS_DENIED',
      runs: 2,
    });
    expect(await pipeline.test.rows('Document')).toHaveLength(3);
  });

  it('the records that a batch creates itself do not make it run again', async () => {
    await pipeline.test.grant(rule([{ related: { ...QUOTA.related, atMost: 3 } }]));
    const { answer, runs } = await pipeline.interrupt([CREATE, CREATE], create('Document', 'd9', { organisationId: 'sports' }));
    expect([answer, runs]).toEqual([expect.stringMatching(/^\S+; \S+$/), 1]);
  });

  it.each([
    ['of the caller', MEMBER],
    ['compared for each record', MEMBER_BY_RECORD],
  ])('a batch may change the memberships on which an earlier list of it depends, if they are %s', async (_, member) => {
    await pipeline.test.grant(rule([member]), { resource: 'Membership', conditions: [] } as TestRule);
    const requests: TestRequest[] = [LIST, { action: 'delete', resource: 'Membership', id: 'm1' }];
    expect(await pipeline.interrupt(requests, async () => undefined)).toEqual({ answer: 'd1 d2; m1', runs: 1 });
    expect(await pipeline.interrupt([LIST], async () => undefined)).toMatchObject({ answer: '' });
  });
});
