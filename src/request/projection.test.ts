import { describe, expect, it } from 'vitest';
import { problemOf } from '../resources/article.fixture.ts';
import { parseDefinition } from '../resources/parse-definition.ts';
import type { Definitions, Resource } from '../resources/resource.ts';
import { resolveProjection } from './projection.ts';

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

describe('readShown', () => {
  it('resolves what a record refers to, and what refers to it', () => {
    const { expansions } = resolveProjection(definitions, article, { expand: [{ name: 'authorId' }, { name: 'reviewerIds' }] });
    expect(expansions.map(({ name, kind, of }) => [name, kind, of.name])).toEqual([
      ['authorId', 'reference', 'User'],
      ['reviewerIds', 'references', 'User'],
    ]);
    const referring = resolveProjection(definitions, user, { expand: [by('Article', 'authorId')] }).expansions;
    expect(referring.map(({ name, kind, field, of, limit }) => [name, kind, field.name, of.name, limit])).toEqual([
      ['x', 'referring', 'authorId', 'Article', 7],
    ]);
  });

  it('shows all fields where none is chosen', () => {
    expect(resolveProjection(definitions, article, {})).toEqual({ expansions: [] });
    expect(resolveProjection(definitions, article, { fields: ['title'] }).fields).toEqual(new Set(['title']));
  });

  it.each(['sourceId', 'zqxzqxzq', 'constructor', '__proto__'])('answers alike whether a name is secret or unknown: %s', (name) => {
    const told = (ask: (name: string) => object) =>
      JSON.stringify(problemOf(() => resolveProjection(definitions, article, ask(name))).extras).replaceAll(name, '…');
    expect(told((one) => ({ fields: [one] }))).toBe(
      '{"errors":[{"path":"fields.…","code":"field","detail":"Article has no field \\"…\\" to show"}]}',
    );
    expect(told((one) => ({ expand: [{ name: one }] }))).toBe(
      '{"errors":[{"path":"expand.…","code":"field","detail":"Article has no field \\"…\\" to expand (known: authorId, reviewerIds)"}]}',
    );
    const { detail } = problemOf(() => resolveProjection(definitions, user, { expand: [by('Article', name)] }));
    expect(detail.replaceAll(name, '…')).toBe('expand.x: no field "…" of a resource "Article" refers to one User');
  });

  it('knows no internal resource', () => {
    const { detail } = problemOf(() => resolveProjection(definitions, article, { expand: [by('_Hidden', 'articleId')] }));
    expect(detail).toBe('expand.x: no field "articleId" of a resource "_Hidden" refers to one Article');
  });

  it('takes no list of references for a reference from elsewhere', () => {
    const { detail } = problemOf(() => resolveProjection(definitions, user, { expand: [by('Article', 'reviewerIds')] }));
    expect(detail).toBe('expand.x: no field "reviewerIds" of a resource "Article" refers to one User');
  });
});
