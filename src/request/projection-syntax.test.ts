import { describe, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import { limits, refusalOf, toCall } from './call.fixture.ts';
import { parseActionRequest, parseListRequest, parseRecordRequest } from './record-requests.ts';

const list = (query: string) => parseListRequest(toCall({ query }), limits);
const read = (body: Json) => parseActionRequest(toCall({ action: 'read', body }), limits);

describe('fields', () => {
  it('are names with commas between them, or a list in a body', () => {
    expect(list('fields=title,status').fields).toEqual(['title', 'status']);
    expect(read({ id: '1', fields: ['title', 'status'] }).fields).toEqual(['title', 'status']);
    expect(list('').fields).toBeUndefined();
  });

  it.each<[Json, string]>([
    ['', 'type fields'],
    ['title,', 'type fields'],
    [' title', 'type fields'],
    [[], 'type fields'],
    [null, 'type fields'],
    [{}, 'type fields'],
    [['title', 7], 'type fields'],
    ['title,title', 'duplicate fields'],
    [Array.from({ length: 257 }, (_, index) => `f${index}`), 'count fields'],
  ])('are not %j', (fields, mistake) => {
    expect(refusalOf(() => read({ id: '1', fields }))).toEqual({ code: 'REQUEST_MALFORMED', mistakes: [mistake] });
  });

  it('have no names in brackets', () => {
    expect(refusalOf(() => list('fields[a]=title'))).toEqual({ code: 'REQUEST_PARAMETER', mistakes: ['type fields'] });
  });
});

describe('expand', () => {
  it('names references, and what refers by one', () => {
    expect(list('expand=authorId,comments:Comment.articleId(3),all:Comment.articleId').expand).toEqual([
      { name: 'authorId' },
      { name: 'comments', by: { resource: 'Comment', field: 'articleId', limit: 3 } },
      { name: 'all', by: { resource: 'Comment', field: 'articleId', limit: 20 } },
    ]);
    expect(read({ id: '1', expand: ['authorId'] }).expand).toEqual([{ name: 'authorId' }]);
    expect(parseRecordRequest(toCall({ id: '1', query: 'expand=a' }), 'read').expand).toEqual([{ name: 'a' }]);
  });

  it.each<[Json, string[]]>([
    ['', ['type expand']],
    ['authorId.teamId', ['type expand']],
    ['a:B', ['type expand']],
    ['a:B.c.d', ['type expand']],
    ['a:B.c(', ['type expand']],
    ['a:B.c(0)', ['type expand']],
    ['a:B.c(-1)', ['type expand']],
    ['a:B.c(1e1)', ['type expand']],
    ['a(3)', ['type expand']],
    [':B.c', ['type expand']],
    [[['a']], ['type expand']],
    [7, ['type expand']],
    ['a:B.c(101)', ['range expand']],
    ['a,a', ['duplicate expand']],
    ['a,b,c,d,e,f', ['count expand']],
  ])('is not %j', (expand, mistakes) => {
    expect(refusalOf(() => read({ id: '1', expand }))).toEqual({ code: 'REQUEST_MALFORMED', mistakes });
  });

  it('costs little however much is sent', () => {
    const long = Array.from({ length: 100_000 }, () => 'x'.repeat(50));
    expect(refusalOf(() => read({ id: '1', expand: long }))?.mistakes).toEqual(['count expand', 'duplicate expand']);
  });

  it('is no member where records are listed to be taken elsewhere, changed or deleted', () => {
    for (const action of ['export', 'create', 'update', 'delete', 'createIfNotExists', 'updateIfExists', 'import'])
      expect(refusalOf(() => parseActionRequest(toCall({ action, body: { expand: 'a' } }), limits))?.mistakes).toContain('unknown expand');
    for (const action of ['delete', 'schema'] as const)
      expect(refusalOf(() => parseRecordRequest(toCall({ id: '1', query: 'expand=a' }), action))?.mistakes).toEqual(['unknown expand']);
  });
});
