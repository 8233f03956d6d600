import { describe, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import type { ApiRequest } from './api-request.ts';
import { bare, limits, refusalOf, toCall } from './call.fixture.ts';
import { parseActionRequest } from './record-requests.ts';

const act = (action: string, body?: Json): ApiRequest => parseActionRequest(toCall({ action, body }), limits);

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
  ])('%s reads %j', (action, body, expected) => {
    const read = act(action, body);
    expect(read).toEqual({ ...bare, action, ...expected });
  });

  it.each<[string, Json | undefined, readonly string[]]>([
    ['create', undefined, ['required data']],
    ['create', { data: [] }, ['type data']],
    ['create', { data: null }, ['type data']],
    ['create', { dta: {}, id: '7' }, ['unknown dta', 'unknown id', 'required data']],
    ['create', { data: {}, constructor: 1 }, ['unknown constructor']],
    ['read', { id: 7 }, ['type id']],
    ['read', { id: { $ne: null } }, ['type id']],
    ['read', { id: '' }, ['type id']],
    ['read', { id: 'x'.repeat(257) }, ['type id']],
    ['update', { id: '7' }, ['required data']],
    ['update', { id: '7', data: {}, ifMatch: -1 }, ['type ifMatch']],
    ['delete', {}, ['required id']],
    ['list', { limit: '5' }, ['type limit']],
    ['list', { limit: 1.5 }, ['range limit']],
    ['list', { total: 'true' }, ['type total']],
    ['list', { total: null }, ['type total']],
    ['list', { sort: [1] }, ['type sort']],
    ['list', { sort: {} }, ['type sort']],
    ['list', { where: [] }, ['type where']],
    ['list', { where: { a: {} } }, ['type where.a']],
    ['list', { where: { a: { in: [1, 2, 3, 4] } } }, ['count where.a']],
    ['list', { where: { a: { gt: 1, lt: 2, ne: 3, gte: 4, lte: 5, in: [1] } } }, ['count where']],
    ['export', { limit: 5001 }, ['range limit']],
    ['import', { data: {} }, ['type data']],
    ['import', { data: [] }, ['type data']],
    ['import', { data: [{}, 1, null] }, ['type data.1', 'type data.2']],
    ['createIfNotExists', { data: {} }, ['required filter']],
    ['createIfNotExists', { filter: {}, data: {} }, ['type filter']],
    ['createIfNotExists', { filter: [1], data: {} }, ['type filter']],
    ['createIfNotExists', { filter: { email: {} }, data: {} }, ['type filter.email']],
    ['createIfNotExists', { filter: { a: { in: [1, 2, 3, 4] } }, data: {} }, ['count filter.a']],
    ['updateIfExists', { filter: { a: { gt: 1, lt: 2, ne: 3, gte: 4, lte: 5, in: [1] } }, data: {} }, ['count filter']],
    ['updateIfExists', { filter: { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 }, data: {} }, ['count filter']],
  ])('%s refuses %j', (action, body, mistakes) => {
    expect(refusalOf(() => act(action, body))).toEqual({ code: 'REQUEST_MALFORMED', mistakes });
  });

  it.each(['frobnicate', 'constructor', '__proto__', 'toString', 'schema', 'CREATE', 'batch'])('knows no action %s', (action) => {
    expect(refusalOf(() => act(action, {}))?.code).toBe('REQUEST_NO_ROUTE');
  });

  it('takes If-Match from the header where the body has none', () => {
    const call = toCall({ action: 'delete', body: { id: '7' }, ifMatch: '"4"' });
    expect(parseActionRequest(call, limits).ifMatch).toEqual([4]);
  });

  it('takes the action from a route that spells it out', () => {
    expect(parseActionRequest(toCall({ body: { data: [{}] } }), limits, 'import').action).toBe('import');
  });

  it('has no query parameters', () => {
    expect(refusalOf(() => parseActionRequest(toCall({ action: 'list', query: 'limit=1' }), limits))?.code).toBe('REQUEST_PARAMETER');
  });

  it('lists a bounded number of mistakes', () => {
    const body = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`x${index}`, 1]));
    expect(refusalOf(() => act('list', body))?.mistakes.length).toBe(100);
  });

  it('imports a bounded number of records', () => {
    expect(act('import', { data: [{}, {}, {}, {}] }).data).toHaveLength(limits.importRows);
    expect(refusalOf(() => act('import', { data: [{}, {}, {}, {}, {}] }))?.code).toBe('REQUEST_TOO_LARGE');
  });
});
