/** The settings of workers that start after `.env` has changed. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Program, startProgram } from './program.ts';
import { findPort, workersOf } from './worker-load.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-worker-settings-'));
const project = join(folder, 'project');

let program: Program;
beforeAll(async () => {
  mkdirSync(join(project, 'resources'), { recursive: true });
  writeFileSync(join(project, 'resources', 'Note.yaml'), 'name: Note\nfields: { title: { type: string } }\n');
  writeFileSync(join(project, '.env'), 'BAILIWICK_WORKERS=2\nBAILIWICK_SETUP=off\n');
  program = await startProgram({ data: join(folder, 'data'), project, args: ['--port', await findPort()] });
  // A worker that reads this file has an open setup.
  writeFileSync(join(project, '.env'), '');
});
afterAll(async () => {
  await program.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the distinct statuses of the setup. The primary hands connections to the workers in turn. */
async function setupStatuses(): Promise<readonly number[]> {
  const headers = { connection: 'close', 'content-type': 'application/json' };
  const replies = Array.from({ length: 4 }, () => fetch(`${program.url}/auth/setup`, { method: 'POST', headers, body: '{}' }));
  return [...new Set((await Promise.all(replies)).map(({ status }) => status))];
}

it('replacements of killed workers have the settings with which the primary started', async () => {
  const killed = workersOf(program);
  expect([killed.length, await setupStatuses()]).toEqual([2, [404]]);
  for (const pid of killed) process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => expect(workersOf(program).filter((pid) => !killed.includes(pid))).toHaveLength(2), { timeout: 60_000 });
  await vi.waitFor(async () => expect((await fetch(`${program.url}/healthz`)).status).toBe(200), { timeout: 60_000 });
  expect(await setupStatuses()).toEqual([404]);
}, 120_000);

it('workers that SIGUSR2 has started have the settings with which the primary started', async () => {
  program.child.kill('SIGUSR2');
  await program.prints('all workers have been replaced');
  expect(await setupStatuses()).toEqual([404]);
}, 120_000);
