import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { AppendStatements, Database } from '../contract.ts';
import { openSqlite } from './database.ts';

let folder: string;
let path: string;
let database: Database;
let other: Sqlite.Database;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-replaced-'));
  path = join(folder, 'a.db');
  database = openSqlite({ path });
  other = new Sqlite(path);
  other.exec(`CREATE TABLE "_State" ("id" TEXT PRIMARY KEY, "number" INTEGER, "text" TEXT)`);
});
afterEach(async () => {
  other.close();
  await database.close();
  rmSync(folder, { recursive: true });
});

/** Adds nothing to any table, and goes one further in the chain. */
const NEXT: AppendStatements<(link: string) => void> = {
  write({ writer }, [tell]) {
    writer.last = { sequence: writer.last.sequence + 1, hash: '' };
    tell?.(`${writer.id} ${writer.last.sequence}`);
    return [];
  },
  find: () => ({ sql: 'SELECT 1', parameters: [] }),
};
const append = async () => {
  let told = '';
  await database.transaction((tx) => tx.append(NEXT, [(link) => (told = link)]));
  return told;
};
const next = (link: string) => link.replace(/\d+$/, (sequence) => String(Number(sequence) + 1));

it('another writer begins where a backup was restored', async () => {
  const first = await append();
  other.exec(`INSERT INTO "_State" ("id", "text") VALUES ('restored', 'a')`);
  const second = await append();
  expect(second).toMatch(/ 1$/);
  expect(second.slice(0, 36)).not.toBe(first.slice(0, 36));
  expect(await append()).toBe(next(second));
  other.exec(`UPDATE "_State" SET "text" = 'b' WHERE "id" = 'restored'`);
  expect(await append()).toMatch(/ 1$/);
});

it('the writer goes on whatever else somebody changes or takes away: then the gap shows', async () => {
  const first = await append();
  other.exec(`INSERT INTO "_State" ("id", "text") VALUES ('epoch', 'a')`);
  other.exec(`DELETE FROM "_State"`);
  expect(await append()).toBe(next(first));
});

it('another writer begins where nobody knows whether a commit was done', async () => {
  const first = await append();
  const refused = database.transaction(async (tx) => {
    await tx.append(NEXT, [() => undefined]);
    await tx.run({ sql: 'CREATE TABLE "a" ("id" TEXT PRIMARY KEY)', parameters: [] });
    await tx.run({ sql: 'CREATE TABLE "b" ("a" TEXT REFERENCES "a" ("id") DEFERRABLE INITIALLY DEFERRED)', parameters: [] });
    await tx.run({ sql: `INSERT INTO "b" VALUES ('none')`, parameters: [] });
  });
  await expect(refused).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  const second = await append();
  expect(second).toMatch(/ 1$/);
  expect(second.slice(0, 36)).not.toBe(first.slice(0, 36));
});
