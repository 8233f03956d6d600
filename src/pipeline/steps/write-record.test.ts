import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { ConstraintError } from '../../storage/index.ts';
import { codeOf, openPipeline, type TestPipeline, type TestRequest } from '../pipeline.fixture.ts';
import type { Proposal } from '../request-context.ts';
import { translateConstraints } from './translate-constraints.ts';
import { allow, checkWrite, type WriteCase } from './write-record.fixture.ts';
import { storeChange } from './write-record.ts';

let test: TestPipeline;
beforeAll(async () => {
  test = await openPipeline({
    definitions: {
      Article: {
        fields: {
          slug: { type: 'string', unique: true },
          status: { type: 'string' },
          code: { type: 'string', writeOnly: true },
        },
      },
    },
  });
});
afterAll(() => test.dispose());

const filterOf = (values: JsonObject): TestRequest['filter'] =>
  Object.entries(values).map(([field, value]) => ({ field, operator: 'eq', value }));
const isOpen: JsonObject = { field: 'resource.status', operator: 'eq', value: 'open' };

const check = (each: WriteCase): Promise<void> => checkWrite(test, each);

const create = (data: JsonObject): WriteCase['request'] => ({ action: 'create', data });
const update = (data: JsonObject): WriteCase['request'] => ({ action: 'update', id: 'a1', data });
const createIfNotExists = (filter: JsonObject, data: JsonObject): WriteCase['request'] => ({
  action: 'createIfNotExists',
  filter: filterOf(filter),
  data,
});
const updateIfExists = (filter: JsonObject, data: JsonObject): WriteCase['request'] => ({
  action: 'updateIfExists',
  filter: filterOf(filter),
  data,
});
const a1 = { a1: { slug: 'one', status: 'open' } };

const writes: readonly WriteCase[] = [
  {
    title: 'a create stores the record and answers 201 with its path, without write-only fields',
    request: create({ slug: 'one', code: 'hush' }),
    ends: { status: 201, version: 1, location: expect.stringMatching(/^\/api\/Article\/[0-9a-f-]{36}$/) },
    stored: ['Article NEW createdBy=ann slug=one code=hush'],
    entries: ['allow create Article'],
  },
  {
    title: 'a create with a taken value is refused with the name of the field',
    request: create({ slug: 'one' }),
    articles: a1,
    ends: 'RECORD_EXISTS slug:taken',
    stored: ['Article a1 slug=one status=open'],
    entries: ['allow create Article'],
  },
  {
    title: 'an update stores the values, removes values given as null, and returns the record to a caller who may read it',
    request: update({ slug: null, status: 'late' }),
    articles: a1,
    ends: { status: 200, version: 2, data: expect.objectContaining({ id: 'a1', status: 'late' }) },
    stored: ['Article a1 version=2 status=late'],
    entries: ['allow update Article a1'],
  },
  {
    title: 'an update returns only the id and the version to a caller who may not read the record',
    request: update({ status: 'late' }),
    rules: [allow('update'), allow('read', isOpen)],
    articles: a1,
    ends: { status: 200, version: 2, data: { id: 'a1', version: 2 } },
    stored: ['Article a1 version=2 slug=one status=late'],
    entries: ['allow update Article a1'],
  },
  {
    title: 'an update with a taken value is refused',
    request: update({ slug: 'two' }),
    articles: { ...a1, a2: { slug: 'two' } },
    ends: 'RECORD_EXISTS slug:taken',
    stored: ['Article a1 slug=one status=open', 'Article a2 slug=two'],
    entries: ['allow update Article a1'],
  },
  {
    title: 'a deletion removes the record and returns its id',
    request: { action: 'delete', id: 'a1' },
    articles: a1,
    ends: { status: 200, data: { id: 'a1' } },
    stored: [],
    entries: ['allow delete Article a1'],
  },
];

const filtered: readonly WriteCase[] = [
  {
    title: 'createIfNotExists creates a record if none matches',
    request: createIfNotExists({ slug: 'two' }, { slug: 'two' }),
    articles: a1,
    ends: { status: 201, extras: { created: true } },
    stored: ['Article NEW createdBy=ann slug=two', 'Article a1 slug=one status=open'],
    entries: ['allow create Article', 'allow read Article'],
  },
  {
    title: 'createIfNotExists returns the record that matches and changes nothing, even if the data is invalid',
    request: createIfNotExists({ slug: 'one' }, { slug: 5 }),
    articles: a1,
    ends: { status: 200, version: 1, data: expect.objectContaining({ id: 'a1' }), extras: { created: false } },
    stored: ['Article a1 slug=one status=open'],
    entries: ['allow create Article', 'allow read Article a1'],
  },
  {
    title: 'createIfNotExists refuses invalid data if no record matches',
    request: createIfNotExists({ slug: 'two' }, { slug: 5 }),
    articles: a1,
    ends: 'VALUE_INVALID slug:type',
    stored: ['Article a1 slug=one status=open'],
    entries: ['allow create Article', 'allow read Article'],
  },
  {
    title: 'createIfNotExists does not match a record that the caller may not read',
    request: createIfNotExists({ slug: 'one' }, { slug: 'two' }),
    rules: [allow('create'), allow('read', isOpen)],
    articles: { a1: { slug: 'one', status: 'late' } },
    ends: { status: 201, extras: { created: true } },
    stored: ['Article NEW createdBy=ann slug=two', 'Article a1 slug=one status=late'],
    entries: ['allow create Article', 'allow read Article'],
  },
  {
    title: 'createIfNotExists returns one of several records that match',
    request: createIfNotExists({ status: 'open' }, { slug: 'two' }),
    articles: { ...a1, a2: { status: 'open' } },
    ends: { status: 200, data: expect.objectContaining({ id: 'a1' }), extras: { created: false } },
    stored: ['Article a1 slug=one status=open', 'Article a2 status=open'],
    entries: ['allow create Article', 'allow read Article a1'],
  },
  {
    title: 'a filter with an unknown field is refused',
    request: createIfNotExists({ slag: 'one' }, {}),
    ends: 'REQUEST_FIELD filter.slag:field',
    stored: [],
    entries: ['allow create Article', 'allow read Article'],
  },
  {
    title: 'updateIfExists changes the record that matches',
    request: updateIfExists({ slug: 'one' }, { status: 'late' }),
    articles: a1,
    ends: { status: 200, version: 2, data: expect.objectContaining({ id: 'a1', status: 'late' }), extras: { updated: true } },
    stored: ['Article a1 version=2 slug=one status=late'],
    entries: ['allow update Article a1', 'allow read Article a1'],
  },
  {
    title: 'updateIfExists changes nothing if no record matches',
    request: updateIfExists({ slug: 'two' }, { status: 'late' }),
    articles: a1,
    ends: { status: 200, data: null, extras: { updated: false } },
    stored: ['Article a1 slug=one status=open'],
    entries: ['allow update Article', 'allow read Article'],
  },
  {
    title: 'updateIfExists changes nothing if several records match',
    request: updateIfExists({ status: 'open' }, { status: 'late' }),
    articles: { ...a1, a2: { status: 'open' } },
    ends: 'RECORD_AMBIGUOUS',
    stored: ['Article a1 slug=one status=open', 'Article a2 status=open'],
    entries: ['allow update Article', 'allow read Article'],
  },
  {
    title: 'updateIfExists matches only records that the caller may read',
    request: updateIfExists({ slug: 'one' }, { status: 'open' }),
    rules: [allow('update'), allow('read', isOpen)],
    articles: { a1: { slug: 'one', status: 'late' } },
    ends: { status: 200, data: null, extras: { updated: false } },
    stored: ['Article a1 slug=one status=late'],
    entries: ['allow update Article', 'allow read Article'],
  },
  {
    title: 'updateIfExists refuses a record that the caller may read but not update',
    request: updateIfExists({ slug: 'one' }, { slug: 'two' }),
    rules: [allow('update', isOpen), allow('read')],
    articles: { a1: { slug: 'one', status: 'late' } },
    ends: 'ACCESS_DENIED',
    stored: ['Article a1 slug=one status=late'],
    entries: ['deny update Article a1', 'allow read Article a1'],
  },
  {
    title: 'updateIfExists refuses a change into a record that the caller may not update',
    request: updateIfExists({ slug: 'one' }, { status: 'late' }),
    rules: [allow('update', isOpen), allow('read')],
    articles: a1,
    ends: 'ACCESS_DENIED',
    stored: ['Article a1 slug=one status=open'],
    entries: ['deny update Article a1', 'allow read Article a1'],
  },
  {
    title: 'updateIfExists refuses invalid values',
    request: updateIfExists({ slug: 'one' }, { status: 5 }),
    articles: a1,
    ends: 'VALUE_INVALID status:type',
    stored: ['Article a1 slug=one status=open'],
    entries: ['allow update Article a1', 'allow read Article a1'],
  },
];

describe('writes', () => {
  it.each([...writes, ...filtered])('writes a record: $title', check);
});

describe('constraints', () => {
  const situation = { as: 'ann', request: { action: 'create', resource: 'Article' } } as const;
  it.each<[string, ConstraintError, string]>([
    [
      'names all readable fields of the index',
      new ConstraintError('unique', { columns: ['slug', 'status'], cause: undefined }),
      'RECORD_EXISTS slug:taken status:taken',
    ],
    [
      'leaves out write-only and unknown columns',
      new ConstraintError('unique', { columns: ['code', 'gone'], cause: undefined }),
      'RECORD_EXISTS',
    ],
    ['reports a foreign key of archived data', new ConstraintError('reference', { cause: undefined }), 'RECORD_REFERENCED'],
  ])('a violated constraint %s', async (_, error, code) => {
    await test.inContext(situation, async (context) => {
      expect(await codeOf(translateConstraints(context, () => Promise.reject(error)))).toBe(code);
    });
  });

  it('another error is thrown unchanged', async () => {
    const error = new Error('disk');
    await test.inContext(situation, async (context) => {
      await expect(translateConstraints(context, () => Promise.reject(error))).rejects.toBe(error);
    });
  });

  it('an update of a version that is no longer stored is refused', async () => {
    await test.inContext({ ...situation, records: { Article: { a1: {} } } }, async (context) => {
      const proposal: Proposal = { record: { id: 'a1', version: 8 }, values: { slug: 'two' }, cleared: [], issues: [] };
      expect(await codeOf(storeChange(context, { found: [{ id: 'a1', version: 7 }], proposals: [proposal] }))).toBe('RECORD_VERSION');
    });
  });
});
