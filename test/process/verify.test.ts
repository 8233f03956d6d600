import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createService, parseConfig } from '../../src/index.ts';
import { createChain } from '../chain.ts';
import { type Ended, runProgram, setUp, startProgram } from './program.ts';
import { runCommand } from './run-command.ts';

// The tests of this file build on each other.
const it = createChain();

const data = mkdtempSync(join(tmpdir(), 'bailiwick-verify-'));
const checkpoints = join(data, 'checkpoints.ndjson');
let token = '';

const place = ['--project', 'examples/newsroom', '--data', data];
const run = (...args: readonly string[]): Promise<Ended> => runCommand([...args, ...place]);
const verify = (...args: readonly string[]): Promise<Ended> => run('decisions', 'verify', ...args);

async function read(url: string, times: number): Promise<void> {
  for (let time = 0; time < times; time++) await fetch(`${url}/api/Tip`, { headers: { authorization: `Bearer ${token}` } });
}

/** Starts a service in this process, sends requests and stops it, which writes the last checkpoint. */
async function serve(times: number): Promise<void> {
  const service = await createService(parseConfig({ flags: { project: 'examples/newsroom', data, port: 0, logLevel: 'silent' }, env: {} }));
  const { url } = await service.listen();
  if (token === '') token = await setUp(url);
  await read(url, times);
  await service.close();
}

function tamper(sql: string): void {
  const database = new Sqlite(join(data, 'bailiwick.db'));
  database.exec(sql);
  database.close();
}

beforeAll(() => serve(5), 60_000);
afterAll(() => rmSync(data, { recursive: true, force: true }));

describe('decisions verify', () => {
  it('decisions verify reports an intact log, while the service runs and after it has stopped', async () => {
    const program = await startProgram({ data });
    await read(program.url, 3);
    const meanwhile = await runProgram(['decisions', 'verify', ...place]);
    expect([meanwhile.code, meanwhile.out]).toEqual([0, expect.stringContaining('the audit log is intact\n')]);
    expect(await program.stop()).toBe(0);
    const after = JSON.parse((await verify('--json')).out);
    expect(after).toMatchObject({ whole: true, chains: 2, breakCount: 0, checkpoints: { lines: 2 } });
  });

  it('decisions verify names an entry that was changed in the database, and exits with an error code', async () => {
    const saved = join(data, 'saved.db');
    expect((await run('backup', saved)).code).toBe(0);
    tamper(`UPDATE "_Decision" SET "allowed" = 1 - "allowed" WHERE "sequence" = 3`);
    const { code, out } = await verify();
    expect([code, out]).toEqual([1, expect.stringMatching(/^edited: entry 3, /)]);
    tamper(`UPDATE "_Decision" SET "allowed" = 1 - "allowed" WHERE "sequence" = 3`);
    expect((await verify()).code).toBe(0);
  });

  it('decisions verify reports entries missing from a truncated database', async () => {
    const saved = readFileSync(checkpoints);
    tamper(`CREATE TABLE "kept" AS SELECT * FROM "_Decision"`);
    tamper(
      `DELETE FROM "_Decision" WHERE "sequence" = (SELECT max("sequence") FROM "_Decision" AS "all" WHERE "all"."writer" = "_Decision"."writer")`,
    );
    expect((await verify()).out).toMatch(/^truncated: the chain ends with entry/);
    // Truncating the checkpoint file does not hide it.
    writeFileSync(checkpoints, '');
    expect((await verify()).out).toContain('checkpoint: the checkpoint file ends before a line that the database knows');
    writeFileSync(checkpoints, saved);
    tamper(`INSERT OR IGNORE INTO "_Decision" SELECT * FROM "kept"; DROP TABLE "kept"`);
    expect((await verify()).code).toBe(0);
  });

  it('decisions verify reports a restored backup as intact and restored', async () => {
    await serve(3);
    const { code, err } = await run('restore', join(data, 'saved.db'), '--yes');
    expect([code, err]).toEqual([0, expect.anything()]);
    const { code: whole, out } = await verify();
    expect([whole, out]).toEqual([0, expect.stringMatching(/^a backup was restored at /)]);
    await serve(3);
    expect((await verify()).code).toBe(0);
  });

  it('the audit log continues in another chain after a restore under a running service', async () => {
    const program = await startProgram({ data });
    await read(program.url, 3);
    expect((await run('backup', join(data, 'running.db'))).code).toBe(0);
    await read(program.url, 3);
    expect((await run('restore', join(data, 'running.db'), '--yes')).code).toBe(0);
    // The restore has ended the session. The denied request has an entry too.
    for (let time = 0; time < 3; time++) await fetch(`${program.url}/api/Tip`);
    expect(await program.stop()).toBe(0);
    const { code, out } = await verify();
    expect([code, out]).toEqual([0, expect.anything()]);
  });

  it('decisions verify exits with 2 if its input is incomplete', async () => {
    const empty = mkdtempSync(join(tmpdir(), 'bailiwick-verify-'));
    const none = await runCommand(['decisions', 'verify', '--project', 'examples/newsroom', '--data', empty]);
    expect([none.code, none.err]).toEqual([2, expect.stringMatching(/there is no .*bailiwick\.db[\s\S]*--data/)]);
    const elsewhere = join(empty, 'c.ndjson');
    const missing = await verify('--checkpoints', elsewhere);
    expect([missing.code, missing.err]).toEqual([2, expect.stringContaining('there is no')]);
    expect((await verify('--public-key', join(empty, 'none.pem'))).code).toBe(2);
    rmSync(empty, { recursive: true });
  });

  it('decisions verify accepts checkpoints from another file, or none', async () => {
    const elsewhere = join(data, 'elsewhere.ndjson');
    copyFileSync(checkpoints, elsewhere);
    expect((await verify('--checkpoints', elsewhere)).code).toBe(0);
    expect((await verify('--checkpoints', 'off')).code).toBe(0);
  });
});
