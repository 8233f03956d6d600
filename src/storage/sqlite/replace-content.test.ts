import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SetupError } from '../../errors.ts';
import { createNumbersFile, type NumbersFile, readNumbers } from './backup.fixture.ts';
import { replaceContent, stageBackup } from './replace-content.ts';

let file: NumbersFile;
let driver: NumbersFile['driver'];
let folder: string;
let path: string;

beforeEach(() => {
  file = createNumbersFile();
  ({ driver, folder, path } = file);
});
afterEach(() => file.dispose());

describe('replaceContent', () => {
  const from = (): string => join(folder, 'from.db');

  beforeEach(() => {
    driver.exec(`PRAGMA wal_checkpoint(TRUNCATE)`);
    const other = new BetterSqlite3(from());
    other.exec('PRAGMA page_size = 16384; VACUUM; CREATE TABLE "T" ("n" INTEGER); INSERT INTO "T" VALUES (7), (8)');
    other.close();
  });

  it('replaces all content for open connections, and blocks writes from prepare on', async () => {
    const staged = stageBackup({ from: from(), beside: path, pageSize: 4096 });
    const insert = driver.prepare('INSERT INTO "T" VALUES (3)');
    driver.pragma('busy_timeout = 10');
    await replaceContent({
      from: staged.path,
      into: path,
      async prepare() {
        await new Promise((resolve) => setTimeout(resolve, 20));
        expect(() => insert.run()).toThrow('locked');
        expect(readNumbers(path)).toEqual([1]);
        const staging = new BetterSqlite3(staged.path);
        staging.exec('INSERT INTO "T" VALUES (9)');
        staging.close();
      },
    });
    staged.remove();
    insert.run();
    expect(readNumbers(path)).toEqual([3, 7, 8, 9]);
    expect(driver.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(readdirSync(folder).filter((name) => name.includes('.part'))).toEqual([]);
  });

  it('the replacement waits for an open write transaction', async () => {
    const staged = stageBackup({ from: from(), beside: path, pageSize: 4096 });
    driver.exec('BEGIN IMMEDIATE; INSERT INTO "T" VALUES (2)');
    let isPrepared = false;
    const replaced = replaceContent({
      from: staged.path,
      into: path,
      prepare: async () => {
        isPrepared = true;
      },
    });
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(isPrepared).toBe(false);
    driver.exec('COMMIT');
    await replaced;
    staged.remove();
    expect(readNumbers(path)).toEqual([7, 8]);
  });

  it('the replacement does not wait for readers', async () => {
    const staged = stageBackup({ from: from(), beside: path, pageSize: 4096 });
    const reader = new BetterSqlite3(path, { readonly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT * FROM "T"').all();
    const timeouts: unknown[] = [];
    const pragma = BetterSqlite3.prototype.pragma;
    const spied = vi.spyOn(BetterSqlite3.prototype, 'pragma').mockImplementation(function (this: BetterSqlite3.Database, ...given) {
      if (given[0].startsWith('wal_checkpoint')) timeouts.push(pragma.call(this, 'busy_timeout', { simple: true }));
      return pragma.apply(this, given);
    });
    await replaceContent({ from: staged.path, into: path, prepare: async () => undefined });
    spied.mockRestore();
    staged.remove();
    expect(timeouts).toEqual([0]);
    expect(reader.prepare('SELECT "n" FROM "T"').pluck().all()).toEqual([1]);
    reader.close();
    expect(readNumbers(path)).toEqual([7, 8]);
  });

  it('the replacement reports a full disk', async () => {
    const staged = stageBackup({ from: from(), beside: path, pageSize: 4096 });
    const failing = vi
      .spyOn(BetterSqlite3.prototype, 'backup')
      .mockRejectedValue(new BetterSqlite3.SqliteError('database or disk is full', 'SQLITE_FULL'));
    const replaced = replaceContent({ from: staged.path, into: path, prepare: async () => undefined });
    await expect(replaced).rejects.toThrow(new SetupError(`cannot replace ${path}: database or disk is full`));
    failing.mockRestore();
    staged.remove();
    expect(readNumbers(path)).toEqual([1]);
  });

  it('the replacement changes nothing if prepare fails', async () => {
    const staged = stageBackup({ from: from(), beside: path, pageSize: 4096 });
    const failing = replaceContent({ from: staged.path, into: path, prepare: () => Promise.reject(new Error('no space')) });
    await expect(failing).rejects.toThrow('no space');
    staged.remove();
    driver.exec('INSERT INTO "T" VALUES (2)');
    expect(readNumbers(path)).toEqual([1, 2]);
  });
});
