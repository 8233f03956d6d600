import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../operators/index.ts';
import { resolveProjection } from '../../request/index.ts';
import { loadRecords } from '../../storage/index.ts';
import { inShort, openPipeline, type TestPipeline, type TestRequest, type TestRule } from '../pipeline.fixture.ts';
import type { PipelineOptions, RequestContext } from '../request-context.ts';
import { expandEach } from './expand-references.ts';

let test: TestPipeline;
beforeAll(async () => {
  const reference = (to: string, more: object = {}) => ({ type: 'reference', to, onDelete: 'setNull', ...more });
  const deleted = { deletedAt: '2026-01-02T00:00:00.000Z', deletedBy: 'ada' };
  test = await openPipeline({
    definitions: {
      Team: { softDelete: true, fields: { name: { type: 'string' }, secret: { type: 'string', writeOnly: true } } },
      Article: {
        fields: {
          teamId: reference('Team'),
          otherId: reference('Team'),
          parentId: reference('Article'),
          teamIds: { type: 'list', of: reference('Team') },
        },
      },
      Comment: { fields: { articleId: reference('Article'), text: { type: 'string' } } },
    },
    records: {
      Team: { north: { name: 'north', secret: 'hush' }, south: { name: 'south' }, gone: { name: 'gone', ...deleted } },
      Article: {
        a1: { teamId: 'north', otherId: 'north', teamIds: ['south', 'north', 'gone'] },
        a2: { teamId: 'south', parentId: 'a1' },
        a3: { teamId: 'gone' },
        a4: {},
      },
      Comment: {
        c1: { articleId: 'a1', text: 'plain' },
        c2: { articleId: 'a1', text: 'spam' },
        c3: { articleId: 'a1', text: 'plain' },
        c4: { articleId: 'a2', text: 'plain' },
      },
    },
  });
});
afterAll(() => test.dispose());

const allow = (resource: string, ...conditions: readonly JsonObject[]): TestRule => ({ resource, action: 'read', conditions });
const is = (field: string, operator: string, value: Json): JsonObject => ({ field, operator, value });
const readTeam = allow('Team');
const plain = is('resource.text', 'eq', 'plain');
const comments = (limit: number, name = 'comments') => ({ name, by: { resource: 'Comment', field: 'articleId', limit } });

interface Case {
  readonly title: string;
  readonly action?: TestRequest['action'];
  /** Ids of the articles whose references are expanded. */
  readonly of: readonly string[];
  readonly expand: NonNullable<TestRequest['expand']>;
  readonly rules: readonly TestRule[];
  readonly options?: Partial<PipelineOptions>;
  /** The expanded ids of each article, by name. */
  readonly shows: readonly object[];
  readonly entries: readonly string[];
}

async function expand(context: RequestContext, of: readonly string[]): Promise<readonly JsonObject[]> {
  const { tx, snapshot, resource, request } = context;
  const stored = await loadRecords(tx, resource, of);
  const { expansions } = resolveProjection(snapshot.definitions, resource, request);
  return expandEach(
    context,
    of.flatMap((id) => stored.get(id) ?? []),
    expansions,
  );
}

/** Replaces each expanded record by its id. */
function toIds(value: Json): Json {
  if (Array.isArray(value)) return value.map(toIds);
  return value !== null && typeof value === 'object' ? ((value as JsonObject)['id'] ?? null) : value;
}

async function check({ action = 'list', of, expand: items, rules, options, shows, entries }: Case): Promise<void> {
  const situation = { as: 'ann', request: { action, resource: 'Article', expand: items }, rules, options } as const;
  await test.inContext(situation, async (context) => {
    const expanded = await expand(context, of);
    expect(expanded.map((each) => Object.fromEntries(Object.entries(each).map(([name, value]) => [name, toIds(value)])))).toEqual(shows);
    expect(inShort(context.entries)).toEqual(entries);
  });
}

const cases: readonly Case[] = [
  {
    title: 'a reference is expanded to the record, with an entry',
    of: ['a1'],
    expand: [{ name: 'teamId' }],
    rules: [readTeam],
    shows: [{ teamId: 'north' }],
    entries: ['allow read Team north'],
  },
  {
    title: 'a reference to a record that the caller may not read is null',
    of: ['a1'],
    expand: [{ name: 'teamId' }],
    rules: [],
    shows: [{ teamId: null }],
    entries: ['deny read Team north'],
  },
  {
    title: 'a reference to a soft-deleted record is null, with an entry like that of an unknown record',
    of: ['a3'],
    expand: [{ name: 'teamId' }],
    rules: [readTeam],
    shows: [{ teamId: null }],
    entries: ['allow read Team gone'],
  },
  {
    title: 'a reference without a value is null, without an entry',
    of: ['a4'],
    expand: [{ name: 'teamId' }],
    rules: [readTeam],
    shows: [{ teamId: null }],
    entries: [],
  },
  {
    title: 'a record that several records and fields reference is decided once',
    of: ['a1', 'a1'],
    expand: [{ name: 'teamId' }, { name: 'otherId' }],
    rules: [readTeam],
    shows: [
      { teamId: 'north', otherId: 'north' },
      { teamId: 'north', otherId: 'north' },
    ],
    entries: ['allow read Team north'],
  },
  {
    title: 'a list of references keeps its order and leaves out the records that the caller may not read',
    of: ['a1', 'a4'],
    expand: [{ name: 'teamIds' }],
    rules: [allow('Team', is('resource.name', 'ne', 'north'))],
    shows: [{ teamIds: ['south'] }, { teamIds: [] }],
    entries: ['allow read Team south', 'deny read Team north', 'deny read Team gone'],
  },
  {
    title: 'a reference to the record of a read needs no further decision',
    action: 'read',
    of: ['a1', 'a2'],
    expand: [{ name: 'parentId' }],
    rules: [],
    shows: [{ parentId: null }, { parentId: 'a1' }],
    entries: [],
  },
  {
    title: 'a reference to a record of a list is decided on read',
    of: ['a1', 'a2'],
    expand: [{ name: 'parentId' }],
    rules: [],
    shows: [{ parentId: null }, { parentId: null }],
    entries: ['deny read Article a1'],
  },
  {
    title: 'referencing records are expanded for each record, with an entry for each',
    of: ['a1', 'a2', 'a4'],
    expand: [comments(10)],
    rules: [allow('Comment')],
    shows: [{ comments: ['c1', 'c2', 'c3'] }, { comments: ['c4'] }, { comments: [] }],
    entries: ['allow read Comment c1', 'allow read Comment c2', 'allow read Comment c3', 'allow read Comment c4'],
  },
  {
    title: 'only referencing records that the caller may read count towards the limit',
    of: ['a1'],
    expand: [comments(2)],
    rules: [allow('Comment', plain)],
    shows: [{ comments: ['c1', 'c3'] }],
    entries: ['allow read Comment c1', 'allow read Comment c3'],
  },
  {
    title: 'only referencing records that a condition in memory allows count towards the limit',
    of: ['a1'],
    expand: [comments(2)],
    rules: [allow('Comment', is('resource.text', 'matches', 'pl[a-z]*n'))],
    shows: [{ comments: ['c1', 'c3'] }],
    entries: ['allow read Comment c1', 'allow read Comment c3'],
  },
  {
    title: 'referencing records of a resource that the caller may not read are not searched, with one entry for the denial',
    of: ['a1', 'a2'],
    expand: [comments(10), comments(1, 'again')],
    rules: [],
    shows: [
      { comments: [], again: [] },
      { comments: [], again: [] },
    ],
    entries: ['deny read Comment'],
  },
  {
    title: 'referencing records that two names expand are decided once',
    of: ['a1'],
    expand: [comments(1), comments(2, 'more')],
    rules: [allow('Comment')],
    shows: [{ comments: ['c1'], more: ['c1', 'c2'] }],
    entries: ['allow read Comment c1', 'allow read Comment c2'],
  },
  {
    title: 'an empty list of records needs no decision',
    of: [],
    expand: [{ name: 'teamId' }, comments(1)],
    rules: [],
    shows: [],
    entries: [],
  },
];

describe('an expansion', () => {
  it.each(cases)('expands references: $title', check);

  it('an expanded record has no write-only field', async () => {
    const request = { action: 'list', resource: 'Article', expand: [{ name: 'teamId' }] } as const;
    await test.inContext({ as: 'ann', request, rules: [readTeam] }, async (context) => {
      const [expanded] = await expand(context, ['a1']);
      expect(expanded?.['teamId']).toMatchObject({ id: 'north', name: 'north' });
      expect(expanded?.['teamId']).not.toHaveProperty('secret');
    });
  });
});
