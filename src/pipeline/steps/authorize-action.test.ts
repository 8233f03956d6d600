import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { codeOf, inShort, openPipeline, type TestPipeline, type TestRequest, type TestRule } from '../pipeline.fixture.ts';
import type { Proposal, RequestContext } from '../request-context.ts';
import {
  authorizeChange,
  authorizeDeletion,
  authorizeDescription,
  authorizeFirstRow,
  authorizeOpen,
  authorizeProposal,
  authorizeReading,
  authorizeRecord,
  authorizeUpdate,
  maySeeDescription,
} from './authorize-action.ts';
import { authorize } from './decide-request.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: { Article: { fields: { status: { type: 'string' }, views: { type: 'integer' } } } },
  });
});
afterAll(() => test.dispose());

const allow = (action: string, ...conditions: readonly JsonObject[]): TestRule => ({ resource: 'Article', action, conditions });
const isOpen: JsonObject = { field: 'resource.status', operator: 'eq', value: 'open' };
const isSentOpen: JsonObject = { field: 'request.data.status', operator: 'eq', value: 'open' };
const OPEN = { id: 'a1', version: 1, status: 'open' };
const CLOSED = { id: 'a1', version: 1, status: 'closed' };
const toProposal = (record: typeof OPEN): Proposal => ({ record, values: {}, cleared: [], issues: [] });

interface Case {
  readonly title: string;
  readonly request: Omit<TestRequest, 'resource'>;
  readonly rules: readonly TestRule[];
  run(context: RequestContext): Promise<unknown>;
  /** The effect of the decision, or the code of the problem. */
  readonly ends: string;
  readonly entries: readonly string[];
}

const update = { action: 'update', id: 'a1', data: {} } as const;
const increment = { action: 'update', id: 'a1', data: { views: { increment: 1 } } } as const;
const cases: readonly Case[] = [
  {
    title: 'the decision on a stored record reads the record',
    request: { action: 'read', id: 'a1' },
    rules: [allow('read', isOpen)],
    run: (context) => authorizeRecord(context, [OPEN]),
    ends: 'allow',
    entries: ['allow read Article a1'],
  },
  {
    title: 'the decision on a stored record without the attribute of a condition is a denial',
    request: { action: 'read', id: 'a1' },
    rules: [allow('read', isOpen)],
    run: (context) => authorizeRecord(context, []),
    ends: 'ACCESS_DENIED',
    entries: ['deny read Article a1'],
  },
  {
    title: 'the decision on an unknown record is made by the rules without conditions, like that on a stored record',
    request: { action: 'read', id: 'unknown' },
    rules: [allow('read')],
    run: (context) => authorizeRecord(context, []),
    ends: 'allow',
    entries: ['allow read Article unknown'],
  },
  {
    title: 'an update without an increment needs no decision on read',
    request: update,
    rules: [allow('update')],
    run: (context) => authorizeUpdate(context, [OPEN]),
    ends: 'allow',
    entries: ['allow update Article a1'],
  },
  {
    title: 'an increment also needs a decision on read',
    request: increment,
    rules: [allow('update'), allow('read', isOpen)],
    run: (context) => authorizeUpdate(context, [OPEN]),
    ends: 'allow',
    entries: ['allow update Article a1', 'allow read Article a1'],
  },
  {
    title: 'an increment of a record that the caller may not read is denied',
    request: increment,
    rules: [allow('update'), allow('read', isOpen)],
    run: (context) => authorizeUpdate(context, [CLOSED]),
    ends: 'ACCESS_DENIED',
    entries: ['allow update Article a1', 'deny read Article a1'],
  },
  {
    title: 'the decision on read of an increment does not see the sent data',
    request: { ...increment, data: { ...increment.data, status: 'open' } },
    rules: [allow('update'), allow('read', isSentOpen)],
    run: (context) => authorizeUpdate(context, [OPEN]),
    ends: 'ACCESS_DENIED',
    entries: ['allow update Article a1', 'deny read Article a1'],
  },
  {
    title: 'a create is decided on the record that it would store, and the entry has no id',
    request: { action: 'create', data: {} },
    rules: [allow('create', isOpen)],
    run: (context) => authorizeProposal(context, [], [toProposal(OPEN)]),
    ends: 'allow',
    entries: ['allow create Article'],
  },
  {
    title: 'the first record of an import is decided with its own data',
    request: { action: 'import', data: [{ status: 'open' }, { status: 'closed' }] },
    rules: [allow('import', isOpen, isSentOpen)],
    run: (context) => authorizeFirstRow(context, [], [OPEN, CLOSED].map(toProposal)),
    ends: 'allow',
    entries: ['allow import Article'],
  },
  {
    title: 'a decision on records that are not known yet has the residual condition',
    request: { action: 'list' },
    rules: [allow('list', isOpen)],
    run: authorizeOpen,
    ends: 'allow-where',
    entries: ['allow list Article'],
  },
  {
    title: 'a decision on records that are not known yet is a denial if no rule can allow it',
    request: { action: 'list' },
    rules: [allow('read')],
    run: authorizeOpen,
    ends: 'ACCESS_DENIED',
    entries: ['deny list Article'],
  },
  {
    title: 'the description is allowed by read, with one entry',
    request: { action: 'schema' },
    rules: [allow('read', isOpen), allow('list')],
    run: authorizeDescription,
    ends: 'allow-where',
    entries: ['allow read Article'],
  },
  {
    title: 'the description is allowed by list, and the denial of read leaves no entry',
    request: { action: 'schema' },
    rules: [allow('list')],
    run: authorizeDescription,
    ends: 'allow',
    entries: ['allow list Article'],
  },
  {
    title: 'the description is denied with one entry, on list',
    request: { action: 'schema' },
    rules: [allow('update')],
    run: authorizeDescription,
    ends: 'ACCESS_DENIED',
    entries: ['deny list Article'],
  },
  {
    title: 'a list of soft-deleted records also decides delete on records that are not known yet',
    request: { action: 'listDeleted' },
    rules: [allow('delete', isOpen)],
    run: authorizeDeletion,
    ends: 'allow-where',
    entries: ['allow delete Article'],
  },
  {
    title: 'a filter also decides read on records that are not known yet, without the sent data',
    request: { action: 'updateIfExists', data: { status: 'open' } },
    rules: [allow('read', isSentOpen)],
    run: authorizeReading,
    ends: 'ACCESS_DENIED',
    entries: ['deny read Article'],
  },
];

describe('authorization', () => {
  it.each(cases)('authorizes an action: $title', check);
});

async function check({ request, rules, run, ends, entries }: Case): Promise<void> {
  await test.inContext({ as: 'ann', request: { resource: 'Article', ...request }, rules }, async (context) => {
    const work = run(context);
    if (ends.startsWith('ACCESS_')) expect(await codeOf(work)).toBe(ends);
    else expect(await work).toMatchObject({ effect: ends });
    expect(inShort(context.entries)).toEqual(entries);
  });
}

describe('the decision on the changed record', () => {
  const decided = { found: [OPEN], decision: { effect: 'allow' } as never };

  it.each<[string, typeof OPEN, string | undefined, readonly string[]]>([
    ['replaces the entry of the update', OPEN, undefined, ['allow update Article a1']],
    ['denies a change into a record that the caller may not update', CLOSED, 'ACCESS_DENIED', ['deny update Article a1']],
  ])('the decision on the changed record %s', async (_, changed, code, entries) => {
    await test.inContext({ as: 'ann', request: { resource: 'Article', ...update }, rules: [allow('update', isOpen)] }, async (context) => {
      await authorize(context, { record: OPEN, recordId: 'a1' });
      expect(context.entries.at(-1)?.facts).not.toHaveProperty('changedRecord');
      const work = authorizeChange(context, { ...decided, proposals: [toProposal(changed)] });
      if (code === undefined) await work;
      else expect(await codeOf(work)).toBe(code);
      expect(inShort(context.entries)).toEqual(entries);
      expect(context.entries.at(-1)?.facts?.['changedRecord']).toBe(code === undefined ? undefined : true);
    });
  });

  it('an update that found no record has no changed record to decide', async () => {
    await test.inContext({ as: 'ann', request: { resource: 'Article', ...update }, rules: [allow('update', isOpen)] }, async (context) => {
      await authorizeChange(context, { ...decided, found: [], proposals: [] });
      expect(context.entries).toEqual([]);
    });
  });
});

describe('maySeeDescription', () => {
  it.each<[string, readonly TestRule[], boolean, readonly string[]]>([
    ['read', [allow('read', isOpen)], true, ['allow read Article']],
    ['list', [allow('list')], true, ['deny read Article', 'allow list Article']],
    ['neither', [allow('update')], false, ['deny read Article', 'deny list Article']],
  ])('the entries of the decisions stay for a caller who may see the description by: %s', async (_, rules, expected, entries) => {
    await test.inContext({ as: 'ann', request: { resource: 'Article', action: 'schema' }, rules }, async (context) => {
      expect(await maySeeDescription(context)).toBe(expected);
      expect(inShort(context.entries)).toEqual(entries);
    });
  });
});
