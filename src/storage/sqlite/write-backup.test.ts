import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SetupError } from '../../errors.ts';
import { createBackups } from './automatic-backups.ts';
import { replaceContent, stageBackup } from './replace-content.ts';
import { writeBackup } from './write-backup.ts';

let folder: string;
let path: string;
let driver: BetterSqlite3.Database;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-backup-'));
  path = join(folder, 'live.db');
  driver = new BetterSqlite3(path);
  driver.exec(`PRAGMA journal_mode = WAL; CREATE TABLE "T" ("n" INTEGER); INSERT INTO "T" VALUES (1)`);
});
afterEach(() => {
  driver.close();
  rmSync(folder, { recursive: true, force: true });
});

function numbers(file: string): unknown[] {
  const database = new BetterSqlite3(file, { readonly: true });
  try {
    return database.prepare('SELECT "n" FROM "T" ORDER BY "n"').pluck().all();
  } finally {
    database.close();
  }
}

describe('a backup', () => {
  it('contains the committed data, and is one file that only its owner can read', () => {
    driver.exec('BEGIN IMMEDIATE; INSERT INTO "T" VALUES (2)');
    const to = join(folder, 'copy.db');
    expect(writeBackup({ from: path, to })).toEqual({ file: to, bytes: statSync(to).size });
    driver.exec('COMMIT');
    expect(statSync(to).mode & 0o777).toBe(0o600);
    expect(numbers(to)).toEqual([1]);
    expect(readdirSync(folder).toSorted()).toEqual(['copy.db', 'live.db', 'live.db-shm', 'live.db-wal']);
  });

  it('cannot have the name of a SQLite auxiliary file, which SQLite would remove', () => {
    for (const suffix of ['-journal', '-wal', '-shm'])
      expect(() => writeBackup({ from: path, to: `${path}${suffix}` })).toThrow(`is a name that SQLite uses beside ${path}`);
    expect(existsSync(`${path}-journal`)).toBe(false);
  });

  it('is refused with a SetupError if its name is too long', () => {
    for (const length of [230, 300]) expect(() => writeBackup({ from: path, to: join(folder, 'x'.repeat(length)) })).toThrow(SetupError);
  });

  it('does not replace a file, and leaves no file if it cannot be written', () => {
    const to = join(folder, 'taken.db');
    writeFileSync(to, 'mine');
    const log = vi.fn();
    expect(() => writeBackup({ from: path, to, log })).toThrow(`${to} exists, and a backup replaces no file`);
    expect([log.mock.calls, readFileSync(to, 'utf8')]).toEqual([[], 'mine']);
    expect(() => writeBackup({ from: path, to: join(folder, 'none', 'x.db') })).toThrow(
      new SetupError(`there is no folder ${join(folder, 'none')} to write the backup into`),
    );
    expect(() => writeBackup({ from: join(folder, 'none.db'), to: join(folder, 'y.db') })).toThrow(
      /^there is no database .*; say with --project or --data/,
    );
    writeFileSync(join(folder, 'text'), 'no database '.repeat(1000));
    expect(() => writeBackup({ from: join(folder, 'text'), to: join(folder, 'z.db') })).toThrow(/^cannot write the backup/);
    expect(readdirSync(folder).filter((name) => /^[xyz]/.test(name))).toEqual([]);
  });

  it('leaves no file if the written copy is damaged', () => {
    driver.unsafeMode().exec('CREATE INDEX "i" ON "T" ("n"); PRAGMA writable_schema = ON');
    // An index that contains the entries of another column.
    driver.exec(`ALTER TABLE "T" ADD COLUMN "m"; UPDATE sqlite_schema SET sql = 'CREATE INDEX "i" ON "T" ("m")' WHERE name = 'i'`);
    driver.pragma('writable_schema = RESET');
    const to = join(folder, 'copy.db');
    expect(() => writeBackup({ from: path, to })).toThrow(/is damaged$/);
    expect(readdirSync(folder).filter((name) => name.startsWith('copy'))).toEqual([]);
  });
});

describe('automatic backups', () => {
  const names = (): string[] => readdirSync(join(folder, 'kept')).toSorted();

  it('are named by time and label; completing one deletes the oldest, and other files stay', async () => {
    const backups = createBackups(path, { folder: join(folder, 'kept'), kept: 2 });
    mkdirSync(join(folder, 'kept'));
    for (const mine of ['before-the-move.db', '2026.db']) writeFileSync(join(folder, 'kept', mine), '');
    const made: string[] = [];
    for (const label of ['a', 'b', 'c'.repeat(64)]) {
      const { file, complete } = backups.create(label);
      made.push(file);
      complete();
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    expect(made[2]).toMatch(/\/kept\/\d{8}T\d{9}Z-c{12}\.db$/);
    expect(made.map(existsSync)).toEqual([false, true, true]);
    expect(names()).toHaveLength(4);
    expect(names()).toEqual(expect.arrayContaining(['before-the-move.db', '2026.db']));
    expect(numbers(made[2] ?? '')).toEqual([1]);
  });

  it('of one label are limited before they are complete', async () => {
    const backups = createBackups(path, { folder: join(folder, 'kept'), kept: 10 });
    backups.create('other');
    for (let count = 0; count < 4; count++) {
      await new Promise((resolve) => setTimeout(resolve, 2));
      backups.create('plan');
    }
    expect(names().map((name) => name.slice(20))).toEqual(['other.db', 'plan.db', 'plan.db']);
    const left = names()[0] ?? '';
    writeFileSync(join(folder, 'kept', `${left}.${randomUUID()}.part`), 'half');
    backups.create('discarded').discard();
    expect(names()).toHaveLength(3);
    expect(names().some((name) => name.includes('discarded'))).toBe(false);
  });
});

describe.skipIf(process.getuid?.() === 0)('a backup folder without permissions', () => {
  it('is refused with a plain error', () => {
    mkdirSync(join(folder, 'kept'), { mode: 0o100 });
    expect(() => createBackups(path, { folder: join(folder, 'kept'), kept: 2 }).create('plan')).toThrow(/^cannot use the folder/);
  });
});

describe('automatic backups after the clock was set back', () => {
  it('stay, though older backups have later times in their names', () => {
    const kept = join(folder, 'kept');
    mkdirSync(kept);
    for (const label of ['plan', 'other']) writeFileSync(join(kept, `29990101T000000000Z-${label}.db`), '');
    writeFileSync(join(kept, '29990102T000000000Z-plan.db'), '');
    const made = createBackups(path, { folder: kept, kept: 2 }).create('plan');
    expect(numbers(made.file)).toEqual([1]);
    made.complete();
    expect(readdirSync(kept).toSorted()).toEqual([made.name, '29990102T000000000Z-plan.db']);
  });
});

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
        expect(numbers(path)).toEqual([1]);
        const staging = new BetterSqlite3(staged.path);
        staging.exec('INSERT INTO "T" VALUES (9)');
        staging.close();
      },
    });
    staged.remove();
    insert.run();
    expect(numbers(path)).toEqual([3, 7, 8, 9]);
    expect(driver.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(readdirSync(folder).filter((name) => name.includes('.part'))).toEqual([]);
  });

  it('waits for an open write transaction', async () => {
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
    expect(numbers(path)).toEqual([7, 8]);
  });

  it('does not wait for readers', async () => {
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
    expect(numbers(path)).toEqual([7, 8]);
  });

  it('reports a full disk', async () => {
    const staged = stageBackup({ from: from(), beside: path, pageSize: 4096 });
    const failing = vi
      .spyOn(BetterSqlite3.prototype, 'backup')
      .mockRejectedValue(new BetterSqlite3.SqliteError('database or disk is full', 'SQLITE_FULL'));
    const replaced = replaceContent({ from: staged.path, into: path, prepare: async () => undefined });
    await expect(replaced).rejects.toThrow(new SetupError(`cannot replace ${path}: database or disk is full`));
    failing.mockRestore();
    staged.remove();
    expect(numbers(path)).toEqual([1]);
  });

  it('changes nothing if prepare fails', async () => {
    const staged = stageBackup({ from: from(), beside: path, pageSize: 4096 });
    const failing = replaceContent({ from: staged.path, into: path, prepare: () => Promise.reject(new Error('no space')) });
    await expect(failing).rejects.toThrow('no space');
    staged.remove();
    driver.exec('INSERT INTO "T" VALUES (2)');
    expect(numbers(path)).toEqual([1, 2]);
  });
});
