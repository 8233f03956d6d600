import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RuleInput } from '../../authz/policies/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { createPolicy, loadPolicy } from '../policies/policy-records.ts';
import { define, failure } from '../storage.fixture.ts';
import { type MigrationResult, migrate, planMigration } from './migrate.ts';
import { blocked, kinds, type MigrationTest, openMigrationTest, stepOf } from './migration.fixture.ts';

type Sources = Parameters<typeof define>[0];

let test: MigrationTest;
beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

const apply = (sources: Sources): Promise<MigrationResult> => migrate(test.database, define(sources));
const text: JsonObject = { type: 'string' };
const article: JsonObject = { fields: { title: { ...text, index: true }, note: text } };
const comment = (to: string): JsonObject => ({ fields: { articleId: { type: 'reference', to, onDelete: 'cascade' }, body: text } });

/** An article with a comment, both kept. */
async function populate(sources: Sources = { Article: article, Comment: comment('Article') }): Promise<void> {
  await apply(sources);
  await test.database.transaction(async (tx) => {
    await tx.run(sql`INSERT INTO "Article" ("id", "title", "note") VALUES ('a1', 'kept', 'n')`);
    if (sources['Comment'] !== undefined) await tx.run(sql`INSERT INTO "Comment" ("id", "articleId") VALUES ('c1', 'a1')`);
  });
}

describe('a renamed resource', () => {
  const post = { ...article, renamedFrom: 'Article' };

  it('a renamed resource keeps its records, and references to them', async () => {
    await populate();
    const renamed = await apply({ Post: post, Comment: comment('Post') });
    expect(kinds(renamed)).toEqual(['renameTable', 'dropIndex', 'createIndex']);
    expect(await test.rows('Post')).toMatchObject([{ id: 'a1', title: 'kept' }]);
    expect(await test.rows('Comment')).toMatchObject([{ articleId: 'a1' }]);
    const dangling = test.database.transaction((tx) => tx.run(sql`DELETE FROM "Post"`));
    expect(await failure(dangling)).toMatchObject({ constraint: 'reference' });
    for (const more of [{}, { thorough: true }]) {
      expect((await migrate(test.database, define({ Post: post, Comment: comment('Post') }), more)).plan.steps).toEqual([]);
    }
    expect((await test.rows('_Definition')).map(({ id }) => id)).not.toContain('Article');
  });

  it('a renamed resource keeps its archived fields, and those of resources that reference it', async () => {
    await populate();
    await apply({ Article: { fields: { title: { type: 'string', index: true } } } });
    await apply({ Post: { fields: { title: { type: 'string', index: true } }, renamedFrom: 'Article' } });
    const back = await apply({ Post: article, Comment: comment('Post') });
    expect([back.plan.held, kinds(back)]).toEqual([[], ['bringBack note', 'bringBack']]);
    expect(await test.rows('Post')).toMatchObject([{ note: 'n' }]);
    expect(await test.rows('Comment')).toMatchObject([{ articleId: 'a1' }]);
  });

  it('archived lists of references still reference a renamed resource', async () => {
    const list = { type: 'list', of: { type: 'reference', to: 'Article' } };
    await apply({ Article: article, Issue: { fields: { articles: list, number: text } } });
    await test.database.transaction((tx) => tx.run(sql`INSERT INTO "Issue" ("id", "articles") VALUES ('i1', '["a1"]')`));
    await apply({ Article: article, Issue: { fields: { number: text } } });
    await apply({ Post: post, Issue: { fields: { number: text } } });
    const back = await apply({
      Post: post,
      Issue: { fields: { articles: { type: 'list', of: { type: 'reference', to: 'Post' } }, number: text } },
    });
    expect(kinds(back)).toEqual(['bringBack articles']);
    expect(await test.rows('Issue')).toMatchObject([{ articles: '["a1"]' }]);
  });

  it('a renamed resource may change in other ways at the same time; if that is refused, it keeps its name', async () => {
    await populate();
    const more = await apply({
      Post: { ...post, fields: { title: text, rank: { type: 'integer', default: 3 } } },
      Comment: comment('Post'),
    });
    expect(kinds(more)).toEqual(['renameTable', 'dropIndex', 'addColumn rank', 'backfill rank', 'keepAside note']);
    expect(await test.rows('Post')).toMatchObject([{ title: 'kept', rank: 3 }]);
    const refused = await apply({
      Text: { renamedFrom: 'Post', fields: { title: text, must: { ...text, required: true } } },
      Comment: comment('Text'),
    });
    expect(refused.done).toEqual([]);
    expect(refused.plan.held).toEqual(['Text', 'Comment']);
    expect(['Text', 'Post', 'Comment'].filter((name) => refused.definitions.has(name))).toEqual(['Post', 'Comment']);
    expect(await test.rows('Post')).toHaveLength(1);
  });

  it('a renamed resource waits for a refused resource that references it by its former name', async () => {
    await populate();
    const sources = { Post: post, Comment: { fields: { articleId: { type: 'reference', to: 'Post' }, body: { type: 'password' } } } };
    const migrated = await apply(sources);
    expect([migrated.done, migrated.plan.held]).toEqual([[], ['Comment', 'Post']]);
    expect([...migrated.definitions.keys()].filter((name) => ['Article', 'Post', 'Comment'].includes(name))).toEqual([
      'Comment',
      'Article',
    ]);
  });

  it('a renamed resource may differ from its former name only in case', async () => {
    await populate({ Article: article });
    const migrated = await apply({ ARTICLE: post });
    expect(migrated.plan.held).toEqual([]);
    expect(await test.rows('ARTICLE')).toMatchObject([{ title: 'kept' }]);
  });

  it('refuses renamedFrom that is added too late, because the former records would stay archived', async () => {
    await populate({ Article: article });
    await apply({ Post: article });
    const late = await apply({ Post: post, Other: { fields: { note: text } } });
    const beside = 'Post is already in force, so it cannot be renamed from Article, which is archived';
    expect(blocked(late)).toEqual([`${beside}; name the resource Article again to restore those records, or remove renamedFrom`]);
    expect([late.plan.held, kinds(late)]).toEqual([['Post'], ['createTable']]);
    await apply({ Article: article });
    expect(await test.rows('Article')).toMatchObject([{ title: 'kept' }]);
  });

  it('a rename is not mistaken for a restore of an archived resource', async () => {
    await populate({ Article: article });
    await apply({});
    await apply({ Post: article });
    const migrated = await apply({ Article: { ...article, renamedFrom: 'Post' } });
    expect(blocked(migrated)[0]).toMatch(/table Article .*records/);
    expect(migrated.definitions.has('Post')).toBe(true);
  });

  it('a resource can be renamed back', async () => {
    await populate({ Article: article });
    await apply({ Post: post });
    const back = await apply({ Article: { fields: { title: { ...text, index: true } }, renamedFrom: 'Post' } });
    expect(kinds(back)).toEqual(['renameTable', 'dropIndex', 'createIndex', 'keepAside note']);
    await apply({ Post: { fields: { title: { ...text, index: true } }, renamedFrom: 'Article' } });
    expect(kinds(await apply({ Post: article }))).toEqual(['bringBack note']);
  });

  it('refuses a name that differs only in case from an archived one', async () => {
    await populate({ Article: article });
    await apply({});
    await apply({ Post: article });
    const migrated = await apply({ ARTICLE: { ...article, renamedFrom: 'Post' } });
    expect(blocked(migrated)[0]).toContain(
      'Post cannot be renamed to ARTICLE, because the table Article exists and has records of its own',
    );
    expect([migrated.done, migrated.definitions.has('Post')]).toEqual([[], true]);
  });

  it('archives a resource that is renamed without renamedFrom, and creates a new one', async () => {
    await populate({ Article: article });
    expect(kinds(await apply({ Post: article }))).toEqual(['createTable', 'createIndex', 'keepAside']);
    expect(await test.rows('Article')).toHaveLength(1);
  });
});

describe('policies that contain a renamed name', () => {
  const by = 'admin-1';
  const rule = (resource: string, conditions: readonly JsonObject[], more: Partial<RuleInput> = {}): RuleInput => {
    return { resource, action: 'read', effect: 'ALLOW', conditions, priority: 100, isActive: true, ...more };
  };
  const equal = (field: string, value: JsonObject[string] = 'x'): JsonObject => ({ field, operator: 'eq', value });

  /** Makes a policy of these rules; answers what they say now. */
  async function makePolicy(...rules: readonly RuleInput[]): Promise<() => Promise<unknown[]>> {
    const input = { name: 'P', type: 'CUSTOM', isActive: false, priority: 100, tags: [], rules } as const;
    const { id } = await test.database.transaction((tx) => createPolicy(tx, input, { by }));
    return async () => {
      const policy = await test.database.transaction((tx) => loadPolicy(tx, id));
      return policy?.rules.map(({ resource, conditions }) => [resource, ...conditions]) ?? [];
    };
  }

  it('rewrites policies for a renamed field, wherever a path reads it', async () => {
    await populate();
    const rules = await makePolicy(
      rule('Article', [equal('resource.title'), { anyOf: [equal('resource.title', '${request.data.title}')] }]),
      rule('Comment', [equal('resource.articleId.title'), equal('resource.body', '${resource.articleId.title}!')]),
      rule('Comment', [equal('resource.title')]),
      rule('*', [{ field: 'title', context: 'resource', operator: 'isNull' }]),
    );
    const revision = await test.revision();
    const sources = { Article: { fields: { headline: { ...text, renamedFrom: 'title' }, note: text } }, Comment: comment('Article') };
    const plan = await planMigration(test.database, define(sources));
    expect(stepOf(plan.steps, 'renameColumn')).toMatchObject({
      risk: 'safe',
      rules: [{ rule: 'rule 1' }, { rule: 'rule 2' }, { rule: 'rule 4' }],
    });
    await apply(sources);
    expect(await rules()).toEqual([
      ['Article', equal('resource.headline'), { anyOf: [equal('resource.headline', '${request.data.headline}')] }],
      ['Comment', equal('resource.articleId.headline'), equal('resource.body', '${resource.articleId.headline}!')],
      ['Comment', equal('resource.title')],
      ['*', { field: 'headline', context: 'resource', operator: 'isNull' }],
    ]);
    const history = await test.rows('_PolicyHistory');
    expect(history.map(({ changedBy, fromEpoch, toEpoch }) => [changedBy, fromEpoch, toEpoch])).toEqual([
      [by, revision, revision + 1],
      ['evolution', revision + 1, null],
    ]);
    expect(JSON.stringify(history[0])).toContain('resource.title');
    expect(await test.rows('_Policy')).toMatchObject([{ version: revision + 1 }]);
  });

  it('rewrites policies for a renamed reference that a path follows to another one', async () => {
    const reference = (to: string, more: JsonObject = {}): JsonObject => ({ type: 'reference', to, ...more });
    const sourcesWith = (boss: JsonObject): Sources => ({
      User: { fields: boss },
      Article: { fields: { authorId: reference('User') } },
      Comment: { fields: { articleId: reference('Article'), articleIds: { type: 'list', of: reference('Article') } } },
    });
    await apply(sourcesWith({ bossId: reference('User') }));
    const on = (name: string) => equal(`resource.articleId.authorId.${name}.createdBy.${name}`, `\${resource.articleIds.authorId.${name}}`);
    const rules = await makePolicy(rule('Comment', [on('bossId')]));
    await apply(sourcesWith({ leadId: reference('User', { renamedFrom: 'bossId' }) }));
    expect(await rules()).toEqual([['Comment', on('leadId')]]);
  });

  it('rewrites policies for a renamed field of users', async () => {
    const user = (fields: JsonObject): Sources => ({ User: { fields: { email: { type: 'email' }, ...fields } } });
    await apply(user({ team: text }));
    const rules = await makePolicy(rule('*', [equal('user.team'), equal('resource.createdBy', '${user.team}')]));
    await apply(user({ department: { ...text, renamedFrom: 'team' } }));
    expect(await rules()).toEqual([['*', equal('user.department'), equal('resource.createdBy', '${user.department}')]]);
  });

  it('rewrites policies for a renamed resource', async () => {
    await populate();
    const rules = await makePolicy(rule('Article', [equal('resource.title')]), rule('Comment', []));
    const renamed = await apply({ Post: { ...article, renamedFrom: 'Article' }, Comment: comment('Post') });
    expect(stepOf(renamed.done, 'renameTable').reason).toBe(
      'Article is renamed to Post and keeps its records; rule 1 of policy "P" is rewritten',
    );
    expect(await rules()).toEqual([['Post', equal('resource.title')], ['Comment']]);
  });

  it('rewrites policies for a renamed resource and its field at once', async () => {
    await populate({ Article: article });
    const rules = await makePolicy(rule('Article', [equal('resource.title')]));
    const both = { Post: { renamedFrom: 'Article', fields: { headline: { ...text, renamedFrom: 'title' }, note: text } } };
    expect(stepOf((await apply(both)).done, 'renameColumn').reason).toMatch(/rule 1 of policy "P".*rewritten/);
    expect(await rules()).toEqual([['Post', equal('resource.headline')]]);
  });

  it('needs confirmation if an expression reads a field of a resource that is renamed at once', async () => {
    await populate({ Article: article });
    await makePolicy(rule('Article', [{ expression: 'resource.title == "x"' }]));
    const both = { Post: { renamedFrom: 'Article', fields: { headline: { ...text, renamedFrom: 'title' }, note: text } } };
    expect(stepOf((await apply(both)).plan.steps, 'renameColumn')).toMatchObject({
      risk: 'lossy',
      reason: expect.stringContaining('rule 1 of policy "P" would break'),
    });
  });

  it.each([
    ['an expression', rule('Article', [{ expression: 'resource.title.startsWith("x")' }])],
    ['a rule on all resources, of which others have the field', rule('*', [equal('resource.title')])],
  ])('needs confirmation if %s would break', async (_, broken) => {
    const sources = { Article: article, Tip: article };
    await populate(sources);
    const rules = await makePolicy({ ...broken, description: 'the broken one' });
    const after = { Article: { fields: { headline: { ...text, renamedFrom: 'title' }, note: text } }, Tip: article };
    const { plan, done } = await apply(after);
    expect(done).toEqual([]);
    expect(stepOf(plan.steps, 'renameColumn')).toMatchObject({ risk: 'lossy', rules: [{ policy: 'P', rule: 'the broken one' }] });
    expect(stepOf(plan.steps, 'renameColumn').reason).toContain('rule "the broken one" of policy "P"');
    await migrate(test.database, define(after), { allow: plan.hash });
    expect(await rules()).toEqual([[broken.resource, ...broken.conditions]]);
  });

  it('needs confirmation if a condition compares the name of the resource', async () => {
    await populate({ Article: article });
    await makePolicy(rule('*', [equal('resource.name', 'Article')]));
    const { plan } = await apply({ Post: { ...article, renamedFrom: 'Article' } });
    expect(stepOf(plan.steps, 'renameTable').risk).toBe('lossy');
  });

  it('names policies when a field that they read is removed, restored or created again', async () => {
    const without = { Article: { fields: { note: text } } };
    await populate({ Article: article });
    await makePolicy(rule('Article', [equal('resource.title')], { description: 'titled' }));
    const gone = stepOf((await apply(without)).done, 'keepAside');
    expect(gone.reason).toContain('read by rule "titled" of policy "P"');
    expect(stepOf((await apply({ Article: article })).done, 'bringBack').rules).toMatchObject([{ rule: 'titled' }]);
    await apply(without);
    await test.database.transaction(async (tx) => {
      await tx.run(sql`ALTER TABLE "Article" DROP COLUMN "title"`);
      await tx.run(sql`DELETE FROM "_Definition" WHERE "id" = 'Article.title'`);
    });
    expect(stepOf((await apply({ Article: article })).done, 'addColumn').rules).toMatchObject([{ rule: 'titled' }]);
    expect(stepOf((await apply({})).done, 'keepAside').rules).toMatchObject([{ rule: 'titled' }]);
  });

  it('policies stay as they are if the rename is held', async () => {
    await populate({ Article: article });
    const rules = await makePolicy(rule('Article', [equal('resource.title')]));
    await apply({ Article: { fields: { headline: { ...text, renamedFrom: 'title' }, must: { ...text, required: true } } } });
    expect(await rules()).toEqual([['Article', equal('resource.title')]]);
    expect(await test.rows('_PolicyHistory')).toHaveLength(1);
  });
});
