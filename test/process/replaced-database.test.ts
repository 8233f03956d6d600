/** Database files that are removed or replaced under a running service: no change is acknowledged that the next start would not find. */
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { createService } from '../../src/service.ts';
import { expectDone, idOf, type Program, pause, query, type Reply, runProgram, send, setUp, startProgram } from './program.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-replaced-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FILE = 'bailiwick.db';

/** A service whose database is lost. */
type Running = Pick<Program, 'url' | 'printed' | 'stop'>;

/** Starts a service in this process, because a program takes many times as long as the requests of a test. */
async function startHere(data: string, auditMode = 'strict'): Promise<Running> {
  const config = parseConfig({ flags: { project: 'examples/newsroom', data, port: 0, logLevel: 'silent', auditMode }, env: {} });
  const lines: string[] = [];
  const service = await createService(config, { log: (line) => lines.push(line) });
  const { url } = await service.listen();
  return { url, printed: () => lines.join('\n'), stop: () => service.close().then(() => 0) };
}

/** A data folder with tables and an admin. Each test starts with a copy of it. */
const prepared = join(folder, 'prepared');
let token = '';
beforeAll(async () => {
  const service = await startHere(prepared);
  token = await setUp(service.url);
  await service.stop();
});

/** A way to lose a database. `away` is a folder on the same file system. */
interface Way {
  readonly name: string;
  lose(data: string, away: string): void;
  /** The pattern of the log message about the lost file. */
  readonly said: string;
  /** True for the way that is tested with the program in a process of its own. */
  readonly isProgram?: boolean;
}

const WAYS: readonly Way[] = [
  {
    name: 'removed with its write-ahead log',
    lose(data) {
      // The database file first, because the service may notice the loss between two files.
      for (const name of readdirSync(data).toSorted()) if (name.startsWith(FILE)) unlinkSync(join(data, name));
    },
    said: `${FILE} was removed`,
    isProgram: true,
  },
  { name: 'removed', lose: (data) => unlinkSync(join(data, FILE)), said: `${FILE} was removed` },
  { name: 'moved away', lose: (data, away) => renameSync(join(data, FILE), join(away, FILE)), said: `${FILE} was removed` },
  {
    name: 'replaced by a copy of itself',
    lose(data, away) {
      copyFileSync(join(data, FILE), join(away, FILE));
      renameSync(join(away, FILE), join(data, FILE));
    },
    said: `${FILE} was replaced`,
  },
  {
    name: 'moved with its folder',
    lose: (data, away) => renameSync(data, join(away, 'data')),
    said: `${FILE} was removed`,
  },
  { name: 'emptied', lose: (data) => truncateSync(join(data, FILE)), said: `${FILE} was emptied` },
  { name: 'left without its write-ahead log', lose: (data) => unlinkSync(join(data, `${FILE}-wal`)), said: `${FILE}-wal was removed` },
  { name: 'left without its shared memory', lose: (data) => unlinkSync(join(data, `${FILE}-shm`)), said: `${FILE}-shm was removed` },
];

interface Loaded {
  readonly program: Running;
  readonly data: string;
  readonly away: string;
  /** Responses to the creates sent so far. */
  readonly replies: Reply[];
  /** Stops the clients. */
  rest(): Promise<void>;
}

/** Options of a service under load. */
interface LoadedOptions {
  /** True to start the program in a process of its own. */
  readonly isProgram?: boolean;
  /** True for a symbolic link to the database file. */
  readonly isLinked?: boolean;
  readonly auditMode?: string;
}

/** Starts a service with four clients that create records. */
async function startLoaded({ isProgram = false, isLinked = false, auditMode }: LoadedOptions = {}): Promise<Loaded> {
  const root = mkdtempSync(join(folder, 'case-'));
  const [data, away] = [join(root, 'data'), join(root, 'away')];
  mkdirSync(away);
  cpSync(prepared, data, { recursive: true });
  if (isLinked) {
    mkdirSync(join(root, 'disk'));
    renameSync(join(data, FILE), join(root, 'disk', FILE));
    symlinkSync(join(root, 'disk', FILE), join(data, FILE));
  }
  const program = isProgram ? await startProgram({ data, args: ['--log-level', 'silent'] }) : await startHere(data, auditMode);
  const replies: Reply[] = [];
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) {
      replies.push(await createTip(program));
      await pause(5);
    }
  };
  const clients = Promise.all([client(), client(), client(), client()]);
  while (replies.length < 40) await pause(5);
  const rest = async (): Promise<void> => {
    isOver = true;
    await clients;
  };
  return { program, data, away, replies, rest };
}

function createTip({ url }: Running): Promise<Reply> {
  return send(url, 'POST /api/Tip', { token, body: { subject: 'a tip', text: 'x'.repeat(500) } });
}

describe('a lost database file', () => {
  it.each(WAYS)(
    'answers 503 for a database file that is $name under load, and acknowledges nothing afterwards',
    async ({ lose, said, ...how }) => {
      const { program, data, away, replies, rest } = await startLoaded(how);
      lose(data, away);
      const lostAt = performance.now();
      const sentAfter = (): readonly Reply[] => replies.filter(({ sentAt }) => sentAt > lostAt);
      while (sentAfter().length < 8) await pause(5);
      await rest();
      const after = sentAfter();
      expect(after.filter(({ status }) => status !== 503)).toEqual([]);
      expect(after[0]?.body).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
      expect(JSON.stringify(after[0]?.body)).not.toContain(folder);

      const ready = await send(program.url, 'GET /readyz');
      expect([ready.status, ready.body.detail]).toEqual([503, expect.stringMatching(/removed or replaced/)]);
      expect((await send(program.url, 'GET /api/Tip', { token })).status).toBe(503);
      expect((await send(program.url, 'GET /healthz')).status).toBe(200);
      const lines = program
        .printed()
        .split('\n')
        .filter((line) => line.includes('every request is refused'));
      expect(lines).toEqual([expect.stringMatching(said)]);
      expect(await program.stop()).toBe(0);
    },
  );

  it('a database file that is moved away and back is refused until a restart, and then has every change', async () => {
    const { program, data, away, replies, rest } = await startLoaded();
    renameSync(join(data, FILE), join(away, FILE));
    await rest();
    expect((await createTip(program)).status).toBe(503);
    renameSync(join(away, FILE), join(data, FILE));
    await pause(1500);
    expect((await createTip(program)).status).toBe(503);
    expect((await send(program.url, 'GET /readyz')).status).toBe(503);
    await program.stop();
    const kept = new Set(query(data, 'SELECT id FROM Tip'));
    const acknowledged = replies.filter(({ status }) => status === 201).map(idOf);
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    const again = await startHere(data);
    await expectDone(createTip(again));
    await again.stop();
  });

  it('a database file without its write-ahead log has every acknowledged change after the service was stopped', async () => {
    const { program, data, replies, rest } = await startLoaded();
    unlinkSync(join(data, `${FILE}-wal`));
    await pause(100);
    await rest();
    expect(await program.stop()).toBe(0);
    const kept = new Set(query(data, 'SELECT id FROM Tip'));
    const acknowledged = replies.filter(({ status }) => status === 201).map(idOf);
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    expect(query(data, 'PRAGMA integrity_check')).toEqual(['ok']);
  });

  it('a database file that is removed behind a symbolic link is detected', async () => {
    const { program, data, rest } = await startLoaded({ isLinked: true });
    await rest();
    unlinkSync(join(data, '..', 'disk', FILE));
    expect((await createTip(program)).status).toBe(503);
    await program.stop();
  });

  it('a removed database file is answered 503 for reads too in audit mode relaxed', async () => {
    const { program, data, rest } = await startLoaded({ auditMode: 'relaxed' });
    await rest();
    expect((await send(program.url, 'GET /api/Tip', { token })).status).toBe(200);
    unlinkSync(join(data, FILE));
    expect((await send(program.url, 'GET /api/Tip', { token })).status).toBe(503);
    expect((await createTip(program)).status).toBe(503);
    await program.stop();
  });

  it('a removed database file is detected by /readyz without other requests', async () => {
    const { program, data, rest } = await startLoaded();
    await rest();
    expect((await send(program.url, 'GET /readyz')).status).toBe(200);
    unlinkSync(join(data, FILE));
    expect((await send(program.url, 'GET /readyz')).status).toBe(503);
    await expect.poll(() => program.printed()).toContain('was removed while the service was running');
    await program.stop();
  });

  it('a database file that a command restored, or another process vacuumed, is accepted', async () => {
    const { program, data, away, rest } = await startLoaded();
    await rest();
    const run = (...args: readonly string[]) => runProgram([...args, '--project', 'examples/newsroom', '--data', data]);
    expect((await run('backup', join(away, 'one.db'))).code).toBe(0);
    const { default: Sqlite } = await import('better-sqlite3');
    const other = new Sqlite(join(data, FILE));
    other.exec('PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
    other.close();
    await expectDone(createTip(program));
    expect((await run('restore', join(away, 'one.db'), '--yes')).code).toBe(0);
    expect((await send(program.url, 'GET /readyz')).status).toBe(200);
    expect(program.printed()).not.toContain('while the service was running');
    await program.stop();
  });
});
