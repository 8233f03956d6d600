import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SetupError } from '../../errors.ts';
import { createNumbersFile, type NumbersFile, readNumbers } from './backup.fixture.ts';
import { writeBackup } from './write-backup.ts';

let file: NumbersFile;
let driver: NumbersFile['driver'];
let folder: string;
let path: string;

beforeEach(() => {
  file = createNumbersFile();
  ({ driver, folder, path } = file);
});
afterEach(() => file.dispose());

describe('a backup', () => {
  it('a backup contains the committed data, and is one file that only its owner can read', () => {
    driver.exec('BEGIN IMMEDIATE; INSERT INTO "T" VALUES (2)');
    const to = join(folder, 'copy.db');
    expect(writeBackup({ from: path, to })).toEqual({ file: to, bytes: statSync(to).size });
    driver.exec('COMMIT');
    expect(statSync(to).mode & 0o777).toBe(0o600);
    expect(readNumbers(to)).toEqual([1]);
    expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'live.db', 'live.db-shm', 'live.db-wal']);
  });

  it('a backup cannot have the name of a SQLite auxiliary file, which SQLite would remove', () => {
    for (const suffix of ['-journal', '-wal', '-shm'])
      expect(() => writeBackup({ from: path, to: `${path}${suffix}` })).toThrow(/name that SQLite uses/);
    expect(existsSync(`${path}-journal`)).toBe(false);
  });

  it('refuses a backup name that is too long with a SetupError', () => {
    for (const length of [230, 300]) expect(() => writeBackup({ from: path, to: join(folder, 'x'.repeat(length)) })).toThrow(SetupError);
  });

  it('does not replace a file, and leaves no file if it cannot be written', () => {
    const to = join(folder, 'taken.db');
    writeFileSync(to, 'mine');
    const log = vi.fn();
    expect(() => writeBackup({ from: path, to, log })).toThrow(`${to} exists`);
    expect([log.mock.calls, readFileSync(to, 'utf8')]).toEqual([[], 'mine']);
    expect(() => writeBackup({ from: path, to: join(folder, 'none', 'x.db') })).toThrow(`no folder ${join(folder, 'none')}`);
    expect(() => writeBackup({ from: join(folder, 'none.db'), to: join(folder, 'y.db') })).toThrow(/no database .*--project.*--data/);
    writeFileSync(join(folder, 'text'), 'no database '.repeat(1000));
    expect(() => writeBackup({ from: join(folder, 'text'), to: join(folder, 'z.db') })).toThrow(/cannot write/);
    expect(readdirSync(folder).filter((name) => /^[xyz]/.test(name))).toEqual([]);
  });

  it('leaves no file if the written copy is damaged', () => {
    driver.unsafeMode().exec('CREATE INDEX "i" ON "T" ("n"); PRAGMA writable_schema = ON');
    // An index that contains the entries of another column.
    driver.exec(`ALTER TABLE "T" ADD COLUMN "m"; UPDATE sqlite_schema SET sql = 'CREATE INDEX "i" ON "T" ("m")' WHERE name = 'i'`);
    driver.pragma('writable_schema = RESET');
    const to = join(folder, 'copy.db');
    expect(() => writeBackup({ from: path, to })).toThrow(/damaged/);
    expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual([]);
  });
});
