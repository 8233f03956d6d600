import { describe, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import type { ApiRequest } from './api-request.ts';
import { createHttpRequest, emptyRequest, limits, refusalOf } from './http-request.fixture.ts';
import {
  parseActionRequest,
  parseCreateRequest,
  parseDeleteRequest,
  parseIfMatch,
  parseListRequest,
  parseRecordRequest,
  parseUpdateRequest,
} from './record-requests.ts';

const list = (query: string): ApiRequest => parseListRequest(createHttpRequest({ query }), limits);

const act = (action: string, body?: Json): ApiRequest => parseActionRequest(createHttpRequest({ action, body }), limits);

describe('GET /api/:resource', () => {
  it.each<[string, Partial<ApiRequest>]>([
    ['', {}],
    ['limit=1', { limit: 1 }],
    ['limit=1000&offset=0', { limit: 1000, offset: 0 }],
    ['total=true', { total: true }],
    ['total=false', { total: false }],
    ['cursor=abc', { cursor: 'abc' }],
    [
      'sort=-createdAt,name',
      {
        sort: [
          { field: 'createdAt', descending: true },
          { field: 'name', descending: false },
        ],
      },
    ],
    ['where[status]=draft', { where: [{ field: 'status', operator: 'eq', value: 'draft' }] }],
    [
      'where[views][gt]=3&where[views][lt]=9',
      {
        where: [
          { field: 'views', operator: 'gt', value: '3' },
          { field: 'views', operator: 'lt', value: '9' },
        ],
      },
    ],
    ['where[__proto__]=1', { where: [{ field: '__proto__', operator: 'eq', value: '1' }] }],
  ])('parses the query "%s" of a list', (query, expected) => {
    expect(list(query)).toEqual({ ...emptyRequest, typed: false, action: 'list', ...expected });
  });

  it.each<[string, readonly string[]]>([
    ['limit=1001', ['range limit']],
    ['limit=-1', ['range limit']],
    ['limit=1e3', ['type limit']],
    ['limit=%205', ['type limit']],
    ['limit=0x1', ['type limit']],
    ['limit=NaN', ['type limit']],
    ['limit=', ['type limit']],
    ['limit=5.0', ['type limit']],
    ['limit[gt]=5', ['type limit']],
    ['limit=99999999999999999999', ['type limit']],
    ['offset=-1', ['range offset']],
    ['offset=9999999999', ['range offset']],
    ['total=1', ['type total']],
    ['total', ['type total']],
    ['cursor=', ['tooShort cursor']],
    [`cursor=${'x'.repeat(5001)}`, ['tooLong cursor']],
    ['cursor=a&offset=1', ['conflict cursor']],
    ['sort=', ['type sort']],
    ['sort=a,', ['type sort']],
    ['sort=-', ['type sort']],
    ['sort=a,b,c', ['tooMany sort']],
    ['sort=a,-a', ['duplicate sort']],
    ['sort[a]=1', ['type sort']],
    ['where=text', ['type where']],
    ['where[a]=1&where[b]=1&where[c]=1&where[d]=1&where[e]=1&where[f]=1', ['tooMany where']],
    ['limt=5&limit=x&page=2', ['unknown limt', 'unknown page', 'type limit']],
    ['__proto__=1', ['unknown __proto__']],
  ])('refuses the query "%s" of a list', (query, mistakes) => {
    expect(refusalOf(() => list(query))).toEqual({ code: 'REQUEST_PARAMETER', mistakes });
  });

  it('suggests a name for a mistyped parameter in the message', () => {
    expect(() => list('limt=5')).toThrow('"limit"');
  });
});

describe('the routes of a record', () => {
  it('parses If-Match of a delete, and no version of a read', () => {
    const http = createHttpRequest({ id: '7', ifMatch: '"3"' });
    expect(parseRecordRequest(createHttpRequest({ id: '7', ifNoneMatch: '"3"' }), 'read')).toEqual({
      ...emptyRequest,
      action: 'read',
      id: '7',
    });
    expect(parseDeleteRequest(http)).toEqual({ ...emptyRequest, action: 'delete', id: '7', ifMatch: [3] });
    expect(parseRecordRequest(createHttpRequest({}), 'schema')).toEqual({ ...emptyRequest, action: 'schema' });
  });

  it('parses dryRun of a delete, in the query and in the body of the action', () => {
    const request = { ...emptyRequest, action: 'delete', id: '7' };
    expect(parseDeleteRequest(createHttpRequest({ id: '7', query: 'dryRun=true' }))).toEqual({ ...request, dryRun: true });
    expect(parseDeleteRequest(createHttpRequest({ id: '7', query: 'dryRun=false' }))).toEqual({ ...request, dryRun: false });
    expect(refusalOf(() => parseDeleteRequest(createHttpRequest({ id: '7', query: 'dryRun=yes' })))?.mistakes).toEqual(['type dryRun']);
    const action = createHttpRequest({ action: 'delete', body: { id: '7', dryRun: true } });
    expect(parseActionRequest(action, limits)).toEqual({ ...request, dryRun: true });
    const restore = createHttpRequest({ action: 'restore', body: { id: '7', dryRun: true } });
    expect(refusalOf(() => parseActionRequest(restore, limits))?.mistakes).toEqual(['unknown dryRun']);
  });

  it('reads the data of a create and of an update from the body', () => {
    expect(parseCreateRequest(createHttpRequest({ body: { title: 'x' } }))).toEqual({
      ...emptyRequest,
      action: 'create',
      data: { title: 'x' },
    });
    const update = createHttpRequest({ id: '7', body: { title: null }, ifMatch: '*' });
    expect(parseUpdateRequest(update)).toEqual({ ...emptyRequest, action: 'update', id: '7', data: { title: null }, ifMatch: '*' });
  });

  it.each<[string, Json | undefined]>([
    ['an absent body', undefined],
    ['null', null],
    ['an array', []],
    ['a text', 'x'],
    ['a number', 1],
  ])('refuses %s as the data of a create and of an update', (_, body) => {
    const sent = { id: '7', body };
    expect(refusalOf(() => parseCreateRequest(createHttpRequest(sent)))).toEqual({ code: 'VALUE_INVALID', mistakes: ['type '] });
    expect(refusalOf(() => parseUpdateRequest(createHttpRequest(sent)))).toEqual({ code: 'VALUE_INVALID', mistakes: ['type '] });
  });

  it('refuses query parameters and bodies that a route does not use', () => {
    expect(refusalOf(() => parseCreateRequest(createHttpRequest({ query: 'limit=1', body: {} })))?.code).toBe('REQUEST_PARAMETER');
    expect(refusalOf(() => parseDeleteRequest(createHttpRequest({ id: '7', query: 'force=1' })))?.code).toBe('REQUEST_PARAMETER');
    expect(refusalOf(() => parseDeleteRequest(createHttpRequest({ id: '7', body: { where: {} } })))?.code).toBe('REQUEST_MALFORMED');
  });
});

describe('POST /api/:resource/:action', () => {
  it.each<[string, Json | undefined, Partial<ApiRequest>]>([
    ['create', { data: { a: 1 } }, { data: { a: 1 } }],
    ['read', { id: '7' }, { id: '7' }],
    ['update', { id: '7', data: {}, ifMatch: 3 }, { id: '7', data: {}, ifMatch: [3] }],
    ['update', { id: '7', data: {}, ifMatch: '"3"' }, { id: '7', data: {}, ifMatch: [3] }],
    ['delete', { id: '7' }, { id: '7' }],
    ['list', undefined, {}],
    [
      'list',
      { limit: 5, offset: 2, total: true, sort: ['-a', 'b'] },
      {
        limit: 5,
        offset: 2,
        total: true,
        sort: [
          { field: 'a', descending: true },
          { field: 'b', descending: false },
        ],
      },
    ],
    [
      'list',
      { where: { s: 'x', n: { gt: 3, in: [1, 2] }, z: null, l: [1] } },
      {
        where: [
          { field: 's', operator: 'eq', value: 'x' },
          { field: 'n', operator: 'gt', value: 3 },
          { field: 'n', operator: 'in', value: [1, 2] },
          { field: 'z', operator: 'eq', value: null },
          { field: 'l', operator: 'eq', value: [1] },
        ],
      },
    ],
    ['export', { limit: 5000 }, { limit: 5000 }],
    ['import', { data: [{ a: 1 }, {}] }, { data: [{ a: 1 }, {}] }],
    [
      'createIfNotExists',
      { filter: { a: 1, b: 'x' }, data: {} },
      {
        data: {},
        filter: [
          { field: 'a', operator: 'eq', value: 1 },
          { field: 'b', operator: 'eq', value: 'x' },
        ],
      },
    ],
    ['updateIfExists', { filter: { a: true }, data: {} }, { data: {}, filter: [{ field: 'a', operator: 'eq', value: true }] }],
    [
      'updateIfExists',
      { filter: { n: { gte: 2, lt: 9 }, s: 'x' }, data: {} },
      {
        data: {},
        filter: [
          { field: 'n', operator: 'gte', value: 2 },
          { field: 'n', operator: 'lt', value: 9 },
          { field: 's', operator: 'eq', value: 'x' },
        ],
      },
    ],
  ])('parses the body of %s: %j', (action, body, expected) => {
    const request = act(action, body);
    expect(request).toEqual({ ...emptyRequest, action, ...expected });
  });

  it.each<[string, Json | undefined, readonly string[]]>([
    ['create', undefined, ['required data']],
    ['create', { data: [] }, ['type data']],
    ['create', { data: null }, ['type data']],
    ['create', { dta: {}, id: '7' }, ['required data', 'unknown dta', 'unknown id']],
    ['create', { data: {}, constructor: 1 }, ['unknown constructor']],
    ['read', { id: 7 }, ['type id']],
    ['read', { id: { $ne: null } }, ['type id']],
    ['read', { id: '' }, ['tooShort id']],
    ['read', { id: 'x'.repeat(257) }, ['tooLong id']],
    ['update', { id: '7' }, ['required data']],
    ['update', { id: '7', data: {}, ifMatch: -1 }, ['range ifMatch']],
    ['update', { id: '7', data: {}, ifMatch: '3' }, ['format ifMatch']],
    ['update', { id: '7', data: {}, ifMatch: [3] }, ['type ifMatch']],
    ['delete', {}, ['required id']],
    ['list', { limit: '5' }, ['type limit']],
    ['list', { limit: 1.5 }, ['type limit']],
    ['export', { limit: 0 }, ['range limit']],
    ['list', { limit: -1, sort: [1], where: { a: {} } }, ['range limit', 'tooFew where.a', 'type sort']],
    ['list', { total: 'true' }, ['type total']],
    ['list', { total: null }, ['type total']],
    ['list', { sort: [1] }, ['type sort']],
    ['list', { sort: {} }, ['type sort']],
    ['list', { where: [] }, ['type where']],
    ['list', { where: { a: {} } }, ['tooFew where.a']],
    ['list', { where: { a: { in: [1, 2, 3, 4] } } }, ['tooMany where.a']],
    ['list', { where: { a: { gt: 1, lt: 2, ne: 3, gte: 4, lte: 5, in: [1] } } }, ['tooMany where']],
    ['export', { limit: 5001 }, ['range limit']],
    ['import', { data: {} }, ['type data']],
    ['import', { data: [] }, ['tooFew data']],
    ['import', { data: [{}, 1, null] }, ['type data.1', 'type data.2']],
    ['createIfNotExists', { data: {} }, ['required filter']],
    ['createIfNotExists', { filter: {}, data: {} }, ['tooFew filter']],
    ['createIfNotExists', { filter: [1], data: {} }, ['type filter']],
    ['createIfNotExists', { filter: { email: {} }, data: {} }, ['tooFew filter.email']],
    ['createIfNotExists', { filter: { a: { in: [1, 2, 3, 4] } }, data: {} }, ['tooMany filter.a']],
    ['updateIfExists', { filter: { a: { gt: 1, lt: 2, ne: 3, gte: 4, lte: 5, in: [1] } }, data: {} }, ['tooMany filter']],
    ['updateIfExists', { filter: { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 }, data: {} }, ['tooMany filter']],
  ])('refuses the body of %s: %j', (action, body, mistakes) => {
    expect(refusalOf(() => act(action, body))).toEqual({ code: 'REQUEST_MALFORMED', mistakes });
  });

  it.each(['frobnicate', 'constructor', '__proto__', 'toString', 'schema', 'CREATE', 'batch'])(
    'refuses the unknown action %s',
    (action) => {
      expect(refusalOf(() => act(action, {}))?.code).toBe('REQUEST_NO_ROUTE');
    },
  );

  it('takes If-Match from the header if the body has none', () => {
    const http = createHttpRequest({ action: 'delete', body: { id: '7' }, ifMatch: '"4"' });
    expect(parseActionRequest(http, limits).ifMatch).toEqual([4]);
  });

  it('takes the action from the route if its path contains the action', () => {
    expect(parseActionRequest(createHttpRequest({ body: { data: [{}] } }), limits, 'import').action).toBe('import');
  });

  it('refuses query parameters of an action', () => {
    expect(refusalOf(() => parseActionRequest(createHttpRequest({ action: 'list', query: 'limit=1' }), limits))?.code).toBe(
      'REQUEST_PARAMETER',
    );
  });

  it('lists at most 100 mistakes of a body', () => {
    const body = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`x${index}`, 1]));
    expect(refusalOf(() => act('list', body))?.mistakes.length).toBe(100);
  });

  it('refuses an import of more than importRows records', () => {
    expect(act('import', { data: [{}, {}, {}, {}] }).data).toHaveLength(limits.importRows);
    expect(refusalOf(() => act('import', { data: [{}, {}, {}, {}, {}] }))?.code).toBe('REQUEST_TOO_LARGE');
  });
});

describe('parseIfMatch', () => {
  it.each([
    [undefined, undefined],
    ['*', '*'],
    ['"3"', [3]],
    ['W/"3"', [3]],
    ['"3", "14",W/"15"', [3, 14, 15]],
  ])('parses the header If-Match: %s', (header, expected) => {
    expect(parseIfMatch(header)).toEqual(expected);
  });

  it.each(['', '3', '"x"', '""', '"0"', '"-1"', '"1e3"', '"3",', '"3" "4"', '*, "3"', 'w/"3"', '"9999999999999999"', '"1",'.repeat(30)])(
    'refuses the header If-Match: %s',
    (header) => {
      expect(refusalOf(() => parseIfMatch(header))).toEqual({ code: 'REQUEST_MALFORMED', mistakes: ['format If-Match'] });
    },
  );
});
