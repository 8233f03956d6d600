import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '../../errors.ts';
import { countEntriesSince, readBackup, readFacts } from './read-backup.ts';

let folder: string;
let path: string;

const TABLES = `CREATE TABLE "_State" ("id" TEXT PRIMARY KEY, "number" INTEGER, "text" TEXT);
  CREATE TABLE "_Definition" ("id" TEXT PRIMARY KEY);
  CREATE TABLE "_Decision" ("id" TEXT PRIMARY KEY, "at" TEXT);
  CREATE TABLE "_Session" ("id" TEXT PRIMARY KEY);
  CREATE TABLE "User" ("id" TEXT PRIMARY KEY, "deskId" TEXT REFERENCES "User" ("id"));`;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-read-backup-'));
  path = join(folder, 'backup.db');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function make(sql: string): void {
  const driver = new BetterSqlite3(path);
  driver.pragma('foreign_keys = OFF');
  driver.exec(sql);
  driver.close();
}

function refusal(): SetupError {
  try {
    readBackup(path);
  } catch (error) {
    if (error instanceof SetupError) return error;
    throw error;
  }
  throw new Error('the backup was not refused');
}

describe('a backup', () => {
  it('returns the size, the revision and the time of the last entry of a backup', () => {
    make(
      `${TABLES} INSERT INTO "_State" VALUES ('epoch', 7, 'stamp'); INSERT INTO "_Decision" VALUES ('1', '2026-01-01'), ('2', '2026-01-02')`,
    );
    const facts = { bytes: statSync(path).size, pageSize: 4096, hasTables: true, revision: { number: 7, stamp: 'stamp' } };
    expect(readBackup(path)).toEqual({ ...facts, lastEntryAt: '2026-01-02' });
    expect([countEntriesSince(path, '2026-01-01'), countEntriesSince(path, '')]).toEqual([1, 2]);
  });

  it('a backup may have no entries, and the current database may have no tables', () => {
    make('');
    expect(readFacts(path)).toMatchObject({ hasTables: false, revision: { number: 0, stamp: '' }, lastEntryAt: undefined });
    expect(countEntriesSince(path, '')).toBe(0);
    make(TABLES);
    expect(readBackup(path)).toMatchObject({ revision: { number: 0, stamp: '' }, lastEntryAt: undefined });
  });

  it.each([
    ['is not there', () => undefined, /not exist/],
    ['is no database', () => writeFileSync(path, 'text '.repeat(5000)), /not a SQLite database/],
    ['is a folder', () => mkdirSync(path), /expected a file/],
    ['is a pipe', () => void spawnSync('mkfifo', [path]), /expected a file/],
    ['is empty', () => writeFileSync(path, ''), /another program.* _State, _Definition/],
    ['belongs to another program', () => make('CREATE TABLE "User" ("id" TEXT)'), /another program.* _State/],
    ['has a trigger', () => make(`${TABLES} CREATE TRIGGER "t" AFTER INSERT ON "_Session" BEGIN DELETE FROM "User"; END`), /never creates/],
    ['has a view', () => make(`${TABLES} CREATE VIEW "v" AS SELECT 1`), /never creates/],
    ['has a virtual table', () => make(`${TABLES} create  VIRTUAL table "v" USING fts5("x")`), /never creates/],
    ['has a reference to a missing record', () => make(`${TABLES} INSERT INTO "User" VALUES ('1', 'none')`), /damaged/],
    ['has an index that contradicts its table', () => breakIndex(), /damaged/],
    ['is cut off', () => cutOff(), /damaged/],
    ['is overwritten in its middle', () => overwrite(), /damaged/],
  ])('refuses a backup that %s', (_, prepare, message) => {
    prepare();
    expect(refusal().message).toMatch(message);
    expect(refusal().message).toContain(path);
  });

  it('lists the unexpected views and triggers of a refused backup', () => {
    make(`${TABLES} CREATE VIEW "v" AS SELECT 1; CREATE TRIGGER "t" AFTER INSERT ON "_Session" BEGIN DELETE FROM "User"; END`);
    expect(refusal().mistakes).toEqual(['trigger t', 'view v']);
  });
});

function createLarge(): void {
  make(`${TABLES} WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
    INSERT INTO "User" ("id") SELECT hex(randomblob(20)) FROM n`);
}

function breakIndex(): void {
  createLarge();
  const driver = new BetterSqlite3(path).unsafeMode();
  driver.exec('ALTER TABLE "User" ADD COLUMN "other" TEXT; CREATE INDEX "i" ON "User" ("id"); PRAGMA writable_schema = ON');
  driver.exec(`UPDATE sqlite_schema SET sql = 'CREATE INDEX "i" ON "User" ("other")' WHERE name = 'i'`);
  driver.close();
}

function cutOff(): void {
  createLarge();
  const bytes = new BetterSqlite3(path, { readonly: true }).serialize();
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length / 2)));
}

function overwrite(): void {
  createLarge();
  writeSync(openSync(path, 'r+'), Buffer.alloc(3000, 0xaa), 0, 3000, 4096 * 20);
}
