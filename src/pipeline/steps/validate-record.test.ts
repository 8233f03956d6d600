import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_ISSUES } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import { codeOf, openPipeline, type TestPipeline, type TestRequest } from '../pipeline.fixture.ts';
import type { Found, Proposal, RequestContext } from '../request-context.ts';
import {
  validateDeleted,
  validateRecord,
  validateSoftDelete,
  validateSubmittedValues,
  validateVersion,
  validateVersionAndValues,
} from './validate-record.ts';

let test: TestPipeline;
beforeAll(async () => {
  const deleted = { deletedAt: '2026-01-02T00:00:00.000Z', deletedBy: 'ada' };
  test = await openPipeline({
    definitions: {
      Draft: { softDelete: true, fields: { title: { type: 'string' } } },
      Article: {
        fields: {
          draftId: { type: 'reference', to: 'Draft', onDelete: 'setNull' },
          draftIds: { type: 'list', of: { type: 'reference', to: 'Draft', onDelete: 'setNull' } },
        },
      },
    },
    records: { Draft: { stored: {}, deleted } },
  });
});
afterAll(() => test.dispose());

const FOUND: Found = [{ id: 'a1', version: 3 }];
const toProposal = (values: JsonObject, ...issues: readonly string[]): Proposal => ({
  record: { id: 'a1', version: 1 },
  values,
  cleared: [],
  issues: issues.map((path) => ({ path, code: 'type', detail: 'wrong' })),
});

interface Case {
  readonly title: string;
  readonly request?: Partial<TestRequest>;
  readonly ifMatch?: 'required';
  run(context: RequestContext): Promise<unknown>;
  /** The code of the problem; absent if the request is accepted. */
  readonly code?: string;
}

async function check({ request, ifMatch, run, code }: Case): Promise<void> {
  const sent: TestRequest = { action: 'update', resource: 'Article', ...request };
  await test.inContext({ as: 'ann', request: sent, options: ifMatch && { ifMatch } }, async (context) => {
    if (code === undefined) await run(context);
    else expect(await codeOf(run(context))).toBe(code);
  });
}

const ofRecords: readonly Case[] = [
  { title: 'validateRecord accepts a record that was found', run: async (context) => validateRecord(context, FOUND) },
  {
    title: 'validateRecord refuses a record that was not found',
    run: async (context) => validateRecord(context, []),
    code: 'RECORD_UNKNOWN',
  },
  { title: 'validateVersion accepts a request without If-Match', run: (context) => validateVersion(context, FOUND) },
  {
    title: 'validateVersion accepts If-Match with the version among others',
    request: { ifMatch: [2, 3] },
    run: (context) => validateVersion(context, FOUND),
  },
  {
    title: 'validateVersion accepts If-Match with any version',
    request: { ifMatch: '*' },
    ifMatch: 'required',
    run: (context) => validateVersion(context, FOUND),
  },
  {
    title: 'validateVersion refuses If-Match with another version',
    request: { ifMatch: [2, 4] },
    run: (context) => validateVersion(context, FOUND),
    code: 'RECORD_VERSION',
  },
  {
    title: 'validateVersion refuses a request without If-Match if the service requires one',
    ifMatch: 'required',
    run: (context) => validateVersion(context, FOUND),
    code: 'RECORD_VERSION_REQUIRED',
  },
  {
    title: 'validateVersion reports an unknown record before its version',
    request: { ifMatch: [2] },
    run: (context) => validateVersion(context, []),
    code: 'RECORD_UNKNOWN',
  },
  {
    title: 'validateSoftDelete accepts a resource with soft deletes',
    request: { resource: 'Draft' },
    run: validateSoftDelete,
  },
  { title: 'validateSoftDelete refuses a resource without soft deletes', run: validateSoftDelete, code: 'SOFT_DELETE_DISABLED' },
  {
    title: 'validateDeleted reports a resource without soft deletes before an unknown record',
    run: (context) => validateDeleted(context, []),
    code: 'SOFT_DELETE_DISABLED',
  },
  {
    title: 'validateDeleted refuses an unknown record',
    request: { resource: 'Draft' },
    run: (context) => validateDeleted(context, []),
    code: 'RECORD_UNKNOWN',
  },
  {
    title: 'validateDeleted refuses If-Match with another version',
    request: { resource: 'Draft', ifMatch: [2] },
    run: (context) => validateDeleted(context, FOUND),
    code: 'RECORD_VERSION',
  },
  {
    title: 'validateDeleted accepts the version of If-Match',
    request: { resource: 'Draft', ifMatch: [3] },
    run: (context) => validateDeleted(context, FOUND),
  },
];

const ofValues: readonly Case[] = [
  {
    title: 'values without mistakes are accepted, with references to stored records',
    run: (context) => validateSubmittedValues(context, [], [toProposal({ draftId: 'stored', draftIds: ['stored'] })]),
  },
  {
    title: 'mistakes of the definition and of references are reported together',
    run: (context) => validateSubmittedValues(context, [], [toProposal({ draftId: 'unknown', draftIds: ['stored', 'unknown'] }, 'title')]),
    code: 'VALUE_INVALID title:type draftId:reference draftIds.1:reference',
  },
  {
    title: 'a reference to a soft-deleted record is refused',
    run: (context) => validateSubmittedValues(context, [], [toProposal({ draftId: 'deleted' })]),
    code: 'VALUE_INVALID draftId:reference',
  },
  {
    title: 'an update reports the version before the values',
    request: { ifMatch: [2] },
    run: (context) => validateVersionAndValues(context, FOUND, [toProposal({}, 'title')]),
    code: 'RECORD_VERSION',
  },
  {
    title: 'an update with the right version reports the values',
    request: { ifMatch: [3] },
    run: (context) => validateVersionAndValues(context, FOUND, [toProposal({}, 'title')]),
    code: 'VALUE_INVALID title:type',
  },
];

describe('the steps of validation', () => {
  it.each(ofRecords)('validates the stored record: $title', check);
  it.each(ofValues)('validates submitted values: $title', check);

  it('lists at most a hundred mistakes', async () => {
    const full = Array.from({ length: MAX_ISSUES + 1 }, (_, index) => `field${index}`);
    await check({
      title: '',
      run: (context) => validateSubmittedValues(context, [], [toProposal({}, ...full)]),
      code: ['VALUE_INVALID', ...full.slice(0, MAX_ISSUES).map((path) => `${path}:type`)].join(' '),
    });
  });
});
