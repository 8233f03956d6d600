/** Workers of a service that are killed or stopped, and a reload that comes early. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import { type Program, startProgram } from './program.ts';
import { findPort, isAlive, workersOf } from './worker-load.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-worker-faults-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts two workers. Their port is fixed, because the port 0 would select another one when all workers have exited. */
async function startWorkers(data: string, args: readonly string[] = []): Promise<Program> {
  return startProgram({ data: join(folder, data), args: ['--workers', '2', '--port', await findPort(), ...args] });
}

it('the primary replaces all workers if all of them are killed at once', async () => {
  const program = await startWorkers('all-killed');
  try {
    const killed = workersOf(program);
    expect(killed).toHaveLength(2);
    for (const pid of killed) process.kill(pid, 'SIGKILL');
    const replaced = vi.waitFor(() => expect(workersOf(program).filter((pid) => !killed.includes(pid))).toHaveLength(2), {
      timeout: 60_000,
    });
    // Without a worker, the primary has nothing but the timers of the replacements to wait for.
    expect(await Promise.race([replaced.then(() => 'replaced'), program.ended])).toBe('replaced');
    await vi.waitFor(async () => expect((await fetch(`${program.url}/healthz`)).status).toBe(200), { timeout: 60_000 });
    expect(await program.stop()).toBe(0);
  } finally {
    await program.stop('SIGKILL');
  }
}, 150_000);

it('the primary is not ready while a worker does not reply, and names the worker', async () => {
  const program = await startWorkers('stopped', ['--metrics-address', '127.0.0.1:0']);
  await program.prints('/metrics\n');
  const address = /metrics are at (\S+)\/metrics/.exec(program.printed())?.[1];
  const readiness = async (): Promise<unknown> => {
    const response = await fetch(`${address}/readyz`);
    return [response.status, await response.text()];
  };
  const [stopped = 0] = workersOf(program);
  try {
    await vi.waitFor(async () => expect(await readiness()).toEqual([200, expect.any(String)]), { timeout: 60_000 });
    process.kill(stopped, 'SIGSTOP');
    expect(await readiness()).toEqual([503, expect.stringContaining(`worker ${stopped} does not reply`)]);
    process.kill(stopped, 'SIGCONT');
    await vi.waitFor(async () => expect(await readiness()).toEqual([200, expect.any(String)]), { timeout: 60_000 });
    expect(await program.stop()).toBe(0);
  } finally {
    if (isAlive(stopped)) process.kill(stopped, 'SIGCONT');
    await program.stop('SIGKILL');
  }
}, 150_000);

it('SIGUSR2 does not end a service that has not yet read its settings', async () => {
  const preload = join(folder, 'reload.mjs');
  // The program first adds this listener; it reads its settings later.
  writeFileSync(preload, "process.stderr.once('newListener', () => process.kill(process.pid, 'SIGUSR2'));");
  const program = await startProgram({ data: join(folder, 'reloaded'), preload });
  expect(await program.stop()).toBe(0);
}, 150_000);
