import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { define, onPostgres } from '../storage.fixture.ts';
import { migrate, planMigration } from './migrate.ts';
import { article, kinds, type MigrationTest, openMigrationTest } from './migration.fixture.ts';
import { listMigrations } from './migration-history.ts';
import { loadOtherDefinitions } from './migration-status.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

const before = { title: { type: 'string' } };
const after = { ...before, note: { type: 'text' } };
const read = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => test.database.transaction(work);

describe('definitions that are in force already', () => {
  it('does not compare definitions in force with the tables again', async () => {
    await test.apply(before);
    await read((tx) => tx.run(sql`ALTER TABLE "Article" DROP COLUMN "title"`));
    expect((await test.apply(before)).plan.steps).toEqual([]);
    expect(kinds(await migrate(test.database, article(before), { thorough: true }))).toEqual(['addColumn title']);
  });

  it('compares definitions again if any of them has changed, or a resource was held', async () => {
    await test.apply(before);
    await test.apply({ title: { type: 'string', description: 'shown' } });
    const known = await read((tx) => loadOtherDefinitions(tx, article(before)));
    expect(known?.get('Article')?.fields.get('title')?.description).toBe('shown');
    await test.insert(before, { title: 'x' });
    const required = { ...before, must: { type: 'string', required: true } };
    for (let start = 0; start < 2; start++) expect((await test.apply(required)).plan.held).toEqual(['Article']);
  });

  it('distinguishes definitions in force from those of another process', async () => {
    await test.apply(before);
    expect(await read((tx) => loadOtherDefinitions(tx, article(before)))).toBeUndefined();
    await test.apply(after);
    const others = await read((tx) => loadOtherDefinitions(tx, article(before)));
    expect([...(others?.get('Article')?.fields.keys() ?? [])]).toContain('note');
    expect(others?.get('_Policy')).toBe(article(before).get('_Policy'));
    await migrate(test.database, define({}));
    expect((await read((tx) => loadOtherDefinitions(tx, article(before))))?.has('Article')).toBe(false);
  });
});

describe('the history', () => {
  it('the history has a row for each migration that performed a step', async () => {
    await test.apply(before);
    await migrate(test.database, article(before), { thorough: true });
    await test.apply({ title: { type: 'string', description: 'shown' } });
    await migrate(test.database, article(after), { actor: 'dev' });
    await planMigration(test.database, article({ title: { type: 'integer' } }));
    const [last, first, ...more] = await read((tx) => listMigrations(tx, 10));
    expect(more).toEqual([]);
    expect(first).toMatchObject({ actor: 'start' });
    expect(last).toMatchObject({
      actor: 'dev',
      planHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      steps: [{ kind: 'addColumn', resource: 'Article', field: 'note', risk: 'safe', reason: 'Article.note is new' }],
      durationMs: expect.any(Number),
    });
    expect(await read((tx) => listMigrations(tx, 1))).toEqual([last]);
  });

  it('the history has one row for several processes that start at once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => test.apply(before)));
    expect(await read((tx) => listMigrations(tx, 10))).toHaveLength(1);
  });

  it('the history of a new database is empty', async () => {
    expect(await read((tx) => listMigrations(tx, 10))).toEqual([]);
  });

  it('the history has no row for a migration that fails', async () => {
    await test.apply(before);
    await test.insert(before, { title: '1' });
    for (const text of REFUSING) await read((tx) => tx.run(sql.raw(text)));
    await expect(test.apply({ title: { type: 'integer' } })).rejects.toThrow();
    expect(await test.shapeOf('Article')).not.toHaveProperty('title$1');
    expect(await read((tx) => listMigrations(tx, 10))).toHaveLength(1);
    expect(await test.rows('Article')).toMatchObject([{ title: '1' }]);
  });
});

/** SQL after which no article can be changed. */
const REFUSING: readonly string[] = onPostgres
  ? [
      `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$`,
      'CREATE TRIGGER "no" BEFORE UPDATE ON "Article" FOR EACH ROW EXECUTE FUNCTION no()',
    ]
  : [`CREATE TRIGGER "no" BEFORE UPDATE ON "Article" BEGIN SELECT raise(ABORT, 'no'); END`];
