import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { define } from '../storage.fixture.ts';
import { migrate } from './migrate.ts';
import { article, type Fields, type MigrationTest, openMigrationTest } from './migration.fixture.ts';
import { listMigrations } from './migration-history.ts';
import type { Step } from './migration-plan.ts';
import { planPruneArchived, pruneArchived } from './prune-archived.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

const text = { type: 'string' } as const;
const whole: Fields = { title: text, note: text, price: text, parent: { type: 'reference', to: 'Article' } };
const left: Fields = { title: text, price: { type: 'integer' } };
const planned = async (fields: Fields): Promise<readonly Step[]> =>
  (await test.database.transaction((tx) => planPruneArchived(tx, article(fields)))).steps;

describe('prune', () => {
  it('lists archived data with the number of rows, and then permanently deletes it', async () => {
    await test.apply(whole);
    await test.insert(whole, { title: 'a', note: 'n', price: '1' }, { title: 'b', price: '2', parent: '1' });
    await test.apply(left);
    await test.database.transaction((tx) => tx.run(sql`CREATE INDEX "mine" ON "Article" ("note")`));
    const steps = await planned(left);
    expect(steps.map(({ kind, field, risk, rows }) => [kind, field, risk, rows])).toEqual([
      ['dropColumn', 'note', 'destructive', 1],
      ['dropColumn', 'parent', 'destructive', 1],
      ['dropColumn', 'price$1', 'destructive', 2],
    ]);
    expect(await test.shapeOf('Article')).toHaveProperty('note');
    expect(await pruneArchived(test.database, article(left), { actor: 'cli' })).toEqual(steps);
    expect(Object.keys(await test.shapeOf('Article')).slice(5)).toEqual(['title', 'price']);
    expect(await test.rows('Article')).toMatchObject([
      { title: 'a', price: 1 },
      { title: 'b', price: 2 },
    ]);
    expect(await planned(left)).toEqual([]);
    expect(await pruneArchived(test.database, article(left), { actor: 'cli' })).toEqual([]);
    const [last] = await test.database.transaction((tx) => listMigrations(tx, 1));
    expect(last).toMatchObject({ actor: 'cli', steps: [{ kind: 'dropColumn' }, {}, {}] });
    expect((await migrate(test.database, article(left), { thorough: true })).plan.steps).toEqual([]);
  });

  it('keeps archived data that the definitions use again', async () => {
    await test.apply(whole);
    await test.apply(left);
    expect(await planned(whole)).toEqual([]);
    expect((await planned({ ...left, remark: { type: 'string', renamedFrom: 'note' } })).map(({ field }) => field)).toEqual([
      'parent',
      'price$1',
    ]);
  });

  it('keeps the archived fields of a resource that a pending migration renames', async () => {
    const before = { Article: { fields: { title: text, body: text } } };
    await migrate(test.database, define(before));
    await test.insert(before.Article.fields, { title: 'a', body: 'b' });
    await migrate(test.database, define({ Article: { fields: { body: text } } }));
    const renamed = define({ Post: { fields: { title: text, body: text }, renamedFrom: 'Article' } });
    expect(await pruneArchived(test.database, renamed, { actor: 'cli' })).toEqual([]);
    await migrate(test.database, renamed);
    expect(await test.rows('Post')).toMatchObject([{ title: 'a', body: 'b' }]);
  });

  it.each<[string, Fields]>([
    ['is changed back', { price: text }],
    ['is changed to a third type', { price: { type: 'decimal', scale: 1 } }],
    ['is renamed and changed back', { cost: { ...text, renamedFrom: 'price' } }],
  ])('keeps the archived columns of a field whose type %s by a pending migration', async (_, after) => {
    await test.apply({ title: text, price: text });
    await test.insert({ title: text, price: text }, { price: 'abc' });
    await test.force({ title: text, price: { type: 'integer' } });
    expect(await pruneArchived(test.database, article({ title: text, ...after }), { actor: 'cli' })).toEqual([]);
    expect((await planned({ title: text, price: { type: 'integer' } })).map(({ field }) => field)).toEqual(['price$1']);
    expect((await planned({ title: text })).map(({ field }) => field)).toEqual(['price$1']);
  });

  it('drops tables that reference each other', async () => {
    const pair = { A: { fields: { b: { type: 'reference', to: 'B' } } }, B: { fields: { a: { type: 'reference', to: 'A' } } } };
    await migrate(test.database, define(pair));
    await test.database.transaction(async (tx) => {
      await tx.run(sql`INSERT INTO "A" ("id") VALUES ('1')`);
      await tx.run(sql`INSERT INTO "B" ("id", "a") VALUES ('1', '1')`);
      await tx.run(sql`UPDATE "A" SET "b" = '1'`);
    });
    await migrate(test.database, define({}));
    const steps = await pruneArchived(test.database, define({}), { actor: 'cli' });
    expect(steps.map(({ kind, resource, rows }) => [kind, resource, rows])).toEqual([
      ['dropTable', 'A', 1],
      ['dropTable', 'B', 1],
    ]);
    expect(await test.shapeOf('A')).toEqual({});
    expect((await test.rows('_Definition')).map(({ id }) => id)).not.toContain('B');
  });

  it('prune has nothing to do in a new database', async () => {
    expect(await planned(left)).toEqual([]);
  });
});
