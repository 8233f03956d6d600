import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '../../errors.ts';
import { sql } from '../../sql.ts';
import { openSqlite } from './database.ts';
import { codeOf, type Family, insert, openFamily, parentsOf } from './sqlite.fixture.ts';

/** Code of a thread that holds the write lock of a new database for 200 ms, as a process does that creates it. */
const CREATE_DATABASE = `
  const { parentPort, workerData } = require('node:worker_threads');
  const driver = new (require('better-sqlite3'))(workerData);
  driver.exec('BEGIN IMMEDIATE; CREATE TABLE "T" ("n" INTEGER); INSERT INTO "T" VALUES (1)');
  parentPort.postMessage('locked');
  setTimeout(() => driver.exec('COMMIT').close(), 200);
`;

let family: Family;

beforeEach(async () => {
  family = await openFamily();
});
afterEach(() => family.dispose());

describe('openSqlite', () => {
  it('opens a database with every setting that durability requires', async () => {
    const pragmas = { journal_mode: 'wal', synchronous: 2, fullfsync: 1, foreign_keys: 1, trusted_schema: 0 };
    for (const [name, value] of Object.entries(pragmas)) {
      const row = await family.database.transaction((tx) => tx.one({ sql: `PRAGMA ${name}`, parameters: [] }));
      expect(row?.[name]).toBe(value);
    }
    expect(statSync(family.path).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['a folder instead of the file', () => mkdirSync(join(family.folder, 'x')), 'x'],
    ['a file instead of the folder', () => writeFileSync(join(family.folder, 'x'), ''), 'x/y.db'],
    ['a file that is no database', () => writeFileSync(join(family.folder, 'x'), 'no database '.repeat(500)), 'x'],
  ])('refuses %s with a one-line error', (_, prepare, name) => {
    prepare();
    expect(() => openSqlite({ path: join(family.folder, name) })).toThrow(SetupError);
    expect(() => openSqlite({ path: join(family.folder, name) })).toThrow(/^cannot open the database file [^\n]+$/);
  });

  it.skipIf(process.getuid?.() === 0)('refuses a folder that cannot be written', () => {
    mkdirSync(join(family.folder, 'locked'));
    chmodSync(join(family.folder, 'locked'), 0o500);
    expect(() => openSqlite({ path: join(family.folder, 'locked', 'x.db') })).toThrow(SetupError);
  });

  it.skipIf(process.getuid?.() === 0)('refuses a file that cannot be written', async () => {
    const path = join(family.folder, 'read-only.db');
    await openSqlite({ path }).close();
    chmodSync(path, 0o400);
    expect(() => openSqlite({ path })).toThrow(SetupError);
  });

  it('opens a database while another process writes', async () => {
    const other = new BetterSqlite3(family.path);
    other.exec('BEGIN IMMEDIATE');
    const second = openSqlite({ path: family.path, busyTimeout: 1 });
    expect(await codeOf(parentsOf(second))).toBe('STORAGE_BUSY');
    other.exec('COMMIT');
    other.close();
    expect(await parentsOf(second)).toEqual([]);
    await second.close();
  });

  it('opens a new database while another process creates it', async () => {
    const path = join(family.folder, 'new.db');
    const other = new Worker(CREATE_DATABASE, { eval: true, workerData: path });
    await once(other, 'message');
    const second = openSqlite({ path, busyTimeout: 60_000 });
    await once(other, 'exit');
    expect(await second.transaction((tx) => tx.one({ sql: 'PRAGMA journal_mode', parameters: [] }))).toEqual({ journal_mode: 'wal' });
    expect(await second.transaction((tx) => tx.one({ sql: 'SELECT "n" FROM "T"', parameters: [] }))).toEqual({ n: 1 });
    await second.close();
  });

  it('refuses a new database that another process holds for longer than the busy timeout', () => {
    const path = join(family.folder, 'new.db');
    const other = new BetterSqlite3(path);
    other.exec('BEGIN IMMEDIATE; CREATE TABLE "T" ("n" INTEGER)');
    expect(() => openSqlite({ path, busyTimeout: 30 })).toThrow(/database is locked$/);
    other.close();
  });

  it('writes everything to the one file on close, and rejects transactions afterwards', async () => {
    await family.database.transaction((tx) => insert(tx, 'a'));
    const last = family.database.transaction((tx) => insert(tx, 'b'));
    await family.database.close();
    await last;
    expect(existsSync(`${family.path}-wal`)).toBe(false);
    expect(await codeOf(family.database.transaction((tx) => insert(tx, 'c')))).toBe('STORAGE_UNAVAILABLE');
    const again = openSqlite({ path: family.path });
    expect(await parentsOf(again)).toEqual(['a', 'b']);
    await again.close();
  });
});

describe('values', () => {
  it('keeps integers exact, as numbers if possible', async () => {
    const huge = 999_999_999_999_999_999n;
    const row = await family.database.transaction(async (tx) => {
      await tx.run(sql`INSERT INTO "Parent" VALUES (${'a'}, ${Number.MAX_SAFE_INTEGER}, ${huge}, ${true})`);
      return tx.one(sql`SELECT *, "amount" - 1 AS "less", NULL AS "none" FROM "Parent"`);
    });
    expect(row).toEqual({ id: 'a', n: Number.MAX_SAFE_INTEGER, amount: huge, flag: 1, less: huge - 1n, none: null });
  });

  it('binds undefined as NULL and never interpolates', async () => {
    const evil = `'; DROP TABLE "Parent"; --`;
    await family.database.transaction((tx) => tx.run(sql`INSERT INTO "Parent" ("id", "n") VALUES (${evil}, ${undefined})`));
    expect(await family.database.transaction((tx) => tx.one(sql`SELECT "id", "n" FROM "Parent"`))).toEqual({ id: evil, n: null });
  });

  it('returns columns that were added after a statement was prepared', async () => {
    const all = (): Promise<unknown> => family.database.transaction((tx) => tx.all(sql`SELECT * FROM "Child"`));
    await all();
    await family.database.transaction(async (tx) => {
      await tx.run(sql`ALTER TABLE "Child" ADD COLUMN "n" INTEGER`);
      await tx.run(sql`INSERT INTO "Child" ("id", "n") VALUES ('a', 1)`);
    });
    expect(await all()).toEqual([{ id: 'a', parent: null, a: null, b: null, n: 1 }]);
  });
});
