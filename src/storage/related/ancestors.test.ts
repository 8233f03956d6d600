import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeUnchecked } from '../../../test/postgres/unchecked-writes.ts';
import { createScope } from '../../authz/context/index.ts';
import { type Ancestors, type Condition, evaluate, parseConditions } from '../../conditions/index.ts';
import type { JsonObject, Truth } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import { exactFilter } from '../lists/sql-target.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertRecord, loadRecord } from '../records.ts';
import { define, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../storage.fixture.ts';
import { toChangedRecord } from './changed-record.ts';
import { validateMove } from './hierarchy-checks.ts';
import { createRelatedStore } from './related-records.ts';

const HIERARCHY: JsonObject = { type: 'reference', to: 'Folder', hierarchy: true };
const DEFINITIONS = define({
  Folder: { softDelete: true, fields: { parentId: HIERARCHY } },
  Sealed: { checksum: true, fields: { parentId: { ...HIERARCHY, to: 'Sealed' } } },
  Document: { fields: { folderId: { type: 'reference', to: 'Folder' }, sealedId: { type: 'reference', to: 'Sealed' } } },
});
const DOCUMENT = resourceOf(DEFINITIONS, 'Document');

/** Folders by id, with their parents: c lies in b, which lies in a; below lies in a deleted folder. */
const FOLDERS: Readonly<Record<string, string | undefined>> = {
  a: undefined,
  b: 'a',
  c: 'b',
  deleted: 'a',
  below: 'deleted',
  lost: 'gone',
  ring: 'ring',
};

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, DEFINITIONS);
  await test.database.transaction(async (tx) => {
    for (const name of ['Folder', 'Sealed']) {
      const ids = name === 'Folder' ? Object.keys(FOLDERS) : ['a', 'b', 'c'];
      for (const id of ids) {
        const isStored = FOLDERS[id] !== undefined && ids.includes(FOLDERS[id]) && FOLDERS[id] !== id;
        await insertRecord(tx, resourceOf(DEFINITIONS, name), toRecord(id, isStored ? { parentId: FOLDERS[id] as string } : {}));
      }
    }
    for (const id of Object.keys(FOLDERS)) {
      const sealedId = ['a', 'b', 'c'].includes(id) ? { sealedId: id } : {};
      await insertRecord(tx, DOCUMENT, toRecord(`in ${id}`, { folderId: id, ...sealedId }));
    }
    await tx.run(sql`UPDATE "Folder" SET "deletedAt" = ${'2026-01-01T00:00:00.000Z'} WHERE "id" = ${'deleted'}`);
  });
  await writeUnchecked(test.url, [
    { sql: 'UPDATE "Folder" SET "parentId" = $1 WHERE "id" = $2', values: ['gone', 'lost'] },
    { sql: 'UPDATE "Folder" SET "parentId" = $1 WHERE "id" = $2', values: ['ring', 'ring'] },
  ]);
});
afterAll(() => test.dispose());

function within(value: string, field = 'resource.folderId'): Condition {
  const options = { at: '', expressions: false, limits: LIMITS };
  return parseConditions([{ field, operator: 'within', value }], options).condition;
}
const LIMITS = {
  depth: 5,
  references: 4,
  comparisons: 10,
  listItems: 10,
  textLength: 100,
  expressionLength: 100,
  expressionDepth: 10,
  relatedRecords: 10,
};

/** Evaluates a condition on a document in memory. */
function inMemory(condition: Condition, id: string): Promise<Truth> {
  return test.database.transaction(async (tx) => {
    const record = await loadRecord(tx, DOCUMENT, id);
    const related = createRelatedStore(tx, DEFINITIONS);
    const scope = createScope({
      principal: { role: 'user', attributes: {} },
      action: 'read',
      resource: DOCUMENT,
      record,
      origin: { method: '', path: '', ip: '' },
      now: 0,
      timeZone: 'UTC',
      definitions: DEFINITIONS,
      related,
    });
    return related.evaluate(() => evaluate(condition, scope));
  });
}

/** Evaluates a condition on a document in SQL; undefined if SQL cannot. */
function inSql(condition: Condition, id: string): Promise<Truth | undefined> {
  return test.database.transaction(async (tx) => {
    const filter = exactFilter(condition, DOCUMENT, { dialect: tx.dialect, now: 0, timeZone: 'UTC', definitions: DEFINITIONS });
    if (filter === undefined) return undefined;
    const row = await tx.one<{ truth: boolean | number | null }>(sql`SELECT ${filter} AS "truth" FROM "Document" WHERE "id" = ${id}`);
    return row?.truth === null || row === undefined ? null : Boolean(row.truth);
  });
}

describe('the ancestors of a record', () => {
  it.each<readonly [id: string, value: string, result: Truth]>([
    ['in c', 'a', true],
    ['in c', 'c', true],
    ['in a', 'c', false],
    ['in below', 'below', true],
    ['in below', 'a', null],
    ['in below', 'deleted', null],
    ['in deleted', 'deleted', null],
    ['in lost', 'a', null],
    ['in ring', 'a', null],
    ['in ring', 'ring', true],
  ])('a document %s compared with %s is the same in memory and in SQL', async (id, value, result) => {
    expect([await inMemory(within(value), id), await inSql(within(value), id)]).toEqual([result, result]);
    const not: Condition = { type: 'not', of: within(value) };
    const negated = result === null ? null : !result;
    expect([await inMemory(not, id), await inSql(not, id)]).toEqual([negated, negated]);
  });

  it('a damaged record breaks the chain, and SQL does not compare checksums', async () => {
    const condition = within('a', 'resource.sealedId');
    expect([await inMemory(condition, 'in c'), await inSql(condition, 'in c')]).toEqual([true, undefined]);
    await test.database.transaction((tx) => tx.run(sql`UPDATE "Sealed" SET "version" = 7 WHERE "id" = ${'b'}`));
    expect([await inMemory(condition, 'in c'), await inMemory(condition, 'in a')]).toEqual([null, true]);
  });
});

/** Returns the ancestors of `c` in a decision on a record of its hierarchy whose parent would change. */
function ancestorsAfter(name: string, id: string, parentId: string | undefined): Promise<Ancestors | 'unknown'> {
  return test.database.transaction(async (tx) => {
    const resource = resourceOf(DEFINITIONS, name);
    const changed = toChangedRecord(resource, { version: 2, id, ...(parentId !== undefined && { parentId }) });
    const related = createRelatedStore(tx, DEFINITIONS, { changed });
    return related.evaluate(() => related.ancestors(name, 'c'));
  });
}

describe('the ancestors of a record below a changed one', () => {
  it.each<readonly [name: string, id: string, parentId: string | undefined, ids: string, end: Ancestors['end']]>([
    ['Folder', 'b', 'a', 'c b a', 'root'],
    ['Folder', 'b', undefined, 'c b', 'root'],
    ['Folder', 'b', 'lost', 'c b lost', 'missing'],
    ['Folder', 'b', 'deleted', 'c b', 'missing'],
    ['Folder', 'b', 'gone', 'c b', 'missing'],
    ['Folder', 'c', 'a', 'c a', 'root'],
    ['Folder', 'lost', 'a', 'c b a', 'root'],
    ['Folder', 'b', 'c', Array.from({ length: 16 }, () => 'c b').join(' '), 'limit'],
    ['Sealed', 'c', undefined, 'c', 'root'],
    ['Sealed', 'c', 'a', 'c a', 'root'],
  ])('the ancestors in %s, with %s moved below %s, are "%s" and end with %s', async (name, id, parentId, ids, end) => {
    expect(await ancestorsAfter(name, id, parentId)).toEqual({ ids: ids.split(' '), end });
  });
});

describe('validateMove', () => {
  it.each<readonly [id: string, parentId: string, codes: readonly string[]]>([
    ['a', 'c', ['cycle']],
    ['a', 'a', ['cycle']],
    ['a', 'below', ['cycle']],
    ['c', 'a', []],
    ['c', 'b', []],
    ['b', 'ring', []],
  ])('a move of %s below %s has the issues %j', async (id, parentId, codes) => {
    const folder = resourceOf(DEFINITIONS, 'Folder');
    const issues = await test.database.transaction(async (tx) => {
      const before = await loadRecord(tx, folder, id);
      return before === undefined ? [] : validateMove(tx, folder, { before, values: { parentId } });
    });
    expect(issues.map(({ code }) => code)).toEqual(codes);
  });
});
