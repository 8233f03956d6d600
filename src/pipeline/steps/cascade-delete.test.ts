import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from '../../authn/sessions.ts';
import { sql } from '../../sql.ts';
import { assignToUser } from '../../storage/index.ts';
import {
  codeOf,
  inShort,
  openPipeline,
  storedIn,
  type TestPipeline,
  type TestRecords,
  type TestRule,
  type TestUser,
} from '../pipeline.fixture.ts';
import type { PipelineOptions, RequestContext } from '../request-context.ts';
import { deleteWithReferencing } from './cascade-delete.ts';
import { MAX_DEPTH } from './plan-deletion.ts';

let test: TestPipeline;
beforeAll(async () => {
  const reference = (to: string, onDelete: string, more: object = {}) => ({ type: 'reference', to, onDelete, ...more });
  test = await openPipeline({
    definitions: {
      User: { fields: { companyId: reference('Company', 'cascade'), nodeId: reference('Node', 'setNull') } },
      Company: { fields: { name: { type: 'string' } } },
      Node: {
        fields: {
          upId: reference('Node', 'cascade'),
          upIds: { type: 'list', of: reference('Node', 'cascade') },
          peerId: reference('Node', 'restrict'),
        },
      },
      Leaf: {
        fields: {
          goesId: reference('Node', 'cascade'),
          keepsId: reference('Node', 'restrict'),
          losesId: reference('Node', 'setNull'),
          secretId: reference('Node', 'restrict', { writeOnly: true }),
          goesIds: { type: 'list', of: reference('Node', 'cascade') },
          losesIds: { type: 'list', of: reference('Node', 'setNull') },
        },
      },
      Page: { softDelete: true, fields: { upId: reference('Page', 'cascade'), nodeId: reference('Node', 'restrict') } },
      Comment: { fields: { pageId: reference('Page', 'cascade') } },
    },
  });
});
afterAll(() => test.dispose());

const TABLES = ['Company', 'Node', 'Leaf', 'Page', 'Comment'];
const DELETED = { deletedAt: '2026-01-02T00:00:00.000Z', deletedBy: 'ada' };
const mayDelete = (resource: string, ...conditions: NonNullable<TestRule['conditions']>): TestRule => ({
  resource,
  action: 'delete',
  conditions,
});

interface Case {
  readonly title: string;
  readonly as?: TestUser;
  readonly records: TestRecords;
  /** Resource and id of the record to delete. Default: the node `n1`. */
  readonly target?: readonly [resource: string, id: string];
  readonly rules?: readonly TestRule[];
  readonly options?: Partial<PipelineOptions>;
  /** The code of the problem. If it is absent, `left` is what remains. */
  readonly code?: string;
  readonly left?: readonly string[];
  readonly entries?: readonly string[];
}

/** Expects the remaining records, or, after a refusal, that no record has changed. */
async function check({ title: _, as = 'ada', target = ['Node', 'n1'], code, left, entries = [], ...situation }: Case): Promise<void> {
  const [resource, id] = target;
  await test.inContext({ as, request: { action: 'delete', resource, id }, ...situation }, async (context) => {
    const before = await storedIn(context.tx, TABLES);
    const work = deleteTarget(context, id);
    if (code === undefined) await work;
    else expect(await codeOf(work)).toBe(code);
    expect(await storedIn(context.tx, TABLES)).toEqual(code === undefined ? left : before);
    expect(inShort(context.entries)).toEqual(entries);
  });
}

const deleteTarget = (context: RequestContext, id: string): Promise<void> =>
  deleteWithReferencing(context, { resource: context.resource, id });

const chainOf = (length: number): TestRecords => ({
  Node: Object.fromEntries(Array.from({ length }, (_, index) => [`n${index + 1}`, index === 0 ? {} : { upId: `n${index}` }])),
});

const cases: readonly Case[] = [
  { title: 'a record without references to it is deleted alone', records: { Node: { n1: {}, n2: {} } }, left: ['Node n2'] },
  {
    title: 'cascade deletes the referencing records of every level, each with its own entry',
    records: { Node: { n1: {}, n2: { upId: 'n1' } }, Leaf: { l1: { goesId: 'n2' }, l2: { goesId: 'n1' }, l3: {} } },
    left: ['Leaf l3'],
    entries: ['allow delete Leaf l2', 'allow delete Node n2', 'allow delete Leaf l1'],
  },
  {
    title: 'cascade deletes records whose list contains the record',
    records: { Node: { n1: {}, n2: {} }, Leaf: { l1: { goesIds: ['n2', 'n1'] }, l2: { goesIds: ['n2'] } } },
    left: ['Node n2', 'Leaf l2 goesIds=["n2"]'],
    entries: ['allow delete Leaf l1'],
  },
  {
    title: 'cascade deletes a record once that references several of the deleted records',
    records: { Node: { n1: {}, n2: { upId: 'n1' } }, Leaf: { l1: { goesId: 'n1', goesIds: ['n1', 'n2'] } } },
    left: [],
    entries: ['allow delete Leaf l1', 'allow delete Node n2'],
  },
  {
    title: 'cascade deletes records that reference one another in a circle once',
    records: { Node: { n1: { upIds: ['n2'] }, n2: { upId: 'n1' } } },
    left: [],
    entries: ['allow delete Node n2'],
  },
  {
    title: 'setNull empties the reference and removes the id from lists, without an entry',
    records: { Node: { n1: {}, n2: {} }, Leaf: { l1: { losesId: 'n1', losesIds: ['n2', 'n1'] } } },
    left: ['Node n2', 'Leaf l1 version=3 losesIds=["n2"]'],
  },
  {
    title: 'restrict refuses the deletion of a referenced record',
    records: { Node: { n1: {} }, Leaf: { l1: { keepsId: 'n1' } } },
    code: 'RECORD_REFERENCED',
  },
  {
    title: 'restrict refuses the deletion of a record that would be deleted by cascade, before any record is changed',
    records: { Node: { n1: {}, n2: { upId: 'n1' } }, Leaf: { l1: { keepsId: 'n2' }, l2: { losesId: 'n1' } } },
    code: 'RECORD_REFERENCED',
    entries: ['allow delete Node n2'],
  },
  {
    title: 'restrict by a write-only field refuses the deletion',
    records: { Node: { n1: {} }, Leaf: { l1: { secretId: 'n1' } } },
    code: 'RECORD_REFERENCED',
  },
  { title: 'a record that references itself does not restrict its own deletion', records: { Node: { n1: { peerId: 'n1' } } }, left: [] },
  {
    title: 'a soft-deleted record still restricts the deletion of a record that would be removed',
    records: { Node: { n1: {} }, Page: { p1: { nodeId: 'n1', ...DELETED } } },
    code: 'RECORD_REFERENCED',
  },
  {
    title: 'a resource with soft deletes keeps its records and their references, and cascades to the others as they are defined',
    records: { Page: { p1: {}, p2: { upId: 'p1' } }, Comment: { c1: { pageId: 'p2' } } },
    target: ['Page', 'p1'],
    left: ['Page p1 version=2 deletedBy=ada', 'Page p2 version=2 deletedBy=ada upId=p1'],
    entries: ['allow delete Page p2', 'allow delete Comment c1'],
  },
  {
    title: 'a soft-deleted record does not restrict the soft deletion of the record that it references',
    records: { Page: { p1: {}, p2: { upId: 'p1', ...DELETED } } },
    target: ['Page', 'p1'],
    left: ['Page p1 version=2 deletedBy=ada', 'Page p2 deletedBy=ada upId=p1'],
  },
  {
    title: 'a caller who may not delete every referencing record deletes none',
    as: 'ann',
    records: { Node: { n1: {}, n2: { upId: 'n1' } }, Leaf: { l1: { goesId: 'n1' } } },
    rules: [mayDelete('Node')],
    code: 'ACCESS_DENIED',
    entries: ['deny delete Leaf l1'],
  },
  {
    title: 'a caller may delete each referencing record by a condition on that record',
    as: 'ann',
    records: { Node: { n1: {} }, Leaf: { l1: { goesId: 'n1' }, l2: { goesId: 'n1' } } },
    rules: [mayDelete('Leaf', { field: 'resource.id', operator: 'eq', value: 'l1' })],
    code: 'ACCESS_DENIED',
    entries: ['allow delete Leaf l1', 'deny delete Leaf l2'],
  },
  {
    title: 'a cascade may delete as many records as the limit',
    records: { Node: { n1: {} }, Leaf: { l1: { goesId: 'n1' }, l2: { goesId: 'n1' } } },
    options: { cascadeMax: 2 },
    left: [],
    entries: ['allow delete Leaf l1', 'allow delete Leaf l2'],
  },
  {
    title: 'a cascade above the limit is refused before its records are decided',
    records: { Node: { n1: {} }, Leaf: { l1: { goesId: 'n1' }, l2: { goesId: 'n1' } } },
    options: { cascadeMax: 1 },
    code: 'RECORD_REFERENCED',
  },
  {
    title: 'a cascade follows the maximum number of references in a chain',
    records: chainOf(MAX_DEPTH + 1),
    left: [],
    entries: Array.from({ length: MAX_DEPTH }, (_, index) => `allow delete Node n${index + 2}`),
  },
  {
    title: 'a longer chain of references is refused',
    records: chainOf(MAX_DEPTH + 2),
    code: 'RECORD_REFERENCED',
    entries: Array.from({ length: MAX_DEPTH }, (_, index) => `allow delete Node n${index + 2}`),
  },
];

describe('a deletion', () => {
  it.each(cases)('deletes a record: $title', check);

  it('a cascade finds more referencing records than one page', async () => {
    const ids = Array.from({ length: 205 }, (_, index) => `l${String(index).padStart(3, '0')}`);
    await check({
      title: '',
      records: { Node: { n1: {} }, Leaf: Object.fromEntries(ids.map((id) => [id, { goesId: 'n1' }])) },
      left: [],
      entries: ids.map((id) => `allow delete Leaf ${id}`),
    });
  });

  it('the limit of a cascade is shared by the deletions of a transaction', async () => {
    const records = { Node: { n1: {}, n2: {} }, Leaf: { l1: { goesId: 'n1' }, l2: { goesId: 'n2' } } };
    const situation = { as: 'ada', request: { action: 'delete', resource: 'Node' }, records, options: { cascadeMax: 1 } } as const;
    await test.inContext(situation, async (context) => {
      await deleteTarget(context, 'n1');
      expect(await codeOf(deleteTarget(context, 'n2'))).toBe('RECORD_REFERENCED');
    });
  });
});

describe('a deletion that affects users', () => {
  const company = (users: TestRecords[string]): TestRecords => ({ Company: { acme: {} }, User: users });
  const user = { role: 'user', isActive: true, companyId: 'acme', email: 'eve@example.com' };

  it('a cascade that deletes a user ends their sessions and removes their assignments', async () => {
    await test.inContext(
      { as: 'ada', request: { action: 'delete', resource: 'Company' }, records: company({ eve: user }) },
      async (context) => {
        const { tx } = context;
        const [policy] = await tx.all<{ id: string }>(sql`SELECT "id" FROM "_Policy"`);
        await openSession(tx, { userId: 'eve', client: { ip: '192.0.2.1' }, seconds: 3600 });
        await assignToUser(tx, { userId: 'eve', policyId: policy?.id ?? '' }, { by: 'ada' });
        const counts = async () => [
          (await tx.all(sql`SELECT 1 FROM "_Session" WHERE "userId" = 'eve' AND "revokedAt" IS NULL`)).length,
          (await tx.all(sql`SELECT 1 FROM "_UserPolicy" WHERE "userId" = 'eve'`)).length,
          (await tx.all(sql`SELECT 1 FROM "User" WHERE "id" = 'eve'`)).length,
        ];
        expect(await counts()).toEqual([1, 1, 1]);
        await deleteTarget(context, 'acme');
        expect(await counts()).toEqual([0, 0, 0]);
      },
    );
  });

  it('a cascade that deletes the last active admin is refused', async () => {
    await test.inContext(
      { as: 'ada', request: { action: 'delete', resource: 'Company' }, records: { Company: { acme: {} } } },
      async (context) => {
        await context.tx.run(sql`UPDATE "User" SET "companyId" = 'acme' WHERE "id" = 'ada'`);
        expect(await codeOf(deleteTarget(context, 'acme'))).toBe('IDENTITY_LAST_ADMIN');
      },
    );
  });

  const admin = { role: 'admin', isActive: true, nodeId: 'n1', email: 'eve@example.com' };
  const protection: readonly Case[] = [
    {
      title: 'a user may not empty a reference of an admin, although a rule allows it',
      as: 'ann',
      records: { Node: { n1: {} }, User: { eve: admin } },
      rules: [{}],
      code: 'ACCESS_PROTECTED',
      entries: ['deny update User eve'],
    },
    {
      title: 'an admin may empty a reference of an admin, without an entry',
      records: { Node: { n1: {} }, User: { eve: admin } },
      left: [],
    },
    {
      title: 'a user may empty a reference of a user, without an entry',
      as: 'ann',
      records: { Node: { n1: {} }, User: { eve: { ...admin, role: 'user' } } },
      rules: [],
      left: [],
    },
  ];
  it.each(protection)('protects admins from a deletion: $title', check);
});
