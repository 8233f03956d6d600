import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isDeep } from '../budget.ts';
import { bundleProgram } from './bundle.ts';
import { type Ended, expectDone, idOf, logIn, type Program, pause, query, runProgram, send, setUp, startProgram } from './program.ts';
import { runCommand } from './run-command.ts';

const ADMIN = 'ada@example.com';

let folder: string;
let data: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-backup-'));
  data = join(folder, 'data');
  mkdirSync(join(folder, 'resources'));
  define('size: { type: string }');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Writes the only definition of the project. */
function define(...fields: readonly string[]): void {
  writeFileSync(join(folder, 'resources', 'Note.yaml'), `name: Note\nfields:\n${fields.map((field) => `  ${field}\n`).join('')}`);
}

const run = (...args: readonly string[]): Promise<Ended> => runCommand([...args, '--project', folder, '--data', data]);
/** Runs a command in a process of its own. */
const runSeparately = (...args: readonly string[]): Promise<Ended> => runProgram([...args, '--project', folder, '--data', data]);
const start = (): Promise<Program> => startProgram({ data, project: folder, args: ['--log-level', 'error'] });

/** Copies a backup into a new data folder; returns the folder. */
function standAlone(file: string): string {
  const alone = mkdtempSync(join(folder, 'alone-'));
  copyFileSync(file, join(alone, 'bailiwick.db'));
  return alone;
}

/** Inserts notes of this size directly into the table. */
function populate(rows: number, size: string): void {
  const database = new Sqlite(join(data, 'bailiwick.db'));
  database.exec(`DELETE FROM Note; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO Note (id, version, createdAt, updatedAt, size) SELECT printf('%08d', i), 1, '', '', '${size}' FROM n`);
  database.close();
}

const sizes = (): readonly unknown[] => query(data, 'SELECT DISTINCT size FROM Note');
const leftovers = (): string[] => readdirSync(data).filter((name) => name.endsWith('.part'));

describe('backup', () => {
  it('a backup refuses no request under load, and contains every change acknowledged before it', async () => {
    const program = await start();
    const token = await setUp(program.url);
    const answered: string[] = [];
    const before: string[][] = [];
    let isOver = false;
    const client = async (): Promise<void> => {
      while (!isOver)
        answered.push(idOf(await expectDone(send(program.url, 'POST /api/Note', { token, body: { size: 'x'.repeat(200) } }))));
    };
    const clients = Promise.all([client(), client(), client(), client()]);
    for (const name of ['one.db', 'two.db', 'three.db']) {
      const enough = answered.length + 50;
      while (answered.length < enough) await pause(5);
      before.push([...answered]);
      const made = await runSeparately('backup', join(folder, name));
      expect([made.code, made.err]).toEqual([0, '']);
      expect(made.out).toMatch(/\.db \([\d.]+ [kM]B\) in [\d.]+ s; the backup passed its integrity check\n$/);
    }
    isOver = true;
    await clients;
    for (const [index, name] of ['one.db', 'two.db', 'three.db'].entries()) {
      const alone = standAlone(join(folder, name));
      const kept = new Set(query(alone, 'SELECT id FROM Note'));
      expect(before[index]?.filter((id) => !kept.has(id))).toEqual([]);
      expect(query(alone, `SELECT count(*) FROM _Decision WHERE resource = 'Note'`)).toEqual([kept.size]);
      expect(query(alone, 'PRAGMA integrity_check')).toEqual(['ok']);
      const plan = await runCommand(['storage', 'plan', '--project', folder, '--data', alone]);
      expect([plan.code, plan.out]).toEqual([0, 'nothing to do: the tables match the definitions\n']);
    }
    await program.stop();
  }, 120_000);

  it('two backups can run at once, and two backups to the same file leave a whole one', async () => {
    await run('storage', 'apply');
    populate(20_000, 'a');
    const same = await Promise.all(['same.db', 'same.db', 'other.db'].map((name) => runSeparately('backup', join(folder, name))));
    expect(same.filter(({ code }) => code === 0).length).toBeGreaterThanOrEqual(2);
    for (const { code, err } of same)
      if (code !== 0) expect(err).toMatch(/^bailiwick: .* exists, and a backup replaces no file: name another one/);
    for (const name of ['same.db', 'other.db'])
      expect(query(standAlone(join(folder, name)), 'SELECT count(*) FROM Note')).toEqual([20_000]);
    const again = await run('backup', join(folder, 'same.db'));
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('exists, and a backup replaces no file')]);
    expect(readdirSync(folder).filter((name) => name.includes('.part'))).toEqual([]);
  });
});

/** The number of records while a restore is killed. */
const ROWS = isDeep ? 150_000 : 50_000;

describe('restore', () => {
  it('a running service adopts a restore: old data and policies, a new revision, and ended sessions', async () => {
    const program = await start();
    const token = await setUp(program.url);
    await expectDone(send(program.url, 'POST /api/Note', { token, body: { size: 'then' } }));
    const rules = [{ resource: 'Note', action: 'list' }];
    const policy = idOf(
      await expectDone(send(program.url, 'POST /admin/api/policies', { token, body: { name: 'anyone', type: 'ROLE_BASED', rules } })),
    );
    await expectDone(send(program.url, `POST /admin/api/policies/${policy}/assign/role/anon`, { token, body: {} }));
    expect((await run('backup', join(folder, 'then.db'))).code).toBe(0);
    await expectDone(send(program.url, `PUT /admin/api/policies/${policy}`, { token, body: { isActive: false } }));
    await expectDone(send(program.url, 'POST /auth/logout', { token }));
    const since = await logIn(program.url, ADMIN);
    await expectDone(send(program.url, 'POST /api/Note', { token: since, body: { size: 'since' } }));
    expect((await send(program.url, 'GET /api/Note')).status).toBe(403);
    const epoch = Number(query(data, `SELECT number FROM _State WHERE id = 'epoch'`)[0]);

    const shown = await run('restore', join(folder, 'then.db'));
    expect([shown.code, shown.out]).toEqual([0, expect.stringContaining('nothing was restored; run again with --yes to restore')]);
    expect((await send(program.url, 'GET /api/Note')).status).toBe(403);
    const done = await runSeparately('restore', join(folder, 'then.db'), '--yes');
    expect([done.code, done.out]).toEqual([0, expect.stringContaining('the previous database was saved to ')]);

    const listed = await expectDone(send(program.url, 'GET /api/Note'));
    expect(listed.body.data).toMatchObject([{ size: 'then' }]);
    // One token was logged out after the backup, the other was issued after it: both are invalid.
    for (const each of [token, since]) expect((await send(program.url, 'GET /api/Note', { token: each })).status).toBe(401);
    const again = await logIn(program.url, ADMIN);
    await expectDone(send(program.url, 'POST /api/Note', { token: again, body: { size: 'after' } }));
    expect(Number(query(data, `SELECT number FROM _State WHERE id = 'epoch'`)[0])).toBeGreaterThan(epoch);
    expect(query(data, `SELECT count(*) FROM _Decision WHERE kind = 'admin' AND action = 'restore'`)).toEqual([1]);
    expect((await run('storage', 'history')).out).toContain('restored from a backup whose last audit entry is of ');
    const [kept = ''] = readdirSync(join(data, 'backups'));
    expect(query(standAlone(join(data, 'backups', kept)), `SELECT count(*) FROM Note WHERE size = 'since'`)).toEqual([1]);
    expect(await program.stop()).toBe(0);
  });

  it('a restore that is killed at any moment leaves the old or the new database, and the service continues', async () => {
    await run('storage', 'apply');
    populate(ROWS, 'then');
    expect((await run('backup', join(folder, 'then.db'))).code).toBe(0);
    populate(ROWS, 'now');
    const program = await start();
    const seen = new Set<unknown>();
    const shares = isDeep ? [0.3, 0.6, 0.75, 0.85, 0.9, 0.95, 1] : [0.5, 0.9, 1];
    const began = performance.now();
    const whole = await spawnRestore();
    await once(whole, 'exit');
    const time = performance.now() - began;
    expect(sizes()).toEqual(['then']);
    for (const share of shares) {
      populate(ROWS, 'now');
      const child = await spawnRestore();
      await pause(time * share * (0.9 + Math.random() * 0.1));
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      expect([['then'], ['now']]).toContainEqual(sizes());
      seen.add(sizes()[0]);
      expect(query(data, 'SELECT count(*) FROM Note')).toEqual([ROWS]);
      expect(query(data, 'PRAGMA integrity_check')).toEqual(['ok']);
      expect((await send(program.url, 'GET /readyz')).status).toBe(200);
      expect((await send(program.url, 'GET /api/Note')).status).toBe(403);
      // A restore that took less time than the first one may have ended before it was killed.
      if (share === shares.at(-1) && !seen.has('now')) shares.push(share / 2);
    }
    expect(seen).toContain('now');
    expect(await program.stop()).toBe(0);
  }, 180_000);

  it('a restore refuses a file that is not a backup, and changes nothing', async () => {
    await run('storage', 'apply');
    populate(20_000, 'now');
    expect((await run('backup', join(folder, 'whole.db'))).code).toBe(0);
    const other = new Sqlite(join(folder, 'other.db'));
    other.exec('CREATE TABLE a (b)');
    other.close();
    writeFileSync(join(folder, 'text.db'), 'text '.repeat(2000));
    copyFileSync(join(folder, 'whole.db'), join(folder, 'half.db'));
    spawnSync('truncate', ['--size=500000', join(folder, 'half.db')]);
    const refusals = [
      ['none.db', /does not exist/],
      ['other.db', /is a database of another program/],
      ['text.db', /is not a SQLite database/],
      ['half.db', /is damaged/],
    ] as const;
    for (const [name, message] of refusals) {
      const { code, err, out } = await run('restore', join(folder, name), '--yes');
      expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)]);
    }
    expect(sizes()).toEqual(['now']);
    expect([leftovers(), existsSync(join(data, 'backups'))]).toEqual([[], false]);
  });
});

async function spawnRestore(): Promise<ReturnType<typeof spawn>> {
  const args = ['restore', join(folder, 'then.db'), '--yes', '--project', folder, '--data', data];
  return spawn(process.execPath, [await bundleProgram(), ...args], { stdio: 'ignore' });
}

/** A limit on file sizes simulates a full disk. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0;

async function runLimited(...args: readonly string[]): Promise<{ code: number | null; err: string }> {
  const all = [`--fsize=1000000`, process.execPath, await bundleProgram(), ...args, '--project', folder, '--data', data];
  const child = spawn('prlimit', all, { stdio: ['ignore', 'ignore', 'pipe'] });
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
  const [code] = await once(child, 'close');
  return { code: code as number | null, err };
}

describe.skipIf(!canLimit)('a full disk', () => {
  it('a full disk makes start, apply, prune and restore fail without changes, and leaves no partial backup', async () => {
    await run('storage', 'apply');
    populate(50_000, 'now');
    expect((await run('backup', join(folder, 'whole.db'))).code).toBe(0);
    const backup = await runLimited('backup', join(folder, 'half.db'));
    expect([backup.code, backup.err]).toEqual([2, expect.stringMatching(/^bailiwick: cannot write the backup \S+half\.db: /)]);
    define('size: { type: string }', 'count: { type: integer, required: true, default: 0 }');
    for (const command of [
      ['storage', 'apply'],
      ['start', '--port', '0'],
    ]) {
      const { code, err } = await runLimited(...command);
      expect([code, err]).toEqual([2, expect.stringMatching(/^bailiwick: cannot write a backup first, so nothing was changed\n/m)]);
    }
    expect((await runLimited('restore', join(folder, 'whole.db'), '--yes')).code).toBe(2);
    expect(query(data, `SELECT name FROM pragma_table_info('Note') WHERE name = 'count'`)).toEqual([]);
    expect([leftovers(), readdirSync(join(data, 'backups')), existsSync(join(folder, 'half.db'))]).toEqual([[], [], false]);
    const applied = await run('storage', 'apply');
    expect([applied.code, applied.err]).toEqual([0, expect.stringMatching(/^backup written: \S+\.db\n/m)]);
    expect(applied.err).toContain('records without Note.count get its default 0: processing 50,000 records; requests wait meanwhile');
    expect((await run('storage', 'history')).out).toContain('  a backup was written first: ');
    define('count: { type: integer, required: true, default: 0 }');
    expect((await run('storage', 'apply')).code).toBe(0);
    expect((await runLimited('storage', 'prune', '--yes')).code).toBe(2);
    expect((await run('storage', 'prune')).out).toContain('50000 values are permanently deleted');
  });
});
