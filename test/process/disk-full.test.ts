import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { expectDone, idOf, type Program, query, type Reply, runProgram, send, setUp, startProgram } from './program.ts';

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-full-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A disk without space is played by a limit on the size of the process's files: Linux can set it on one that runs. */
const canLimit = spawnSync('prlimit', ['--version']).status === 0;

function limitFiles({ child }: Program, bytes: number | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:`]);
}

function largestFile(data: string): number {
  return Math.max(...readdirSync(data).map((name) => statSync(join(data, name)).size));
}

function createTip(program: Program, token: string): Promise<Reply> {
  return send(program.url, 'POST /api/Tip', { token, body: { subject: 'a tip', text: 'x'.repeat(2000) } });
}

describe.skipIf(!canLimit)('a disk that is full', () => {
  it('is answered 503 and told by /readyz; nothing is lost; it goes on by itself when there is space', async () => {
    const data = join(folder, 'strict');
    const program = await startProgram({ data, args: ['--log-level', 'silent'] });
    const token = await setUp(program.url);
    const created = new Set([idOf(await expectDone(createTip(program, token)))]);

    limitFiles(program, largestFile(data) + 50_000);
    let reply = await createTip(program, token);
    for (let count = 0; count < 500 && reply.status === 201; count++) {
      created.add(idOf(reply));
      reply = await createTip(program, token);
    }
    expect([reply.status, reply.body.code]).toEqual([503, 'STORAGE_UNAVAILABLE']);
    expect(JSON.stringify(reply.body)).not.toMatch(/sqlite|EFBIG|tmp/i);
    // What was just undone has left room for a smaller one.
    limitFiles(program, 4096);
    expect((await send(program.url, 'GET /api/Tip', { token })).status).toBe(503);
    expect((await send(program.url, 'GET /readyz')).status).toBe(503);
    expect((await send(program.url, 'GET /healthz')).status).toBe(200);

    limitFiles(program, 'unlimited');
    await expect.poll(async () => (await send(program.url, 'GET /readyz')).status, { timeout: 10_000 }).toBe(200);
    created.add(idOf(await expectDone(createTip(program, token))));
    const { body } = await expectDone(send(program.url, 'GET /api/Tip?limit=1&total=true', { token }));
    expect(body['total']).toBe(created.size);

    expect(await program.stop()).toBe(0);
    expect(new Set(query(data, 'SELECT id FROM Tip'))).toEqual(created);
    expect(query(data, `SELECT COUNT(*) FROM _Decision WHERE resource = 'Tip' AND action = 'create' AND allowed = 1`)).toEqual([
      created.size,
    ]);
    expect(query(data, 'PRAGMA integrity_check')).toEqual(['ok']);
    expect((await runProgram(['decisions', 'verify', '--data', data])).out).toContain('the record is as it was written');
  }, 60_000);

  it('leaves reads answered, and only those, where the record is relaxed', async () => {
    const data = join(folder, 'relaxed');
    const program = await startProgram({ data, args: ['--log-level', 'silent', '--audit-mode', 'relaxed'] });
    const token = await setUp(program.url);
    await expectDone(createTip(program, token));
    limitFiles(program, 4096);
    expect((await createTip(program, token)).status).toBe(503);
    expect((await send(program.url, 'GET /api/Tip', { token })).status).toBe(200);
    expect((await send(program.url, 'GET /api/Tip')).status).toBe(403);
    const headers = { authorization: `Bearer ${token}` };
    const file = await fetch(`${program.url}/api/Tip/export?format=ndjson`, { method: 'POST', headers });
    expect([file.status, (await file.text()).split('\n')]).toEqual([200, [expect.stringContaining('"id"'), '']]);
    // It ends as well as ever while nothing can be written.
    expect(await program.stop()).toBe(0);
    expect(query(data, 'PRAGMA integrity_check')).toEqual(['ok']);
  }, 60_000);
});
