import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parseConfig } from '../config/config.ts';
import { SetupError } from '../errors.ts';
import { openBackups } from './project-backups.ts';
import type { ProjectPlace } from './project-database.ts';
import { openTables } from './project-tables.ts';

let folder: string;
let place: ProjectPlace;
const file = (): string => join(folder, 'backup.db');
const live = (): string => join(folder, 'data', 'bailiwick.db');

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-backups-'));
  place = parseConfig({ flags: { project: folder, data: join(folder, 'data'), database: `sqlite:${live()}` }, env: {} });
  mkdirSync(join(folder, 'resources'));
  define('size: { type: string }');
  await apply();
  change(live(), `INSERT INTO "Note" ("id", "version", "createdAt", "updatedAt", "size") VALUES ('1', 1, '', '', 'wide')`);
  change(live(), entry('1', '2026-01-01T00:00:00.000Z'));
  change(live(), `INSERT INTO "_Session" ("id", "userId", "createdAt", "expiresAt") VALUES ('s', 'u', '', '9')`);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function define(field: string): void {
  writeFileSync(join(folder, 'resources', 'Note.yaml'), `name: Note\nfields:\n  ${field}\n`);
}

async function apply(): Promise<void> {
  const tables = await openTables({ ...place, createDatabase: 'when-new' }, { log: () => undefined });
  await tables.apply({});
  await tables.close();
}

function entry(id: string, at: string): string {
  const values = `'${id}', '${at}', 'access', 1`;
  return `INSERT INTO "_Decision" ("id", "at", "kind", "allowed") VALUES (${values})`;
}

function change(path: string, sql: string): void {
  const driver = new BetterSqlite3(path);
  driver.unsafeMode().exec(sql);
  driver.close();
}

function select(path: string, sql: string): unknown[] {
  const driver = new BetterSqlite3(path, { readonly: true });
  try {
    return driver.prepare(sql).pluck().all();
  } finally {
    driver.close();
  }
}

const revisionOf = (path: string): number => Number(select(path, `SELECT number FROM _State WHERE id = 'epoch'`)[0]);
const stampOf = (path: string): unknown => select(path, `SELECT text FROM _State WHERE id = 'epoch'`)[0];

describe('a restore', () => {
  it('a backup names the damaged rows of the database, and so does the preview of its restore', async () => {
    const backups = openBackups(place);
    expect((await backups.write(join(folder, 'whole.db'))).damaged).toEqual([]);
    change(
      live(),
      `INSERT INTO "User" ("id", "version", "createdAt", "updatedAt", "email", "role", "isActive") VALUES ('u', 1, '', '', 'u@example.com', 'admin', 1)`,
    );
    const damaged = ['row u of User is damaged: its checksum does not match its content'];
    expect((await backups.write(file())).damaged).toEqual(damaged);
    expect((await backups.look(file())).damaged).toEqual(damaged);
    expect(readdirSync(folder).filter((name) => name.startsWith('backup.db'))).toEqual(['backup.db']);
  });

  it('a backup names the breaks of the audit log, and so do the preview and the restore', async () => {
    const backups = openBackups(place);
    await backups.write(file());
    await backups.restore(file());
    const edited = join(folder, 'edited.db');
    expect((await backups.write(join(folder, 'chained.db'))).damaged).toEqual([]);
    change(live(), `UPDATE "_Decision" SET "reason" = 'edited' WHERE "action" = 'restore'`);
    const damaged = [expect.stringMatching(/^edited: entry/)];
    expect((await backups.write(edited)).damaged).toEqual(damaged);
    expect((await backups.look(edited)).damaged).toEqual(damaged);
    expect((await backups.restore(edited)).damaged).toEqual(damaged);
  });

  it('describes the effect of a restore without --yes, and changes nothing', async () => {
    const backups = openBackups(place);
    const { bytes } = await backups.write(file());
    change(live(), `DELETE FROM "Note"; ${entry('2', '2026-01-02T00:00:00.000Z')}; ${entry('3', '2026-01-03T00:00:00.000Z')}`);
    const stamp = stampOf(live());
    expect(await backups.look(file())).toEqual({ bytes, until: '2026-01-01T00:00:00.000Z', entriesSince: 2, damaged: [], kept: undefined });
    expect([stampOf(live()), select(live(), 'SELECT id FROM Note')]).toEqual([stamp, []]);
    expect(readdirSync(place.data).filter((name) => name !== 'bailiwick.db' && !name.startsWith('bailiwick.db-'))).toEqual([]);
  });

  it('restores the content of the backup under a higher revision, ends sessions, and records the restore in the audit log and the history', async () => {
    const backups = openBackups(place);
    await backups.write(file());
    change(live(), `DELETE FROM "Note"; UPDATE _State SET number = 40 WHERE id = 'epoch'; ${entry('2', '2026-01-02T00:00:00.000Z')}`);
    const stamps = [stampOf(live()), stampOf(file())];
    const { kept = '', ...done } = await backups.restore(file());
    expect(done).toMatchObject({ until: '2026-01-01T00:00:00.000Z', entriesSince: 1 });
    expect(select(live(), 'SELECT size FROM Note')).toEqual(['wide']);
    expect(revisionOf(live())).toBe(41);
    expect(stamps).not.toContain(stampOf(live()));
    expect(select(live(), 'SELECT id FROM _Session WHERE revokedAt IS NULL')).toEqual([]);
    const reason = `restored from a backup whose last audit entry is of 2026-01-01T00:00:00.000Z; a backup was written first: ${basename(kept)}`;
    expect(select(live(), `SELECT kind || ' ' || epoch || ' ' || reason FROM _Decision WHERE action = 'restore'`)).toEqual([
      `admin 41 ${reason}`,
    ]);
    expect(select(live(), 'SELECT steps FROM _Evolution ORDER BY at DESC LIMIT 1')).toEqual([
      JSON.stringify([{ resource: '*', kind: 'restore', risk: 'destructive', reason }]),
    ]);
    // The backup of the former content can be restored in turn.
    expect(select(kept, 'SELECT id FROM Note')).toEqual([]);
    await backups.restore(kept);
    expect(select(live(), 'SELECT id FROM Note')).toEqual([]);
    expect(select(live(), 'SELECT id FROM _Decision ORDER BY at LIMIT 2')).toEqual(['1', '2']);
    expect(revisionOf(live())).toBe(42);
    expect(readdirSync(place.data).filter((name) => name.endsWith('.part'))).toEqual([]);
  });

  it('accepts a backup with a higher revision, another page size, and a type that has changed since', async () => {
    const backups = openBackups(place);
    await backups.write(file());
    change(file(), `UPDATE _State SET number = 90 WHERE id = 'epoch'; PRAGMA page_size = 8192; VACUUM`);
    define('size: { type: text }');
    await apply();
    await backups.restore(file());
    expect(revisionOf(live())).toBe(91);
    expect(select(live(), 'PRAGMA page_size')).toEqual([4096]);
    expect(select(live(), `SELECT json_extract(source, '$.fields.size.type') FROM _Definition WHERE id = 'Note'`)).toEqual(['string']);
    await apply();
    expect(select(live(), 'SELECT size FROM Note')).toEqual(['wide']);
  });

  it('creates a database if there is none, and writes no backup', async () => {
    const backups = openBackups(place);
    await backups.write(file());
    rmSync(place.data, { recursive: true });
    await expect(backups.write(join(folder, 'other.db'))).rejects.toThrow(/no database/);
    expect((await backups.look(file())).entriesSince).toBe(0);
    expect(existsSync(place.data)).toBe(false);
    expect((await backups.restore(file())).kept).toBeUndefined();
    expect(select(live(), 'SELECT size FROM Note')).toEqual(['wide']);
    expect(existsSync(join(place.data, 'backups'))).toBe(false);
  });

  it('writes a backup first although automatic backups are turned off', async () => {
    const backups = openBackups({ ...place, backupsKept: 0 });
    await backups.write(file());
    const { kept = '' } = await backups.restore(file());
    expect(existsSync(kept)).toBe(true);
  });
});

describe('the backup of the former content', () => {
  it('keeps the backup of the former content through several restores, up to the number to keep', async () => {
    const backups = openBackups(place);
    await backups.write(file());
    const kept: (string | undefined)[] = [];
    for (let tries = 0; tries < 4; tries++) kept.push((await backups.restore(file())).kept);
    expect(kept.map((each) => each !== undefined && existsSync(each))).toEqual([true, true, true, true]);
  });

  it('keeps the backup of the former content if the content is replaced and a later step fails', async () => {
    const backups = openBackups(place);
    await backups.write(file());
    change(live(), `DELETE FROM "Note"`);
    const pragma = BetterSqlite3.prototype.pragma;
    const failing = vi.spyOn(BetterSqlite3.prototype, 'pragma').mockImplementation(function (this: BetterSqlite3.Database, ...given) {
      if (given[0].startsWith('wal_checkpoint')) throw new Error('database or disk is full');
      return pragma.apply(this, given);
    });
    const error = await backups.restore(file()).catch((thrown: unknown) => thrown);
    failing.mockRestore();
    expect(select(live(), 'SELECT size FROM Note')).toEqual(['wide']);
    const [name = ''] = readdirSync(join(place.data, 'backups'));
    expect(select(join(place.data, 'backups', name), 'SELECT id FROM Note')).toEqual([]);
    expect(error).toMatchObject({
      message: expect.stringMatching(/restored.*database or disk is full/),
      mistakes: [expect.stringContaining(join(place.data, 'backups', name))],
    });
  });

  it.each([
    ['another process begins a revision', `UPDATE _State SET number = number + 1, text = 'another' WHERE id = 'epoch'`],
    ['another restore replaces it again', `UPDATE _State SET text = 'another' WHERE id = 'restored'`],
  ])('keeps the backup of the former content if, just after it is replaced, %s', async (_, statement) => {
    const backups = openBackups(place);
    await backups.write(file());
    change(live(), `DELETE FROM "Note"`);
    const pragma = BetterSqlite3.prototype.pragma;
    const spied = vi.spyOn(BetterSqlite3.prototype, 'pragma').mockImplementation(function (this: BetterSqlite3.Database, ...given) {
      if (given[0].startsWith('wal_checkpoint')) change(live(), statement);
      return pragma.apply(this, given);
    });
    const { kept } = await backups.restore(file());
    spied.mockRestore();
    expect(select(live(), 'SELECT size FROM Note')).toEqual(['wide']);
    expect(select(String(kept), 'SELECT id FROM Note')).toEqual([]);
  });
});

describe('a backup of another version', () => {
  it('migrates a backup of another version to the system tables of this version', async () => {
    const backups = openBackups(place);
    await backups.write(file());
    change(file(), 'DROP INDEX "ix__Session$userId$revokedAt$id"; ALTER TABLE "_Session" DROP COLUMN "revokedAt"');
    change(
      file(),
      `UPDATE _State SET text = 'older' WHERE id = 'definitions';
       UPDATE _Definition SET source = json_remove(source, '$.fields.revokedAt', '$.indexes[1]'), hash = 'older' WHERE id = '_Session'`,
    );
    await backups.restore(file());
    expect(select(live(), 'SELECT count(*) FROM _Session WHERE revokedAt IS NULL')).toEqual([0]);
    expect(select(live(), `SELECT name FROM sqlite_schema WHERE name LIKE '%userId$revokedAt$id'`)).toHaveLength(1);
    expect(select(live(), 'SELECT size FROM Note')).toEqual(['wide']);
  });

  it('refuses a newer backup with everything that is unknown in it, and changes nothing', async () => {
    const backups = openBackups(place);
    await backups.write(file());
    change(
      file(),
      `UPDATE _Definition SET source = json_set(source, '$.fields.size.type', 'vector') WHERE id = 'Note';
       UPDATE _Definition SET source = json_set(source, '$.fields.deviceId', json('{"type":"string"}')) WHERE id = '_Session';
       INSERT INTO _Definition (id, hash, source, appliedAt, keptAside)
         VALUES ('_Webhook', 'h', '{"name":"_Webhook","fields":{"url":{"type":"string"}}}', '', 0)`,
    );
    const stamp = stampOf(live());
    const error = await backups.restore(file()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SetupError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/newer/),
      mistakes: [/\bNote$/, /_Session\.deviceId/, /_Webhook/, /^use the newer version/].map((name) => expect.stringMatching(name)),
    });
    expect(stampOf(live())).toBe(stamp);
    expect(readdirSync(place.data).some((name) => name.endsWith('.part') || name === 'backups')).toBe(false);
  });
});

describe('a restore that fails', () => {
  it('changes nothing if the present database cannot be read, and names the next step', async () => {
    const backups = openBackups(place);
    await backups.write(file());
    for (const suffix of ['-wal', '-shm']) rmSync(`${live()}${suffix}`, { force: true });
    writeFileSync(live(), 'no database '.repeat(1000));
    await expect(backups.look(file())).rejects.toMatchObject({
      message: expect.stringMatching(/present database/),
      mistakes: [expect.stringMatching(/move.*-wal.*-shm/)],
    });
    await expect(backups.restore(file())).rejects.toThrow(SetupError);
  });

  it('changes nothing if no backup of the present database can be written', async () => {
    const backups = openBackups(place);
    await backups.write(file());
    change(live(), `DELETE FROM "Note"`);
    writeFileSync(join(place.data, 'backups'), 'a file');
    await expect(backups.restore(file())).rejects.toThrow(/cannot use the folder/);
    expect(select(live(), 'SELECT id FROM Note')).toEqual([]);
    change(live(), `DELETE FROM "_Session"`);
  });
});
