/** A database that is missing or empty although another one was there: a volume that is not mounted, an address that is wrong. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Config, parseConfig } from '../../src/config/config.ts';
import { verifyDecisions } from '../../src/project/index.ts';
import { createService, type Service } from '../../src/service.ts';
import { createDatabaseUrl, onPostgres } from '../postgres/test-database.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-missing-'));
  mkdirSync(join(folder, 'resources'));
  writeFileSync(join(folder, 'resources', 'Note.yaml'), 'name: Note\nfields:\n  text: { type: string }\n');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Settings of the project with a database that no test has yet. */
function settingsFor(more: Readonly<Record<string, string>> = {}): Config {
  const disk = mkdtempSync(join(folder, 'disk-'));
  const flags = {
    project: folder,
    data: join(folder, 'data'),
    database: createDatabaseUrl(disk),
    port: 0,
    logLevel: 'silent' as const,
    ...more,
  };
  return parseConfig({ flags, env: {} });
}

/** Starts a service and makes the first admin, so that there is something to sign; ends it. */
async function use(settings: Config): Promise<void> {
  const service = await createService(settings);
  const { url } = await service.listen();
  const body = JSON.stringify({ name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' });
  const answer = await fetch(`${url}/auth/setup`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(answer.status).toBe(201);
  await service.close();
}

async function refusalOf(settings: Config): Promise<{ readonly message: string; readonly mistakes: readonly string[] }> {
  let service: Service | undefined;
  try {
    service = await createService(settings);
  } catch (error) {
    return error as Error & { mistakes: readonly string[] };
  }
  await service.close();
  throw new Error('expected a refusal');
}

describe('a command that works on an existing database', () => {
  it('refuses a missing or empty one, creates nothing, and names the address', async () => {
    const settings = settingsFor({ createDatabase: 'never' });
    const { message, mistakes } = await refusalOf(settings);
    expect(message).toMatch(onPostgres ? /^the database is empty$/ : /^there is no \S+test\.db$/);
    expect(mistakes).toEqual(['correct the address of the database with --project, --data or --database; start creates a new one']);
    expect(onPostgres || existsSync(settings.database.slice('sqlite:'.length))).toBe(onPostgres);
    expect(existsSync(settings.data)).toBe(false);
  });

  it('works on one that is there', async () => {
    const settings = settingsFor();
    await use(settings);
    await (await createService({ ...settings, createDatabase: 'never' })).close();
  });
});

describe('a start on a database that is new, where another one was', () => {
  it('is refused where checkpoints are, and says what to do', async () => {
    const first = settingsFor();
    await use(first);
    const second = settingsFor();
    const { message, mistakes } = await refusalOf(second);
    expect(message).toMatch(onPostgres ? /^the database is empty, / : /^there is no \S+test\.db, /);
    expect(message).toMatch(/although there was a database before$/);
    expect(mistakes.join('\n')).toContain(`${first.checkpoints}: checkpoints of its audit log`);
    expect(mistakes.at(-1)).toContain('--create-database always');
    // A start on the right database works as before.
    await (await createService(first)).close();
  });

  it('is refused where the checkpoints lie elsewhere and the data folder is not mounted', async () => {
    const checkpoints = join(folder, 'elsewhere', 'checkpoints.ndjson');
    const first = settingsFor({ checkpoints });
    await use(first);
    rmSync(first.data, { recursive: true });
    const second = settingsFor({ checkpoints });
    expect((await refusalOf(second)).mistakes.join('\n')).toContain(checkpoints);
    expect(onPostgres || readdirSync(dirname(second.database.slice('sqlite:'.length)))).toEqual(onPostgres || []);
    expect(existsSync(second.data)).toBe(false);
  });

  it('is done where that is asked for: its audit log verifies, and the checkpoints of the earlier one are kept', async () => {
    await use(settingsFor());
    const second = settingsFor({ createDatabase: 'always' });
    await use(second);
    const verified = await verifyDecisions(second);
    expect([verified.breaks, verified.checkpoints?.lines]).toEqual([[], 1]);
    expect(readdirSync(second.data).filter((name) => name.startsWith('checkpoints.ndjson.'))).toHaveLength(1);
    // No file is renamed again once the database exists.
    await (await createService(second)).close();
    expect(readdirSync(second.data).filter((name) => name.startsWith('checkpoints.ndjson.'))).toHaveLength(1);
  });

  it('is not refused where nothing was there: an empty checkpoint file, and a first start that failed', async () => {
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'checkpoints.ndjson'), '');
    const settings = settingsFor();
    const service = await createService(settings);
    await service.close();
    await use(settings);
  });
});

describe.skipIf(onPostgres)('a database file', () => {
  const fileOf = ({ database }: Config): string => database.slice('sqlite:'.length);

  it.each([
    ['removed before the first checkpoint', (file: string) => unlinkSync(file), /checkpoint\.ed25519\.pem: the key/],
    ['emptied', (file: string) => writeFileSync(file, ''), /checkpoints\.ndjson/],
    [
      'removed without its log',
      (file: string) => {
        unlinkSync(file);
        writeFileSync(`${file}-wal`, 'changes');
      },
      /test\.db-wal: its latest changes/,
    ],
  ])('that is %s is not created again by a start', async (what, lose, trace) => {
    const settings = settingsFor();
    await use(settings);
    if (what.includes('first checkpoint')) unlinkSync(settings.checkpoints);
    lose(fileOf(settings));
    expect((await refusalOf(settings)).mistakes.join('\n')).toMatch(trace);
    expect(existsSync(fileOf(settings))).toBe(what === 'emptied');
  });

  it('that is missing is not created where backups of it are', async () => {
    const settings = settingsFor({ checkpoints: 'off' });
    mkdirSync(join(settings.data, 'backups'), { recursive: true });
    writeFileSync(join(settings.data, 'backups', '20260131T031702345Z-5616245ed077.db'), 'a backup');
    expect((await refusalOf(settings)).mistakes.join('\n')).toContain(`${join(settings.data, 'backups')}: 1 backup`);
    expect(existsSync(fileOf(settings))).toBe(false);
  });

  it('that is missing leaves its log where a new one is asked for', async () => {
    const settings = settingsFor({ createDatabase: 'always' });
    writeFileSync(`${fileOf(settings)}-wal`, 'changes of the earlier database');
    await use(settings);
    expect(readdirSync(dirname(fileOf(settings))).filter((name) => name.includes('-wal.'))).toHaveLength(1);
  });
});
