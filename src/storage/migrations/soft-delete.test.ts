/** Deleted records are kept from some definition on, or no longer: what tables do, and what rows have to say. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { deleteRecord, insertRecord, loadDeletedRecord, loadRecord } from '../records.ts';
import { define, failure, resourceOf, toRecord } from '../storage.fixture.ts';
import { listDeletedRecords } from './deleted-records.ts';
import { migrate } from './migrate.ts';
import { article, blocked, type Fields, kinds, type MigrationTest, openMigrationTest, stepOf } from './migration.fixture.ts';
import { listMigrations } from './migration-history.ts';
import { planPruneArchived, pruneArchived } from './prune-archived.ts';

let test: MigrationTest;
beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

const fields: Fields = {
  slug: { type: 'string', unique: true },
  section: { type: 'string' },
  place: { type: 'integer' },
  parent: { type: 'reference', to: 'Article', unique: true },
};
const SECTIONS = {
  indexes: [
    { fields: ['section', 'place'], unique: true },
    { fields: ['place'], unique: true, where: { section: 'front' } },
  ],
};
const KEPT: JsonObject = { ...SECTIONS, softDelete: true };
const kept = resourceOf(article(fields, KEPT), 'Article');
const remove = (id: string) => test.database.transaction((tx) => deleteRecord(tx, kept, { id }));
const insert = (id: string, values: JsonObject) => test.database.transaction((tx) => insertRecord(tx, kept, toRecord(id, values)));

describe('softDelete', () => {
  it('softDelete on a new table restricts unique indexes to records that are not soft-deleted, and indexes soft-deleted ones', async () => {
    await test.apply(fields, KEPT);
    expect((await test.indexesOf('Article')).map((text) => text.replace(/\$[0-9a-f]{12}/g, '$#'))).toEqual([
      'CREATE INDEX "ix_Article$deletedAt$#" ON "Article" ("deletedAt", "id") WHERE "deletedAt" IS NOT NULL',
      'CREATE INDEX "ix_Article$parent" ON "Article" ("parent", "id")',
      'CREATE UNIQUE INDEX "ux_Article$parent$#" ON "Article" ("parent") WHERE "deletedAt" IS NULL',
      `CREATE UNIQUE INDEX "ux_Article$place$#" ON "Article" ("place") WHERE "section" = 'front' AND "deletedAt" IS NULL`,
      'CREATE UNIQUE INDEX "ux_Article$section$place$#" ON "Article" ("section", "place") WHERE "deletedAt" IS NULL',
      'CREATE UNIQUE INDEX "ux_Article$slug$#" ON "Article" ("slug") WHERE "deletedAt" IS NULL',
    ]);
    expect((await test.apply(fields, KEPT)).done).toEqual([]);
  });

  it('index names of soft deletes stay the same from version to version', async () => {
    await test.apply({ slug: { type: 'string', unique: true } }, { softDelete: true });
    expect((await test.indexesOf('Article')).map((text) => text.split('"')[1])).toEqual([
      'ix_Article$deletedAt$fd17332b32bc',
      'ux_Article$slug$118587762fa4',
    ]);
  });

  it('softDelete on a table with rows leads to the same indexes, loses nothing, and can be turned off again', async () => {
    await test.apply(fields, SECTIONS);
    await test.insert(fields, { slug: 'a', section: 'front', place: 1 }, { slug: 'b' });
    const before = await test.indexesOf('Article');
    const on = await test.apply(fields, KEPT);
    expect([on.plan.held, new Set(on.done.map(({ risk }) => risk))]).toEqual([[], new Set(['safe'])]);
    expect(stepOf(on.done, 'redefine').reason).toMatch(/^softDelete was false, is true: /);
    const indexes = await test.indexesOf('Article');
    const fresh = openMigrationTest();
    await fresh.apply(fields, KEPT);
    expect(indexes).toEqual(await fresh.indexesOf('Article'));
    await fresh.dispose();
    expect((await test.apply(fields, KEPT)).done).toEqual([]);
    const off = await test.apply(fields, SECTIONS);
    expect([off.plan.held, kinds(off).filter((kind) => kind.startsWith('keepAside'))]).toEqual([
      [],
      ['keepAside deletedAt', 'keepAside deletedBy'],
    ]);
    expect(await test.indexesOf('Article')).toEqual(before);
    expect((await test.apply(fields, SECTIONS)).done).toEqual([]);
    expect(await test.rows('Article')).toMatchObject([{ slug: 'a' }, { slug: 'b' }]);
    expect(kinds(await test.apply(fields, KEPT))).toEqual(expect.arrayContaining(['bringBack deletedAt', 'bringBack deletedBy']));
    await test.apply(fields, SECTIONS);
    expect((await pruneArchived(test.database, article(fields, SECTIONS), { actor: 'cli' })).map(({ field }) => field)).toEqual([
      'deletedAt',
      'deletedBy',
    ]);
    expect(Object.keys(await test.shapeOf('Article'))).not.toContain('deletedAt');
  });

  it('checks uniqueness among records that are not soft-deleted', async () => {
    const loose: Fields = { ...fields, slug: { type: 'string' } };
    await test.apply(loose, { softDelete: true });
    await test.insert(loose, { slug: 'a' }, { slug: 'a' }, { slug: 'b' }, { slug: 'b' });
    await remove('1');
    const refused = await test.apply(fields, { softDelete: true });
    expect(blocked(refused)).toEqual([expect.stringContaining('several records have "b" (2)')]);
    await remove('3');
    expect((await test.apply(fields, { softDelete: true })).plan.held).toEqual([]);
    await insert('5', { slug: 'c' });
    expect(await failure(insert('6', { slug: 'c' }))).toMatchObject({ constraint: 'unique', columns: ['slug'] });
  });

  it('softDelete cannot be turned off as long as there are soft-deleted records, which would be visible again', async () => {
    await test.apply(fields, KEPT);
    await test.insert(fields, { slug: 'a' }, { slug: 'b' }, { slug: 'c' });
    await remove('3');
    await remove('1');
    const refused = await test.apply(fields, SECTIONS);
    expect(refused.plan.held).toEqual(['Article']);
    expect(refused.plan.steps.find(({ risk }) => risk === 'blocked')).toMatchObject({
      rows: 2,
      ids: ['1', '3'],
      reason: expect.stringMatching(/^2 soft-deleted Article records would be visible again/),
    });
    expect(refused.definitions.get('Article')?.softDelete).toBe(true);
    // Nor does a field of the project's own take their place.
    const own = { ...fields, deletedAt: { type: 'timestamp' } };
    expect((await test.apply(own, SECTIONS)).plan.held).toEqual(['Article']);
    await test.database.transaction((tx) => tx.run(sql`UPDATE "Article" SET "deletedAt" = NULL, "deletedBy" = NULL`));
    expect((await test.apply(fields, SECTIONS)).plan.held).toEqual([]);
  });

  it('uses an existing field deletedAt, and needs confirmation before it hides a record', async () => {
    const own: Fields = {
      slug: { type: 'string', unique: true },
      deletedAt: { type: 'timestamp' },
      deletedBy: { type: 'reference', to: 'Article' },
    };
    const after: Fields = { slug: { type: 'string', unique: true } };
    await test.apply(own);
    await test.insert(own, { slug: 'a' }, { slug: 'b', deletedAt: '2026-01-01T00:00:00.000Z', deletedBy: '1' });
    const held = await test.apply(after, { softDelete: true });
    expect(held.plan.held).toEqual(['Article']);
    expect(held.plan.steps.find(({ kind }) => kind === 'hide')).toMatchObject({ risk: 'lossy', rows: 1, field: 'deletedAt' });
    const done = await test.force(after, { softDelete: true });
    expect(done.plan.held).toEqual([]);
    const resource = resourceOf(article(after, { softDelete: true }), 'Article');
    await test.database.transaction(async (tx) => {
      expect(await loadRecord(tx, resource, '2')).toBeUndefined();
      expect(await loadDeletedRecord(tx, resource, '2')).toMatchObject({
        slug: 'b',
        deletedAt: '2026-01-01T00:00:00.000Z',
        deletedBy: '1',
      });
    });
    expect((await test.apply(after, { softDelete: true })).plan.steps).toEqual([]);
  });

  it('needs no confirmation if the existing field deletedAt has no value', async () => {
    const own: Fields = { slug: { type: 'string' }, deletedAt: { type: 'date' } };
    await test.apply(own);
    await test.insert(own, { slug: 'a' });
    expect((await test.apply({ slug: { type: 'string' } }, { softDelete: true })).plan.held).toEqual([]);
  });

  it('softDelete stays on when the resource is renamed', async () => {
    await test.apply(fields, KEPT);
    await test.insert(fields, { slug: 'a' });
    await remove('1');
    const renamed = define({ Story: { fields: { slug: { type: 'string' } }, softDelete: true, renamedFrom: 'Article' } });
    expect((await migrate(test.database, renamed)).plan.held).toEqual([]);
    expect(await test.database.transaction(listDeletedRecords)).toMatchObject([{ resource: 'Story', count: 1 }]);
    const without = define({ Story: { fields: { slug: { type: 'string' } } } });
    expect((await migrate(test.database, without)).plan.held).toEqual(['Story']);
  });
});

describe('prune of soft-deleted records', () => {
  const tree = {
    Folder: { softDelete: true, fields: { topId: { type: 'reference', to: 'Page' } } },
    Page: {
      softDelete: true,
      fields: {
        folderId: { type: 'reference', to: 'Folder', onDelete: 'cascade' },
        seeIds: { type: 'list', of: { type: 'reference', to: 'Page' } },
      },
    },
  };
  const definitions = define(tree);
  const OLD = '2020-01-01T00:00:00.000Z';

  async function rows(table: string, ...all: readonly JsonObject[]): Promise<void> {
    await test.database.transaction(async (tx) => {
      for (const { id, deletedAt = null, seeIds, ...references } of all) {
        await insertRecord(
          tx,
          resourceOf(definitions, table),
          toRecord(String(id), { ...references, ...(seeIds !== undefined && { seeIds }) }),
        );
        await tx.run(sql`UPDATE ${sql.table(table)} SET "deletedAt" = ${deletedAt} WHERE "id" = ${id}`);
      }
    });
  }
  const left = async (table: string): Promise<readonly unknown[]> => (await test.rows(table)).map(({ id }) => id);
  const drop = (deletedBefore: number) => pruneArchived(test.database, definitions, { actor: 'cli', deletedBefore });

  it('counts soft-deleted records, deletes none without --deleted-before, and then those that are old enough, in circles too', async () => {
    await migrate(test.database, definitions);
    await rows('Folder', { id: 'f1', deletedAt: OLD }, { id: 'f2' }, { id: 'f3', deletedAt: new Date().toISOString() });
    await rows('Page', { id: 'p1', folderId: 'f1', deletedAt: OLD, seeIds: ['p1'] }, { id: 'p2', folderId: 'f2' });
    await test.database.transaction((tx) => tx.run(sql`UPDATE "Folder" SET "topId" = 'p1' WHERE "id" = 'f1'`));
    expect(await test.database.transaction(listDeletedRecords)).toMatchObject([
      { resource: 'Folder', count: 2, oldest: OLD },
      { resource: 'Page', count: 1, oldest: OLD, newest: OLD },
    ]);
    expect(await pruneArchived(test.database, definitions, { actor: 'cli' })).toEqual([]);
    const plan = await test.database.transaction((tx) => planPruneArchived(tx, definitions, { deletedBefore: 30 }));
    expect(plan.steps).toMatchObject([
      { resource: 'Folder', kind: 'dropRecords', risk: 'destructive', rows: 1 },
      { resource: 'Page', kind: 'dropRecords', rows: 1, sql: ['DELETE FROM "Page" WHERE "deletedAt" < ?'] },
    ]);
    expect([await left('Folder'), await left('Page')]).toEqual([
      ['f1', 'f2', 'f3'],
      ['p1', 'p2'],
    ]);
    expect((await drop(30)).map(({ rows: count }) => count)).toEqual([1, 1]);
    expect([await left('Folder'), await left('Page')]).toEqual([['f2', 'f3'], ['p2']]);
    const [last] = await test.database.transaction((tx) => listMigrations(tx, 1));
    expect(last).toMatchObject({ actor: 'cli', steps: [{ kind: 'dropRecords', resource: 'Folder' }, {}] });
    expect((await drop(30)).length).toBe(0);
  });

  it('keeps records that remaining records reference, transitively', async () => {
    await migrate(test.database, definitions);
    await rows('Folder', { id: 'f1', deletedAt: OLD });
    await rows('Page', { id: 'p1', folderId: 'f1', deletedAt: OLD }, { id: 'p2', deletedAt: OLD }, { id: 'p3', deletedAt: OLD });
    await rows('Page', { id: 'p4', deletedAt: new Date().toISOString(), seeIds: ['p1'] });
    expect((await drop(30)).map(({ resource, kind, rows: count }) => [resource, kind, count])).toEqual([
      ['Page', 'dropRecords', 2],
      ['Folder', 'stay', 1],
      ['Page', 'stay', 1],
    ]);
    expect([await left('Folder'), await left('Page')]).toEqual([['f1'], ['p1', 'p4']]);
    const history = () => test.database.transaction((tx) => listMigrations(tx, 9));
    const before = await history();
    expect((await drop(30)).map(({ risk }) => risk)).toEqual(['blocked', 'blocked']);
    expect(await history()).toEqual(before);
  });

  it('deletes records that are referenced only by archived columns and tables of the same prune', async () => {
    const note = { fields: { folderId: { type: 'reference', to: 'Folder' } } };
    await migrate(test.database, define({ ...tree, Note: note }));
    await rows('Folder', { id: 'f1', deletedAt: OLD }, { id: 'f2', deletedAt: OLD });
    await rows('Page', { id: 'p1', folderId: 'f1' }, { id: 'p2', folderId: 'f1', deletedAt: OLD });
    await test.database.transaction(async (tx) => {
      await tx.run(sql`INSERT INTO "Note" ("id", "folderId") VALUES ('n1', 'f2')`);
      await tx.run(sql`UPDATE "Folder" SET "topId" = 'p2' WHERE "id" = 'f1'`);
    });
    const { folderId: _, ...others } = tree.Page.fields;
    const without = define({ Folder: tree.Folder, Page: { ...tree.Page, fields: others } });
    await migrate(test.database, without);
    const steps = await pruneArchived(test.database, without, { actor: 'cli', deletedBefore: 30 });
    expect(steps.map(({ resource, kind, rows: count }) => [resource, kind, count])).toEqual([
      ['Page', 'dropColumn', 2],
      ['Note', 'dropTable', 1],
      ['Folder', 'dropRecords', 2],
      ['Page', 'dropRecords', 1],
    ]);
    expect([await left('Folder'), await left('Page')]).toEqual([[], ['p1']]);
  });

  it('keeps records that archived columns reference which the definitions use again', async () => {
    await migrate(test.database, definitions);
    await rows('Folder', { id: 'f1', deletedAt: OLD });
    await rows('Page', { id: 'p1', folderId: 'f1' });
    const { folderId: _, ...others } = tree.Page.fields;
    await migrate(test.database, define({ Folder: tree.Folder, Page: { ...tree.Page, fields: others } }));
    expect((await drop(30)).map(({ resource, kind }) => [resource, kind])).toEqual([['Folder', 'stay']]);
    expect(await left('Folder')).toEqual(['f1']);
  });

  it('keeps records that archived lists contain which the definitions use again', async () => {
    const used = define({ ...tree, Note: { fields: { folderIds: { type: 'list', of: { type: 'reference', to: 'Folder' } } } } });
    await migrate(test.database, used);
    await rows('Folder', { id: 'f1', deletedAt: OLD }, { id: 'f2', deletedAt: OLD });
    await rows('Page', { id: 'p1', deletedAt: OLD }, { id: 'p2', seeIds: ['p1'] });
    await test.database.transaction((tx) => tx.run(sql`INSERT INTO "Note" ("id", "folderIds") VALUES ('n1', '["f1"]')`));
    const { seeIds: _, ...others } = tree.Page.fields;
    await migrate(test.database, define({ Folder: tree.Folder, Page: { ...tree.Page, fields: others } }));
    await pruneArchived(test.database, used, { actor: 'cli', deletedBefore: 30 });
    expect([await left('Folder'), await left('Page')]).toEqual([['f1'], ['p1', 'p2']]);
  });

  it('uses the definitions in force, so that softDelete can be turned off', async () => {
    await migrate(test.database, definitions);
    await rows('Page', { id: 'p1', deletedAt: OLD });
    const without = define({ Folder: tree.Folder, Page: { fields: tree.Page.fields } });
    expect((await migrate(test.database, without)).plan.held).toEqual(['Page']);
    expect(await pruneArchived(test.database, without, { actor: 'cli', deletedBefore: 0 })).toMatchObject([{ rows: 1 }]);
    expect((await migrate(test.database, without)).plan.held).toEqual([]);
  });
});
