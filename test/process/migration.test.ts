import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { isDeep } from '../budget.ts';
import { bundleProgram } from './bundle.ts';
import { type Ended, expectDone, idOf, pause, query, send, setUp, startProgram } from './program.ts';
import { runCommand } from './run-command.ts';

/** The number of records while a migration is killed. */
const ROWS = isDeep ? 100_000 : 50_000;

const root = mkdtempSync(join(tmpdir(), 'bailiwick-evolution-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A project with its data folder. Each test has its own, because the tests run at the same time: some of them mostly wait. */
interface Project {
  readonly folder: string;
  readonly data: string;
  /** Writes the definition of the resource Note. */
  define(...fields: readonly string[]): void;
  storage(command: string, ...args: readonly string[]): Promise<Ended>;
  evolutions(): readonly unknown[];
  /** Inserts notes with numbers as text in `size`. */
  populate(rows: number): void;
}

function createProject(): Project {
  const folder = mkdtempSync(join(root, 'project-'));
  const data = join(folder, 'data');
  const resources = join(folder, 'resources');
  mkdirSync(resources);
  return {
    folder,
    data,
    define: (...fields) =>
      writeFileSync(join(resources, 'Note.yaml'), `name: Note\nfields:\n${fields.map((field) => `  ${field}\n`).join('')}`),
    storage: (command, ...args) => runCommand(['storage', command, '--project', folder, '--data', data, ...args]),
    evolutions: () => query(data, 'SELECT actor FROM _Evolution ORDER BY at, id'),
    populate(rows) {
      const database = new Sqlite(join(data, 'bailiwick.db'));
      database.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
        INSERT INTO Note (id, version, createdAt, updatedAt, size) SELECT printf('%08d', i), 1, '', '', i FROM n`);
      database.close();
    },
  };
}

describe.concurrent('storage', () => {
  it('storage plan, history and prune do not create a missing database', async () => {
    const { data, define, storage } = createProject();
    define('size: { type: string }');
    for (const command of ['plan', 'history', 'prune']) expect((await storage(command)).code).toBe(0);
    expect((await storage('plan')).out).toContain('CREATE TABLE "Note"');
    expect(existsSync(data)).toBe(false);
  });

  it('storage apply performs a lossy step only with the hash of its plan, and reports it', async () => {
    const { data, define, storage, populate } = createProject();
    define('size: { type: string }');
    expect((await storage('apply')).code).toBe(0);
    populate(3);
    const database = new Sqlite(join(data, 'bailiwick.db'));
    database.exec(`UPDATE Note SET size = 'wide' WHERE id = '00000002'`);
    database.close();
    define('size: { type: integer }');
    const refused = await storage('apply');
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('Note is not migrated (lossy)')]);
    const { hash } = JSON.parse((await storage('plan', '--json')).out) as { hash: string };
    expect(refused.err).toContain(`--allow ${hash}`);
    expect((await storage('apply', '--allow', 'f'.repeat(64))).code).toBe(2);
    expect((await storage('apply', '--allow', hash)).code).toBe(0);
    expect(query(data, 'SELECT size FROM Note ORDER BY id')).toEqual([1, null, 3]);
    expect((await storage('plan')).out).toContain('nothing to do');
    expect((await storage('history')).out).toContain('Note, lossy: Note.size changes from string to integer');
    expect((await storage('prune')).out).toContain('Note.size$1 is archived; 3 values are permanently deleted');
    expect((await storage('prune', '--yes')).out).toContain('-- deleted');
    expect((await storage('prune')).out).toContain('there is no archived data');
  }, 120_000);
});

describe.concurrent('a command that does not migrate', () => {
  it.each([
    [['policies', 'export', '-']],
    [['policies', 'diff', '--prune', '--as', 'ada@example.com']],
    [['policies', 'apply', '--prune', '--dry-run', '--as', 'ada@example.com']],
    [['policies', 'assign', 'Readers', '--role', 'user', '--as', 'ada@example.com']],
    [['policies', 'restore-admin']],
    [['policies', 'from-permissions']],
    [['export', 'Note', '-', '--format', 'ndjson', '--as', 'ada@example.com']],
    [['user', 'password', 'unknown@example.com']],
  ])('refuses a pending migration with exit code 2 and leaves the tables as they are: %j', async (args) => {
    const { folder, data, define, storage, evolutions } = createProject();
    define('size: { type: string }', 'text: { type: string }');
    await storage('apply');
    define('size: { type: string }');
    mkdirSync(join(folder, 'policies'));
    const { code, err } = await runCommand([...args, '--project', folder, '--data', data], 'a long password\n');
    expect([code, err]).toEqual([2, expect.stringContaining('Note: Note.text is no longer defined; its column is archived')]);
    expect(err).toContain('run bailiwick storage apply or start the service');
    expect(evolutions()).toEqual(['cli']);
  });
});

describe.concurrent('a running service', () => {
  it('a running service uses the definitions that another process applied from its next request', async () => {
    const { folder, data, define, storage } = createProject();
    define('size: { type: string }');
    const program = await startProgram({ data, project: folder, args: ['--log-level', 'error'] });
    const token = await setUp(program.url);
    const id = idOf(await expectDone(send(program.url, 'POST /api/Note', { token, body: { size: '7' } })));
    writeFileSync(join(folder, 'resources', 'User.yaml'), 'name: User\nfields:\n  department: { type: string }\n');
    define('weight: { type: integer, renamedFrom: size }');
    expect((await storage('apply')).code).toBe(0);
    const read = await expectDone(send(program.url, `GET /api/Note/${id}`, { token }));
    expect(read.body.data).toMatchObject({ weight: 7 });
    expect((await send(program.url, `PUT /api/Note/${id}`, { token, body: { size: '8' } })).status).toBe(422);
    expect((await expectDone(send(program.url, 'GET /auth/me', { token }))).body).toMatchObject({ success: true });
    const plan = await expectDone(send(program.url, 'GET /admin/api/storage/plan', { token }));
    expect(plan.body.data).toMatchObject({ steps: [], held: [], mistakes: [] });
    await program.stop();
  });

  it('a running service authenticates users after a field of User was renamed', async () => {
    const { folder, data, storage } = createProject();
    const defineUser = (field: string): void => writeFileSync(join(folder, 'resources', 'User.yaml'), `name: User\nfields:\n  ${field}\n`);
    defineUser('department: { type: string, default: news }');
    const program = await startProgram({ data, project: folder, args: ['--log-level', 'error'] });
    const token = await setUp(program.url);
    for (const field of ['team: { type: string, renamedFrom: department }', 'desk: { type: string, renamedFrom: team }']) {
      defineUser(field);
      expect((await storage('apply')).code).toBe(0);
      const [name = ''] = field.split(':', 1);
      const me = await expectDone(send(program.url, 'GET /auth/me', { token }));
      expect(me.body.data).toMatchObject({ [name]: 'news' });
    }
    await program.stop();
  });
});

describe.concurrent('a changed definition', () => {
  it('two services that start at once migrate a changed definition once', async () => {
    const { folder, data, define, storage, evolutions, populate } = createProject();
    define('size: { type: string }');
    await storage('apply');
    populate(20_000);
    define('size: { type: integer }', 'more: { type: string, default: x }');
    const programs = await Promise.all([startProgram({ data, project: folder }), startProgram({ data, project: folder })]);
    expect(evolutions()).toEqual(['cli', 'start']);
    expect(query(data, "SELECT count(*) FROM Note WHERE typeof(size) = 'integer' AND more = 'x'")).toEqual([20_000]);
    expect(await Promise.all(programs.map((program) => program.stop()))).toEqual([0, 0]);
  }, 120_000);

  it('a migration makes start, plan and prune wait longer than a request, and a waiting start can be stopped', async () => {
    const { folder, data, define, storage } = createProject();
    define('size: { type: string }');
    await storage('apply');
    const other = new Sqlite(join(data, 'bailiwick.db'));
    other.exec('BEGIN IMMEDIATE');
    const waiting = [
      ['start', '--port', '0'],
      ['start', '--port', '0'],
      ['storage', 'plan'],
      ['storage', 'prune', '--yes'],
    ].map(async (command) => {
      const child = spawn(process.execPath, [await bundleProgram(), ...command, '--project', folder, '--data', data]);
      const ended = once(child, 'exit');
      const [told] = await once(child.stderr.setEncoding('utf8'), 'data');
      return { child, ended, told };
    });
    const [stopped, started, ...others] = await Promise.all(waiting);
    for (const each of [stopped, started, ...others])
      expect(each?.told).toBe('another process has locked the database; waiting until it has finished\n');
    stopped?.child.kill();
    expect(await stopped?.ended).toEqual([0, null]);
    other.exec('COMMIT');
    other.close();
    if (started !== undefined) await once(started.child.stdout, 'data');
    started?.child.kill();
    for (const each of [started, ...others]) expect(await each?.ended).toEqual([0, null]);
  });

  it('a migration is performed completely or not at all if the process is killed', async () => {
    const project = createProject();
    const { folder, data, define, storage, populate } = project;
    define('size: { type: string }');
    await storage('apply');
    populate(ROWS);
    define('size: { type: integer, index: true }');
    const old = { type: ['TEXT'], aside: [0], values: ['text'], evolutions: ['cli'] };
    const after = { type: ['INTEGER'], aside: [1], values: ['integer'], evolutions: ['cli', 'cli'] };
    let killed = 0;
    for (let wait = 100; ; wait = Math.round(wait * (isDeep ? 1.1 : 1.4))) {
      const child = spawn(process.execPath, [await bundleProgram(), 'storage', 'apply', '--project', folder, '--data', data], {
        stdio: 'ignore',
      });
      const exit = once(child, 'exit');
      await Promise.race([pause(wait), exit]);
      child.kill('SIGKILL');
      await exit;
      const found = shapeNow(project);
      if (child.exitCode === 0) {
        expect(found).toEqual(after);
        break;
      }
      killed++;
      expect([old, after]).toContainEqual(found);
      expect(query(data, 'PRAGMA integrity_check')).toEqual(['ok']);
    }
    expect(killed).toBeGreaterThan(2);
  }, 180_000);
});

/** Returns the state of the conversion in the columns, rows and history. */
function shapeNow({ data, evolutions }: Project): object {
  const ofColumn = (name: string, what: string): readonly unknown[] =>
    query(data, `SELECT ${what} FROM pragma_table_info('Note') WHERE name = '${name}'`);
  return {
    type: ofColumn('size', 'type'),
    aside: ofColumn('size$1', 'count(*)'),
    values: query(data, `SELECT typeof(size) FROM Note GROUP BY 1 HAVING count(*) = ${ROWS}`),
    evolutions: evolutions(),
  };
}
