import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Problem, SetupError } from '../../errors.ts';
import { sql } from '../../sql.ts';
import { openSqlite } from '../sqlite/database.ts';
import { failure } from '../storage.fixture.ts';
import { migrate, planMigration } from './migrate.ts';
import { article, type Fields, type MigrationTest, openMigrationTest } from './migration.fixture.ts';
import { listMigrations } from './migration-history.ts';
import { pruneArchived } from './prune-archived.ts';

let test: MigrationTest;
const logged: string[] = [];
const log = (line: string): void => void logged.push(line);

beforeEach(async () => {
  logged.length = 0;
  test = openMigrationTest({ kept: 3 });
  await test.apply(texts);
  await test.insert(texts, { size: '1' }, { size: 'wide' });
});
afterEach(() => test.dispose());

const texts: Fields = { size: { type: 'string' } };
const numbers: Fields = { size: { type: 'integer' } };
const counted: Fields = { ...texts, count: { type: 'integer', required: true, default: 0 } };

function columns(file: string): unknown[] {
  const driver = new BetterSqlite3(file, { readonly: true });
  try {
    return driver.prepare(`SELECT name FROM pragma_table_info('Article') WHERE name IN ('size', 'count', 'more', 'size$1')`).pluck().all();
  } finally {
    driver.close();
  }
}

async function apply(fields: Fields): Promise<void> {
  const { hash } = await planMigration(test.database, article(fields));
  await migrate(test.database, article(fields), { allow: hash, log });
}

async function backupsInHistory(): Promise<readonly unknown[]> {
  const [newest] = await test.database.transaction((tx) => listMigrations(tx, 1));
  return (newest?.steps ?? []).filter(({ kind }) => kind === 'backup').map(({ reason }) => reason);
}

describe('the backup before a migration', () => {
  it.each([
    ['writes values', counted],
    ['loses values', numbers],
  ])('writes a backup before a migration that %s, logs it, and names it in the history', async (_, fields) => {
    await apply(fields);
    const [file = '', ...more] = test.backups();
    expect([columns(file), more]).toEqual([['size'], []]);
    expect(logged).toEqual([expect.stringMatching(/backup first/), expect.stringContaining(file)]);
    expect(await backupsInHistory()).toEqual([expect.stringContaining(basename(file))]);
  });

  it('writes no backup if no value changes', async () => {
    await apply({ ...texts, more: { type: 'string' } });
    await apply(texts);
    expect([test.backups(), logged, await backupsInHistory()]).toEqual([[], [], []]);
  });

  it('writes no backup if the plan is not confirmed', async () => {
    await test.apply(numbers);
    expect(test.backups()).toEqual([]);
  });

  it('writes a backup before a prune', async () => {
    await apply({ more: { type: 'string' } });
    expect(test.backups()).toEqual([]);
    await pruneArchived(test.database, article({ more: { type: 'string' } }), { actor: 'cli', log });
    expect(test.backups().map(columns)).toEqual([['size', 'more']]);
    expect(await pruneArchived(test.database, article({ more: { type: 'string' } }), { actor: 'cli', log })).toEqual([]);
    expect(test.backups()).toHaveLength(1);
  });

  it('writes no backup for a database in memory', async () => {
    const database = openSqlite({ path: ':memory:', backups: { folder: join(dirname(test.path), 'none'), kept: 1 } });
    await migrate(database, article(texts));
    await database.transaction((tx) =>
      tx.run(sql`INSERT INTO "Article" ("id", "version", "createdAt", "updatedAt") VALUES ('1', 1, '', '')`),
    );
    await migrate(database, article(counted));
    await database.close();
    expect(existsSync(join(dirname(test.path), 'none'))).toBe(false);
  });
});

describe('a migration without a backup', () => {
  const folder = (): string => join(dirname(test.path), 'backups');

  it('changes nothing if no backup can be written', async () => {
    writeFileSync(folder(), 'a file');
    const error = await failure(test.apply(counted));
    rmSync(folder());
    expect(error).toBeInstanceOf(SetupError);
    expect((error as SetupError).message).toMatch(/backup/);
    expect((error as SetupError).mistakes).toEqual([expect.stringContaining(folder())]);
    expect(columns(test.path)).toEqual(['size']);
  });

  it('changes nothing if the migration fails, and removes its backup', async () => {
    const exec = BetterSqlite3.prototype.exec;
    vi.spyOn(BetterSqlite3.prototype, 'exec').mockImplementation(function (this: BetterSqlite3.Database, text) {
      if (text === 'COMMIT') throw new BetterSqlite3.SqliteError('full', 'SQLITE_FULL');
      return exec.call(this, text);
    });
    expect(await failure(migrate(test.database, article(counted), { log }))).toBeInstanceOf(Problem);
    vi.restoreAllMocks();
    expect(logged).toHaveLength(2);
    expect(test.backups()).toEqual([]);
    expect(columns(test.path)).toEqual(['size']);
  });
});

it('a migration succeeds although older backups cannot be removed, which is logged', async () => {
  const folder = join(dirname(test.path), 'backups');
  for (let day = 1; day <= 3; day++) mkdirSync(join(folder, `2020010${day}T000000000Z-old.db`), { recursive: true });
  await migrate(test.database, article(counted), { log });
  expect(logged.slice(1)).toEqual([expect.stringContaining('backup written: '), expect.stringMatching(/^cannot remove older backups: /)]);
  expect(columns(test.path)).toEqual(['size', 'count']);
});
