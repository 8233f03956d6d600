import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { createUser, expectDone, idOf, logIn, type Program, query, runProgram, send, startProgram } from './program.ts';

// The tests of this file build on each other.
const it = createChain();

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-together-'));

/** Two services on one database file. */
let one: Program;
let two: Program;
beforeAll(async () => {
  [one, two] = await Promise.all([startProgram({ data: folder }), startProgram({ data: folder })]);
});
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  rmSync(folder, { recursive: true, force: true });
});

describe('two services on one database', () => {
  let token: string;

  it('two services on one database create one admin for 50 concurrent setups', async () => {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => {
        const body = { email: `admin${n}@example.com`, password: 'correct horse battery', name: `Admin ${n}` };
        return send(n % 2 === 0 ? one.url : two.url, 'POST /auth/setup', { body });
      }),
    );
    const statuses = Map.groupBy(replies, ({ status }) => status);
    expect([...statuses].map(([status, { length }]) => [status, length]).sort()).toEqual([
      [201, 1],
      [409, 49],
    ]);
    expect(query(folder, `SELECT email FROM User WHERE role = 'admin'`)).toHaveLength(1);
    token = await logIn(two.url, String(query(folder, 'SELECT email FROM User')[0]));
  });

  it('two services on one database do not let two admins demote each other', async () => {
    const rounds = 5;
    for (let round = 0; round < rounds; round++) {
      const emails = [`left${round}@example.com`, `right${round}@example.com`] as const;
      const ids = [
        await createUser(one.url, token, { email: emails[0], role: 'admin' }),
        await createUser(two.url, token, { email: emails[1], role: 'admin' }),
      ] as const;
      const tokens = [await logIn(one.url, emails[0]), await logIn(two.url, emails[1])] as const;
      const first = String(query(folder, `SELECT id FROM User WHERE role = 'admin' AND id NOT IN ('${ids.join("','")}')`)[0]);
      await expectDone(send(one.url, `PUT /api/User/${first}`, { token: tokens[0], body: { role: 'user' } }));
      const replies = await Promise.all([
        send(one.url, `PUT /api/User/${ids[1]}`, { token: tokens[0], body: { role: 'user' } }),
        send(two.url, `PUT /api/User/${ids[0]}`, { token: tokens[1], body: { role: 'user' } }),
      ]);
      const left = query(folder, `SELECT id FROM User WHERE role = 'admin'`);
      expect(left).toHaveLength(1);
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
      token = left[0] === ids[0] ? tokens[0] : tokens[1];
    }
  });

  it('two services on one database apply a grant or revoke of the other at once', async () => {
    await createUser(one.url, token, { email: 'reader@example.com', role: 'user' });
    const reader = await logIn(two.url, 'reader@example.com');
    const body = { name: 'Read tips', type: 'ROLE_BASED', rules: [{ resource: 'Tip', action: 'list' }] };
    const id = idOf(await expectDone(send(one.url, 'POST /admin/api/policies', { token, body })));
    await expectDone(send(one.url, `POST /admin/api/policies/${id}/assign/role/user`, { token, body: {} }));
    const statuses: number[] = [];
    for (let round = 0; round < 20; round++) {
      const isActive = round % 2 === 0;
      await expectDone(send(one.url, `PUT /admin/api/policies/${id}`, { token, body: { isActive } }));
      statuses.push((await send(two.url, 'GET /api/Tip', { token: reader })).status);
    }
    expect(statuses).toEqual(Array.from({ length: 20 }, (_, round) => (round % 2 === 0 ? 200 : 403)));
  });

  it('two services on one database apply changes of the command line at once', async () => {
    const before = (await send(one.url, 'GET /api/Comment')).status;
    const { code, out } = await runProgram(['policies', 'from-permissions', '--apply', '--project', 'examples/newsroom', '--data', folder]);
    const after = await Promise.all([one, two].map(async ({ url }) => (await send(url, 'GET /api/Comment')).status));
    expect({ code, before, after }).toEqual({ code: 0, before: 403, after: [200, 200] });
    expect(out).toContain('# 0 present, 3 created, 0 missing');
  });

  it("two services on one database accept each other's tokens and logouts", async () => {
    const mine = await logIn(one.url, 'reader@example.com');
    expect((await send(two.url, 'GET /auth/me', { token: mine })).status).toBe(200);
    await expectDone(send(one.url, 'POST /auth/logout', { token: mine }));
    expect((await send(two.url, 'GET /auth/me', { token: mine })).status).toBe(401);
  });
});
