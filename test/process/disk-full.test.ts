import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expectDone, idOf, type Program, query, type Reply, runProgram, send, setUp, startProgram } from './program.ts';
import { canTrace } from './strace.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-full-'));
const mounted: string[] = [];
afterAll(() => {
  for (const at of mounted) spawnSync('umount', ['-l', at]);
  rmSync(folder, { recursive: true, force: true });
});

/** A limit on file sizes simulates a full disk. Linux can set it on a running process. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0;

function limitFiles({ child }: Program, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:`]);
}

function largestFile(data: string): number {
  return Math.max(...readdirSync(data).map((name) => statSync(join(data, name)).size));
}

/** A way to simulate a full disk. */
interface Way {
  readonly name: string;
  readonly isPossible: boolean;
  /** Prepares the data folder. */
  prepare(data: string): void;
  /** Leaves space for this number of bytes. */
  fill(program: Program, data: string, bytes: number): void;
  empty(program: Program, data: string): void;
}

const LIMIT: Way = {
  name: 'a limit on the size of files',
  isPossible: canLimit,
  prepare: () => undefined,
  fill: (program, data, bytes) => limitFiles(program, bytes === 0 ? 4096 : largestFile(data) + bytes),
  empty: (program) => limitFiles(program, 'unlimited'),
};

/** A small file system in memory, if the user may mount one. */
const SMALL: Way = {
  name: 'a small disk',
  isPossible: canMount(),
  prepare(data) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'tmpfs', data]);
    mounted.push(data);
  },
  fill(_, data, bytes) {
    rmSync(join(data, 'other'), { force: true });
    const { bavail, bsize } = statfsSync(data);
    writeFileSync(join(data, 'other'), Buffer.alloc(bavail * bsize - bytes, 1));
  },
  empty: (_, data) => rmSync(join(data, 'other')),
};

function canMount(): boolean {
  const at = join(folder, 'mounted');
  mkdirSync(at);
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', at]).status !== 0) return false;
  return spawnSync('umount', [at]).status === 0;
}

function createTip(program: Program, token: string): Promise<Reply> {
  return send(program.url, 'POST /api/Tip', { token, body: { subject: 'a tip', text: 'x'.repeat(2000) } });
}

// The tests run at the same time, because they mostly wait.
describe.concurrent('a full disk', () => {
  const ways = [LIMIT, SMALL].filter(({ isPossible }) => isPossible);
  it.for(ways)(
    'answers 503 to $name, also by /readyz; nothing is lost, and the service recovers when there is space',
    async (way, { expect }) => {
      const data = mkdtempSync(join(folder, 'strict-'));
      way.prepare(data);
      const program = await startProgram({ data, args: ['--log-level', 'silent', '--disk-min-bytes', '0'] });
      const token = await setUp(program.url);
      const created = new Set([idOf(await expectDone(createTip(program, token)))]);

      way.fill(program, data, 50_000);
      let reply = await createTip(program, token);
      for (let count = 0; count < 500 && reply.status === 201; count++) {
        created.add(idOf(reply));
        reply = await createTip(program, token);
      }
      expect([reply.status, reply.body.code]).toEqual([503, 'STORAGE_UNAVAILABLE']);
      expect(JSON.stringify(reply.body)).not.toMatch(/sqlite|EFBIG|ENOSPC|tmp/i);
      // The rolled back transaction has left space for a smaller one.
      way.fill(program, data, 0);
      reply = await send(program.url, 'GET /api/Tip?limit=1', { token });
      expect((await send(program.url, 'GET /api/Tip', { token })).status).toBe(503);
      expect((await send(program.url, 'GET /admin/api/policies', { token })).status).toBe(503);
      expect((await send(program.url, 'GET /api/Tip', { token: 'a.b.c' })).status, 'no entry of the refused token').toBe(503);
      expect((await send(program.url, 'GET /readyz')).status).toBe(503);
      expect((await send(program.url, 'GET /healthz')).status).toBe(200);

      way.empty(program, data);
      await expect.poll(async () => (await send(program.url, 'GET /readyz')).status).toBe(200);
      created.add(idOf(await expectDone(createTip(program, token))));
      const { body } = await expectDone(send(program.url, 'GET /api/Tip?limit=1&total=true', { token }));
      expect(body['total']).toBe(created.size);

      expect(await program.stop()).toBe(0);
      expect(new Set(query(data, 'SELECT id FROM Tip'))).toEqual(created);
      expect(query(data, `SELECT COUNT(*) FROM _Decision WHERE resource = 'Tip' AND action = 'create' AND allowed = 1`)).toEqual([
        created.size,
      ]);
      expect(query(data, 'PRAGMA integrity_check')).toEqual(['ok']);
    },
  );

  it.skipIf(!canLimit)('refuses writes and answers reads on a full disk in audit mode relaxed', async () => {
    const data = join(folder, 'relaxed');
    const program = await startProgram({ data, args: ['--log-level', 'silent', '--audit-mode', 'relaxed'] });
    const token = await setUp(program.url);
    await expectDone(createTip(program, token));
    limitFiles(program, 4096);
    expect((await createTip(program, token)).status).toBe(503);
    expect((await send(program.url, 'GET /api/Tip', { token })).status).toBe(200);
    expect((await send(program.url, 'GET /api/Tip')).status).toBe(403);
    expect((await send(program.url, 'GET /admin/api/decisions', { token })).status).toBe(200);
    const headers = { authorization: `Bearer ${token}` };
    const file = await fetch(`${program.url}/api/Tip/export?format=ndjson`, { method: 'POST', headers });
    expect([file.status, (await file.text()).split('\n')]).toEqual([200, [expect.stringContaining('"id"'), '']]);
    // The process stops normally although nothing can be written.
    expect(await program.stop()).toBe(0);
    expect(query(data, 'PRAGMA integrity_check')).toEqual(['ok']);
  });
});

const MIB = 2 ** 20;

describe.skipIf(!SMALL.isPossible).concurrent('a disk that fills up', () => {
  it('logs a warning and fails /readyz while requests still succeed, and recovers when there is space', async () => {
    const data = mkdtempSync(join(folder, 'filling-'));
    SMALL.prepare(data);
    const limits = ['--disk-warn-bytes', `${6 * MIB}`, '--disk-min-bytes', `${3 * MIB}`];
    const metrics = { BAILIWICK_METRICS_TOKEN: 'a-token-of-metrics-that-is-long-enough' };
    const program = await startProgram({ data, args: limits, env: metrics });
    const token = await setUp(program.url);
    const readiness = async () => (await send(program.url, 'GET /readyz')).status;
    expect([await readiness(), program.printed()]).toEqual([200, expect.not.stringContaining('diskWarnBytes')]);

    SMALL.fill(program, data, 4.5 * MIB);
    await program.prints('less than diskWarnBytes (6 MiB)');
    expect(await readiness()).toBe(200);
    SMALL.fill(program, data, 2 * MIB);
    await program.prints('less than diskMinBytes (3 MiB)');
    const { status, body } = await send(program.url, 'GET /readyz');
    expect([status, body['detail']]).toEqual([503, 'the disk of the database is almost full']);
    expect((await createTip(program, token)).status).toBe(201);
    const text = await (
      await fetch(`${program.url}/metrics`, { headers: { authorization: `Bearer ${metrics.BAILIWICK_METRICS_TOKEN}` } })
    ).text();
    const [free = 0] = /^bailiwick_disk_free_bytes (\d+)$/m.exec(text)?.slice(1).map(Number) ?? [];
    expect(free).toBeGreaterThan(MIB);
    expect(free).toBeLessThan(3 * MIB);

    SMALL.empty(program, data);
    await program.prints('enough again');
    expect(await readiness()).toBe(200);
    expect(await program.stop()).toBe(0);
  });
});

/** Simulates a disk that fails to sync, until the returned process ends. */
async function failSyncs({ child }: Program): Promise<ChildProcess> {
  const calls = 'fsync,fdatasync';
  const args = ['-f', '-o', '/dev/null', '-e', `trace=${calls}`, '-e', `inject=${calls}:error=EIO`, '-p', String(child.pid)];
  const tracer = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  await once(tracer.stderr, 'data');
  return tracer;
}

describe.skipIf(!canTrace).concurrent('a disk that fails to sync', () => {
  it('answers 503 to a disk that fails to sync, and loses no acknowledged change', async ({ expect }) => {
    const data = join(folder, 'failing');
    const program = await startProgram({ data, args: ['--log-level', 'silent'] });
    const token = await setUp(program.url);
    const created = new Set([idOf(await expectDone(createTip(program, token)))]);

    const tracer = await failSyncs(program);
    const replies = [await createTip(program, token), await send(program.url, 'GET /api/Tip', { token })];
    expect(replies.map(({ status, body }) => [status, body.code])).toEqual([
      [503, 'STORAGE_UNAVAILABLE'],
      [503, 'STORAGE_UNAVAILABLE'],
    ]);
    expect((await send(program.url, 'GET /readyz')).status).toBe(503);
    tracer.kill('SIGTERM');
    await once(tracer, 'exit');

    await expect.poll(async () => (await send(program.url, 'GET /readyz')).status).toBe(200);
    created.add(idOf(await expectDone(createTip(program, token))));
    expect(await program.stop()).toBe(0);
    expect(new Set(query(data, 'SELECT id FROM Tip'))).toEqual(created);
    expect(query(data, `SELECT COUNT(*) FROM _Decision WHERE resource = 'Tip' AND action = 'create' AND allowed = 1`)).toEqual([
      created.size,
    ]);
    expect(query(data, 'PRAGMA integrity_check')).toEqual(['ok']);
    expect((await runProgram(['decisions', 'verify', '--data', data])).out).toContain('the audit log is intact');
  });
});
