import { describe, expect, it } from 'vitest';
import { Problem } from '../errors.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import type { ApiRequest } from './api-request.ts';
import { fillItemReferences, parseBatch } from './batch-request.ts';
import { emptyRequest, limits, refusalOf } from './http-request.fixture.ts';

describe('POST /api/batch', () => {
  const batch = (body: Json | undefined) => parseBatch(body, limits);
  const read = { resource: 'Article', action: 'read', id: '7' };

  it('parses each request, and returns a malformed one as its problem', () => {
    const { items, atomic } = batch({ requests: [read, { resource: 'Article', action: 'frob' }, { ...read, ids: 1 }] });
    expect(atomic).toBe(false);
    expect(items[0]).toEqual({ request: { ...emptyRequest, action: 'read', id: '7' }, optional: false });
    expect(items.slice(1).map(({ request }) => (request instanceof Problem ? request.code : request))).toEqual([
      'REQUEST_NO_ROUTE',
      'REQUEST_MALFORMED',
    ]);
  });

  it.each<[Json, string]>([
    [1, 'REQUEST_MALFORMED'],
    [null, 'REQUEST_MALFORMED'],
    [[read], 'REQUEST_MALFORMED'],
    [{ action: 'read', id: '7' }, 'REQUEST_MALFORMED'],
    [{ resource: 1, action: 'read', id: '7' }, 'REQUEST_MALFORMED'],
    [{ resource: 'Article' }, 'REQUEST_MALFORMED'],
    [{ resource: 'Article', action: 'constructor' }, 'REQUEST_NO_ROUTE'],
    [{ resource: 'Article', action: 'batch', requests: [] }, 'REQUEST_MALFORMED'],
  ])('returns the item %j as a problem', (item, code) => {
    const request = batch({ requests: [item] }).items[0]?.request;
    expect(request instanceof Problem && request.code).toBe(code);
  });

  it.each<[string, Json | undefined, string]>([
    ['no body', undefined, 'REQUEST_MALFORMED'],
    ['an array as its body', [read], 'REQUEST_MALFORMED'],
    ['no requests', {}, 'REQUEST_MALFORMED'],
    ['an empty list of requests', { requests: [] }, 'REQUEST_MALFORMED'],
    ['an array-like object of requests', { requests: { 0: read, length: 1 } }, 'REQUEST_MALFORMED'],
    ['an unknown member', { requests: [read], atomc: true }, 'REQUEST_MALFORMED'],
    ['atomic that is not a boolean', { requests: [read], atomic: 'false' }, 'REQUEST_MALFORMED'],
    ['atomic that is null', { requests: [read], atomic: null }, 'REQUEST_MALFORMED'],
    ['too many requests', { requests: [read, read, read, read] }, 'REQUEST_TOO_LARGE'],
    [
      'imports of too many records',
      { requests: Array(2).fill({ resource: 'Article', action: 'import', data: [{}, {}, {}] }) },
      'REQUEST_TOO_LARGE',
    ],
  ])('refuses a batch with %s', (_, body, code) => {
    expect(refusalOf(() => batch(body))?.code).toBe(code);
  });

  it('parses the member atomic of a batch', () => {
    expect(batch({ requests: [read], atomic: true }).atomic).toBe(true);
  });
});

const FIELDS = { title: 'x', data: { a: 1 }, filter: 'f', limit: 3 };

describe('the members of an item', () => {
  const one = (item: JsonObject): ApiRequest | Problem | undefined =>
    parseBatch({ requests: [{ resource: 'Article', ...item }] }, limits).items[0]?.request;

  it.each<[string, JsonObject, Partial<ApiRequest>]>([
    ['create', { data: FIELDS }, { data: FIELDS }],
    ['read', { data: { id: '7', fields: ['title'] } }, { id: '7', fields: ['title'] }],
    ['read', { data: { id: '7' }, fields: 'title' }, { id: '7', fields: ['title'] }],
    ['read', { id: '7' }, { id: '7' }],
    ['read', { id: '7', data: {} }, { id: '7' }],
    ['update', { data: { id: '7', ...FIELDS } }, { id: '7', data: FIELDS }],
    ['update', { data: { id: '7', ...FIELDS }, ifMatch: 3 }, { id: '7', data: FIELDS, ifMatch: [3] }],
    ['update', { data: { id: '7', ifMatch: 3 } }, { id: '7', data: { ifMatch: 3 } }],
    ['update', { id: '7', data: FIELDS }, { id: '7', data: FIELDS }],
    ['update', { data: { id: '7' } }, { id: '7', data: {} }],
    ['delete', { data: { id: '7', ifMatch: 3 } }, { id: '7', ifMatch: [3] }],
    ['restore', { data: { id: '7' } }, { id: '7' }],
    ['list', { data: { limit: 2, where: { a: { gt: 1 } } } }, { limit: 2, where: [{ field: 'a', operator: 'gt', value: 1 }] }],
    ['list', { data: {} }, {}],
    ['list', {}, {}],
    ['export', { data: { limit: 2 }, total: true }, { limit: 2, total: true }],
    ['listDeleted', { data: {} }, {}],
    ['import', { data: { data: [{ a: 1 }] } }, { data: [{ a: 1 }] }],
    ['import', { data: [{ a: 1 }] }, { data: [{ a: 1 }] }],
    [
      'createIfNotExists',
      { data: { filter: { a: 1 }, data: FIELDS } },
      { filter: [{ field: 'a', operator: 'eq', value: 1 }], data: FIELDS },
    ],
    ['updateIfExists', { filter: { a: 1 }, data: FIELDS }, { filter: [{ field: 'a', operator: 'eq', value: 1 }], data: FIELDS }],
    ['schema', { data: {} }, {}],
    ['schema', {}, {}],
  ])('parses the members of %s: %j', (action, item, expected) => {
    expect(one({ action, ...item })).toEqual({ ...emptyRequest, action, ...expected });
  });

  it.each<[string, JsonObject, readonly string[]]>([
    ['read', { id: '7', data: { id: '8' } }, ['duplicate id']],
    ['update', { id: '7', data: { id: '7', title: 'x' } }, ['duplicate id']],
    ['list', { limit: 1, data: { limit: 1, sort: 'a' }, sort: 'b' }, ['duplicate limit', 'duplicate sort']],
    ['read', { data: { ids: '7' } }, ['required id', 'unknown data.ids']],
    ['read', { data: { id: 7 } }, ['type data.id']],
    ['read', { data: [] }, ['type data']],
    ['read', { data: null }, ['type data']],
    ['list', { data: 'all' }, ['type data']],
    ['list', { data: { limit: -1, where: { a: {} } } }, ['range data.limit', 'tooFew data.where.a']],
    ['schema', { data: { id: '7' } }, ['unknown data.id']],
    ['update', { data: { title: 'x' } }, ['required id']],
    ['createIfNotExists', { data: { title: 'x' } }, ['required filter', 'required data', 'unknown data.title']],
    ['createIfNotExists', { data: { filter: {}, data: [] } }, ['type data.data', 'tooFew data.filter']],
    ['import', { data: { data: [1] } }, ['type data.data.0']],
    ['create', { data: {}, optional: true }, ['unknown optional']],
    ['updateIfExists', { filter: { a: 1 }, data: {}, optional: 1 }, ['type optional']],
    ['updateIfExists', { data: { filter: { a: 1 }, data: {}, optional: true } }, ['unknown data.optional']],
  ])('refuses the members of %s: %j', (action, item, mistakes) => {
    const problem = one({ action, ...item });
    expect(problem instanceof Problem && problem.extras.errors?.map(({ code, path }) => `${code} ${path}`)).toEqual(mistakes);
  });

  it.each<[Json, readonly string[]]>([
    [{ action: 'read', data: { id: 7 } }, ['required resource', 'type data.id']],
    [{ resource: 1, action: 'list', data: 'all' }, ['type resource', 'type data']],
    [{ resource: '', action: 'schema', data: { id: '7' } }, ['tooShort resource', 'unknown data.id']],
    [{ resource: 1, action: 'frob', data: { id: 7 } }, ['type resource', 'enum action']],
    [{ resource: 1, action: 'batch' }, ['type resource', 'enum action']],
    [{ resource: 1, data: { id: 7 } }, ['required action', 'type resource']],
    [{ resource: 1, action: 'update', data: { id: '$5.id', a: '$6.id', ifMatch: 1 } }, ['type resource', 'range data.id', 'range data.a']],
    [{ resource: 'Article', action: 'read', id: '$5.id', ids: 1 }, ['unknown ids', 'range id']],
    [1, ['type ']],
  ])('reports the mistakes in resource, action and data of an item together: %j', (item, mistakes) => {
    const problem = parseBatch({ requests: [item] }, limits).items[0]?.request;
    expect(problem instanceof Problem && problem.extras.errors?.map(({ code, path }) => `${code} ${path}`)).toEqual(mistakes);
  });

  it('members of an item are own properties, so __proto__ is an unknown name', () => {
    const item = JSON.parse('{"resource":"Article","action":"read","data":{"__proto__":{"id":"7"}}}') as JsonObject;
    expect(one(item)).toBeInstanceOf(Problem);
  });

  it('an item with updateIfExists may be optional', () => {
    const item = { resource: 'Article', action: 'updateIfExists', filter: { a: 1 }, data: {}, optional: true };
    expect(parseBatch({ requests: [item] }, limits).items[0]?.optional).toBe(true);
  });
});

describe('references of an item', () => {
  const create = (data: JsonObject): JsonObject => ({ resource: 'Article', action: 'create', data });
  const last = (...requests: readonly JsonObject[]): ApiRequest | Problem | undefined =>
    parseBatch({ requests }, limits).items.at(-1)?.request;
  const idOf = (index: number): string => `id-of-${index}`;

  it.each<[string, Json]>([
    ['$0.id', 'id-of-0'],
    ['$$0.id', '$0.id'],
    ['$$$1.id', '$$1.id'],
    ['$0.id ', '$0.id '],
    [' $0.id', ' $0.id'],
    ['x $0.id', 'x $0.id'],
    ['$0.name', '$0.name'],
    ['$00.id', '$00.id'],
    ['$-1.id', '$-1.id'],
    ['$.id', '$.id'],
    ['$$', '$$'],
  ])('reads %j in an item as %j', (text, meant) => {
    const request = last(create({}), create({ a: text, b: [{ c: text }], [text]: 1 })) as ApiRequest;
    expect(fillItemReferences(request, idOf).data).toEqual({ a: meant, b: [{ c: meant }], [text]: 1 });
  });

  it('references of an item are replaced in id, filter and where', () => {
    const by = { resource: 'Article', action: 'updateIfExists', data: { filter: { a: '$0.id', b: { in: ['$0.id'] } }, data: {} } };
    expect(fillItemReferences(last(create({}), by) as ApiRequest, idOf).filter?.map(({ value }) => value)).toEqual([
      'id-of-0',
      ['id-of-0'],
    ]);
    const update = { resource: 'Article', action: 'update', data: { id: '$0.id', a: 1 } };
    expect(fillItemReferences(last(create({}), update) as ApiRequest, idOf)).toMatchObject({ id: 'id-of-0', data: { a: 1 } });
    const list = { resource: 'Article', action: 'list', data: { where: { a: '$0.id' } } };
    expect(fillItemReferences(last(create({}), list) as ApiRequest, idOf).where).toMatchObject([{ value: 'id-of-0' }]);
  });

  it.each<[string, readonly JsonObject[], string]>([
    ['the request itself', [create({ a: '$0.id' })], 'range data.a'],
    ['a later request', [create({}), create({ a: { b: ['$2.id'] } }), create({})].slice(0, 2), 'range data.a.b.0'],
    ['a request that does not exist', [create({}), create({ a: `$${'9'.repeat(400)}.id` })], 'range data.a'],
    ['a list', [{ resource: 'Article', action: 'list' }, create({ a: '$0.id' })], 'type data.a'],
    ['a deleted record', [{ resource: 'Article', action: 'delete', id: '7' }, create({ a: '$0.id' })], 'type data.a'],
  ])('refuses a reference to %s', (_, requests, mistake) => {
    const problem = last(...requests);
    expect(problem instanceof Problem && problem.extras.errors?.map(({ code, path }) => `${code} ${path}`)).toEqual([mistake]);
  });

  it('an item without references is unchanged', () => {
    expect(fillItemReferences(last(create({ a: 'x' })) as ApiRequest, idOf).data).toEqual({ a: 'x' });
  });
});
