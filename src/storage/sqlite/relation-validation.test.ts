import { afterEach, beforeEach, expect, it } from 'vitest';
import { renderSql, sql } from '../../sql.ts';
import { noteListed } from '../lists/listed-records.ts';
import type { ReadSet } from '../read-set.ts';
import type { ListCheck } from '../related/relation-set.ts';
import { define, resourceOf } from '../storage.fixture.ts';
import { areRelationsCurrent } from './relation-validation.ts';
import { sqliteDialect } from './sql-dialect.ts';
import { type Family, openFamily } from './sqlite.fixture.ts';

const DEFINITIONS = define({ Parent: { fields: { n: { type: 'integer' } } } });
const PARENT = resourceOf(DEFINITIONS, 'Parent');
const RECORD = { id: 'p', version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };

let family: Family;
beforeEach(async () => {
  family = await openFamily();
  await family.database.transaction(async (tx) => {
    await tx.run(sql`CREATE TABLE "_State" ("id" TEXT PRIMARY KEY NOT NULL, "number" INTEGER, "text" TEXT) STRICT`);
    await tx.run(sql`INSERT INTO "Parent" ("id") VALUES ('p')`);
  });
});
afterEach(() => family.dispose());

/** Validates a list that depends on children. Returns the result, and the number of comparisons of its records. */
async function validate(marks: string | undefined): Promise<readonly [isCurrent: boolean, comparisons: number]> {
  let comparisons = 0;
  const list: ListCheck = {
    key: 'list 1',
    resource: PARENT,
    records: [RECORD],
    dependsOn: new Set(['Child']),
    marks,
    toComparison() {
      comparisons++;
      return { tables: sql`"Parent"`, where: sql`"Parent"."n" IS NULL`, texts: [], valuesOf: () => [] };
    },
    needsScans: () => false,
  };
  const set = { records: new Map(), related: [], lists: [list], totals: [] };
  const isCurrent = await family.database.transaction((tx) => areRelationsCurrent(tx, set));
  return [isCurrent, comparisons];
}

it('compares the records of a list only if others have written records on which it depends', async () => {
  const { database } = family;
  const marks = await database.transaction((tx) => tx.loadWriteState(new Set(['Child'])));
  await database.transaction(async (tx) => tx.noteWritten('Parent'));
  expect(await validate(marks)).toEqual([true, 0]);
  await database.transaction(async (tx) => tx.noteWritten('Child'));
  expect(await validate(marks)).toEqual([true, 1]);
  await database.transaction((tx) => tx.run(sql`UPDATE "Parent" SET "n" = 1`));
  expect(await validate(marks)).toEqual([false, 1]);
});

it('the compared records of a list have a deadline check each', async () => {
  const added: ReadSet[] = [];
  const tx = {
    validatesReads: true,
    dialect: sqliteDialect,
    loadWriteState: async () => 'marks',
    addToReadSet: (set: ReadSet) => added.push(set),
  };
  const query = { definitions: DEFINITIONS, existence: 'notDeleted' as const, now: 0, timeZone: 'UTC' };
  const listed = {
    query,
    restrictions: [{ where: { type: 'constant' as const, value: true } }],
    dependsOn: new Set(['Child']),
    page: { records: [RECORD] },
  };
  await noteListed(tx as never, PARENT, listed);
  const [list] = added[0]?.relations?.lists ?? [];
  const { sql: text } = renderSql(list?.toComparison().tables ?? sql``, () => '?');
  expect(text).toContain('(("Parent".rowid & 0) <> 0 OR bailiwick_deadline())');
});

it('compares the records of a list without write marks', async () => {
  expect(await validate(undefined)).toEqual([true, 1]);
});
