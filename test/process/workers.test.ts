/** Two workers of one service on a SQLite file: a real start, requests to both, and a worker that is killed under load. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { createChain } from '../chain.ts';
import { createUser, expectDone, idOf, logIn, type Program, query, runProgram, send, setUp, startProgram } from './program.ts';
import { type Answered, createTips, workersOf } from './worker-load.ts';

// The tests of this file build on each other.
const it = createChain();

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-sqlite-workers-'));

let program: Program;
let token: string;
beforeAll(async () => {
  program = await startProgram({ data: folder, args: ['--workers', '2', '--log-level', 'error'] });
  token = await setUp(program.url);
});
afterAll(async () => {
  await program.stop('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Sends a request on a connection of its own: the primary hands connections to the workers in turn. */
async function ask(call: string, { as = token, body }: { readonly as?: string; readonly body?: unknown } = {}): Promise<number> {
  const [method = '', path = ''] = call.split(' ', 2);
  const headers = { authorization: `Bearer ${as}`, connection: 'close', 'content-type': 'application/json' };
  const reply = await fetch(program.url + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  await reply.text();
  return reply.status;
}

const verify = () => runProgram(['verify', '--project', 'examples/newsroom', '--data', folder]);
const chains = () => query(folder, 'SELECT DISTINCT "writer" FROM "_Decision"').length;

describe('two workers on a SQLite file', () => {
  it('a change of a policy in one worker is in force in the other, and both append to one intact audit log', async () => {
    await createUser(program.url, token, { email: 'reader@example.com', role: 'user' });
    const reader = await logIn(program.url, 'reader@example.com');
    const policy = await createReadPolicy();
    const statuses: number[] = [];
    for (let round = 0; round < 20; round++) {
      expect(await ask(`PUT /admin/api/policies/${policy}`, { body: { isActive: round % 2 === 0 } })).toBe(200);
      // One more request in every other round, so that each worker makes changes.
      if (round % 4 < 2) await ask('GET /api/Tip', { as: reader });
      statuses.push(await ask('GET /api/Tip', { as: reader }));
    }
    expect(statuses).toEqual(Array.from({ length: 20 }, (_, round) => (round % 2 === 0 ? 200 : 403)));
    expect(await ask('POST /auth/logout', { as: reader })).toBe(200);
    for (let turn = 0; turn < 4; turn++) expect(await ask('GET /auth/me', { as: reader })).toBe(401);
    expect(chains()).toBeGreaterThanOrEqual(2);
    expect(await verify()).toMatchObject({ code: 0 });
  });

  it('a worker that is killed under load is replaced, and no answered request is lost', async () => {
    const answered: Answered = { decisions: new Set(), created: new Set(), failed: [] };
    let isOver = false;
    const clients = Array.from({ length: 6 }, () => createTips(program.url, token, { answered, goesOn: () => !isOver }));
    const [first = 0] = workersOf(program);
    await vi.waitFor(() => expect(answered.created.size).toBeGreaterThan(30), { timeout: 60_000 });
    process.kill(first, 'SIGKILL');
    await vi.waitFor(() => expect(workersOf(program).filter((pid) => pid !== first)).toHaveLength(2), { timeout: 60_000 });
    const after = answered.created.size;
    await vi.waitFor(() => expect(answered.created.size).toBeGreaterThan(after + 30), { timeout: 60_000 });
    isOver = true;
    await Promise.all(clients);

    const stored = new Set(query(folder, 'SELECT "id" FROM "Tip"'));
    expect([...answered.created].filter((id) => !stored.has(id))).toEqual([]);
    const kept = new Set(query(folder, 'SELECT "id" FROM "_Decision"'));
    expect([...answered.decisions].filter((id) => !kept.has(id))).toEqual([]);
    // Only requests on connections to the killed worker fail, without an answer.
    for (const error of answered.failed) expect(String(error)).toContain('fetch failed');
    expect(await verify()).toMatchObject({ code: 0 });
    expect(await program.stop()).toBe(0);
    expect(await verify()).toMatchObject({ code: 0 });
  }, 240_000);
});

/** Creates a policy that lets users list tips, and returns its id. */
async function createReadPolicy(): Promise<string> {
  const body = { name: 'Read tips', type: 'ROLE_BASED', rules: [{ resource: 'Tip', action: 'list' }] };
  const id = idOf(await expectDone(send(program.url, 'POST /admin/api/policies', { token, body })));
  await expectDone(send(program.url, `POST /admin/api/policies/${id}/assign/role/user`, { token, body: {} }));
  return id;
}
