import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '../../errors.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import { sql } from '../../sql.ts';
import { define, failure, onPostgres } from '../storage.fixture.ts';
import { migrate, planMigration } from './migrate.ts';
import { COLUMN_TYPES, type Fields, kinds, type MigrationTest, openMigrationTest } from './migration.fixture.ts';
import { dialectOf } from './migration-dialects.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

describe('a new database', () => {
  it('a new database gets every table of the system, and a second run has nothing to do', async () => {
    const first = await migrate(test.database, SYSTEM);
    expect(first.plan.held).toEqual([]);
    expect(
      first.plan.steps
        .filter(({ kind }) => kind === 'createTable')
        .map(({ resource }) => resource)
        .toSorted(),
    ).toEqual([...SYSTEM.keys()].toSorted());
    expect(await test.revision()).toBe(1);
    const second = await migrate(test.database, SYSTEM);
    expect(second.plan).toMatchObject({ steps: [], held: [] });
    expect(second.definitions).toEqual(SYSTEM);
    expect(await test.revision()).toBe(1);
  });

  it('a new database gets columns of the right type, which refuse other values', async () => {
    await test.apply({
      title: { type: 'string' },
      price: { type: 'decimal' },
      stars: { type: 'number' },
      tags: { type: 'list', of: 'string' },
      open: { type: 'boolean' },
    });
    expect(await test.shapeOf('Article')).toMatchObject({
      id: COLUMN_TYPES.text,
      version: COLUMN_TYPES.integer,
      title: COLUMN_TYPES.text,
      price: COLUMN_TYPES.integer,
      stars: COLUMN_TYPES.real,
      tags: COLUMN_TYPES.json,
      open: COLUMN_TYPES.boolean,
    });
    const wrong = test.database.transaction((tx) => tx.run(sql`INSERT INTO "Article" ("id", "version") VALUES ('1', 'one')`));
    // PostgreSQL takes it for a mistake in the statement, not for one in the value.
    expect(await failure(wrong)).toMatchObject(onPostgres ? { code: 'INTERNAL' } : { constraint: 'check' });
  });

  it('a new database gets indexes on fields, on several fields, unique ones, and those of references', async () => {
    const fields = {
      status: { type: 'string', index: true },
      slug: { type: 'string', unique: true },
      authorId: { type: 'reference', to: 'User' },
    };
    await test.apply(fields, { indexes: [{ fields: ['status', 'createdAt'] }, { fields: ['status', 'slug'], unique: true }] });
    expect(await test.indexesOf('Article')).toEqual([
      'CREATE INDEX "ix_Article$authorId" ON "Article" ("authorId", "id")',
      'CREATE INDEX "ix_Article$status" ON "Article" ("status", "id")',
      'CREATE INDEX "ix_Article$status$createdAt" ON "Article" ("status", "createdAt", "id")',
      'CREATE UNIQUE INDEX "ux_Article$slug" ON "Article" ("slug")',
      'CREATE UNIQUE INDEX "ux_Article$status$slug" ON "Article" ("status", "slug")',
    ]);
  });

  it('a new database gets tables that reference each other and themselves', async () => {
    const definitions = define({
      A: { fields: { b: { type: 'reference', to: 'B', onDelete: 'setNull' }, a: { type: 'reference', to: 'A', onDelete: 'cascade' } } },
      B: { fields: { a: { type: 'reference', to: 'A' } } },
    });
    expect((await migrate(test.database, definitions)).plan.held).toEqual([]);
    expect((await migrate(test.database, definitions)).plan.steps).toEqual([]);
    await test.database.transaction(async (tx) => {
      await tx.run(sql`INSERT INTO "A" ("id") VALUES ('a1')`);
      await tx.run(sql`INSERT INTO "A" ("id", "a") VALUES ('a2', 'a1')`);
      await tx.run(sql`INSERT INTO "B" ("id", "a") VALUES ('b1', 'a2')`);
    });
    expect(await failure(test.database.transaction((tx) => tx.run(sql`DELETE FROM "A" WHERE "id" = 'a2'`)))).toMatchObject({
      constraint: 'reference',
    });
  });

  it('a plan does not change a new database', async () => {
    const plan = await planMigration(test.database, SYSTEM);
    expect(plan.steps.length).toBeGreaterThan(10);
    expect(plan.steps[0]?.sql[0]).toMatch(/^CREATE TABLE "/);
    expect(await test.database.transaction((tx) => dialectOf(tx).introspect(tx))).toEqual([]);
  });
});

describe('similar names', () => {
  it('similar names lead to different indexes', async () => {
    const definitions = define({
      A: {
        fields: { b: { type: 'string' }, c: { type: 'string' }, b_c: { type: 'string', index: true } },
        indexes: [{ fields: ['b', 'c'] }],
      },
      A_b: { fields: { c: { type: 'string', index: true } } },
    });
    await migrate(test.database, definitions);
    expect((await migrate(test.database, definitions)).plan.steps).toEqual([]);
    expect([...(await test.indexesOf('A')), ...(await test.indexesOf('A_b'))]).toHaveLength(3);
  });

  it('index names of any length stay within the limit of every database', async () => {
    const long = (start: string): string => start + 'x'.repeat(61);
    const fields = { [long('a')]: { type: 'string', index: true }, [long('b')]: { type: 'string', index: true } };
    await test.apply(fields);
    expect((await test.apply(fields)).plan.steps).toEqual([]);
    const tables = await test.database.transaction((tx) => dialectOf(tx).introspect(tx));
    const indexes = [...(tables.find(({ name }) => name === 'Article')?.indexes.keys() ?? [])];
    expect(indexes).toHaveLength(2);
    for (const name of indexes) expect(name.length).toBeLessThanOrEqual(63);
    expect(
      kinds(await test.apply({ [long('a')]: { type: 'string' }, [long('b')]: { type: 'string' } })).filter((kind) => kind === 'dropIndex'),
    ).toHaveLength(2);
  });
});

describe('a refusal', () => {
  const a: Fields = { title: { type: 'string' } };

  it('a refusal does not affect other resources', async () => {
    await migrate(test.database, define({ A: { fields: a }, B: { fields: a } }));
    const migrated = await migrate(
      test.database,
      define({ A: { fields: { title: { type: 'password' } } }, B: { fields: { ...a, more: { type: 'string' } } } }),
    );
    expect(kinds(migrated)).toEqual(['addColumn more']);
    expect(migrated.definitions.get('A')?.fields.get('title')?.type).toBe('string');
    expect(migrated.definitions.get('B')?.fields.has('more')).toBe(true);
  });

  it('a refusal keeps the resources that the refused one references', async () => {
    await migrate(test.database, define({ A: { fields: { ...a, b: { type: 'reference', to: 'B' } } }, B: { fields: a } }));
    const { definitions, plan, done } = await migrate(test.database, define({ A: { fields: { title: { type: 'password' } } } }));
    expect(done).toEqual([]);
    expect(plan.held).toEqual(['A', 'B']);
    expect(definitions.has('B')).toBe(true);
  });

  it('a refusal leaves out a resource that references one that was never applied', async () => {
    await test.database.transaction((tx) => tx.run(sql`CREATE TABLE "B" ("id" TEXT PRIMARY KEY, "title" DOUBLE PRECISION)`));
    const { definitions, plan } = await migrate(
      test.database,
      define({ A: { fields: { b: { type: 'reference', to: 'B' } } }, B: { fields: a } }),
    );
    expect(plan.held).toEqual(['B', 'A']);
    expect([definitions.has('A'), definitions.has('B')]).toEqual([false, false]);
  });

  it('a refusal of a system table stops the program', async () => {
    await test.database.transaction((tx) => tx.run(sql`CREATE TABLE "_Decision" ("id" INTEGER PRIMARY KEY, "at" INTEGER)`));
    expect(await failure(migrate(test.database, SYSTEM))).toBeInstanceOf(SetupError);
    expect(await test.database.transaction((tx) => dialectOf(tx).hasTable(tx, '_Policy'))).toBe(false);
  });
});
