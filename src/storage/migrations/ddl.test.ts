import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { failure, onPostgres } from '../storage.fixture.ts';
import { type MigrationResult, migrate } from './migrate.ts';
import { article, blocked, COLUMN_TYPES, type Fields, kinds, type MigrationTest, openMigrationTest } from './migration.fixture.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

const fields: Fields = {
  status: { type: 'enum', values: ['draft', "it's"] },
  slug: { type: 'string' },
  live: { type: 'boolean' },
  price: { type: 'decimal' },
  authorId: { type: 'reference', to: 'User' },
};
const apply = (...indexes: readonly JsonObject[]): Promise<MigrationResult> => test.apply(fields, { indexes });

describe('partial indexes', () => {
  it.skipIf(onPostgres)('writes the condition of a partial index in SQL, with values as their columns hold them', async () => {
    await apply({ fields: ['slug'], where: { status: "it's", live: true, price: '1.50' } });
    const [, partial] = await test.indexesOf('Article');
    expect(partial).toMatch(
      /^CREATE INDEX "ix_Article\$slug\$[0-9a-f]{12}" ON "Article" \("slug", "id"\) WHERE "live" = 1 AND "price" = 150 AND "status" = 'it''s'$/,
    );
    expect((await apply({ fields: ['slug'], where: { price: '1.50', live: true, status: "it's" } })).plan.steps).toEqual([]);
  });

  it('a partial index is unique among its rows only', async () => {
    const unique = { fields: ['slug'], unique: true, where: { status: 'draft' } };
    await test.apply(fields);
    await test.insert(fields, { slug: 'a', status: 'draft' }, { slug: 'a', status: "it's" }, { slug: 'a' });
    expect(kinds(await apply(unique))).toEqual(['createIndex']);
    const second = test.database.transaction((tx) => tx.run(sql`UPDATE "Article" SET "status" = 'draft' WHERE "id" = '2'`));
    expect(await failure(second)).toMatchObject({ constraint: 'unique' });
    await apply();
    await test.database.transaction((tx) => tx.run(sql`UPDATE "Article" SET "status" = 'draft' WHERE "id" = '2'`));
    expect(blocked(await apply(unique))).toEqual([expect.stringContaining('several records have "a" (2)')]);
  });

  it('a partial index exists next to a full index, is replaced when its condition changes, and does not replace the index of a reference', async () => {
    const of = (status: string): JsonObject => ({ fields: ['authorId'], where: { status } });
    await apply(of('draft'), { fields: ['slug'] }, { fields: ['slug'], where: { live: true } });
    expect(await test.indexesOf('Article')).toHaveLength(4);
    expect(kinds(await apply(of("it's"), { fields: ['slug'] }))).toEqual(['dropIndex', 'dropIndex', 'createIndex']);
  });

  const uniqueDrafts = { indexes: [{ fields: ['slug'], unique: true, where: { status: 'draft' } }] };
  const asText: Fields = { ...fields, status: { type: 'string' } };
  const insertSecondDraft = (): Promise<unknown> =>
    failure(test.database.transaction((tx) => tx.run(sql`INSERT INTO "Article" ("id", "slug", "status") VALUES ('9', 'a', 'draft')`)));

  it('a partial index follows a field of its condition whose type changes', async () => {
    await test.apply(asText, uniqueDrafts);
    await test.insert(asText, { slug: 'a', status: 'draft' });
    expect(kinds(await test.apply(fields, uniqueDrafts))).toEqual(['dropIndex', 'convert status', 'createIndex', 'redefine']);
    expect(await insertSecondDraft()).toMatchObject({ constraint: 'unique' });
    expect((await migrate(test.database, article(fields, uniqueDrafts), { thorough: true })).plan.steps).toEqual([]);
  });

  it('a partial index whose condition reads another column is created again', async () => {
    await test.apply(fields, uniqueDrafts);
    await test.insert(fields, { slug: 'a', status: 'draft' });
    await test.database.transaction(async (tx) => {
      await tx.run(sql`ALTER TABLE "Article" RENAME COLUMN "status" TO "status$1"`);
      await tx.run(sql`ALTER TABLE "Article" ADD COLUMN "status" ${sql.raw(COLUMN_TYPES.text)}`);
      await tx.run(sql`UPDATE "Article" SET "status" = "status$1"`);
    });
    expect(kinds(await migrate(test.database, article(fields, uniqueDrafts), { thorough: true }))).toEqual(['dropIndex', 'createIndex']);
    expect(await insertSecondDraft()).toMatchObject({ constraint: 'unique' });
  });
});
