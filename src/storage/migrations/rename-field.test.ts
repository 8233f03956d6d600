import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { define } from '../storage.fixture.ts';
import { type MigrationResult, migrate } from './migrate.ts';
import { blocked, type MigrationTest, openMigrationTest } from './migration.fixture.ts';

type Sources = Parameters<typeof define>[0];

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

const apply = (sources: Sources): Promise<MigrationResult> => migrate(test.database, define(sources));
const text: JsonObject = { type: 'string' };

/** An article, kept. */
async function populate(): Promise<void> {
  await apply({ Article: { fields: { title: { ...text, index: true }, note: text } } });
  await test.database.transaction((tx) => tx.run(sql`INSERT INTO "Article" ("id", "title", "note") VALUES ('a1', 'kept', 'n')`));
}

describe('a field that is renamed to the name of an archived one', () => {
  it('a field that is renamed to the name of an archived one is not mistaken for a restore of it', async () => {
    await populate();
    await apply({ Article: { fields: { note: text } } });
    const migrated = await apply({ Article: { fields: { title: { ...text, renamedFrom: 'note' } } } });
    const beside = 'Article.note cannot be renamed to title, because the column title exists and has values of its own';
    // In this order, because prune keeps columns that the definitions name in `renamedFrom`.
    const then = 'choose another name, or undo the rename, permanently delete the archived column with storage prune, and rename again';
    expect(blocked(migrated)).toEqual([`${beside}; ${then}`]);
  });

  it('refuses a rename if the names differ only in case, and the other is in force, archived, or about to be', async () => {
    await populate();
    const taken = expect.stringContaining('Article.note cannot be renamed to TITLE, because the column title exists');
    const onto: Sources = { Article: { fields: { TITLE: { ...text, renamedFrom: 'note' } } } };
    expect(blocked(await apply(onto))).toEqual([taken]);
    await apply({ Article: { fields: { note: text } } });
    expect(blocked(await apply(onto))).toEqual([taken]);
    await apply({ Article: { fields: { other: text } } });
    expect(blocked(await apply(onto))).toEqual([taken]);
  });

  it('refuses renamedFrom that is added too late, because the former values would stay archived', async () => {
    await populate();
    await apply({ Article: { fields: { titel: text, note: text } } });
    const late = await apply({ Article: { fields: { titel: { ...text, renamedFrom: 'title' }, note: text } } });
    const beside = 'Article.titel is already in force, so it cannot be renamed from title, which is archived';
    expect(blocked(late)).toEqual([`${beside}; name the field title again to restore those values, or remove renamedFrom`]);
    expect((await apply({ Article: { fields: { titel: text, note: text } } })).plan.held).toEqual([]);
    await apply({ Article: { fields: { title: text, note: text } } });
    expect(await test.rows('Article')).toMatchObject([{ title: 'kept' }]);
  });

  const NEEDS_VALUE =
    'Article.headline is required, but 1 record has no value; add a default, or make it required when every record has a value';

  it('refuses a required field with the hint renamedFrom if one field of its type is removed', async () => {
    await populate();
    await apply({ Article: { fields: { title: { ...text, index: true } } } });
    const hint = '; if it is the new name of title, add renamedFrom: title, which keeps the values';
    expect(blocked(await apply({ Article: { fields: { headline: { ...text, required: true } } } }))).toEqual([NEEDS_VALUE + hint]);
  });

  it('refuses a required field without a hint if two fields of its type are removed', async () => {
    await populate();
    expect(blocked(await apply({ Article: { fields: { headline: { ...text, required: true } } } }))).toEqual([NEEDS_VALUE]);
  });

  it('refuses a required field that is in force with the repair if one field of its type is archived', async () => {
    await populate();
    await apply({ Article: { fields: { headline: text, note: text } } });
    const repair = '; if it is the new name of title, whose values are archived, see docs/guides/migrations.md#rename-errors';
    expect(blocked(await apply({ Article: { fields: { headline: { ...text, required: true }, note: text } } }))).toEqual([
      NEEDS_VALUE + repair,
    ]);
  });

  it('a field may keep renamedFrom after the rename', async () => {
    await populate();
    const renamed: Sources = { Article: { fields: { titel: { ...text, renamedFrom: 'title' }, note: text } } };
    await apply(renamed);
    expect((await migrate(test.database, define(renamed), { thorough: true })).plan.steps).toEqual([]);
    expect(await test.rows('Article')).toMatchObject([{ titel: 'kept' }]);
  });

  it('two fields can be swapped by way of a third name', async () => {
    await populate();
    expect(() =>
      define({ Article: { fields: { title: { ...text, renamedFrom: 'note' }, note: { ...text, renamedFrom: 'title' } } } }),
    ).toThrow(/renamedFrom/);
    await apply({ Article: { fields: { third: { ...text, renamedFrom: 'title' }, note: text } } });
    await apply({ Article: { fields: { third: text, title: { ...text, renamedFrom: 'note' } } } });
    expect((await apply({ Article: { fields: { note: { ...text, renamedFrom: 'third' }, title: text } } })).plan.held).toEqual([]);
    expect(await test.rows('Article')).toMatchObject([{ note: 'kept', title: 'n' }]);
  });

  it('a field may be renamed to a name that differs only in case', async () => {
    await populate();
    await apply({ Article: { fields: { TITLE: { ...text, index: true, renamedFrom: 'title' }, note: text } } });
    expect(await test.rows('Article')).toMatchObject([{ TITLE: 'kept', note: 'n' }]);
  });
});
