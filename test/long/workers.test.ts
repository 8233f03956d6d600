/** Three workers on a SQLite file whose access changes under load, and which are killed again and again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import {
  createUser,
  expectDone,
  idOf,
  logIn,
  type Program,
  pause,
  query,
  runProgram,
  send,
  setUp,
  startProgram,
} from '../process/program.ts';
import { type Answered, createTips, workersOf } from '../process/worker-load.ts';

const WORKERS = 3;
const KILLS = 20;
const CLIENTS = 24;
const PATIENCE = { timeout: 120_000 };

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-killed-workers-'));
let program: Program;
let token: string;
beforeAll(async () => {
  const args = ['--workers', String(WORKERS), '--log-level', 'error', '--rate-limit', '0', '--access-token-seconds', '86400'];
  program = await startProgram({ data: folder, args });
  token = await setUp(program.url);
}, 120_000);
afterAll(async () => {
  await program.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the number of workers that accept requests; undefined if the connection belonged to a killed worker. */
async function countRunning(): Promise<unknown> {
  const reply = await send(program.url, 'GET /admin/api/system', { token }).catch(() => undefined);
  return (reply?.body.data as { readonly runningWorkers?: number } | undefined)?.runningWorkers;
}

/** Repeats a request whose connection belonged to a killed worker. */
async function retried<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!String(error).includes('fetch failed')) throw error;
    }
  }
}

it('three workers that are killed under load lose no answered request, and apply each revocation at once', async () => {
  const answered: Answered = { decisions: new Set(), created: new Set(), failed: [] };
  let isOver = false;
  const goesOn = () => !isOver;
  const clients = Array.from({ length: CLIENTS }, () => createTips(program.url, token, { answered, goesOn }));
  const toggling = toggleAccess(goesOn);
  for (let kill = 0; kill < KILLS; kill++) {
    const enough = answered.created.size + 100;
    await vi.waitFor(() => expect(answered.created.size).toBeGreaterThan(enough), PATIENCE);
    await pause(Math.random() * 100);
    const running = workersOf(program);
    const victim = running[kill % running.length] ?? 0;
    process.kill(victim, 'SIGKILL');
    await vi.waitFor(() => expect(workersOf(program).filter((pid) => pid !== victim)).toHaveLength(WORKERS), PATIENCE);
    // The port is closed if no worker is left that accepts requests.
    await vi.waitFor(async () => expect(await countRunning()).toBe(WORKERS), PATIENCE);
  }
  isOver = true;
  await Promise.all(clients);
  const { rounds, wrong } = await toggling;

  expect([rounds > KILLS, wrong]).toEqual([true, []]);
  const stored = new Set(query(folder, 'SELECT "id" FROM "Tip"'));
  expect([...answered.created].filter((id) => !stored.has(id))).toEqual([]);
  const kept = new Set(query(folder, 'SELECT "id" FROM "_Decision"'));
  expect([...answered.decisions].filter((id) => !kept.has(id))).toEqual([]);
  for (const error of answered.failed) expect(String(error)).toContain('fetch failed');
  expect(await program.stop()).toBe(0);
  expect(await runProgram(['verify', '--project', 'examples/newsroom', '--data', folder])).toMatchObject({ code: 0 });
});

/** Grants and revokes a right in turns, and sends requests that depend on it after each change. Returns the wrong statuses. */
async function toggleAccess(goesOn: () => boolean): Promise<{ readonly rounds: number; readonly wrong: readonly string[] }> {
  await createUser(program.url, token, { email: 'reader@example.com', role: 'user' });
  const reader = await logIn(program.url, 'reader@example.com');
  const body = { name: 'Read tips', type: 'ROLE_BASED', rules: [{ resource: 'Tip', action: 'list' }] };
  const policy = idOf(await expectDone(send(program.url, 'POST /admin/api/policies', { token, body })));
  await expectDone(send(program.url, `POST /admin/api/policies/${policy}/assign/role/user`, { token, body: {} }));
  const wrong: string[] = [];
  let rounds = 0;
  for (; goesOn(); rounds++) {
    const isActive = rounds % 2 === 0;
    await retried(() => expectDone(send(program.url, `PUT /admin/api/policies/${policy}`, { token, body: { isActive } })));
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => retried(() => send(program.url, 'GET /api/Tip?limit=1', { token: reader }))),
    );
    wrong.push(...replies.filter(({ status }) => status !== (isActive ? 200 : 403)).map(({ status }) => `round ${rounds}: ${status}`));
  }
  return { rounds, wrong };
}
