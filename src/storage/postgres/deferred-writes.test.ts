/** Writes of rows that are sent with the commit of their units of work, which share it. */
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { ConstraintError, type Database, type Transaction } from '../contract.ts';
import { failure } from '../storage.fixture.ts';
import { commitValidationSql } from './commit-validation.ts';
import { toDeferredInsertion } from './deferred-writes.ts';
import { LOG, openFamily, whileOpen } from './postgres.fixture.ts';
import { staleFunctionSql } from './relation-checks.ts';

const { open, runSql, close } = openFamily('storage_postgres_deferred');

let database: Database;
beforeAll(async () => {
  // Long, so that a commit that waits for a lock would not end before the test.
  database = await open({ connections: 8, lockTimeout: 60_000 });
  await runSql(`
    CREATE TABLE "_State" ("id" TEXT COLLATE "C" PRIMARY KEY, "number" BIGINT, "text" TEXT);
    CREATE TABLE "User" ("id" TEXT COLLATE "C" PRIMARY KEY, "version" BIGINT);
    CREATE TABLE "_Session" ("id" TEXT COLLATE "C" PRIMARY KEY, "revokedAt" TEXT);
    CREATE TABLE "Log" ("id" TEXT COLLATE "C" PRIMARY KEY);
    CREATE TABLE "Item" ("id" TEXT COLLATE "C" PRIMARY KEY, "version" BIGINT, "text" TEXT, CHECK ("text" <> 'refused'));
    ${commitValidationSql()}; ${staleFunctionSql()}`);
});
afterAll(() => close(database));
beforeEach(() =>
  runSql(`DELETE FROM "Log"; DELETE FROM "Item"; INSERT INTO "Item" SELECT 'item ' || n, 1, '' FROM generate_series(0, 99) AS n`),
);

let entries = 0;

/** Appends a character to the text of an item, and an entry to the log; locks the item if the transaction cannot be optimistic. Returns the text. */
async function append(tx: Transaction, id: string, added: string, entry = `entry ${++entries}`): Promise<string> {
  const isOptimistic = tx.canBeOptimistic;
  const lock = isOptimistic ? sql`` : tx.rowLock('noKeyUpdate');
  const found = await tx.one<{ version: number; text: string }>(sql`SELECT "version", "text" FROM "Item" WHERE "id" = ${id}${lock}`);
  if (found === undefined) throw new Error(`there is no ${id}`);
  const text = found.text + added;
  const update = {
    row: `Item ${id}`,
    table: sql`"Item"`,
    assignments: sql`"text" = ${text}, "version" = "version" + 1`,
    where: sql`"id" = ${id} AND "version" = ${String(found.version)}::bigint`,
  };
  if (!(await tx.updateRow(update, { isOptimistic, isDeferrable: true }))) throw new Error('the item has changed although it was locked');
  tx.append(LOG, [entry]);
  return text;
}

const items = async (where = 'TRUE'): Promise<readonly unknown[]> =>
  (await runSql(`SELECT "text", "version"::int, "xmin"::text AS "commit" FROM "Item" WHERE ${where} ORDER BY "id"`)).rows;
const countOf = async (query: string): Promise<number> => (await runSql(`SELECT count(*)::int AS "n" FROM ${query}`)).rows[0].n;

describe('deferred writes', () => {
  it('commits deferred writes together, each with its entry', async () => {
    await Promise.all(Array.from({ length: 100 }, (_, at) => database.transaction((tx) => append(tx, `item ${at}`, 'a'))));
    expect(await countOf(`"Item" WHERE "text" = 'a' AND "version" = 2`)).toBe(100);
    expect(await countOf('"Log"')).toBe(100);
    expect(await countOf('(SELECT DISTINCT "xmin"::text FROM "Item") AS "commits"')).toBeLessThan(50);
  });

  it('does writes of one row one after the other', async () => {
    const letters = Array.from({ length: 40 }, (_, at) => String.fromCharCode(65 + at));
    const answers = await Promise.all(letters.map((letter) => database.transaction((tx) => append(tx, 'item 0', letter))));
    const [{ text, version }] = (await items(`"id" = 'item 0'`)) as [{ text: string; version: number }];
    expect([[...text].toSorted(), version, await countOf('"Log"')]).toEqual([letters.toSorted(), 41, 40]);
    // Each has seen the changes of those before it.
    expect(answers.toSorted((a, b) => a.length - b.length)).toEqual(letters.map((_, at) => text.slice(0, at + 1)));
  });

  it('does a write again whose row has changed since it was loaded', async () => {
    let runs = 0;
    const text = await database.transaction(async (tx) => {
      const answer = await append(tx, 'item 0', 'a');
      if (++runs === 1) await runSql(`UPDATE "Item" SET "text" = 'changed ', "version" = 2 WHERE "id" = 'item 0'`);
      return answer;
    });
    expect([runs, text, await countOf('"Log"')]).toEqual([2, 'changed a', 1]);
    expect(await items(`"id" = 'item 0'`)).toMatchObject([{ text: 'changed a', version: 3 }]);
  });

  it.each<[string, (tx: Transaction) => Promise<unknown>, string]>([
    ['row', (tx) => tx.run(sql`UPDATE "Item" SET "text" = 'held ', "version" = 2 WHERE "id" < 'item 3'`), 'held w'],
    ['table', (tx) => tx.run(sql`LOCK TABLE "Item" IN SHARE ROW EXCLUSIVE MODE`), 'w'],
  ])('does not wait for a locked %s, and writes when it is free', async (_, hold, expected) => {
    const texts = await whileOpen(database, hold, async (end) => {
      const waiting: Promise<string>[] = [];
      // One after the other, so that each is in a commit of its own: two commits run at the same time.
      for (let at = 0; at < 3; at++) {
        waiting.push(database.transaction((tx) => append(tx, `item ${at}`, 'w')));
        await setTimeout(20);
      }
      const reads = Array.from({ length: 20 }, (__, at) => database.transaction(async (tx) => tx.append(LOG, [`read ${at}`])));
      expect(await Promise.race([Promise.all(reads), setTimeout(5000, 'waiting')])).toHaveLength(20);
      await end();
      return Promise.all(waiting);
    });
    expect(texts).toEqual([expected, expected, expected]);
  });

  it('refuses a write that violates a constraint, and does the others of the commit', async () => {
    const writes = Array.from({ length: 20 }, (_, at) =>
      failure(database.transaction((tx) => append(tx, `item ${at}`, at === 7 ? 'refused' : 'a'))),
    );
    const errors = await Promise.all(writes);
    expect(errors.map((error) => error instanceof ConstraintError)).toEqual(writes.map((_, at) => at === 7));
    expect([await countOf(`"Item" WHERE "text" = 'a'`), await countOf('"Log"')]).toEqual([19, 19]);
  });

  it('refuses writes of a table without the privilege, and does the rest of the commit', async () => {
    // The same error as without the privilege.
    await runSql(`
      CREATE FUNCTION "refuse"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused' USING ERRCODE = '42501'; END $$;
      CREATE TRIGGER "refuse" BEFORE UPDATE ON "Item" FOR EACH ROW EXECUTE FUNCTION "refuse"()`);
    const writes = Array.from({ length: 3 }, (_, at) => failure(database.transaction((tx) => append(tx, `item ${at}`, 'a'))));
    const reads = Array.from({ length: 20 }, (_, at) => database.transaction(async (tx) => tx.append(LOG, [`read ${at}`])));
    expect(await Promise.all(reads)).toHaveLength(20);
    expect(await Promise.all(writes)).toMatchObject(writes.map(() => ({ code: 'STORAGE_UNAVAILABLE' })));
    await runSql('DROP FUNCTION "refuse" CASCADE');
  });

  it('does no write of a savepoint that is rolled back', async () => {
    const answer = await database.transaction(async (tx) => {
      const error = new Error('no');
      const undone = tx.savepoint(async () => {
        await append(tx, 'item 0', 'undone');
        throw error;
      });
      expect(await failure(undone)).toBe(error);
      return append(tx, 'item 1', 'done');
    });
    expect([answer, await countOf(`"Item" WHERE "text" <> ''`), await countOf('"Log"')]).toEqual(['done', 1, 1]);
  });

  it('does writes in the transaction of a unit of work that also writes otherwise', async () => {
    await database.transaction(async (tx) => {
      await append(tx, 'item 0', 'a');
      await tx.run(sql`UPDATE "Item" SET "text" = 'b' WHERE "id" = 'item 1'`);
      await append(tx, 'item 2', 'c');
    });
    expect(await items(`"id" IN ('item 0', 'item 1', 'item 2')`)).toMatchObject([{ text: 'a' }, { text: 'b' }, { text: 'c' }]);
    expect(await countOf(`(SELECT DISTINCT "xmin"::text FROM "Item" WHERE "text" <> '') AS "commits"`)).toBe(1);
  });

  it('does a write without an entry', async () => {
    const change = (tx: Transaction): Promise<boolean> =>
      tx.updateRow(
        { row: 'Item item 0', table: sql`"Item"`, assignments: sql`"text" = 'a'`, where: sql`"id" = 'item 0'` },
        { isOptimistic: true, isDeferrable: true },
      );
    expect(await database.transaction(change)).toBe(true);
    expect(await countOf(`"Item" WHERE "text" = 'a'`)).toBe(1);
  });

  it('refuses a value that cannot be sent in its unit of work', async () => {
    const refused = await failure(database.transaction((tx) => append(tx, 'item 0', '\u0000')));
    expect(refused).toMatchObject({ code: 'VALUE_INVALID' });
  });

  it('does not defer a large write, and runs it again if the row has changed', async () => {
    let runs = 0;
    const text = await database.transaction(async (tx) => {
      const first = await tx.one<{ text: string }>(sql`SELECT "text" FROM "Item" WHERE "id" = 'item 0'`);
      if (++runs === 1) await runSql(`UPDATE "Item" SET "text" = 'changed ', "version" = 2 WHERE "id" = 'item 0'`);
      return first?.text === undefined ? '' : appendSeen(tx, first.text);
    });
    expect([runs, text.slice(0, 10)]).toEqual([2, 'changed xx']);
    expect(await countOf('"Log"')).toBe(1);
  });
});

it('holds the row and the unique values of an insertion, so that two commits do not insert the same', () => {
  const statement = { sql: 'INSERT', parameters: [] };
  const insertion = { row: 'Member m', table: sql`"Member"`, columns: [], statement, references: [], isDeferrable: true };
  expect(toDeferredInsertion({ ...insertion, uniqueValues: ['name ann', 'code a'] })?.holds).toEqual(['Member m', 'name ann', 'code a']);
});

/** Replaces the text of the first item as it was read at version 1, or locked if the transaction cannot be optimistic. */
async function appendSeen(tx: Transaction, seen: string): Promise<string> {
  if (!tx.canBeOptimistic) return append(tx, 'item 0', 'x'.repeat(5000));
  const update = {
    row: 'Item item 0',
    table: sql`"Item"`,
    assignments: sql`"text" = ${seen + 'x'.repeat(5000)}, "version" = "version" + 1`,
    where: sql`"id" = 'item 0' AND "version" = 1`,
  };
  await tx.updateRow(update, { isOptimistic: true, isDeferrable: true });
  tx.append(LOG, [`entry ${++entries}`]);
  return seen;
}
