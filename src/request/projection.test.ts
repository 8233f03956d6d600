import { describe, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import { problemOf } from '../resources/article.fixture.ts';
import { parseDefinition } from '../resources/parse-definition.ts';
import type { Definitions, Resource } from '../resources/resource.ts';
import type { HttpRequest } from './http-messages.ts';
import { createHttpRequest, limits, refusalOf } from './http-request.fixture.ts';
import { type ProjectionPart, resolveProjection } from './projection.ts';
import { parseActionRequest, parseDeleteRequest, parseListRequest, parseRecordRequest } from './record-requests.ts';

const definitions: Definitions = new Map(
  [
    { name: 'User', fields: { name: { type: 'string' } } },
    {
      name: 'Article',
      fields: {
        title: { type: 'string' },
        authorId: { type: 'reference', to: 'User' },
        reviewerIds: { type: 'list', of: { type: 'reference', to: 'User' } },
        sourceId: { type: 'reference', to: 'User', writeOnly: true },
      },
    },
    { name: '_Hidden', fields: { articleId: { type: 'reference', to: 'Article' } } },
  ].map((source) => {
    const { resource } = parseDefinition(source, { builtIn: true });
    if (resource === undefined) throw new Error(source.name);
    return [resource.name, resource];
  }),
);
const article = definitions.get('Article') as Resource;
const user = definitions.get('User') as Resource;
const by = (resource: string, field: string) => ({ name: 'x', by: { resource, field, limit: 7 } });

describe('resolveProjection', () => {
  it('resolves references and referencing records', () => {
    const { expansions } = resolveProjection(definitions, article, { expand: [{ name: 'authorId' }, { name: 'reviewerIds' }] });
    expect(expansions.map(({ name, kind, of }) => [name, kind, of.name])).toEqual([
      ['authorId', 'reference', 'User'],
      ['reviewerIds', 'references', 'User'],
    ]);
    const referencing = resolveProjection(definitions, user, { expand: [by('Article', 'authorId')] }).expansions;
    expect(referencing.map(({ name, kind, field, of, limit }) => [name, kind, field.name, of.name, limit])).toEqual([
      ['x', 'referencing', 'authorId', 'Article', 7],
    ]);
  });

  it('shows all fields if none is chosen', () => {
    expect(resolveProjection(definitions, article, {})).toEqual({ expansions: [] });
    expect(resolveProjection(definitions, article, { fields: ['title'] }).fields).toEqual(new Set(['title']));
  });

  /** Returns the problem as JSON, without the given name. */
  const refusalWithout = (name: string, resource: Resource, part: ProjectionPart): string => {
    const { code, detail, extras } = problemOf(() => resolveProjection(definitions, resource, part));
    return JSON.stringify({ code, detail, extras }).replaceAll(name, '…');
  };
  const fieldsOf = (name: string) => refusalWithout(name, article, { fields: [name] });
  const expandOf = (name: string) => refusalWithout(name, article, { expand: [{ name }] });
  const referencingOf = (name: string) => refusalWithout(name, user, { expand: [by('Article', name)] });

  it.each(['sourceId', 'reviewerIds', 'constructor', '__proto__'])(
    'refuses the field %s of referencing records with the same text as an unknown one',
    (name) => expect(referencingOf(name)).toBe(referencingOf('zqxzqxzq')),
  );

  it.each(['sourceId', 'constructor', '__proto__'])('refuses to show or expand %s with the same text as an unknown name', (name) => {
    expect([fieldsOf(name), expandOf(name)]).toEqual([fieldsOf('zqxzqxzq'), expandOf('zqxzqxzq')]);
  });

  it('refuses an internal resource with the same text as an unknown one', () => {
    const refusalOfResource = (name: string) => refusalWithout(name, article, { expand: [by(name, 'articleId')] });
    expect(refusalOfResource('_Hidden')).toBe(refusalOfResource('Zqxzqxzq'));
  });

  it('lists every name that cannot be used', () => {
    const part = { fields: ['title', 'nope'], expand: [{ name: 'gone' }, by('Article', 'nothing')] };
    expect(refusalOf(() => resolveProjection(definitions, article, part))).toEqual({
      code: 'REQUEST_FIELD',
      mistakes: ['field fields.nope', 'field expand.gone', 'field expand.x'],
    });
  });
});

const list = (query: string) => parseListRequest(createHttpRequest({ query }), limits);
const read = (body: Json) => parseActionRequest(createHttpRequest({ action: 'read', body }), limits);

describe('the fields member', () => {
  it('fields is a list of names separated by commas, or an array in a body', () => {
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
    [Array.from({ length: 257 }, (_, index) => `f${index}`), 'tooMany fields'],
  ])('refuses fields of %j', (fields, mistake) => {
    expect(refusalOf(() => read({ id: '1', fields }))).toEqual({ code: 'REQUEST_MALFORMED', mistakes: [mistake] });
  });

  it('refuses fields with names in brackets', () => {
    expect(refusalOf(() => list('fields[a]=title'))).toEqual({ code: 'REQUEST_PARAMETER', mistakes: ['type fields'] });
  });
});

describe('the expand member', () => {
  it('expand names references, and fields of referencing records', () => {
    expect(list('expand=authorId,comments:Comment.articleId(3),all:Comment.articleId').expand).toEqual([
      { name: 'authorId' },
      { name: 'comments', by: { resource: 'Comment', field: 'articleId', limit: 3 } },
      { name: 'all', by: { resource: 'Comment', field: 'articleId', limit: 20 } },
    ]);
    expect(read({ id: '1', expand: ['authorId'] }).expand).toEqual([{ name: 'authorId' }]);
    expect(parseRecordRequest(createHttpRequest({ id: '1', query: 'expand=a' }), 'read').expand).toEqual([{ name: 'a' }]);
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
    ['a,b,c,d,e,f', ['tooMany expand']],
  ])('refuses expand of %j', (expand, mistakes) => {
    expect(refusalOf(() => read({ id: '1', expand }))).toEqual({ code: 'REQUEST_MALFORMED', mistakes });
  });

  it('parses expand only up to its limit', () => {
    const long = Array.from({ length: 100_000 }, () => 'x'.repeat(50));
    expect(refusalOf(() => read({ id: '1', expand: long }))?.mistakes).toEqual(['tooMany expand', 'duplicate expand']);
  });

  it('refuses expand for exports, writes and schemas', () => {
    for (const action of ['export', 'create', 'update', 'delete', 'createIfNotExists', 'updateIfExists', 'import'])
      expect(refusalOf(() => parseActionRequest(createHttpRequest({ action, body: { expand: 'a' } }), limits))?.mistakes).toContain(
        'unknown expand',
      );
    const withExpand = createHttpRequest({ id: '1', query: 'expand=a' });
    for (const parse of [parseDeleteRequest, (http: HttpRequest) => parseRecordRequest(http, 'schema')])
      expect(refusalOf(() => parse(withExpand))?.mistakes).toEqual(['unknown expand']);
  });
});
