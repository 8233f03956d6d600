/** Several workers of one service: a real start and real signals, under load. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { answersAroundStop, connectAndAsk, expectDone, idOf, type Program, pause, send, setUp, startProgram } from '../process/program.ts';
import { withSchema } from './test-database.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-workers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const server = inject('postgres') ?? '';

/** A service with workers, and direct access to its database. */
interface WorkerService {
  readonly program: Program;
  /** Returns the first column of a query. */
  query(sql: string): Promise<readonly unknown[]>;
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
      const url = new URL(database);
      const schema = url.searchParams.get('schema');
      url.search = '';
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      await client.query(`SET search_path TO "${schema}"`);
      const { rows } = await client.query({ text: sql, rowMode: 'array' });
      await client.end();
      return rows.map(([first]) => first as unknown);
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

/** Returns the process ids of the workers of a primary. */
function workersOf({ child }: Program): readonly number[] {
  const listed = execFileSync('ps', ['-o', 'pid=,ppid=', '-A'], { encoding: 'utf8' });
  const pairs = listed
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return pairs
    .filter(([, parent]) => parent === child.pid)
    .map(([pid]) => pid ?? 0)
    .filter(isAlive);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Responses to the clients. */
interface Answered {
  readonly decisions: Set<string | null>;
  readonly created: Set<string>;
  readonly failed: unknown[];
}

/** Creates records one after another until stopped. */
async function create(url: string, token: string, { answered, goesOn }: { answered: Answered; goesOn: () => boolean }): Promise<void> {
  while (goesOn()) {
    try {
      const reply = await expectDone(send(url, 'POST /api/Tip', { token, body: { subject: 'a tip', text: 'something happened' } }));
      answered.decisions.add(reply.decisionId);
      answered.created.add(idOf(reply));
    } catch (error) {
      answered.failed.push(error);
    }
  }
}

describe('workers', () => {
  it('workers accept the setup token that their primary process prints once', async () => {
    const { program, query } = await startWorkers(2);
    const token = /"token":"([^"]+)"/.exec(program.printed())?.[1] ?? '';
    expect(program.printed().split(token)).toHaveLength(2);
    expect(JSON.stringify(await query('SELECT "text" FROM "_State"'))).not.toContain(token);
    const setUp = (sent: string): Promise<Response> =>
      fetch(`${program.url}/auth/setup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.9', connection: 'close' },
        body: JSON.stringify({ token: sent, name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' }),
      });
    for (let attempt = 0; attempt < 4; attempt++) expect((await setUp('wrong')).status).toBe(403);
    const replies = await Promise.all(Array.from({ length: 5 }, () => setUp(token)));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    await program.stop();
  });

  it('workers are replaced one after another, without a refused, lost or unaudited request', async () => {
    const { program, query, metric } = await startWorkers(2);
    const token = await setUp(program.url);
    const before = workersOf(program);
    expect(before).toHaveLength(2);
    const answered: Answered = { decisions: new Set(), created: new Set(), failed: [] };
    let isOver = false;
    const clients = Array.from({ length: 6 }, () => create(program.url, token, { answered, goesOn: () => !isOver }));
    await expect.poll(() => answered.created.size, { timeout: 30_000 }).toBeGreaterThan(20);
    program.child.kill('SIGUSR2');
    await expect.poll(() => program.printed(), { timeout: 90_000 }).toContain('all workers have been replaced');
    const after = answered.created.size;
    await expect.poll(() => answered.created.size, { timeout: 30_000 }).toBeGreaterThan(after + 20);
    isOver = true;
    await Promise.all(clients);

    expect(answered.failed).toEqual([]);
    expect(workersOf(program).filter((pid) => before.includes(pid))).toEqual([]);
    expect(new Set(await query('SELECT "id" FROM "Tip"'))).toEqual(answered.created);
    const kept = new Set(await query('SELECT "id" FROM "_Decision"'));
    expect([...answered.decisions].filter((id) => !kept.has(id))).toEqual([]);
    // The replaced workers had counted most of the requests.
    expect(await metric('bailiwick_decisions_total{effect="allow",resource="Tip",action="create"}')).toBe(answered.created.size);
    expect(await program.stop()).toBe(0);
    expect(program.printed()).not.toContain('a worker exited');
  }, 240_000);

  it('workers are restarted when they die, and exit with the primary', async () => {
    const { program } = await startWorkers(2);
    const [first = 0] = workersOf(program);
    process.kill(first, 'SIGKILL');
    await program.prints('a worker exited; a replacement starts in 100 ms');
    await expect.poll(() => workersOf(program).length, { timeout: 20_000 }).toBe(2);
    expect((await send(program.url, 'GET /readyz')).status).toBe(200);
    const workers = workersOf(program);
    program.child.kill('SIGKILL');
    await program.ended;
    await expect.poll(() => workers.filter(isAlive), { timeout: 20_000 }).toEqual([]);
    expect(program.printed()).not.toContain('Error');
  }, 120_000);

  it('workers finish their requests if the primary dies', async () => {
    const { program, query } = await startWorkers(2);
    const token = await setUp(program.url);
    const workers = workersOf(program);
    const held = query(`DO $$ BEGIN LOCK TABLE "Tip"; PERFORM pg_sleep(3); END $$`);
    const isHeld = (isGranted: boolean) => query(`SELECT 1 FROM pg_locks WHERE granted = ${isGranted} AND relation = '"Tip"'::regclass`);
    await expect.poll(() => isHeld(true), { timeout: 20_000 }).toEqual([1]);
    const sent = send(program.url, 'POST /api/Tip', { token, body: { subject: 'a tip', text: 'something happened' } });
    await expect.poll(() => isHeld(false), { timeout: 20_000 }).toEqual([1]);
    program.child.kill('SIGKILL');
    expect((await sent).status).toBe(201);
    await held;
    await expect.poll(() => workers.filter(isAlive), { timeout: 20_000 }).toEqual([]);
    expect(program.printed()).not.toContain('Error');
  }, 120_000);

  it('workers answer 503 to /readyz while they drain, and exit after the requests in flight', async () => {
    const { program, query } = await startWorkers(2, ['--drain-delay-seconds', '3']);
    const token = await setUp(program.url);
    const answered: Answered = { decisions: new Set(), created: new Set(), failed: [] };
    let isOver = false;
    const client = create(program.url, token, { answered, goesOn: () => !isOver });
    program.child.kill('SIGTERM');
    await pause(500);
    const { status, body } = await send(program.url, 'GET /readyz');
    expect([status, body.detail]).toEqual([503, expect.stringContaining('shutting down')]);
    isOver = true;
    await client;
    expect(await program.ended).toBe(0);
    expect(answered.failed).toEqual([]);
    expect(new Set(await query('SELECT "id" FROM "Tip"'))).toEqual(answered.created);
  }, 120_000);
});

describe('connections that were established before the listener of workers closes', () => {
  /** Keeps the primary busy right after the signal while workers close. Connections wait in the queue of the kernel. */
  const busyPrimary = join(folder, 'busy-primary.mjs');
  const busyLater = 'setTimeout(() => { for (const from = performance.now(); performance.now() - from < 800; ); }, 5)';
  writeFileSync(busyPrimary, `if (process.send === undefined) process.on('SIGTERM', () => ${busyLater});`);
  /** Keeps the workers busy when they receive the signal. Connections wait for the hand-over. */
  const busyWorkers = join(folder, 'busy-workers.mjs');
  const busyOnEnd = "if (value.say === 'end') for (const from = performance.now(); performance.now() - from < 600; );";
  writeFileSync(busyWorkers, `if (process.send !== undefined) process.on('message', (value) => { ${busyOnEnd} });`);

  it.each([
    ['a busy primary', busyPrimary],
    ['busy workers', busyWorkers],
  ])(
    'connections from before the listener of workers closes are all answered by %s',
    async (_, preload) => {
      const { program } = await startWorkers(2, [], preload);
      program.child.kill('SIGTERM');
      await pause(100);
      const ends = await Promise.all(Array.from({ length: 96 }, () => connectAndAsk(program.url)));
      expect(await program.ended).toBe(0);
      expect([...new Set(ends)]).toEqual(['HTTP/1.1 200']);
    },
    60_000,
  );

  it('connections from before the listener of workers closes are answered or refused under load, and never reset', async () => {
    const { program } = await startWorkers(2);
    expect(await answersAroundStop(program)).toEqual(['HTTP/1.1 200']);
    expect(await program.ended).toBe(0);
  }, 60_000);
});
