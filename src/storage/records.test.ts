import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../operators/index.ts';
import { sql } from '../sql.ts';
import { ConstraintError } from './contract.ts';
import { migrate } from './migrations/migrate.ts';
import { deleteRecord, insertRecord, loadRecord, updateRecord } from './records.ts';
import { lockReferences } from './related/reference-checks.ts';
import {
  clearReferences,
  findReferencesToClear,
  findReferencingIds,
  type ReferencingField,
  referencingFieldsTo,
} from './related/reference-searches.ts';
import { define, emptyTables, failure, openTestDatabase, resourceOf, type TestDatabase, toRecord } from './storage.fixture.ts';

const definitions = define({
  Author: { fields: { name: { type: 'string', unique: true }, pin: { type: 'string', writeOnly: true } } },
  Article: {
    fields: {
      title: { type: 'string' },
      price: { type: 'decimal', scale: 3 },
      open: { type: 'boolean' },
      tags: { type: 'list', of: 'string' },
      meta: { type: 'json' },
      authorId: { type: 'reference', to: 'Author' },
      editorId: { type: 'reference', to: 'Author', onDelete: 'setNull' },
      readers: { type: 'list', of: { type: 'reference', to: 'Author' } },
    },
  },
});
const article = resourceOf(definitions, 'Article');
const author = resourceOf(definitions, 'Author');
let test: TestDatabase;

beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
});
afterAll(() => test.dispose());
beforeEach(() => emptyTables(test, 'Article', 'Author'));

const insert = (id: string, values: JsonObject) => test.database.transaction((tx) => insertRecord(tx, article, toRecord(id, values)));
const insertAuthor = (id: string, values: JsonObject = {}) =>
  test.database.transaction((tx) => insertRecord(tx, author, toRecord(id, values)));
const load = (id: string) => test.database.transaction((tx) => loadRecord(tx, article, id));

describe('records', () => {
  it.each<[string, JsonObject]>([
    ['texts', { title: `'; -- "é" 🦉` }],
    ['decimals of 18 digits', { price: '999999999999999.999' }],
    ['small negative decimals', { price: '-0.001' }],
    ['booleans', { open: false }],
    ['lists and JSON', { tags: ['a', ''], meta: { a: [1, null, { b: true }] } }],
    ['JSON null', { meta: null }],
    ['names that objects inherit', { title: '__proto__', meta: { constructor: 1 } }],
    ['nothing at all', {}],
  ])('loads a record as it was inserted: %s', async (_, values) => {
    await insert('1', values);
    const { meta, ...others } = values;
    expect(await load('1')).toEqual(toRecord('1', { ...others, ...(meta !== undefined && meta !== null && { meta }) }));
  });

  it('loads a record without its write-only fields', async () => {
    await insertAuthor('a', { name: 'Ada', pin: '1234' });
    expect(await test.database.transaction((tx) => loadRecord(tx, author, 'a'))).toEqual(toRecord('a', { name: 'Ada' }));
    expect(await test.rows('Author')).toMatchObject([{ pin: '1234' }]);
  });

  it('updates only the given fields, and only at the given version', async () => {
    await insert('1', { title: 'old', price: '1.000', tags: ['kept'] });
    const now = Date.parse('2026-02-03T04:05:06.789Z');
    const change = { id: '1', version: 1, values: { title: 'new', id: 'stolen', version: 99 }, cleared: ['price', 'unknown'], now };
    const update = () => test.database.transaction((tx) => updateRecord(tx, article, change));
    expect(await update()).toBe(true);
    expect(await load('1')).toEqual({
      ...toRecord('1', { title: 'new', tags: ['kept'] }),
      version: 2,
      updatedAt: '2026-02-03T04:05:06.789Z',
    });
    expect(await update()).toBe(false);
    expect(await load('2')).toBeUndefined();
  });

  it('deletes a record once', async () => {
    await insert('1', {});
    const remove = () => test.database.transaction((tx) => deleteRecord(tx, article, { id: '1' }));
    expect([await remove(), await remove()]).toEqual([true, false]);
  });

  it('a duplicate value fails with the names of the unique fields', async () => {
    await insertAuthor('a', { name: 'Ada' });
    const error = await failure(insertAuthor('b', { name: 'Ada' }));
    expect(error).toBeInstanceOf(ConstraintError);
    expect(error).toMatchObject({ constraint: 'unique', table: 'Author', columns: ['name'] });
  });
});

describe('lockReferences', () => {
  it('returns every reference to a missing record, also in lists', async () => {
    await insertAuthor('a');
    await insertAuthor('b');
    const check = (values: JsonObject) => test.database.transaction((tx) => lockReferences(tx, { resource: article, definitions }, values));
    expect(await check({ authorId: 'a', editorId: 'b', readers: ['a', 'b', 'a'] })).toEqual([]);
    expect(await check({ title: 'none' })).toEqual([]);
    expect(await check({ authorId: 'x', readers: ['a', 'y', `'"`] })).toMatchObject([
      { path: 'authorId', code: 'reference' },
      { path: 'readers.1', code: 'reference' },
      { path: 'readers.2', code: 'reference' },
    ]);
  });
});

describe('referencing records', () => {
  const find = (id: string) =>
    test.database.transaction(async (tx) => {
      const found: unknown[] = [];
      for (const referencing of referencingFieldsTo(definitions, { resource: author, ids: [id] })) {
        const ids = await findReferencingIds(tx, referencing, { after: '', limit: 10 });
        if (ids.length > 0) found.push([referencing.resource.name, referencing.field.name, referencing.onDelete, ids]);
      }
      return found;
    });

  it('finds referencing records by field, with the onDelete option of the field', async () => {
    await insertAuthor('a');
    await insertAuthor('b');
    await insert('1', { authorId: 'a', editorId: 'b' });
    await insert('2', { authorId: 'a', readers: ['b', 'a'] });
    expect(await find('a')).toEqual([
      ['Article', 'authorId', 'restrict', ['1', '2']],
      ['Article', 'readers', 'restrict', ['2']],
    ]);
    expect(await find('b')).toEqual([
      ['Article', 'editorId', 'setNull', ['1']],
      ['Article', 'readers', 'restrict', ['2']],
    ]);
    expect(await find('none')).toEqual([]);
  });

  it('finds referencing records page by page', async () => {
    await insertAuthor('a');
    for (const id of ['1', '2', '3']) await insert(id, { authorId: 'a' });
    const [referencing] = referencingFieldsTo(definitions, { resource: author, ids: ['a'] });
    const page = (after: string) =>
      test.database.transaction((tx) => findReferencingIds(tx, referencing as ReferencingField, { after, limit: 2 }));
    expect([await page(''), await page('2')]).toEqual([['1', '2'], ['3']]);
  });

  it('clears references with one statement, each record with a new version', async () => {
    await insertAuthor('a');
    await insertAuthor('b');
    await insert('1', { authorId: 'b', editorId: 'a' });
    await insert('2', { authorId: 'b', editorId: 'a' });
    await insert('3', { authorId: 'b', editorId: 'b' });
    const editor = referencingFieldsTo(definitions, { resource: author, ids: ['a'] }).find(({ onDelete }) => onDelete === 'setNull');
    const now = await test.database.transaction(async (tx) => {
      await clearReferences(tx, await findReferencesToClear(tx, editor as ReferencingField));
      return new Date(tx.now).toISOString();
    });
    expect(await test.rows('Article')).toMatchObject([
      { id: '1', editorId: null, version: 2, updatedAt: now },
      { id: '2', editorId: null, version: 2, updatedAt: now },
      { id: '3', editorId: 'b', version: 1 },
    ]);
  });

  it('the database enforces references too', async () => {
    await insertAuthor('a');
    await insert('1', { authorId: 'a' });
    expect(await failure(test.database.transaction((tx) => deleteRecord(tx, author, { id: 'a' })))).toMatchObject({
      constraint: 'reference',
    });
    expect(await failure(test.database.transaction((tx) => tx.run(sql`UPDATE "Article" SET "authorId" = 'none'`)))).toMatchObject({
      constraint: 'reference',
    });
  });
});
