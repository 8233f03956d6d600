import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadDeletedRecord } from '../../storage/index.ts';
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
import type { PipelineOptions, RequestContext, Result } from '../request-context.ts';
import { MAX_DEPTH } from './plan-deletion.ts';
import { restoreRecords } from './restore-records.ts';

let test: TestPipeline;
beforeAll(async () => {
  const reference = (to: string, onDelete: string, more: object = {}) => ({ type: 'reference', to, onDelete, ...more });
  test = await openPipeline({
    definitions: {
      Label: { softDelete: true, fields: { name: { type: 'string' } } },
      Page: {
        softDelete: true,
        fields: {
          slug: { type: 'string', unique: true },
          upId: reference('Page', 'cascade'),
          aboutIds: { type: 'list', of: reference('Page', 'cascade') },
          labelId: reference('Label', 'setNull'),
          secretId: reference('Label', 'setNull', { writeOnly: true }),
        },
      },
    },
  });
});
afterAll(() => test.dispose());

const T1 = '2026-01-02T00:00:00.000Z';
const T2 = '2026-01-02T00:00:00.001Z';
const byAda = { deletedAt: T1, deletedBy: 'ada' };

interface Case {
  readonly title: string;
  readonly as?: TestUser;
  readonly records: TestRecords;
  readonly rules?: readonly TestRule[];
  readonly options?: Partial<PipelineOptions>;
  /** The code of the problem. If it is absent, `left` is what is stored. */
  readonly code?: string;
  readonly left?: readonly string[];
  readonly entries?: readonly string[];
}

/** Restores the page `p1`. Expects the stored records, and nothing of them after a refusal, which the pipeline rolls back. */
async function check({ title: _, as = 'ada', code, left, entries = [], ...situation }: Case): Promise<void> {
  await test.inContext({ as, request: { action: 'restore', resource: 'Page', id: 'p1' }, ...situation }, async (context) => {
    const work = restore(context, 'p1');
    if (code === undefined) {
      expect(await work).toMatchObject({ status: 200, data: { id: 'p1' } });
      expect(await storedIn(context.tx, ['Page'])).toEqual(left);
    } else expect(await codeOf(work)).toBe(code);
    expect(inShort(context.entries)).toEqual(entries);
  });
}

async function restore(context: RequestContext, id: string): Promise<Result> {
  const record = await loadDeletedRecord(context.tx, context.resource, id);
  if (record === undefined) throw new Error(`no deleted record ${id}`);
  return restoreRecords(context, { found: [record], proposals: [], decision: { effect: 'allow' } as never });
}

const chainOf = (length: number): TestRecords => ({
  Page: Object.fromEntries(Array.from({ length }, (_, index) => [`p${index + 1}`, { ...byAda, ...(index > 0 && { upId: `p${index}` }) }])),
});

const cases: readonly Case[] = [
  {
    title: 'a record without references to it is restored alone, as a new version',
    records: { Page: { p1: byAda, p2: byAda } },
    left: ['Page p1 version=2', 'Page p2 deletedBy=ada'],
  },
  {
    title: 'records of every level that were deleted with it are restored, each with an entry on delete',
    records: { Page: { p1: byAda, p2: { ...byAda, upId: 'p1' }, p3: { ...byAda, upId: 'p2' } } },
    left: ['Page p1 version=2', 'Page p2 version=2 upId=p1', 'Page p3 version=2 upId=p2'],
    entries: ['allow delete Page p2', 'allow delete Page p3'],
  },
  {
    title: 'records that reference one another in a circle are restored once',
    records: { Page: { p1: { ...byAda, aboutIds: ['p2'] }, p2: { ...byAda, upId: 'p1' } } },
    left: ['Page p1 version=2 aboutIds=["p2"]', 'Page p2 version=2 upId=p1'],
    entries: ['allow delete Page p2'],
  },
  {
    title: 'a referencing record that was deleted at another time stays deleted',
    records: { Page: { p1: byAda, p2: { ...byAda, deletedAt: T2, upId: 'p1' } } },
    left: ['Page p1 version=2', 'Page p2 deletedBy=ada upId=p1'],
  },
  {
    title: 'a referencing record that another user deleted stays deleted',
    records: { Page: { p1: byAda, p2: { ...byAda, deletedBy: 'ann', upId: 'p1' } } },
    left: ['Page p1 version=2', 'Page p2 deletedBy=ann upId=p1'],
  },
  {
    title: 'records that a caller without a token deleted together are restored together',
    records: { Page: { p1: { deletedAt: T1 }, p2: { deletedAt: T1, upId: 'p1' }, p3: { ...byAda, upId: 'p1' } } },
    left: ['Page p1 version=2', 'Page p2 version=2 upId=p1', 'Page p3 deletedBy=ada upId=p1'],
    entries: ['allow delete Page p2'],
  },
  {
    title: 'a caller who may not delete every record restores none',
    as: 'ann',
    records: { Page: { p1: byAda, p2: { ...byAda, upId: 'p1' } } },
    rules: [{ resource: 'Page', action: 'delete', conditions: [{ field: 'resource.id', operator: 'eq', value: 'p1' }] }],
    code: 'ACCESS_DENIED',
    entries: ['deny delete Page p2'],
  },
  {
    title: 'a record whose unique value was taken in the meantime is refused',
    records: { Page: { p1: { ...byAda, slug: 'one' }, p2: { slug: 'one' } } },
    code: 'RECORD_EXISTS slug:taken',
  },
  {
    title: 'a taken value of another restored record is reported after the decisions',
    records: { Page: { p1: byAda, p2: { ...byAda, upId: 'p1', slug: 'one' }, p3: { slug: 'one' } } },
    code: 'RECORD_EXISTS slug:taken',
    entries: ['allow delete Page p2'],
  },
  {
    title: 'a caller who is denied does not learn of a taken value',
    as: 'ann',
    records: { Page: { p1: byAda, p2: { ...byAda, upId: 'p1', slug: 'one' }, p3: { slug: 'one' } } },
    rules: [],
    code: 'ACCESS_DENIED',
    entries: ['deny delete Page p2'],
  },
  {
    title: 'a reference to a deleted record is refused',
    records: { Label: { l1: byAda }, Page: { p1: { ...byAda, labelId: 'l1' } } },
    code: 'VALUE_INVALID labelId:reference',
  },
  {
    title: 'a write-only reference to a deleted record is refused without its name',
    records: { Label: { l1: byAda }, Page: { p1: { ...byAda, secretId: 'l1' } } },
    code: 'VALUE_INVALID :reference',
  },
  {
    title: 'a reference of another restored record to a deleted record is refused',
    records: { Label: { l1: byAda }, Page: { p1: byAda, p2: { ...byAda, upId: 'p1', labelId: 'l1' } } },
    code: 'VALUE_INVALID labelId:reference',
    entries: ['allow delete Page p2'],
  },
  {
    title: 'a restore of as many other records as the limit is accepted',
    records: { Page: { p1: byAda, p2: { ...byAda, upId: 'p1' } } },
    options: { cascadeMax: 1 },
    left: ['Page p1 version=2', 'Page p2 version=2 upId=p1'],
    entries: ['allow delete Page p2'],
  },
  {
    title: 'a restore above the limit is refused before its records are decided',
    records: { Page: { p1: byAda, p2: { ...byAda, upId: 'p1' }, p3: { ...byAda, upId: 'p1' } } },
    options: { cascadeMax: 1 },
    code: 'RECORD_REFERENCED',
  },
  { title: 'a longer chain of references than a deletion follows is refused', records: chainOf(MAX_DEPTH + 2), code: 'RECORD_REFERENCED' },
];

describe('a restore', () => {
  it.each(cases)('restores a record: $title', check);

  it('a restore follows the maximum number of references in a chain', async () => {
    await test.inContext(
      { as: 'ada', request: { action: 'restore', resource: 'Page' }, records: chainOf(MAX_DEPTH + 1) },
      async (context) => {
        await restore(context, 'p1');
        expect(context.entries).toHaveLength(MAX_DEPTH);
        expect((await storedIn(context.tx, ['Page'])).filter((row) => row.includes('deletedBy'))).toEqual([]);
      },
    );
  });

  it('a restore finds more records than one page', async () => {
    const others = Object.fromEntries(Array.from({ length: 205 }, (_, index) => [`q${index}`, { ...byAda, upId: 'p1' }]));
    await test.inContext(
      { as: 'ada', request: { action: 'restore', resource: 'Page' }, records: { Page: { p1: byAda, ...others } } },
      async (context) => {
        await restore(context, 'p1');
        expect(context.entries).toHaveLength(205);
        expect((await storedIn(context.tx, ['Page'])).filter((row) => row.includes('deletedBy'))).toEqual([]);
      },
    );
  });

  it('the limit of a restore is shared by the restores of a transaction', async () => {
    const records = { Page: { p1: byAda, p2: { ...byAda, upId: 'p1' }, q1: byAda, q2: { ...byAda, upId: 'q1' } } };
    await test.inContext(
      { as: 'ada', request: { action: 'restore', resource: 'Page' }, records, options: { cascadeMax: 1 } },
      async (context) => {
        await restore(context, 'p1');
        expect(await codeOf(restore(context, 'q1'))).toBe('RECORD_REFERENCED');
      },
    );
  });
});
