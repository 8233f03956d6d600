import { describe, expect, it } from 'vitest';
import { definitionsOf, NEWSROOM } from '../../../test/policy-fixtures.ts';
import type { ContextGroup, Path } from '../../conditions/index.ts';
import { describeLists, describePath, resourcesWithoutPath } from './attribute-paths.ts';

function pathOf(text: string): Path {
  const [group = '', ...keys] = text.split('.');
  return { group: group as ContextGroup, keys, text };
}

const to = (name: string) => ({ type: 'reference', to: name });
/** The newsroom with notes on its articles, and collections of them. */
const NOTED = new Map([
  ...NEWSROOM,
  ...definitionsOf({
    name: 'Note',
    fields: { body: { type: 'string' }, articleId: to('Article'), ids: { type: 'list', of: to('Article') } },
  }),
  ...definitionsOf({
    name: 'Collection',
    fields: { ids: { type: 'list', of: to('Note') }, articleId: { type: 'list', of: to('Article') } },
  }),
]);

describe('describePath', () => {
  const problem = (text: string) => ({ problem: expect.stringContaining(text) });
  const rows: readonly [resource: string, path: string, expected: unknown][] = [
    ['Article', 'resource.views', { kind: 'number', whole: true }],
    ['Article', 'resource.tags', { kind: 'list', itemKind: 'text' }],
    ['Article', 'resource.name', { kind: 'text' }],
    ['Article', 'resource.createdBy', { kind: 'text' }],
    ['Article', 'resource.extra.anything.below', 'any'],
    ['Article', 'resource.titl', problem('resource Article has no field "titl" (did you mean "title"?)')],
    ['Article', 'resource.__proto__', problem('has no field "__proto__"')],
    ['Article', 'resource.title.length', problem('reaches into field "title" of Article')],
    ['Article', 'resource.embargo', problem('is secret')],
    ['Article', 'resource.authorId.email', { kind: 'text' }],
    ['Article', 'resource.authorId.isActive', { kind: 'boolean' }],
    ['Article', 'resource.authorId.name', { kind: 'text' }],
    ['Article', 'resource.authorId.emial', problem('resource User has no field "emial" (did you mean "email"?)')],
    ['Article', 'resource.authorId.password', problem('field "password" of User is secret')],
    ['Article', 'resource.authorId.__proto__', problem('resource User has no field "__proto__"')],
    ['Article', 'resource.authorId.email.domain', problem('reaches into field "email" of User')],
    ['Note', 'resource.articleId.authorId', { kind: 'text' }],
    ['Note', 'resource.articleId.extra.below', 'any'],
    ['Note', 'resource.articleId.authorId.email', { kind: 'text' }],
    ['Note', 'resource.articleId.authorId.createdBy.email', { kind: 'text' }],
    ['Note', 'resource.articleId.authorId.password', problem('field "password" of User is secret')],
    ['Note', 'resource.articleId.authorId.emial', problem('resource User has no field "emial"')],
    ['Article', 'resource.createdBy.email', { kind: 'text' }],
    ['Article', 'user.createdBy.createdBy.isActive', { kind: 'boolean' }],
    ['Note', 'resource.ids.views', { kind: 'number', whole: true }],
    ['Note', 'resource.ids.extra.below', 'any'],
    ['Note', 'resource.ids.viws', problem('resource Article has no field "viws" (did you mean "views"?)')],
    ['Note', 'resource.ids.embargo', problem('field "embargo" of Article is secret')],
    ['Collection', 'resource.ids.ids.authorId.email', { kind: 'text' }],
    // A list of notes here, of articles there.
    ['*', 'resource.ids.id', problem('follows lists of different references')],
    ['*', 'resource.articleId.views', { kind: 'number', whole: true }],
    ['Planned', 'resource.anything', 'any'],
    ['*', 'resource.title', { kind: 'text' }],
    ['*', 'resource.id', { kind: 'text' }],
    // Text here, a number there.
    ['*', 'resource.status', 'any'],
    // Secret here, a boolean there.
    ['*', 'resource.embargo', { kind: 'boolean' }],
    ['*', 'resource.password', problem('is secret')],
    ['*', 'resource.ofNone', 'any'],
    ['Article', 'user.email', { kind: 'text' }],
    ['Article', 'user.department', 'any'],
    ['Article', 'user.password', problem('is secret')],
    ['Article', 'user.email.domain', problem('reaches into')],
    ['Article', 'environment.hour', { kind: 'number', whole: true }],
    ['Article', 'environment.our', problem('environment has no "our" (did you mean "hour"?)')],
    ['Article', 'environment.hour.x', problem('reaches into environment.hour')],
    ['Article', 'request.method', { kind: 'text' }],
    ['Article', 'request.data.title', 'any'],
    ['Article', 'request.data.embargo', problem('is secret')],
    ['Article', 'request.body', problem('request has no "body"')],
  ];
  it.each(rows)('describes the path $1 of $0', (resource, path, expected) => {
    expect(describePath(NOTED, resource)(pathOf(path))).toEqual(expected);
  });

  it('describes paths of up to the maximum number of references', () => {
    const describe = describePath(NOTED, 'Note', { references: 2 });
    expect(describe(pathOf('resource.articleId.authorId.email'))).toEqual({ kind: 'text' });
    expect(describe(pathOf('resource.articleId.authorId.createdBy'))).toEqual({ kind: 'text' });
    expect(describe(pathOf('resource.articleId.authorId.createdBy.email'))).toEqual(
      problem('"resource.articleId.authorId.createdBy.email" follows more than 2 references, the limit of conditionReferences'),
    );
  });

  it('does not offer secret fields', () => {
    expect(JSON.stringify(describePath(NEWSROOM, 'Article')(pathOf('resource.embargoo')))).not.toContain('did you mean');
  });

  it('describes id and role of users without a definition', () => {
    expect(describePath(new Map(), '*')(pathOf('user.id'))).toStrictEqual({ kind: 'text' });
  });
});

describe('describeLists', () => {
  const article = { length: 1, resource: 'Article' };
  it.each<readonly [resource: string, path: string, lists: readonly object[]]>([
    ['Note', 'resource.ids.title', [article]],
    ['Note', 'resource.ids.authorId.email', [article]],
    ['Note', 'resource.ids', []],
    ['Note', 'resource.articleId.title', []],
    ['Note', 'request.ids.title', []],
    [
      'Collection',
      'resource.ids.ids.title',
      [
        { length: 1, resource: 'Note' },
        { ...article, length: 2 },
      ],
    ],
    ['Collection', 'resource.ids.articleId.title', [{ length: 1, resource: 'Note' }]],
    // A list here, a single reference there: it is missing here.
    ['*', 'resource.articleId.title', []],
    // A list of notes, of which only some resources have the field.
    ['*', 'resource.ids.body', [{ length: 1, resource: 'Note' }]],
    ['Planned', 'resource.ids.title', []],
  ])('returns the lists in the path $1 of $0', (resource, path, lists) => {
    expect(describeLists(NOTED, resource)(pathOf(path))).toEqual(lists);
  });
});

describe('lackingResources', () => {
  it('returns the resources without a usable value at the path, and no internal ones', () => {
    expect(resourcesWithoutPath(NEWSROOM, pathOf('resource.title'))).toEqual(['User', 'Desk']);
    expect(resourcesWithoutPath(NEWSROOM, pathOf('resource.embargo'))).toEqual(['User', 'Article']);
    expect(resourcesWithoutPath(definitionsOf(), pathOf('resource.id'))).toEqual([]);
  });
});
