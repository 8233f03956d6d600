import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Problem } from '../../errors.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { failure, resourceOf } from '../../storage/storage.fixture.ts';
import {
  codeOf,
  inCode,
  inShort,
  openPipeline,
  storedIn,
  type TestPipeline,
  type TestRecords,
  type TestRule,
} from '../pipeline.fixture.ts';
import { authorizeAnyRow, importRow, type RowOptions, validateKey } from './import-rows.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: {
      Article: {
        fields: {
          slug: { type: 'string', required: true, unique: true, immutable: true },
          status: { type: 'string' },
          views: { type: 'integer' },
          single: { type: 'string' },
          partial: { type: 'string' },
          part: { type: 'string' },
          secret: { type: 'string', writeOnly: true },
        },
        indexes: [
          { fields: ['single'], unique: true },
          { fields: ['part', 'views'], unique: true },
          { fields: ['partial'], unique: true, where: { status: 'open' } },
          { fields: ['status'] },
        ],
      },
    },
  });
});
afterAll(() => test.dispose());

const allow = (action: string, ...conditions: readonly JsonObject[]): TestRule => ({ resource: 'Article', action, conditions });
const is = (field: string, value: Json): JsonObject => ({ field, operator: 'eq', value });
const everything = [allow('*')];

describe('the key of an upsert', () => {
  const validate = async (key: string) => validateKey(resourceOf(test.deps.policyStore.definitions, 'Article'), key);

  it.each(['id', 'slug', 'single'])('the key "%s" is accepted, because it is unique', async (key) => {
    await validate(key);
  });

  it.each([
    ['part', 'it is unique only with another field', 'REQUEST_PARAMETER'],
    ['partial', 'its index covers only some records', 'REQUEST_PARAMETER'],
    ['status', 'its index is not unique', 'REQUEST_PARAMETER'],
    ['secret', 'it is write-only, like an unknown field', 'REQUEST_FIELD secret:field'],
    ['unknown', 'it is unknown', 'REQUEST_FIELD unknown:field'],
    ['__proto__', 'it is unknown', 'REQUEST_FIELD __proto__:field'],
  ])('the key "%s" is refused, because %s', async (key, _, code) => {
    expect(await codeOf(validate(key))).toBe(code);
  });
});

describe('the decision before the first row', () => {
  it.each<[string, readonly TestRule[], string | undefined, readonly string[]]>([
    ['accepts a caller who may import every row, without an entry', [allow('import')], undefined, []],
    ['accepts a caller who may import some rows', [allow('import', is('resource.status', 'open'))], undefined, []],
    ['accepts a caller whose rule reads the data of the row', [allow('import', is('request.data.status', 'open'))], undefined, []],
    ['refuses a caller who may import no row, with one entry', [allow('create')], 'ACCESS_DENIED', ['deny import Article']],
  ])('the decision before the first row %s', async (_, rules, code, entries) => {
    await test.inContext({ as: 'ann', request: { action: 'import', resource: 'Article' }, rules }, async (context) => {
      const work = authorizeAnyRow(context);
      if (code === undefined) await work;
      else expect(await codeOf(work)).toBe(code);
      expect(inShort(context.entries)).toEqual(entries);
    });
  });
});

interface Case {
  readonly title: string;
  readonly row: Json;
  readonly key?: string;
  readonly issues?: RowOptions['issues'];
  readonly rules?: readonly TestRule[];
  /** The result of the row, or the problem in short. */
  readonly ends: string;
  /** The article a1 afterwards; absent if it is unchanged. */
  readonly stored?: string;
  readonly entries: readonly string[];
}

const ARTICLES: TestRecords = { Article: { a1: { slug: 'one', status: 'open', views: 1, secret: 'hush' } } };
const A1 = 'Article a1 slug=one status=open views=1 secret=hush';

async function check({ row, key, issues = [], rules = everything, ends, stored = A1, entries }: Case): Promise<void> {
  const situation = { as: 'ann', request: { action: 'import', resource: 'Article', data: row }, rules, records: ARTICLES } as const;
  await test.inContext(situation, async (context) => {
    const work = importRow(context, { key, issues });
    const error = await failure(work);
    expect(error instanceof Problem ? inCode(error) : (error ?? (await work))).toBe(ends);
    const rows = await storedIn(context.tx, ['Article']);
    expect(rows.find((each) => each.startsWith('Article a1'))).toBe(stored);
    expect(rows).toHaveLength(ends === 'imported' ? 2 : 1);
    expect(inShort(context.entries)).toEqual(entries);
  });
}

const upserted = ['allow import Article a1', 'allow update Article a1'];
const cases: readonly Case[] = [
  { title: 'a row without a key creates a record', row: { slug: 'two' }, ends: 'imported', entries: ['allow import Article'] },
  {
    title: 'a row may repeat the fields that the service sets, which exported rows contain',
    row: { id: 'a9', version: 7, createdAt: 'x', createdBy: 'ben', slug: 'two' },
    ends: 'imported',
    entries: ['allow import Article'],
  },
  {
    title: 'a row that is invalid is refused after the decision',
    row: { slug: 5, status: 5 },
    ends: 'VALUE_INVALID slug:type status:type',
    entries: ['allow import Article'],
  },
  {
    title: 'a row that is denied does not report its mistakes',
    row: { slug: 5 },
    rules: [],
    ends: 'ACCESS_DENIED',
    entries: ['deny import Article'],
  },
  { title: 'a row that is not an object is refused', row: 'text', ends: 'VALUE_INVALID :type', entries: ['allow import Article'] },
  {
    title: 'mistakes of the parsed row replace other mistakes of the same path',
    row: { views: 1 },
    issues: [{ path: 'slug', code: 'format', detail: 'wrong' }],
    ends: 'VALUE_INVALID slug:format',
    entries: ['allow import Article'],
  },
  {
    title: 'a row with a taken value is refused',
    row: { slug: 'one' },
    ends: 'RECORD_EXISTS slug:taken',
    entries: ['allow import Article'],
  },
  {
    title: 'a row with a new key creates a record',
    row: { slug: 'two' },
    key: 'slug',
    ends: 'imported',
    entries: ['allow import Article'],
  },
  {
    title: 'a row with a stored key updates its record, after a decision on import and on update',
    row: { slug: 'one', status: 'late' },
    key: 'slug',
    ends: 'updated',
    stored: 'Article a1 version=2 slug=one status=late views=1 secret=hush',
    entries: upserted,
  },
  {
    title: 'a row with the id of a record updates the record, although it repeats an immutable value',
    row: { id: 'a1', slug: 'one', status: 'late' },
    key: 'id',
    ends: 'updated',
    stored: 'Article a1 version=2 slug=one status=late views=1 secret=hush',
    entries: upserted,
  },
  {
    title: 'a row with another immutable value is refused',
    row: { id: 'a1', slug: 'two' },
    key: 'id',
    ends: 'VALUE_INVALID slug:immutable',
    entries: upserted,
  },
  {
    title: 'a row that repeats an immutable value is refused for a caller who may not read it',
    row: { id: 'a1', slug: 'one' },
    key: 'id',
    rules: [allow('import'), allow('update')],
    ends: 'VALUE_INVALID slug:immutable',
    entries: upserted,
  },
  {
    title: 'a row that changes nothing is unchanged',
    row: { slug: 'one', status: 'open', views: 1 },
    key: 'slug',
    ends: 'unchanged',
    entries: upserted,
  },
  {
    title: 'a row that removes a value that is not stored is unchanged',
    row: { slug: 'one', single: null },
    key: 'slug',
    ends: 'unchanged',
    entries: upserted,
  },
  {
    title: 'a row with a write-only field always counts as a change',
    row: { slug: 'one', secret: 'hush' },
    key: 'slug',
    ends: 'updated',
    stored: 'Article a1 version=2 slug=one status=open views=1 secret=hush',
    entries: upserted,
  },
  {
    title: 'a row that removes a write-only value counts as a change',
    row: { slug: 'one', secret: null },
    key: 'slug',
    ends: 'updated',
    stored: 'Article a1 version=2 slug=one status=open views=1',
    entries: upserted,
  },
  {
    title: 'a row that changes nothing is updated for a caller who may not read the record',
    row: { slug: 'one', status: 'open' },
    key: 'slug',
    rules: [allow('import'), allow('update')],
    ends: 'updated',
    stored: 'Article a1 version=2 slug=one status=open views=1 secret=hush',
    entries: upserted,
  },
  {
    title: 'a row may not increment, because it may be sent again',
    row: { slug: 'one', views: { increment: 1 } },
    key: 'slug',
    ends: 'VALUE_INVALID views:increment',
    entries: upserted,
  },
  {
    title: 'a row that updates is denied without import',
    row: { slug: 'one', status: 'late' },
    key: 'slug',
    rules: [allow('update'), allow('read')],
    ends: 'ACCESS_DENIED',
    entries: ['deny import Article a1'],
  },
  {
    title: 'a row that updates is denied without update',
    row: { slug: 'one', status: 'late' },
    key: 'slug',
    rules: [allow('import'), allow('read')],
    ends: 'ACCESS_DENIED',
    entries: ['allow import Article a1', 'deny update Article a1'],
  },
  {
    title: 'a row that would change into a record that the caller may not update is denied',
    row: { slug: 'one', status: 'late' },
    key: 'slug',
    rules: [allow('import'), allow('update', is('resource.status', 'open'))],
    ends: 'ACCESS_DENIED',
    entries: ['allow import Article a1', 'deny update Article a1'],
  },
  {
    title: 'a row with an unknown id is refused like an update of an unknown record',
    row: { id: 'a9', slug: 'two' },
    key: 'id',
    ends: 'RECORD_UNKNOWN',
    entries: ['allow import Article a9', 'allow update Article a9'],
  },
  {
    title: 'an unknown id with control characters, which paths refuse, is recorded without them',
    row: { id: 'a\n\u009b9', slug: 'two' },
    key: 'id',
    ends: 'RECORD_UNKNOWN',
    entries: ['allow import Article a\ufffd\ufffd9', 'allow update Article a\ufffd\ufffd9'],
  },
  {
    title: 'a row with an unknown id is denied like an update that is denied',
    row: { id: 'a9', slug: 'two' },
    key: 'id',
    rules: [allow('import')],
    ends: 'ACCESS_DENIED',
    entries: ['allow import Article a9', 'deny update Article a9'],
  },
  { title: 'a row without an id creates a record', row: { slug: 'two' }, key: 'id', ends: 'imported', entries: ['allow import Article'] },
  {
    title: 'a row whose key has another type creates no record',
    row: { slug: 5 },
    key: 'slug',
    ends: 'VALUE_INVALID slug:type',
    entries: ['allow import Article'],
  },
];

describe('a row of an import', () => {
  it.each(cases)('imports a row: $title', check);
});
