import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import { sql } from '../../sql.ts';
import { loadRecord } from '../records.ts';
import { define, resourceOf } from '../storage.fixture.ts';
import { type MigrationResult, migrate } from './migrate.ts';
import { article, blocked, type Fields, kinds, type MigrationTest, openMigrationTest } from './migration.fixture.ts';
import { dialectOf } from './migration-dialects.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

describe('removed and renamed fields and resources', () => {
  const before: Fields = { title: { type: 'string' }, note: { type: 'string' } };

  it('archives a removed field, and restores it with its values', async () => {
    await test.apply(before);
    await test.insert(before, { title: 'one', note: 'kept' });
    expect(kinds(await test.apply({ title: { type: 'string' } }))).toEqual(['keepAside note']);
    expect((await test.apply({ title: { type: 'string' } })).plan.steps).toEqual([]);
    expect(kinds(await test.apply(before))).toEqual(['bringBack note']);
    expect((await test.apply(before)).plan.steps).toEqual([]);
    expect(await test.rows('Article')).toMatchObject([{ title: 'one', note: 'kept' }]);
  });

  it.each([
    ['one new field of its type', { headline: { type: 'string' }, count: { type: 'integer' } }, true],
    ['two new fields of its type', { headline: { type: 'string' }, subtitle: { type: 'string' } }, false],
    ['a new field of another type', { count: { type: 'integer' } }, false],
    ['a renamed field', { headline: { type: 'string', renamedFrom: 'title' } }, false],
  ])('asks about a new name of a removed field beside %s', async (_, added: Fields, isAsked) => {
    await test.apply(before);
    const hasRename = Object.values(added).some(({ renamedFrom }) => renamedFrom === 'title');
    const { done } = await test.apply({ ...(!hasRename && { title: { type: 'string' } }), ...added });
    const reason = done.find(({ kind }) => kind === 'keepAside')?.reason;
    expect(reason?.includes('renamedFrom: note')).toBe(isAsked);
    if (isAsked) expect(reason).toContain('headline');
  });

  it('stores a definition row for an archived field, and deletes it when the field is restored', async () => {
    const kept = async (): Promise<unknown[]> =>
      (await test.rows('_Definition')).map(({ id }) => id).filter((id) => String(id).startsWith('Article'));
    await test.apply(before);
    await test.apply({ title: { type: 'string' } });
    expect(await kept()).toEqual(['Article', 'Article.note']);
    await test.apply(before);
    expect(await kept()).toEqual(['Article']);
  });

  it('uses an existing table if its columns are compatible', async () => {
    await test.apply({ title: { type: 'string' } });
    await test.database.transaction(async (tx) => {
      const text = sql.raw(dialectOf(tx).columnTypes.text);
      await tx.run(
        sql`CREATE TABLE "Old" ("id" ${text} PRIMARY KEY, "title" ${text}, "authorId" ${text} REFERENCES "Article" ("id"))${sql.raw(dialectOf(tx).tableOptions)}`,
      );
      await tx.run(sql`INSERT INTO "Old" ("id", "title") VALUES ('1', 'kept')`);
    });
    const old = (fields: Fields) => migrate(test.database, define({ Article: { fields: { title: { type: 'string' } } }, Old: { fields } }));
    const fits = { title: { type: 'string' }, authorId: { type: 'reference', to: 'Article' } };
    expect(blocked(await old(fits))[0]).toContain('Old.version is required, but 1 record has no value');
    await test.database.transaction((tx) => tx.run(sql`DELETE FROM "Old"`));
    const wrong = await old({ title: { type: 'string' }, authorId: { type: 'reference', to: 'User' } });
    expect(blocked(wrong)).toEqual([expect.stringContaining('Old.authorId has a column that references Article')]);
    expect(kinds(await old(fits))).toContain('bringBack title');
    expect((await old(fits)).plan.steps).toEqual([]);
  });

  it('archives a removed resource, and restores it with its records', async () => {
    await test.apply(before);
    await test.insert(before, { title: 'one', note: 'kept' });
    const gone = await migrate(test.database, SYSTEM);
    expect(kinds(gone)).toEqual(['keepAside']);
    expect(gone.definitions.has('Article')).toBe(false);
    expect((await migrate(test.database, SYSTEM)).plan.steps).toEqual([]);
    expect(kinds(await test.apply(before))).toEqual(['bringBack']);
    const record = await test.database.transaction((tx) => loadRecord(tx, resourceOf(article(before), 'Article'), '1'));
    expect(record).toMatchObject({ title: 'one', note: 'kept' });
  });

  it('converts a field that is restored with another type', async () => {
    await test.apply({ ...before, price: { type: 'decimal', scale: 2 } });
    await test.insert({ ...before, price: { type: 'decimal', scale: 2 } }, { price: '1.25' });
    await test.apply(before);
    expect(kinds(await test.apply({ ...before, price: { type: 'decimal', scale: 3 } }))).toEqual(['bringBack price', 'convert price']);
    expect(await test.rows('Article')).toMatchObject([{ price: 1250, price$1: 125 }]);
  });

  it('writes the default into a field that is restored as required', async () => {
    const required: Fields = { ...before, rank: { type: 'integer', required: true, default: 7 } };
    await test.apply(required);
    await test.apply(before);
    await test.insert(before, { title: 'while it was away' });
    expect(kinds(await test.apply(required))).toEqual(['bringBack rank', 'backfill rank']);
    expect(await test.rows('Article')).toMatchObject([{ rank: 7 }]);
  });

  it('renames a column with its values and indexes', async () => {
    await test.apply({ title: { type: 'string', index: true } });
    await test.insert({ title: { type: 'string' } }, { title: 'kept' });
    const after = { headline: { type: 'string', index: true, required: true, renamedFrom: 'title' } };
    expect(kinds(await test.apply(after))).toEqual(['dropIndex', 'renameColumn headline', 'createIndex', 'redefine']);
    expect(await test.rows('Article')).toMatchObject([{ headline: 'kept' }]);
    expect((await test.apply(after)).plan.steps).toEqual([]);
    expect(await test.shapeOf('Article')).not.toHaveProperty('title');
  });

  it('reports that the name in renamedFrom does not exist, in case it is misspelt', async () => {
    await test.apply(before);
    const reasons = (migrated: MigrationResult): readonly string[] => migrated.done.map(({ reason }) => reason);
    const misspelt = await test.apply({ ...before, headline: { type: 'string', renamedFrom: 'titel' } });
    expect(reasons(misspelt)).toContain('Article.headline is new: there is no column titel to rename');
    const other = define({ Article: { fields: before }, Post: { fields: before, renamedFrom: 'Artikel' } });
    expect(reasons(await migrate(test.database, other))).toContain('Post is new: there is no table Artikel to rename');
  });

  it('archives the former field if both names are in the database', async () => {
    await test.apply(before);
    const after = { title: { type: 'string', renamedFrom: 'note' } };
    expect(kinds(await test.apply(after))).toEqual(['keepAside note']);
    expect(await test.shapeOf('Article')).toHaveProperty('note');
  });

  it('renames an archived field back, and only once', async () => {
    await test.apply(before);
    await test.insert(before, { note: 'kept' });
    await test.apply({ title: { type: 'string' } });
    const after = { title: { type: 'string' }, remark: { type: 'string', renamedFrom: 'note' } };
    expect(kinds(await test.apply(after))).toEqual(['bringBack remark', 'renameColumn remark']);
    expect((await test.apply(after)).plan.steps).toEqual([]);
    expect(await test.rows('Article')).toMatchObject([{ remark: 'kept' }]);
    expect(kinds(await test.apply({ ...after, note: { type: 'string' }, remark: { type: 'string' } }))).toEqual(['addColumn note']);
  });
});

describe('a default with a unique index', () => {
  const code = { type: 'string', required: true, default: 'none' };
  const kind = { type: 'string' };

  it.each<[string, Fields, JsonObject]>([
    ['drops', { code, kind }, {}],
    ['replaces', { code, kind }, { indexes: [{ fields: ['code'], unique: true, where: { kind: 'a' } }] }],
  ])('a migration that %s the index writes the default into several records', async (_, after, more) => {
    const before: Fields = { code: { type: 'string', unique: true }, kind };
    await test.apply(before);
    await test.insert(before, { kind: 'a' }, { kind: 'b' });
    expect((await test.apply(after, more)).plan.held).toEqual([]);
    expect(await test.rows('Article')).toMatchObject([{ code: 'none' }, { code: 'none' }]);
  });
});
