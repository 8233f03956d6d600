import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { blocked, type Fields, kinds, type MigrationTest, openMigrationTest } from './migration.fixture.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

const WITHOUT: Fields = { parentId: { type: 'reference', to: 'Article' } };
const WITH: Fields = { parentId: { type: 'reference', to: 'Article', hierarchy: true } };

/** Sets the parents of articles. */
async function setParents(parents: Readonly<Record<string, string | null>>): Promise<void> {
  await test.database.transaction(async (tx) => {
    for (const [id, parent] of Object.entries(parents)) await tx.run(sql`UPDATE "Article" SET "parentId" = ${parent} WHERE "id" = ${id}`);
  });
}

describe('a hierarchy of stored records', () => {
  beforeEach(async () => {
    await test.apply(WITHOUT);
    await test.insert(WITHOUT, {}, {}, {}, {}, {});
  });

  it('a hierarchy over stored records is refused while parents form a cycle, and the refusal names the records', async () => {
    await setParents({ 2: '1', 3: '4', 4: '5', 5: '4' });
    const refused = await test.apply(WITH);
    expect(refused.done).toEqual([]);
    expect(blocked(refused)).toEqual([expect.stringMatching(/Article.parentId cannot be a hierarchy.*3 records form a cycle \(3, 4, 5\)/)]);
    expect(refused.plan.steps.find(({ risk }) => risk === 'blocked')).toMatchObject({ ids: ['3', '4', '5'], rows: 3, field: 'parentId' });
    await setParents({ 5: null });
    expect(kinds(await test.apply(WITH))).toEqual(['redefine']);
  });

  it('a hierarchy over stored records is refused if a record is its own parent', async () => {
    await setParents({ 2: '2' });
    expect(blocked(await test.apply(WITH))).toEqual([expect.stringContaining('parents of 1 record form a cycle (2)')]);
  });

  it('a hierarchy over stored records is accepted for a tree, of any number of levels, and checked again after it was turned off', async () => {
    await setParents({ 2: '1', 3: '2', 4: '2', 5: '4' });
    expect(kinds(await test.apply(WITH))).toEqual(['redefine']);
    expect((await test.apply(WITH)).plan.steps).toEqual([]);
    expect(kinds(await test.apply(WITHOUT))).toEqual(['redefine']);
    await setParents({ 1: '5' });
    expect(blocked(await test.apply(WITH))).toHaveLength(1);
  });
});
