import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { startNewsroom } from './newsroom-service.ts';
import { checkScenarios, type ScenarioContext } from './scenario.ts';

// The tests of this file build on each other.
const it = createChain();

let context: ScenarioContext;
beforeAll(async () => {
  context = await startNewsroom();
  const { service, kept } = context;
  const own = [{ field: 'resource.authorId', operator: 'eq', value: '${user.id}' }];
  await service.createPolicy({
    userId: kept.get('maya') as string,
    rules: [
      { resource: 'Article', action: 'import', conditions: own },
      { resource: 'Article', action: 'delete', conditions: own },
      { resource: 'Comment', action: 'delete', conditions: [{ field: 'resource.rating', operator: 'lt', value: 3 }] },
    ],
  });
  kept.set('article', await service.createRecord('Article', { title: 'Discussed', slug: 'discussed', authorId: kept.get('maya') }));
  kept.set('poor', await service.createRecord('Comment', { articleId: kept.get('article'), text: 'no', rating: 1 }));
  kept.set('fine', await service.createRecord('Comment', { articleId: kept.get('article'), text: 'yes', rating: 5 }));
});
afterAll(() => context.service.close());

describe('a request that is refused halfway', () => {
  checkScenarios(
    () => context,
    [
      {
        name: 'rolls back an import with a denied record, with audit entries',
        as: 'maya',
        send: 'POST /api/Article/import',
        body: {
          data: [
            { title: 'Mine', slug: 'mine', authorId: '{maya}' },
            { title: 'Hers', slug: 'hers', authorId: '{admin}' },
          ],
        },
        status: 403,
        entries: [
          { action: 'import', allowed: true, outcome: 'ACCESS_DENIED' },
          { action: 'import', allowed: false },
        ],
      },
      {
        name: 'the import with a denied record has stored nothing',
        as: 'admin',
        send: 'GET /api/Article?where[slug]=mine',
        status: 200,
        body_has: { count: 0 },
        entries: [{ action: 'list' }],
      },
      {
        name: 'rolls back an import with invalid records, and lists each error with its row',
        as: 'admin',
        send: 'POST /api/Article/import',
        body: {
          data: [
            { title: 'Good', slug: 'good', authorId: '{maya}' },
            { title: 'B', slug: 'bad', authorId: '{maya}' },
          ],
        },
        status: 422,
        body_has: { errors: [{ path: 'data.1.title' }] },
        entries: [{ outcome: 'VALUE_INVALID' }, { outcome: 'VALUE_INVALID' }],
      },
      {
        name: 'rolls back a cascade to a record that the caller may not delete, with audit entries',
        as: 'maya',
        send: 'DELETE /api/Article/{article}',
        status: 403,
        entries: [
          { resource: 'Article', action: 'delete', allowed: true, outcome: 'ACCESS_DENIED' },
          { resource: 'Comment', action: 'delete', recordId: '{poor}', allowed: true, outcome: 'ACCESS_DENIED' },
          { resource: 'Comment', action: 'delete', recordId: '{fine}', allowed: false },
        ],
      },
      {
        name: 'the refused cascade has deleted nothing',
        as: 'admin',
        send: 'GET /api/Comment?total=true',
        status: 200,
        body_has: { total: 2 },
        entries: [{ action: 'list' }],
      },
      {
        name: 'an allowed cascade has an audit entry for each record',
        as: 'admin',
        send: 'DELETE /api/Article/{article}',
        status: 200,
        entries: [
          { resource: 'Article', allowed: true },
          { resource: 'Comment', recordId: '{poor}', allowed: true },
          { resource: 'Comment', recordId: '{fine}', allowed: true },
        ],
      },
      {
        name: 'the allowed cascade has deleted every record',
        as: 'admin',
        send: 'GET /api/Comment?total=true',
        status: 200,
        body_has: { total: 0 },
        entries: [{ action: 'list' }],
      },
    ],
    it,
  );

  it('setNull clears a reference and increments the version of its record', async () => {
    const { service, kept, tokens } = context;
    const token = tokens.get('admin');
    const editor = await service.user({ role: 'editor' });
    const tip = await service.createRecord('Tip', { subject: 'psst', text: 'listen', editorId: editor.id });
    const gone = await service.call('DELETE', `/api/User/${editor.id}`, { token });
    expect(gone.status, gone.text).toBe(200);
    const after = await service.call('GET', `/api/Tip/${tip}`, { token });
    expect(after.at('data.editorId')).toBeNull();
    expect(after.at('data.version')).toBe(2);
    expect(kept.get('maya')).toBeDefined();
  });
});
