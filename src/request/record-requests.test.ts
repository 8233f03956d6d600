import { describe, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import type { ApiRequest } from './api-request.ts';
import { bare, limits, refusalOf, toCall } from './call.fixture.ts';
import { parseCreateRequest, parseListRequest, parseRecordRequest, parseUpdateRequest } from './record-requests.ts';

const list = (query: string): ApiRequest => parseListRequest(toCall({ query }), limits);

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
  ])('reads %s', (query, expected) => {
    expect(list(query)).toEqual({ ...bare, typed: false, action: 'list', ...expected });
  });

  it.each<[string, readonly string[]]>([
    ['limit=0', ['range limit']],
    ['limit=1001', ['range limit']],
    ['limit=-1', ['type limit']],
    ['limit=1e3', ['type limit']],
    ['limit=%205', ['type limit']],
    ['limit=0x1', ['type limit']],
    ['limit=NaN', ['type limit']],
    ['limit=', ['type limit']],
    ['limit=5.0', ['type limit']],
    ['limit[gt]=5', ['type limit']],
    ['limit=99999999999999999999', ['type limit']],
    ['offset=-1', ['type offset']],
    ['offset=9999999999', ['range offset']],
    ['total=1', ['type total']],
    ['total', ['type total']],
    ['cursor=', ['type cursor']],
    [`cursor=${'x'.repeat(4097)}`, ['type cursor']],
    ['cursor=a&offset=1', ['duplicate cursor']],
    ['sort=', ['type sort']],
    ['sort=a,', ['type sort']],
    ['sort=-', ['type sort']],
    ['sort=a,b,c', ['count sort']],
    ['sort=a,-a', ['duplicate sort']],
    ['sort[a]=1', ['type sort']],
    ['where=text', ['type where']],
    ['where[a]=1&where[b]=1&where[c]=1&where[d]=1&where[e]=1&where[f]=1', ['count where']],
    ['limt=5&limit=x&page=2', ['unknown limt', 'unknown page', 'type limit']],
    ['__proto__=1', ['unknown __proto__']],
  ])('refuses %s', (query, mistakes) => {
    expect(refusalOf(() => list(query))).toEqual({ code: 'REQUEST_PARAMETER', mistakes });
  });

  it('says what a mistyped parameter was probably meant to be', () => {
    expect(() => list('limt=5')).toThrow('unknown query parameter "limt" (did you mean "limit"?)');
  });
});

describe('the other verbs', () => {
  it('read one record, and its version for a delete alone', () => {
    const call = toCall({ id: '7', ifMatch: '"3"' });
    expect(parseRecordRequest(call, 'read')).toEqual({ ...bare, action: 'read', id: '7' });
    expect(parseRecordRequest(call, 'delete')).toEqual({ ...bare, action: 'delete', id: '7', ifMatch: [3] });
    expect(parseRecordRequest(toCall({}), 'schema')).toEqual({ ...bare, action: 'schema' });
  });

  it('take the body as the data', () => {
    expect(parseCreateRequest(toCall({ body: { title: 'x' } }))).toEqual({ ...bare, action: 'create', data: { title: 'x' } });
    const update = toCall({ id: '7', body: { title: null }, ifMatch: '*' });
    expect(parseUpdateRequest(update)).toEqual({ ...bare, action: 'update', id: '7', data: { title: null }, ifMatch: '*' });
  });

  it.each<[string, Json | undefined]>([
    ['nothing', undefined],
    ['null', null],
    ['an array', []],
    ['a text', 'x'],
    ['a number', 1],
  ])('refuse %s as data', (_, body) => {
    const sent = { id: '7', body };
    expect(refusalOf(() => parseCreateRequest(toCall(sent)))?.code).toBe('REQUEST_MALFORMED');
    expect(refusalOf(() => parseUpdateRequest(toCall(sent)))?.code).toBe('REQUEST_MALFORMED');
  });

  it('refuse query parameters and bodies that would mean nothing', () => {
    expect(refusalOf(() => parseCreateRequest(toCall({ query: 'limit=1', body: {} })))?.code).toBe('REQUEST_PARAMETER');
    expect(refusalOf(() => parseRecordRequest(toCall({ id: '7', query: 'force=1' }), 'delete'))?.code).toBe('REQUEST_PARAMETER');
    expect(refusalOf(() => parseRecordRequest(toCall({ id: '7', body: { where: {} } }), 'delete'))?.code).toBe('REQUEST_MALFORMED');
  });
});
