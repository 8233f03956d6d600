/** Soft-deleted records are invisible to every read function of this folder. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ALWAYS, type Condition, type Scope, UNRESOLVED } from '../conditions/index.ts';
import { resolveField } from '../resources/index.ts';
import { sql } from '../sql.ts';
import * as storage from './index.ts';
import { digestOf } from './lists/cursor-pagination.ts';
import type { ListQuery } from './lists/list-query.ts';
import { migrate } from './migrations/migrate.ts';
import { type ReferencingField, referencingFieldsTo } from './related/reference-searches.ts';
import { define, emptyTables, explain, openTestDatabase, resourceOf, type TestDatabase, testBudget, toRecord } from './storage.fixture.ts';

const definitions = define({
  Author: { softDelete: true, fields: { name: { type: 'string' }, mentorId: { type: 'reference', to: 'Author' } } },
  Article: {
    softDelete: true,
    fields: {
      title: { type: 'string', unique: true },
      authorId: { type: 'reference', to: 'Author' },
      readerIds: { type: 'list', of: { type: 'reference', to: 'Author' } },
    },
  },
});
const [author, article] = [resourceOf(definitions, 'Author'), resourceOf(definitions, 'Article')];
const field = (name: string) => resolveField(article, name, 'filter');
let test: TestDatabase;

beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
});
afterAll(() => test.dispose());
beforeEach(async () => {
  await emptyTables(test, 'Article', 'Author');
  await run(async (tx) => {
    for (const id of ['gone', 'there']) {
      await storage.insertRecord(tx, author, toRecord(id, { name: id }));
      await storage.insertRecord(tx, article, toRecord(id, { title: id, authorId: id, readerIds: [id] }));
    }
    await storage.insertRecord(tx, article, toRecord('orphan', { title: 'orphan', authorId: 'gone', readerIds: ['there', 'gone'] }));
    for (const resource of [author, article]) await storage.deleteRecord(tx, resource, { id: 'gone', by: 'me' });
  });
});

const run = <T>(work: (tx: storage.Transaction) => Promise<T>): Promise<T> => test.database.transaction(work);
const path = (text: string) => ({ group: 'resource' as const, keys: text.split('.').slice(1), text });
const compare = (at: string, operator: string, value: string | boolean): Condition => ({
  type: 'comparison',
  path: path(at),
  operator,
  operand: { type: 'literal', value },
  ifExists: false,
});
const list = (where: Condition, more: Partial<ListQuery> = {}): ListQuery => ({
  where,
  scopeFor: (record): Scope => ({
    now: 0,
    timeZone: 'UTC',
    valueOf: ({ keys }) => record[keys[0] ?? ''],
    kindOf: () => ({ kind: 'text' }),
  }),
  definitions,
  sort: [],
  limit: 10,
  total: true,
  budget: testBudget(),
  now: 0,
  timeZone: 'UTC',
  ...more,
});
const toAuthor = (name: string): ReferencingField => {
  const found = referencingFieldsTo(definitions, { resource: author, ids: ['gone'] }).find((each) => each.field.name === name);
  if (found === undefined) throw new Error(`no reference field ${name}`);
  return found;
};
const ids = (records: readonly { readonly id: string }[]): readonly string[] => records.map(({ id }) => id);
const principal = { role: 'user', attributes: {} };
const paths = [path('resource.authorId.name')];

/** Name of a read function → its expected result. It finds `there` and `orphan`, and no soft-deleted record. */
const READS: Readonly<Record<string, readonly [read: (tx: storage.Transaction) => Promise<unknown>, expected: unknown]>> = {
  loadRecord: [(tx) => storage.loadRecord(tx, article, 'gone'), undefined],
  loadRecords: [async (tx) => [...(await storage.loadRecords(tx, article, ['gone', 'there'])).keys()], ['there']],
  loadUndamagedRecords: [async (tx) => [...(await storage.loadUndamagedRecords(tx, article, ['gone', 'there'])).keys()], ['there']],
  listRecords: [
    async (tx) => {
      const pages = [
        await storage.listRecords(tx, article, list(ALWAYS)),
        await storage.listRecords(tx, article, list(compare('resource.title', 'matches', 'o|t'))),
        await storage.listRecords(tx, article, list(compare('resource.authorId.name', 'exists', true))),
        await storage.listRecords(tx, article, list(compare('resource.authorId.name', 'eq', 'gone'))),
      ];
      return pages.map(({ records, total }) => [ids(records), total]);
    },
    [
      [['orphan', 'there'], 2],
      [['orphan', 'there'], undefined],
      [['there'], 1],
      [[], 0],
    ],
  ],
  findMatches: [
    async (tx) =>
      ids(await storage.findMatches(tx, article, { filter: compare('resource.title', 'eq', 'gone'), budget: testBudget(), limit: 2 })),
    [],
  ],
  lockReferences: [
    async (tx) =>
      (
        await storage.lockReferences(tx, { resource: article, definitions }, { title: 'x', authorId: 'gone', readerIds: ['there', 'gone'] })
      ).map((issue) => issue.path),
    ['authorId', 'readerIds.1'],
  ],
  findDanglingReferences: [
    async (tx) => (await storage.findDanglingReferences(tx, { resource: article, definitions }, 'orphan')).map(({ name }) => name),
    ['authorId', 'readerIds'],
  ],
  findReferencingIds: [
    async (tx) => [
      await storage.findReferencingIds(tx, toAuthor('authorId'), { after: '', limit: 10 }),
      await storage.findReferencingIds(tx, toAuthor('readerIds'), { after: '', limit: 10 }),
      await storage.findReferencingIds(tx, toAuthor('authorId'), { after: '', limit: 10, existence: 'deleted' }),
    ],
    [['orphan'], ['orphan'], ['gone']],
  ],
  loadReferenced: [
    async (tx) => [
      ...(await storage.loadReferenced(tx, definitions, { paths, principal, resource: article, record: { authorId: 'gone' } })),
      ...(await storage.loadReferenced(tx, definitions, { paths, principal, resource: article, record: UNRESOLVED })),
    ],
    [],
  ],
  loadReferencedOfEach: [
    async (tx) => {
      const records = [toRecord('orphan', { authorId: 'gone' })];
      const referencedBy = await storage.loadReferencedOfEach({ tx, definitions }, { paths, resource: article, records });
      return records.flatMap((record) => [...referencedBy(record)]);
    },
    [],
  ],
  loadReferencing: [
    async (tx) => {
      const query = { ...list(ALWAYS), field: 'authorId', to: ['gone', 'there'] };
      const inMemory = { ...query, where: compare('resource.title', 'matches', 'o|t') };
      const found = [await storage.loadReferencing(tx, article, query), await storage.loadReferencing(tx, article, inMemory)];
      return found.map((each) => [...each].map(([to, records]) => [to, ids(records)]));
    },
    [
      [
        ['gone', ['orphan']],
        ['there', ['there']],
      ],
      [
        ['gone', ['orphan']],
        ['there', ['there']],
      ],
    ],
  ],
};

/** Functions that read soft-deleted records on purpose, and functions that read system tables, which have no soft delete. */
const OTHERS = new Set(
  [
    'checkUnderstood checkDatabase countEntriesSince loadDeletedRecord findDeletedTogether findReferencesToClear listDeletedRecords listRolePolicies listRoleAssignments findUnknownUsers loadAssignedPage loadCandidates loadRevision listMigrations',
    'loadOtherDefinitions listPolicies loadPoliciesById loadPoliciesByName loadPolicy loadChanges loadUserAssignments loadPolicyState loadPoliciesOfRoles loadRoleAssignments loadDefinitionsRevision loadPolicyStateAt loadUserPoliciesAt loadHistoryHeadAt loadActiveAssignments loadActiveRules loadCheckedPolicies loadPolicyPage findPolicyIds loadFittingPolicies loadRolePoliciesOf loadPolicySummaries countUserValues',
    'findAssignment loadAppliedDefinitions loadAssignment loadAssignmentsAt loadHistoryHead loadPolicies loadPolicyChanges loadPolicyToChange loadPolicyVersion loadRolePolicies loadUserPolicies',
    'loadDatabaseVersion loadDefinitionsHash loadAssignmentPage loadBatchState loadPolicyNames loadRuleNames findPoliciesOfUsers listPolicyNames loadPoliciesInForce countUsersAndPolicies',
    // Reads only users, which cannot be soft-deleted.
    'findReferencingAdmin loadUserByEmail loadUserNames loadUserPage countUserAssignments',
    // Tested with soft-deleted records by the law, and by the scenarios of related records and of hierarchies.
    'loadDescendantsOfList loadRelatedOfList',
  ].flatMap((names) => names.split(' ')),
);

describe('soft-deleted records', () => {
  it.each(Object.entries(READS))('%s finds no soft-deleted record', async (_, [read, expected]) => {
    expect(await run(read)).toEqual(expected);
  });

  it('tests every exported read function with soft-deleted records', () => {
    const reads = Object.keys(storage).filter((name) => /^(load|list|find|lock|check|count)[A-Z]/.test(name));
    expect(reads.filter((name) => !OTHERS.has(name)).sort()).toEqual(Object.keys(READS).sort());
  });

  it('a soft-deleted record cannot be updated or deleted again', async () => {
    const change = { id: 'gone', version: 2, values: { title: 'x' }, cleared: [], now: 0 };
    expect(await run((tx) => storage.updateRecord(tx, article, change))).toBe(false);
    expect(await run((tx) => storage.deleteRecord(tx, article, { id: 'gone' }))).toBe(false);
    const [row] = await test.rows('Article');
    expect(row).toMatchObject({ id: 'gone', title: 'gone', version: 2, deletedBy: 'me', deletedAt: row?.['updatedAt'] });
  });

  it('an update of deletedAt does not soft-delete a record', async () => {
    const values = { title: 'there', deletedAt: '2026-01-01T00:00:00.000Z', deletedBy: 'x' };
    await run((tx) => storage.updateRecord(tx, article, { id: 'there', version: 1, values, cleared: ['deletedAt'], now: 0 }));
    expect(await run((tx) => storage.loadRecord(tx, article, 'there'))).not.toHaveProperty('deletedAt');
  });

  it('reads of deleted records find a soft-deleted record, and it can be restored once', async () => {
    expect(await run((tx) => storage.loadDeletedRecord(tx, article, 'there'))).toBeUndefined();
    expect(await run((tx) => storage.loadDeletedRecord(tx, article, 'gone'))).toMatchObject({ id: 'gone', deletedBy: 'me' });
    const page = await run((tx) => storage.listRecords(tx, article, list(ALWAYS, { existence: 'deleted' })));
    expect([ids(page.records), page.total]).toEqual([['gone'], 1]);
    expect(await run((tx) => storage.restoreRecord(tx, article, 'gone'))).toBe(true);
    expect(await run((tx) => storage.restoreRecord(tx, article, 'gone'))).toBe(false);
    expect(await run((tx) => storage.loadRecord(tx, article, 'gone'))).toEqual(
      toRecord('gone', { title: 'gone', authorId: 'gone', readerIds: ['gone'], version: 3, updatedAt: expect.any(String) }),
    );
  });

  it('a cursor does not read the values of a soft-deleted record', async () => {
    const sort = [{ field: field('title'), descending: false }];
    const after = { id: 'gone', digest: digestOf(['gone']) };
    await expect(run((tx) => storage.listRecords(tx, article, list(ALWAYS, { sort, after })))).rejects.toMatchObject({
      code: 'REQUEST_CURSOR',
    });
    const page = await run((tx) => storage.listRecords(tx, article, list(ALWAYS, { sort, after, existence: 'deleted' })));
    expect(page.records).toEqual([]);
  });

  it('partial indexes separate soft-deleted records', async () => {
    const plan = async (query: string): Promise<string> => (await run((tx) => explain(tx, sql.raw(query)))).join('\n');
    const existing = '(SELECT * FROM "Article" WHERE "deletedAt" IS NULL) AS "Article"';
    expect(await plan(`SELECT "Article"."id" FROM ${existing} WHERE "title" = 'x'`)).toMatch(/^(SEARCH|Index Scan) .*ux_Article\$title/);
    const deleted = '(SELECT * FROM "Article" WHERE "deletedAt" IS NOT NULL) AS "Article"';
    const newest = 'ORDER BY "Article"."deletedAt" DESC NULLS LAST, "Article"."id" DESC';
    expect(await plan(`SELECT "Article"."title" FROM ${deleted} WHERE TRUE ${newest}`)).toMatch(
      /^(SEARCH|Index Scan) .*ix_Article\$deletedAt.*$/,
    );
  });
});
