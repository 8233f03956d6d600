/** A process that is killed while the server works for it: the server finds out, and ends what nobody waits for. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { installed, startPgbouncer } from '../../../test/postgres/pgbouncer.ts';
import type { Database } from '../contract.ts';
import { openFamily } from './postgres.fixture.ts';
import { isSupported } from './server-checks.ts';

const { url, open, ask, close } = openFamily('storage_postgres_gone');

let database: Database;
beforeAll(async () => {
  database = await open();
});
afterAll(() => close(database));

/** Has another process ask for ten minutes of work; gives its end, once the server is at it. */
async function askForMuch(place: URL, patient: boolean): Promise<{ readonly child: ChildProcess; working(): Promise<number> }> {
  const name = `gone_${randomBytes(4).toString('hex')}`;
  const own = new URL(place);
  own.searchParams.set('application_name', name);
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, own.href, String(patient)], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const working = async (): Promise<number> => {
    const { rows } = await ask(`SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND query LIKE '%pg_sleep(600)%'`, [name]);
    return rows.length;
  };
  await expect.poll(working, { timeout: 30_000 }).toBe(1);
  return { child, working };
}

const PROGRAM = `
  import { openPostgres } from './database.ts';
  const [, url, patient] = process.argv;
  const database = await openPostgres({ url, statementTimeout: 900_000 });
  // On a connection that is known to be our own, where it is.
  for (let at = 0; at < 3; at++) await database.transaction((tx) => tx.one({ sql: 'SELECT 1', parameters: [] }));
  await database.transaction((tx) => tx.run({ sql: 'SELECT pg_sleep(600)', parameters: [] }), { patient: patient === 'true' });
`;

describe.each([
  ['a statement', false],
  ['a statement that may take as long as it does', true],
])('%s of a process that is killed ends', (_, patient) => {
  it('on the server', async () => {
    const { child, working } = await askForMuch(url, patient);
    child.kill('SIGKILL');
    await expect.poll(working, { timeout: 30_000 }).toBe(0);
  });

  it.runIf(installed !== undefined)('behind a pooler', async () => {
    const pooler = await startPgbouncer(process.env['TEST_POSTGRES_URL'] ?? '', { poolSize: 2 });
    try {
      const behind = new URL(url);
      behind.host = new URL(pooler.url).host;
      const { child, working } = await askForMuch(behind, patient);
      child.kill('SIGKILL');
      await expect.poll(working, { timeout: 30_000 }).toBe(0);
    } finally {
      await pooler.stop();
    }
  });
});

it('a server that takes no such setting is asked for none, and all else goes on', async () => {
  const taken = database.transaction(async (tx) => [
    await isSupported(tx, 'SET LOCAL nothing_of_that_name = 1'),
    await tx.one({ sql: 'SELECT 1 AS "n"', parameters: [] }),
  ]);
  expect(await taken).toEqual([false, { n: 1 }]);
});
