import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { define } from '../storage.fixture.ts';
import { migrate } from './migrate.ts';
import { blocked, type Fields, kinds, type MigrationTest, openMigrationTest } from './migration.fixture.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

describe('a changed definition', () => {
  const before: Fields = { title: { type: 'string' }, note: { type: 'string' } };

  it('adds optional fields, and writes defaults as bound values', async () => {
    await test.apply(before);
    expect(kinds(await test.apply({ ...before, filled: { type: 'string', default: 'x' } }))).toEqual(['addColumn filled']);
    await test.apply(before);
    await test.insert(before, { title: 'one' }, { title: 'two' });
    const evil = `'); DROP TABLE "Article"; --`;
    const after = {
      ...before,
      summary: { type: 'text' },
      section: { type: 'string', required: true, default: evil },
      price: { type: 'decimal', default: '1.50' },
    };
    const migrated = await test.apply(after);
    expect(kinds(migrated)).toEqual(['addColumn summary', 'addColumn section', 'backfill section', 'addColumn price', 'backfill price']);
    expect(migrated.plan.steps.flatMap((step) => step.sql).join()).not.toContain('DROP');
    expect(await test.rows('Article')).toMatchObject([
      { section: evil, price: 150, summary: null },
      { section: evil, price: 150 },
    ]);
    expect((await test.apply(after)).plan.steps).toEqual([]);
  });

  it('adds a required field without a default only as long as there are no records', async () => {
    await test.apply(before);
    expect(kinds(await test.apply({ ...before, a: { type: 'string', required: true } }))).toEqual(['addColumn a']);
    await test.insert({ ...before, a: { type: 'string' } }, { a: 'x' }, { a: 'y' });
    const refused = await test.apply({
      ...before,
      a: { type: 'string', required: true },
      b: { type: 'string', required: true },
      c: { type: 'string' },
    });
    expect(refused.done).toEqual([]);
    expect(blocked(refused)).toEqual([expect.stringContaining('Article.b is required, but 2 records have no value')]);
    expect([...(refused.definitions.get('Article')?.fields.keys() ?? [])].slice(5)).toEqual(['title', 'note', 'a']);
  });

  it('makes a field required if every record has a value or gets the default', async () => {
    await test.apply(before);
    await test.insert(before, { title: 'one', note: 'n' }, { title: 'two' });
    expect(kinds(await test.apply({ ...before, title: { type: 'string', required: true } }))).toEqual(['redefine']);
    const required = { title: { type: 'string', required: true }, note: { type: 'string', required: true } };
    expect(blocked(await test.apply(required))[0]).toContain('1 record has no value');
    expect(kinds(await test.apply({ ...required, note: { type: 'string', required: true, default: '-' } }))).toEqual([
      'backfill note',
      'redefine',
    ]);
    expect((await test.rows('Article')).map((row) => row['note'])).toEqual(['n', '-']);
  });

  it('creates and drops indexes', async () => {
    await test.apply(before);
    await test.insert(before, { title: 'a' }, { title: 'a' }, {}, {});
    expect(kinds(await test.apply({ ...before, title: { type: 'string', index: true } }))).toEqual(['createIndex']);
    expect(kinds(await test.apply(before))).toEqual(['dropIndex']);
    const unique = await test.apply({ ...before, title: { type: 'string', unique: true } });
    expect(blocked(unique)).toEqual(['Article (title) must be unique, but several records have "a" (2); change these records first']);
    expect(kinds(await test.apply({ ...before, note: { type: 'string', unique: true } }))).toContain('createIndex');
  });

  it('keeps indexes that were created by hand', async () => {
    await test.apply(before);
    await test.database.transaction((tx) => tx.run(sql`CREATE INDEX "mine" ON "Article" ("note")`));
    expect((await test.apply(before)).plan.steps).toEqual([]);
  });

  it('refuses a unique field whose default all records would share', async () => {
    await test.apply(before);
    await test.insert(before, {}, {});
    const migrated = await test.apply({ ...before, code: { type: 'string', unique: true, default: 'x' } });
    expect(blocked(migrated)[0]).toContain('Article (code) must be unique');
  });

  it('refuses a reference whose default is not the id of a record', async () => {
    const id = '018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f';
    const other = (to: string): Fields => ({ ...before, other: { type: 'reference', to, default: id } });
    await test.apply(before);
    await test.insert(before, { title: 'one' });
    expect(blocked(await test.apply(other('Article')))).toEqual([expect.stringContaining('but no Article has this id')]);
    const beside = await migrate(test.database, define({ Article: { fields: other('Desk') }, Desk: { fields: before } }));
    expect(blocked(beside)).toEqual([expect.stringContaining('but no Desk has this id')]);
    await test.database.transaction((tx) => tx.run(sql`UPDATE "Article" SET "id" = ${id}`));
    expect(kinds(await test.apply(other('Article')))).toEqual(['addColumn other', 'backfill other', 'createIndex', 'keepAside']);
    expect(await test.rows('Article')).toMatchObject([{ id, other: id }]);
  });

  it.each<[string, Fields, JsonObject]>([
    ['of the field', { code: { type: 'string', unique: true } }, {}],
    ['of several fields', { code: { type: 'string' } }, { indexes: [{ fields: ['title', 'code'], unique: true }] }],
    [
      'with the default in its condition',
      { code: { type: 'string' } },
      { indexes: [{ fields: ['title'], unique: true, where: { code: 'x' } }] },
    ],
  ])('blocks a default that would occur twice in an existing unique index %s', async (_, fields, more) => {
    await test.apply({ ...before, ...fields }, more);
    await test.insert({ ...before, ...fields }, { title: 'one' }, { title: 'one', code: 'other' });
    const after: Fields = { ...before, code: { ...fields['code'], required: true, default: 'x' } };
    expect((await test.apply(after, more)).plan.held).toEqual([]);
    await test.apply({ ...before, ...fields }, more);
    await test.database.transaction((tx) => tx.run(sql`UPDATE "Article" SET "code" = NULL`));
    const { plan, done } = await test.apply(after, more);
    expect([plan.held, done]).toEqual([['Article'], []]);
    expect(plan.steps.find(({ risk }) => risk === 'blocked')?.reason).toContain('must be unique, but several records have "');
  });

  it.each([
    ['integer', { type: 'integer' }, 'lossy'],
    ['a narrower type', { type: 'enum', values: ['two'] }, 'lossy'],
    ['a reference', { type: 'reference', to: 'User' }, 'lossy'],
    ['a secret kind', { type: 'password' }, 'blocked'],
  ])('holds the whole resource if text would become %s without confirmation', async (_, field, risk) => {
    await test.apply(before);
    await test.insert(before, { title: 'one' });
    const { plan, done, definitions } = await test.apply({ ...before, title: field, extra: { type: 'string' } });
    expect([plan.held, done]).toEqual([['Article'], []]);
    expect(plan.steps.find((step) => step.risk === risk)?.reason).toContain('Article.title changes from string to');
    expect(definitions.get('Article')?.fields.get('title')?.type).toBe('string');
    expect(Object.keys(await test.shapeOf('Article')).filter((name) => name === 'extra' || name.includes('$'))).toEqual([]);
  });

  it.each([
    ['enum to text', { type: 'enum', values: ['a'] }, { type: 'text' }],
    ['list to json', { type: 'list', of: 'string' }, { type: 'json' }],
  ])('widens %s without writing a row', async (_, from, to) => {
    await test.apply({ field: from });
    expect(kinds(await test.apply({ field: to }))).toEqual(['redefine']);
  });

  it('refuses to remove enum values that records have, in lists too', async () => {
    const fields = (values: string[]): Fields => ({
      status: { type: 'enum', values },
      tags: { type: 'list', of: { type: 'enum', values } },
    });
    await test.apply(fields(['a', 'b', 'c']));
    await test.insert(fields(['a', 'b', 'c']), { status: 'a', tags: ['a', 'b'] }, { status: 'a' });
    expect(kinds(await test.apply(fields(['a', 'b'])))).toEqual(['redefine']);
    expect(blocked(await test.apply(fields(['d'])))).toEqual([
      'Article.status no longer lists "a" (2), but records have these values; list them again, or change the records first',
      'Article.tags no longer lists "a" (1), but records have these values; list them again, or change the records first',
    ]);
  });

  it('describes changes that leave the table as it is', async () => {
    await test.apply({ title: { type: 'string', maxLength: 50, required: true } });
    const at = await test.revision();
    const { plan } = await test.apply({ title: { type: 'string', maxLength: 20, default: 'x' } });
    expect(plan.steps).toMatchObject([{ kind: 'redefine', sql: [] }]);
    expect(plan.steps[0]?.reason).toContain('title: required was true, is false');
    expect(plan.steps[0]?.reason).toMatch(/maxLength was 50, is 20/);
    expect(await test.revision()).toBe(at + 1);
  });

  it('ignores changed descriptions', async () => {
    await test.apply({ title: { type: 'string' } });
    expect((await test.apply({ title: { type: 'string', description: 'shown' } })).plan.steps).toEqual([]);
  });

  it('refuses names that differ only in case from archived ones', async () => {
    await test.apply(before);
    expect(blocked(await test.apply({ Title: { type: 'string' } }))[0]).toContain('renamedFrom: title');
    const migrated = await migrate(test.database, define({ ARTICLE: { fields: before } }));
    expect(blocked(migrated)[0]).toMatch(/only in case.*Article/);
    expect(migrated.definitions.has('ARTICLE')).toBe(false);
  });
});

describe('soft-deleted records that block a step', () => {
  const before: Fields = { status: { type: 'enum', values: ['a', 'b'] } };
  const softDelete = { softDelete: true };
  const remedy = 'restore and change them, or permanently delete them with storage prune --deleted-before 0 --yes';

  it.each<[string, Fields, readonly number[], string]>([
    ['without a required value', { status: { ...before['status'], required: true } }, [2], '1 of the records is soft-deleted'],
    ['with a removed value', { status: { type: 'enum', values: ['b'] } }, [0, 1], '2 of the records are soft-deleted'],
  ])('the reason counts soft-deleted records %s', async (_, after, deleted, reason) => {
    await test.apply(before, softDelete);
    await test.insert(before, { status: 'a' }, { status: 'a' }, {});
    await test.database.transaction(async (tx) => {
      for (const index of deleted) await tx.run(sql`UPDATE "Article" SET "deletedAt" = '2026-01-01' WHERE "id" = ${String(index + 1)}`);
    });
    expect(blocked(await test.apply(after, softDelete))).toEqual([expect.stringContaining(`; ${reason}: ${remedy}`)]);
  });
});
