/** Expanded referenced and referencing records. Each is decided by `read` of its resource, with its own audit entry. */

import { afterAll, beforeAll, describe, expect } from 'vitest';
import { sql } from '../../src/sql.ts';
import { openDatabase } from '../../src/storage/index.ts';
import { createChain } from '../chain.ts';
import { denied, given, is, may, read, shows, startReaders } from './expand-service.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

// The tests of this file build on each other.
const it = createChain();

const UNKNOWN_ID = '01900000-0000-7000-8000-000000000000';

let stage: ScenarioContext;
beforeAll(async () => {
  stage = await startReaders();
});
afterAll(() => stage.service.close());

/** Registers scenarios in which Asa has only these rules. */
function under(name: string, rules: readonly object[], scenarios: readonly Scenario[]): void {
  describe(name, () =>
    checkScenarios(() => stage, [{ ...given(rules), name: `gives the caller the rules for ${name}` }, ...scenarios], it),
  );
}

const everything = may('*', '*');
const articles = [may('read', 'Article'), may('list', 'Article')];
const listed = { action: 'list', resource: 'Article', allowed: true };
const id = (name: string): object => ({ id: `{${name}}` });

under(
  'a reference',
  [...articles, may('read', 'User', is('resource.department', 'eq', 'sports'))],
  [
    shows(
      'expands a reference if its record may be read',
      'GET /api/Article/{one}?expand=authorId',
      { title: 'one', authorId: '{sam}', expand: { authorId: { id: '{sam}', department: 'sports', email: 'user2@example.com' } } },
      [read('Article', 'one'), read('User', 'sam')],
      { body_lacks: ['data.expand.authorId.password', 'data.expand.authorId.expand', 'data.sourceId'] },
    ),
    shows(
      'expands a reference to null if its record may not be read',
      'GET /api/Article/{two}?expand=authorId',
      { authorId: '{pia}', expand: { authorId: null } },
      [read('Article', 'two'), denied('User', 'pia')],
    ),
    shows(
      'expands a reference without a value to null, without a decision',
      'GET /api/Article/{three}?expand=authorId,reviewerIds',
      {
        expand: { authorId: null, reviewerIds: [] },
      },
      [read('Article', 'three')],
    ),
    shows(
      'leaves a record that may not be read out of an expanded list',
      'GET /api/Article/{one}?expand=reviewerIds',
      { reviewerIds: ['{pia}', '{sam}'], expand: { reviewerIds: [id('sam')] } },
      [read('Article', 'one'), denied('User', 'pia'), read('User', 'sam')],
    ),
    shows(
      'decides an expanded record once per request, even if it occurs several times',
      'GET /api/Article?sort=createdAt&expand=authorId,editorId,reviewerIds',
      [
        { title: 'one', expand: { authorId: id('sam'), editorId: id('sam'), reviewerIds: [id('sam')] } },
        { title: 'two', expand: { authorId: null, editorId: id('sam'), reviewerIds: [] } },
        { title: 'three', expand: { authorId: null, editorId: null, reviewerIds: [] } },
      ],
      [listed, read('User', 'sam'), denied('User', 'pia')],
    ),
    shows(
      'expands a reference of a record that the action route reads',
      'POST /api/Article/read',
      { expand: { authorId: id('sam') } },
      [read('Article', 'one'), read('User', 'sam')],
      {
        body: { id: '{one}', expand: ['authorId'] },
      },
    ),
    shows(
      'expands a reference of records that the action route lists',
      'POST /api/Article/list',
      [{ expand: { authorId: id('sam') } }],
      [listed, read('User', 'sam')],
      {
        body: { where: { title: 'one' }, expand: 'authorId' },
      },
    ),
    shows(
      'expands and decides references in each item of a batch',
      'POST /api/batch',
      [{ data: { expand: { authorId: id('sam') } } }, { data: [{ expand: { authorId: id('sam') } }] }],
      [read('Article', 'one'), read('User', 'sam'), listed, read('User', 'sam')],
      {
        body: {
          requests: [
            { resource: 'Article', action: 'read', id: '{one}', expand: ['authorId'] },
            { resource: 'Article', action: 'list', where: { title: 'one' }, expand: ['authorId'] },
          ],
        },
      },
    ),
    shows(
      'expands a reference together with selected fields',
      'GET /api/Article/{one}?fields=title&expand=authorId',
      { expand: { authorId: id('sam') } },
      [read('Article', 'one'), read('User', 'sam')],
      { body_lacks: ['data.authorId', 'data.version'], headers_have: { etag: '"1"' } },
    ),
    shows(
      'decides an expanded record of a list by read, too',
      'GET /api/Article?expand=parentId&where[title]=two',
      [{ expand: { parentId: id('one') } }],
      [listed, read('Article', 'one')],
    ),
  ],
);

under(
  'a condition that follows a reference of the expanded record',
  [...articles, may('read', 'User', is('resource.teamId.label', 'eq', 'north'))],
  [
    shows(
      'evaluates a condition that follows a reference of the expanded record',
      'GET /api/Article?sort=createdAt&expand=authorId',
      [{ expand: { authorId: id('sam') } }, { expand: { authorId: null } }, { expand: { authorId: null } }],
      [listed, read('User', 'sam'), denied('User', 'pia')],
    ),
  ],
);

under(
  'a condition that follows a reference of the caller',
  [...articles, may('read', 'User', is('user.teamId.label', 'eq', 'north'))],
  [
    shows(
      'evaluates a condition on an expanded record that follows a reference of the caller',
      'GET /api/Article/{one}?expand=authorId',
      { expand: { authorId: id('sam') } },
      [read('Article', 'one'), read('User', 'sam')],
    ),
  ],
);

under(
  'a referencing record',
  [...articles, may('read', 'Comment', is('resource.text', 'ne', 'spam'))],
  [
    shows(
      'expands referencing records that may be read, ordered by id',
      'GET /api/Article/{one}?expand=comments:Comment.articleId',
      { expand: { comments: [id('c1'), id('c3'), id('c5')] } },
      [read('Article', 'one'), read('Comment', 'c1'), read('Comment', 'c3'), read('Comment', 'c5')],
      { body_lacks: ['data.expand.comments.0.note', 'data.expand.comments.0.aboutId'] },
    ),
    shows(
      'does not count a referencing record that may not be read towards the limit',
      'GET /api/Article?sort=createdAt&expand=comments:Comment.articleId(2)',
      [{ expand: { comments: [id('c1'), id('c3')] } }, { expand: { comments: [id('c6')] } }, { expand: { comments: [] } }],
      [listed, read('Comment', 'c1'), read('Comment', 'c3'), read('Comment', 'c6')],
    ),
    shows(
      'expands referencing records of the same resource',
      'GET /api/Article/{one}?expand=children:Article.parentId',
      { expand: { children: [{ id: '{two}', title: 'two' }] } },
      [read('Article', 'one'), read('Article', 'two')],
    ),
  ],
);

under(
  'a referencing record under a condition that SQL cannot express',
  [
    ...articles,
    may('read', 'Comment', is('resource.text', 'matches', '^(plain|late)$'), is('resource.authorId.department', 'eq', 'sports')),
  ],
  [
    shows(
      'expands referencing records that a condition outside SQL allows',
      'GET /api/Article?sort=createdAt&expand=comments:Comment.articleId(2)',
      [{ expand: { comments: [id('c1'), id('c3')] } }, { expand: { comments: [] } }, { expand: { comments: [] } }],
      [listed, read('Comment', 'c1'), read('Comment', 'c3')],
    ),
  ],
);

under('a referencing record of a resource that may not be read', articles, [
  shows(
    'expands no referencing record of a resource that may not be read, with one audit entry for all of them',
    'GET /api/Article?sort=createdAt&expand=comments:Comment.articleId,again:Comment.articleId(1)',
    [{ expand: { comments: [], again: [] } }, { expand: { comments: [], again: [] } }, { expand: { comments: [], again: [] } }],
    [listed, { action: 'read', resource: 'Comment', allowed: false }],
  ),
  shows(
    'does not decide on referencing records if the page is empty',
    'GET /api/Article?where[title]=none&expand=comments:Comment.articleId',
    [],
    [listed],
  ),
]);

describe('a reference to a record that does not exist', () => {
  it('expands a reference to a missing record like one to an unreadable record, and decides it once', async () => {
    const { service, tokens, kept } = stage;
    const token = tokens.get('asa');
    const reviewerIds = JSON.stringify([UNKNOWN_ID, kept.get('sam'), UNKNOWN_ID]);
    const database = await openDatabase({ database: service.database });
    await database.transaction((tx) => tx.run(sql`UPDATE "Article" SET "reviewerIds" = ${reviewerIds} WHERE "title" IN ('two', 'three')`));
    await database.close();
    const reply = await service.call('GET', '/api/Article?where[title][in]=two,three&expand=reviewerIds', { token });
    expect(reply.at('data')).toMatchObject([{ expand: { reviewerIds: [] } }, { expand: { reviewerIds: [] } }]);
    const entries = await service.decisions(`limit=3&userId=${kept.get('asa')}`);
    expect(entries.map(({ action, recordId, allowed }) => `${action} ${recordId ?? ''} ${allowed}`).toSorted()).toEqual(
      ['list  true', `read ${UNKNOWN_ID} false`, `read ${kept.get('sam')} false`].toSorted(),
    );
  });
});

under(
  'the record itself',
  [everything],
  [
    {
      ...shows('accepts a record as its own parent', 'PUT /api/Article/{three}', { parentId: '{three}' }, [
        { action: 'update', allowed: true },
      ]),
      body: { parentId: '{three}' },
    },
    shows(
      'decides once on a record that is its own parent and child',
      'GET /api/Article/{three}?expand=parentId,children:Article.parentId&fields=title',
      { expand: { parentId: { id: '{three}', version: 2 }, children: [id('three')] } },
      [read('Article', 'three')],
    ),
  ],
);
