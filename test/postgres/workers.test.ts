/** Several workers of one service: a real start and real signals, under load. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createChain } from '../chain.ts';
import { answersAroundStop, answersOfQueue, logIn, type Program, pause, send, setUp, startProgram, writeHold } from '../process/program.ts';
import { type Answered, createTips, isAlive, workersOf } from '../process/worker-load.ts';
import { withSchema } from './test-database.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-workers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const server = inject('postgres') ?? '';

/** A service with workers, and direct access to its database. */
interface WorkerService {
  readonly program: Program;
  /** Returns the first column of a query. */
  query(sql: string): Promise<readonly unknown[]>;
  /** Locks a table; returns the function that releases it. */
  lockTable(name: string): Promise<() => Promise<void>>;
  /** Returns the value of a metric. */
  metric(sample: string): Promise<number>;
}

async function startWorkers(workers: number, args: readonly string[] = [], preload?: string): Promise<WorkerService> {
  const database = withSchema(server);
  const data = mkdtempSync(join(folder, 'data-'));
  const own = ['--database', database, '--workers', String(workers), '--metrics-address', '127.0.0.1:0', '--log-level', 'error'];
  const program = await startProgram({ data, args: [...own, ...args], ...(preload !== undefined && { preload }) });
  await program.prints('no admin exists yet');
  const metrics = /metrics are at (\S+)/.exec(program.printed())?.[1] ?? '';
  return {
    program,
    async query(sql) {
      const client = await connect(database);
      const { rows } = await client.query({ text: sql, rowMode: 'array' });
      await client.end();
      return rows.map(([first]) => first as unknown);
    },
    async lockTable(name) {
      const client = await connect(database);
      await client.query(`BEGIN; LOCK TABLE "${name}"`);
      return () => client.end();
    },
    async metric(sample) {
      const text = await (await fetch(metrics)).text();
      return Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${sample} `))
          ?.split(' ')
          .at(-1),
      );
    },
  };
}

async function connect(database: string): Promise<pg.Client> {
  const url = new URL(database);
  const schema = url.searchParams.get('schema');
  url.search = '';
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`SET search_path TO "${schema}"`);
  return client;
}

/** The drain delay of the workers, in seconds. No other timer of the program has its length. */
const DRAIN_DELAY = 61;

/** Writes a module that ends the drain delay of a program when a file exists: in a few seconds, a busy machine may do little. */
function writeDrainDelay(ended: string): string {
  const preload = join(folder, 'drain-delay.mjs');
  writeFileSync(
    preload,
    `import { existsSync } from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    import timers from 'node:timers/promises';
    const pause = timers.setTimeout;
    timers.setTimeout = async (ms, ...rest) => {
      if (ms !== ${DRAIN_DELAY * 1000}) return pause(ms, ...rest);
      while (!existsSync(${JSON.stringify(ended)})) await pause(10);
    };
    syncBuiltinESMExports();`,
  );
  return preload;
}

/** Two services run at the same time. The tests of each run one after the other. */
const IN_TURN = { concurrent: false };

describe.concurrent('workers', () => {
  // These tests build on each other.
  const it = createChain();
  const answered: Answered = { decisions: new Set(), created: new Set(), failed: [] };
  let service: WorkerService;
  let token: string;
  const drainDelayEnded = join(folder, 'drain-delay-ended');
  beforeAll(async () => {
    service = await startWorkers(2, ['--drain-delay-seconds', String(DRAIN_DELAY)], writeDrainDelay(drainDelayEnded));
  });
  afterAll(() => service?.program.stop('SIGKILL'));

  it('workers accept the setup token that their primary process prints in a link and in a command', async () => {
    const { program, query } = service;
    await program.prints('"token":"');
    const setupToken = /"token":"([^"]+)"/.exec(program.printed())?.[1] ?? '';
    expect(program.printed().split(setupToken)).toHaveLength(3);
    expect(JSON.stringify(await query('SELECT "text" FROM "_State"'))).not.toContain(setupToken);
    const email = 'ada@example.com';
    const setUp = (sent: string): Promise<Response> =>
      fetch(`${program.url}/auth/setup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9', connection: 'close' },
        body: JSON.stringify({ token: sent, name: 'Ada', email, password: 'correct horse battery' }),
      });
    for (let attempt = 0; attempt < 4; attempt++) expect((await setUp('wrong')).status).toBe(403);
    const replies = await Promise.all(Array.from({ length: 5 }, () => setUp(setupToken)));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    token = await logIn(program.url, email);
  });

  it('workers serve the console, or the page without it if it was not built', async () => {
    const { program } = service;
    const isBuilt = existsSync(new URL('../../dist/console/index.html', import.meta.url));
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => fetch(program.url, { headers: { accept: 'text/html', connection: 'close' } })),
    );
    for (const reply of replies) {
      expect([reply.url, reply.status]).toEqual([`${program.url}/console/`, isBuilt ? 200 : 503]);
      expect(await reply.text()).toContain(isBuilt ? '<div id="root">' : 'The console has not been built');
    }
  });

  it('workers are replaced one after another, without a refused, lost or unaudited request', async () => {
    const { program, query, metric } = service;
    const before = workersOf(program);
    expect(before).toHaveLength(2);
    let isOver = false;
    const clients = Array.from({ length: 3 }, () => createTips(program.url, token, { answered, goesOn: () => !isOver }));
    await vi.waitFor(() => expect(answered.created.size).toBeGreaterThan(20), { timeout: 60_000 });
    program.child.kill('SIGUSR2');
    await vi.waitFor(() => expect(program.printed()).toContain('all workers have been replaced'), { timeout: 90_000 });
    const after = answered.created.size;
    await vi.waitFor(() => expect(answered.created.size).toBeGreaterThan(after + 20), { timeout: 60_000 });
    isOver = true;
    await Promise.all(clients);

    expect(answered.failed).toEqual([]);
    expect(workersOf(program).filter((pid) => before.includes(pid))).toEqual([]);
    expect(new Set(await query('SELECT "id" FROM "Tip"'))).toEqual(answered.created);
    const kept = new Set(await query('SELECT "id" FROM "_Decision"'));
    expect([...answered.decisions].filter((id) => !kept.has(id))).toEqual([]);
    // The replaced workers had counted most of the requests. The metrics of a busy worker may be older.
    const counted = () => metric('bailiwick_decisions_total{effect="allow",resource="Tip",action="create"}');
    await vi.waitFor(async () => expect(await counted()).toBe(answered.created.size), { timeout: 60_000 });
    expect(program.printed()).not.toContain('a worker exited');
  }, 240_000);

  it('workers are restarted when they die', async () => {
    const { program } = service;
    const [first = 0] = workersOf(program);
    process.kill(first, 'SIGKILL');
    await program.prints('a worker exited; a replacement starts in 100 ms');
    await vi.waitFor(() => expect(workersOf(program).length).toBe(2), { timeout: 60_000 });
    // A busy machine may not prove within two seconds that it can commit.
    await vi.waitFor(async () => expect((await send(program.url, 'GET /readyz')).status).toBe(200), { timeout: 60_000 });
    const running = async () => (await send(program.url, 'GET /admin/api/system', { token })).body;
    await vi.waitFor(async () => expect(await running()).toMatchObject({ data: { runningWorkers: 2 } }), { timeout: 60_000 });
  }, 120_000);

  it('workers answer 503 to /readyz while they drain, and exit after the requests in flight', async () => {
    const { program, query } = service;
    let isOver = false;
    const client = createTips(program.url, token, { answered, goesOn: () => !isOver });
    program.child.kill('SIGTERM');
    const before = answered.created.size;
    await vi.waitFor(() => expect(answered.created.size).toBeGreaterThan(before + 5), { timeout: 60_000 });
    isOver = true;
    await client;
    // Without the delay, the listener would close soon after the last connection.
    await pause(500);
    const { status, body } = await send(program.url, 'GET /readyz');
    expect([status, body.detail]).toEqual([503, expect.stringContaining('shutting down')]);
    writeFileSync(drainDelayEnded, '');
    expect(await program.ended).toBe(0);
    expect(answered.failed).toEqual([]);
    expect(new Set(await query('SELECT "id" FROM "Tip"'))).toEqual(answered.created);
    expect(program.printed()).not.toContain('Error');
  }, 120_000);
});

describe.concurrent('workers whose primary ends', () => {
  it('workers exit if the primary dies, after their requests', IN_TURN, async () => {
    const { program, query, lockTable } = await startWorkers(2, ['--database-lock-seconds', '30']);
    const token = await setUp(program.url);
    const workers = workersOf(program);
    const release = await lockTable('Tip');
    const sent = send(program.url, 'POST /api/Tip', { token, body: { subject: 'a tip', text: 'something happened' } });
    const waiting = `SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '"Tip"'::regclass`;
    await vi.waitFor(async () => expect(await query(waiting)).toEqual([1]), { timeout: 60_000 });
    program.child.kill('SIGKILL');
    // The other worker exits: the workers have noticed that the primary is gone.
    await vi.waitFor(() => expect(workers.filter(isAlive)).toHaveLength(1), { timeout: 60_000 });
    await release();
    expect((await sent).status).toBe(201);
    await vi.waitFor(() => expect(workers.filter(isAlive)).toEqual([]), { timeout: 60_000 });
    expect(program.printed()).not.toContain('Error');
  });

  it.each([
    // While workers close. Connections wait in the queue of the kernel.
    ['a busy primary', "if (process.send === undefined) process.on('SIGTERM', () => setTimeout(hold, 5));"],
    // Connections wait for the hand-over.
    ['busy workers', "if (process.send !== undefined) process.on('message', (value) => { if (value.say === 'end') hold(); });"],
  ])('connections from before the listener of workers closes are all answered by %s', IN_TURN, async (_, when) => {
    const hold = writeHold(folder, when);
    const { program } = await startWorkers(2, [], hold.preload);
    expect(await answersOfQueue(program, hold)).toEqual(['HTTP/1.1 200']);
    expect(await program.ended).toBe(0);
  });

  it('connections from before the listener of workers closes are answered or refused under load, and never reset', IN_TURN, async () => {
    const { program } = await startWorkers(2);
    expect(await answersAroundStop(program)).toEqual(['HTTP/1.1 200']);
    expect(await program.ended).toBe(0);
  });
});
