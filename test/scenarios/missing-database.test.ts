/** A database that is missing or empty although there was one before: an unmounted volume or a wrong address. */
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

/** Returns the config of the project with a new database. */
function createConfig(more: Readonly<Record<string, string>> = {}): Config {
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

/** Starts a service, creates the first admin, so that a checkpoint is signed, and closes the service. */
async function use(config: Config): Promise<void> {
  const service = await createService(config);
  const { url } = await service.listen();
  const body = JSON.stringify({ name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' });
  const answer = await fetch(`${url}/auth/setup`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(answer.status).toBe(201);
  await service.close();
}

async function refusalOf(config: Config): Promise<{ readonly message: string; readonly mistakes: readonly string[] }> {
  let service: Service | undefined;
  try {
    service = await createService(config);
  } catch (error) {
    return error as Error & { mistakes: readonly string[] };
  }
  await service.close();
  throw new Error('expected a refusal');
}

describe('a command that works on an existing database', () => {
  it('a command on an existing database refuses a missing or empty database, names it, and creates nothing', async () => {
    const config = createConfig({ createDatabase: 'never' });
    const { message, mistakes } = await refusalOf(config);
    expect(message).toMatch(onPostgres ? /^the database is empty$/ : /^there is no \S+test\.db$/);
    expect(mistakes).toEqual(['correct the address of the database with --project, --data or --database; start creates a new one']);
    expect(onPostgres || existsSync(config.database.slice('sqlite:'.length))).toBe(onPostgres);
    expect(existsSync(config.data)).toBe(false);
  });

  it('a command on an existing database accepts it', async () => {
    const config = createConfig();
    await use(config);
    await (await createService({ ...config, createDatabase: 'never' })).close();
  });
});

describe('a start on a new database after an earlier one', () => {
  it('refuses to start on a new database if there are checkpoints, with advice', async () => {
    const first = createConfig();
    await use(first);
    const second = createConfig();
    const { message, mistakes } = await refusalOf(second);
    expect(message).toMatch(onPostgres ? /^the database is empty, / : /^there is no \S+test\.db, /);
    expect(message).toMatch(/although there was a database before$/);
    expect(mistakes.join('\n')).toContain(`${first.checkpoints}: checkpoints of its audit log`);
    expect(mistakes.at(-1)).toContain('--create-database always');
    // A start on the right database works as before.
    await (await createService(first)).close();
  });

  it('refuses to start on a new database if the checkpoints are elsewhere and the data folder is not mounted', async () => {
    const checkpoints = join(folder, 'elsewhere', 'checkpoints.ndjson');
    const first = createConfig({ checkpoints });
    await use(first);
    rmSync(first.data, { recursive: true });
    const second = createConfig({ checkpoints });
    expect((await refusalOf(second)).mistakes.join('\n')).toContain(checkpoints);
    expect(onPostgres || readdirSync(dirname(second.database.slice('sqlite:'.length)))).toEqual(onPostgres || []);
    expect(existsSync(second.data)).toBe(false);
  });

  it('starts on a new database with createDatabase "always", verifies, and keeps the earlier checkpoints', async () => {
    await use(createConfig());
    const second = createConfig({ createDatabase: 'always' });
    await use(second);
    const verified = await verifyDecisions(second);
    expect([verified.breaks, verified.checkpoints?.lines]).toEqual([[], 1]);
    expect(readdirSync(second.data).filter((name) => name.startsWith('checkpoints.ndjson.'))).toHaveLength(1);
    // No file is renamed again once the database exists.
    await (await createService(second)).close();
    expect(readdirSync(second.data).filter((name) => name.startsWith('checkpoints.ndjson.'))).toHaveLength(1);
  });

  it('starts with an empty checkpoint file, and after a first start without an admin', async () => {
    mkdirSync(join(folder, 'data'));
    writeFileSync(join(folder, 'data', 'checkpoints.ndjson'), '');
    const config = createConfig();
    const service = await createService(config);
    await service.close();
    await use(config);
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
  ])('does not replace a database file that is %s', async (what, lose, trace) => {
    const config = createConfig();
    await use(config);
    if (what.includes('first checkpoint')) unlinkSync(config.checkpoints);
    lose(fileOf(config));
    expect((await refusalOf(config)).mistakes.join('\n')).toMatch(trace);
    expect(existsSync(fileOf(config))).toBe(what === 'emptied');
  });

  it('does not create a missing database file that has backups', async () => {
    const config = createConfig({ checkpoints: 'off' });
    mkdirSync(join(config.data, 'backups'), { recursive: true });
    writeFileSync(join(config.data, 'backups', '20260131T031702345Z-5616245ed077.db'), 'a backup');
    expect((await refusalOf(config)).mistakes.join('\n')).toContain(`${join(config.data, 'backups')}: 1 backup`);
    expect(existsSync(fileOf(config))).toBe(false);
  });

  it('keeps the write-ahead log of a missing database file under another name if it creates a new file', async () => {
    const config = createConfig({ createDatabase: 'always' });
    writeFileSync(`${fileOf(config)}-wal`, 'changes of the earlier database');
    await use(config);
    expect(readdirSync(dirname(fileOf(config))).filter((name) => name.includes('-wal.'))).toHaveLength(1);
  });
});
