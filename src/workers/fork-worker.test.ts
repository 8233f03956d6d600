import { execFileSync } from 'node:child_process';
import cluster from 'node:cluster';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { forkWorker } from './fork-worker.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-fork-'));
afterAll(() => rmSync(folder, { recursive: true }));
const exec = join(folder, 'idle.mjs');
writeFileSync(exec, `process.on('message', () => undefined); process.send({ say: 'ready', value: 'here' });`);

const OPTIONS = { text: async () => '', envFile: {}, onNotices: () => undefined };

describe('forkWorker', () => {
  it('reports no reply from a worker whose exit is not noticed yet', async () => {
    // Settings of an earlier call stay.
    cluster.setupPrimary({ exec, cwd: folder });
    const worker = forkWorker(OPTIONS);
    expect(await worker.ready).toBe('here');
    const [{ pid } = {}] = Object.values(cluster.workers ?? {}).flatMap((each) => each?.process ?? []);
    worker.kill();
    // The loop blocks this turn of the event loop, so that the exit event cannot arrive.
    while (!/^Z/.test(execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).trim()));
    await expect(worker.readiness()).rejects.toThrow(/"readiness"/);
    expect(await worker.ended).toBe(null);
  });

  it('returns a worker that has ended if the process cannot be started', async () => {
    cluster.setupPrimary({ exec, cwd: join(folder, 'none') });
    const worker = forkWorker(OPTIONS);
    expect(await Promise.all([worker.ready, worker.ended])).toEqual([undefined, null]);
  });
});
