import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { currentRevision } from '../policies/revision.ts';
import { define, openUrl } from '../storage.fixture.ts';
import { migrate } from './migrate.ts';
import { kinds, type MigrationTest, openMigrationTest } from './migration.fixture.ts';
import { listMigrations } from './migration-history.ts';

/** Ways in which similar services have lost data, each tried on tables with rows. */

let test: MigrationTest;

beforeEach(async () => {
  test = openMigrationTest();
  await migrate(test.database, define(family()));
  await test.database.transaction(async (tx) => {
    await tx.run(sql`INSERT INTO "Parent" ("id", "name", "code") VALUES ('p1', 'Ada', '007'), ('p2', 'Bea', ${'x'.repeat(300)})`);
    await tx.run(
      sql`INSERT INTO "Child" ("id", "parentId", "toy") VALUES ('c1', 'p1', 'ball'), ('c2', 'p1', 'kite'), ('c3', 'p2', 'drum')`,
    );
  });
});
afterEach(() => test.dispose());

const text: JsonObject = { type: 'string' };

/** A parent with these fields, whose children go with it. */
function family(parent: JsonObject = { name: text, code: text }, more: JsonObject = {}): Readonly<Record<string, JsonObject>> {
  const parentId = { type: 'reference', to: 'Parent', onDelete: 'cascade', required: true };
  return { Parent: { fields: parent, ...more }, Child: { fields: { parentId, toy: text } } };
}

const children = async (): Promise<unknown[]> => (await test.rows('Child')).map(({ id, parentId, toy }) => [id, parentId, toy]);
const ALL = [
  ['c1', 'p1', 'ball'],
  ['c2', 'p1', 'kite'],
  ['c3', 'p2', 'drum'],
];

describe('data loss', () => {
  it('a rename without renamedFrom loses no data', async () => {
    await migrate(test.database, define(family({ title: { ...text, renamedFrom: 'name' }, code: text })));
    expect((await test.rows('Parent')).map(({ title }) => title)).toEqual(['Ada', 'Bea']);
    await migrate(test.database, define(family({ label: text, code: text })));
    expect((await test.rows('Parent')).map(({ title, label }) => [title, label])).toEqual([
      ['Ada', null],
      ['Bea', null],
    ]);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['a new field', { name: text, code: text, age: { type: 'integer', default: 1 } }, {}],
    ['a removed field', { name: text }, {}],
    ['another type', { name: { type: 'list', of: 'string' }, code: text }, {}],
    ['required and unique', { name: { ...text, required: true, unique: true }, code: text }, {}],
    ['an index', { name: text, code: text }, { indexes: [{ fields: ['code', 'name'] }] }],
  ])('a table that is rebuilt loses no children through ON DELETE: %s', async (_, fields, more) => {
    const migrated = await migrate(test.database, define(family(fields, more)));
    expect([migrated.plan.held, await children()]).toEqual([[], ALL]);
    const undone = await migrate(test.database, define(family()));
    expect([undone.plan.held, await children()]).toEqual([[], ALL]);
  });

  it('a narrower text and leading zeros of a number lose no data', async () => {
    const narrower = { name: text, code: { type: 'enum', values: ['007'] } };
    expect((await migrate(test.database, define(family(narrower)))).plan.held).toContain('Parent');
    expect((await migrate(test.database, define(family({ name: text, code: { type: 'integer' } })))).plan.held).toContain('Parent');
    await migrate(test.database, define(family({ name: text, code: { ...text, maxLength: 5 } })));
    expect((await test.rows('Parent')).map(({ code }) => String(code).length)).toEqual([3, 300]);
  });

  it('a second run does nothing and loses no data', async () => {
    const after = define(family({ title: { ...text, renamedFrom: 'name' }, code: { type: 'list', of: 'string' } }));
    expect((await migrate(test.database, after)).done.length).toBeGreaterThan(1);
    const [revision, columns] = [await test.database.transaction(currentRevision), await test.shapeOf('Parent')];
    for (const more of [{}, { thorough: true }]) expect((await migrate(test.database, after, more)).done).toEqual([]);
    expect([await test.database.transaction(currentRevision), await test.shapeOf('Parent')]).toEqual([revision, columns]);
  });

  it('a changed description changes no table', async () => {
    const shown = family({ name: { ...text, description: 'as shown' }, code: text }, { description: 'A parent' });
    expect((await migrate(test.database, define(shown))).done).toEqual([]);
  });

  it('one of two processes that start at once migrates, and no data is lost', async () => {
    const other = openUrl(test.url);
    const after = define(family({ name: text, code: { type: 'list', of: 'string' } }));
    const both = await Promise.all([migrate(test.database, after), migrate(other, after)]);
    await other.close();
    expect(both.map(({ done }) => done.length > 0).sort()).toEqual([false, true]);
    expect(await test.database.transaction((tx) => listMigrations(tx, 10))).toHaveLength(2);
    expect(await children()).toEqual(ALL);
  });

  it('a removed resource that archived records reference loses no data', async () => {
    const { Child: child = {} } = family();
    const gone = await migrate(test.database, define({}));
    expect(kinds(gone)).toEqual(['keepAside', 'keepAside']);
    expect(await children()).toEqual(ALL);
    expect((await migrate(test.database, define({ ...family(), Child: child }))).plan.held).toEqual([]);
    expect(await children()).toEqual(ALL);
  });
});
