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

/** Extends the chain by one link without writing rows, and passes the link to the callback. */
const NEXT: AppendStatements<(link: string) => void> = {
  write({ writer }, [onLink]) {
    writer.last = { sequence: writer.last.sequence + 1, hash: '' };
    onLink?.(`${writer.id} ${writer.last.sequence}`);
    return [];
  },
  findCommitted: () => ({ sql: 'SELECT 1', parameters: [] }),
};
const append = async () => {
  let appended = '';
  await database.transaction(async (tx) => tx.append(NEXT, [(link) => (appended = link)]));
  return appended;
};
const next = (link: string) => link.replace(/\d+$/, (sequence) => String(Number(sequence) + 1));

it('a new chain writer starts after a backup was restored', async () => {
  const first = await append();
  other.exec(`INSERT INTO "_State" ("id", "text") VALUES ('restored', 'a')`);
  const second = await append();
  expect(second).toMatch(/ 1$/);
  expect(second.slice(0, 36)).not.toBe(first.slice(0, 36));
  expect(await append()).toBe(next(second));
  other.exec(`UPDATE "_State" SET "text" = 'b' WHERE "id" = 'restored'`);
  expect(await append()).toMatch(/ 1$/);
});

it('the chain writer continues after other changes to _State, so that missing entries are detected', async () => {
  const first = await append();
  other.exec(`INSERT INTO "_State" ("id", "text") VALUES ('epoch', 'a')`);
  other.exec(`DELETE FROM "_State"`);
  expect(await append()).toBe(next(first));
});

it('a new chain writer starts after a commit with an unknown outcome', async () => {
  const first = await append();
  const unknown = database.transaction(async (tx) => {
    tx.append(NEXT, [() => undefined]);
    await tx.run({ sql: 'CREATE TABLE "a" ("id" TEXT PRIMARY KEY)', parameters: [] });
    await tx.run({ sql: 'CREATE TABLE "b" ("a" TEXT REFERENCES "a" ("id") DEFERRABLE INITIALLY DEFERRED)', parameters: [] });
    await tx.run({ sql: `INSERT INTO "b" VALUES ('none')`, parameters: [] });
  });
  await expect(unknown).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  const second = await append();
  expect(second).toMatch(/ 1$/);
  expect(second.slice(0, 36)).not.toBe(first.slice(0, 36));
});
