import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { installed, startPgbouncer } from '../../../test/postgres/pgbouncer.ts';
import { startProxy } from '../../../test/postgres/proxy.ts';
import { sql } from '../../sql.ts';
import type { Database, TransactionOptions } from '../contract.ts';
import { failure } from '../storage.fixture.ts';
import { openPostgres, type PostgresOptions } from './database.ts';
import { createConnectionSlots } from './pool.ts';
import { openFamily } from './postgres.fixture.ts';
import { isSupported } from './server-checks.ts';

const { url, open, runSql, close } = openFamily('storage_postgres_pool');
const ROLE = 'storage_postgres_pool';

let database: Database;
beforeAll(async () => {
  database = await open();
  const drop = `IF EXISTS (SELECT FROM pg_roles WHERE rolname = '${ROLE}') THEN DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}; END IF;`;
  await runSql(`DO $$ BEGIN ${drop} END $$; CREATE ROLE ${ROLE} LOGIN PASSWORD 'one of a test'`);
  await runSql(`GRANT USAGE, CREATE ON SCHEMA "${ROLE}" TO ${ROLE}`);
});
afterAll(async () => {
  await runSql(`DROP OWNED BY ${ROLE}; DROP ROLE ${ROLE}`);
  await close(database);
});

describe('connection slots', () => {
  it('connection slots are distinct while they are in use, and reused after they are released', () => {
    const slots = createConnectionSlots();
    const [a, b, c] = [slots.take(), slots.take(), slots.take()];
    expect([b, c]).toEqual([a + 1, a + 2]);
    slots.release(b);
    expect(slots.take()).toBe(b);
    expect(slots.take()).toBe(a + 3);
  });
});

function openAsRole(options: Omit<PostgresOptions, 'url'> = {}): Promise<Database> {
  const roleUrl = new URL(url);
  [roleUrl.username, roleUrl.password] = [ROLE, 'one of a test'];
  return openPostgres({ url: roleUrl.href, connections: 1, isContended: () => false, ...options });
}

describe('session settings', () => {
  const NAMES = ['synchronous_commit', 'standard_conforming_strings', 'extra_float_digits', 'transaction_isolation'];

  it.each([
    ['unsafe defaults', ['off', 'off', '-15', `'repeatable read'`], ['on', 'on', '1', 'read committed']],
    ['synchronous_commit = local', ['local'], ['on', 'on', '1', 'read committed']],
    ['synchronous_commit = remote_apply, which is safer', ['remote_apply'], ['remote_apply', 'on', '1', 'read committed']],
  ])('session settings are safe for a role with %s', async (_, given, expected) => {
    const names = NAMES.with(-1, 'default_transaction_isolation');
    await runSql(`ALTER ROLE ${ROLE} RESET ALL`);
    for (const [index, value] of given.entries()) await runSql(`ALTER ROLE ${ROLE} SET ${names[index]} = ${value}`);
    const asRole = await openAsRole();
    const readSettings = () =>
      asRole.transaction(async (tx) => {
        await tx.run(sql`SELECT 1`);
        const settings = sql.join(NAMES.map((name, index) => sql`current_setting(${name}) AS ${sql.ref(String(index))}`));
        return tx.one(sql`SELECT ${settings}, 0.1::float8 + 0.2::float8 AS "sum", '\\' AS "text"`);
      });
    // The first transaction sets them for itself; later ones use the settings of the connection.
    for (let time = 0; time < 3; time++) expect(await readSettings()).toEqual({ ...expected, sum: 0.30000000000000004, text: '\\' });
    await asRole.close();
  });

  it('a session sets synchronous_commit, so that it does not follow a reload of the server configuration', async () => {
    await runSql(`ALTER ROLE ${ROLE} RESET ALL`);
    const asRole = await openAsRole();
    for (let time = 0; time < 2; time++) {
      const setting = await asRole.transaction((tx) =>
        tx.one(sql`SELECT "setting", "source" FROM pg_settings WHERE "name" = 'synchronous_commit'`),
      );
      expect(setting).toEqual({ setting: 'on', source: 'session' });
    }
    await asRole.close();
  });

  it.each<[string, TransactionOptions]>([
    ['a request', {}],
    ['a migration', { unlimited: true }],
  ])('the transaction_timeout of a role does not end a transaction of %s', async (_, how) => {
    await runSql(`ALTER ROLE ${ROLE} RESET ALL; ALTER ROLE ${ROLE} SET transaction_timeout = '300ms'`);
    const asRole = await openAsRole();
    for (let time = 0; time < 2; time++) {
      const slept = await asRole.transaction((tx) => tx.one(sql`SELECT pg_sleep(0.6) IS NULL AS "slept"`), how);
      expect(slept).toEqual({ slept: 0 });
    }
    await asRole.close();
  });
});

describe('query plans', () => {
  /** Settings of a server that plans parallel workers for each scan. */
  const EAGER = [
    'parallel_setup_cost = 0',
    'parallel_tuple_cost = 0',
    'min_parallel_table_scan_size = 0',
    'jit = on',
    'jit_above_cost = 0',
  ];

  beforeAll(async () => {
    for (const setting of [...EAGER, 'max_parallel_workers_per_gather = 2']) await runSql(`ALTER ROLE ${ROLE} SET ${setting}`);
    await runSql(`CREATE TABLE "Planned" AS SELECT generate_series(1, 10000) AS "n"; GRANT SELECT ON "Planned" TO ${ROLE}`);
  });
  afterAll(async () => {
    await runSql(`DROP TABLE "Planned"; ALTER ROLE ${ROLE} RESET ALL`);
  });

  /** Plans a statement, and returns its number of parallel workers and the setting of the compiler of expressions. */
  async function planIn(database: Database, how: TransactionOptions): Promise<readonly [number, string | undefined]> {
    return database.transaction(async (tx) => {
      const lines = await tx.all<{ 'QUERY PLAN': string }>(sql`EXPLAIN SELECT count(*) FROM "Planned"`);
      const workers = /Workers Planned: (\d+)/.exec(lines.map((line) => line['QUERY PLAN']).join('\n'))?.[1] ?? '0';
      return [Number(workers), (await tx.one<{ jit: string }>(sql`SELECT current_setting('jit') AS "jit"`))?.jit];
    }, how);
  }

  it.each<[string, TransactionOptions, number, readonly [number, string]]>([
    ['no parallel workers for a short attempt', {}, 0, [0, 'off']],
    ['no parallel workers for a long attempt', { beginsLong: true }, 0, [0, 'off']],
    ['as many parallel workers for a request as the option allows', {}, 1, [1, 'off']],
    ['as many parallel workers for a migration as the server allows', { unlimited: true }, 0, [2, 'on']],
  ])('a plan has %s', async (_, how, parallelWorkers, expected) => {
    const asRole = await openAsRole({ parallelWorkers });
    // The first transaction of a connection sets them for itself; later ones use the settings of the connection.
    for (let time = 0; time < 3; time++) expect(await planIn(asRole, how)).toEqual(expected);
    await asRole.close();
  });
});

it('the database is unhealthy as long as the role has no connection left for audit entries', async () => {
  // Opening takes two connections: one verifies the locks of the other.
  const asRole = await openAsRole();
  onTestFinished(() => runSql(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`).then(() => undefined));
  await runSql(`ALTER ROLE ${ROLE} CONNECTION LIMIT 1`);
  const sessions = `FROM pg_stat_activity WHERE usename = '${ROLE}'`;
  await runSql(`SELECT pg_terminate_backend(pid) ${sessions}`);
  await expect.poll(async () => (await runSql(`SELECT 1 ${sessions}`)).rows).toEqual([]);
  const read = (): Promise<number> =>
    asRole.transaction(async (tx) => {
      tx.append({ write: () => [sql`SELECT pg_current_xact_id()`], findCommitted: () => sql`SELECT 1 WHERE FALSE` }, ['a line']);
      return 1;
    });
  await asRole.probe();
  expect(asRole.healthy).toBe(false);
  await expect(read()).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  await runSql(`ALTER ROLE ${ROLE} CONNECTION LIMIT 2`);
  // The server counts a refused connection until its process has ended.
  await expect.poll(() => read().catch(() => 'refused')).toBe(1);
  expect(asRole.healthy).toBe(true);
  await asRole.close();
});

const PROGRAM = `
  import { openPostgres } from './database.ts';
  const [, url, unlimited] = process.argv;
  const database = await openPostgres({ url, statementTimeout: 900_000 });
  // After a few transactions the connection is known not to be shared through a pooler.
  for (let at = 0; at < 3; at++) await database.transaction((tx) => tx.one({ sql: 'SELECT 1', parameters: [] }));
  await database.transaction((tx) => tx.run({ sql: 'SELECT pg_sleep(600)', parameters: [] }), { unlimited: unlimited === 'true' });
`;

/** Starts a process that runs a statement of ten minutes. Resolves when the server runs the statement. */
async function startLongStatement(server: URL, unlimited: boolean): Promise<{ readonly child: ChildProcess; running(): Promise<number> }> {
  const name = `killed_${randomBytes(4).toString('hex')}`;
  const named = new URL(server);
  named.searchParams.set('application_name', name);
  const child = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM, named.href, String(unlimited)], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const running = async (): Promise<number> => {
    const { rows } = await runSql(`SELECT 1 FROM pg_stat_activity WHERE application_name = $1 AND query LIKE '%pg_sleep(600)%'`, [name]);
    return rows.length;
  };
  await vi.waitFor(async () => expect(await running()).toBe(1), { timeout: 110_000 });
  return { child, running };
}

// At the same time, because the server checks every two seconds that the client is connected, and the other connections wait for a timeout.
describe.concurrent('lost connections and killed processes', () => {
  it('the other idle connections are replaced before a request uses them', async () => {
    const proxy = await startProxy(url.href);
    const proxied = await openPostgres({ url: proxy.url, statementTimeout: 500, connections: 3, isContended: () => false });
    const read = (): Promise<{ pid: number } | undefined> =>
      proxied.transaction((tx) => tx.one<{ pid: number }>(sql`SELECT pg_backend_pid() AS "pid", pg_sleep(0.05)`));
    const before = await Promise.all([read(), read(), read()]);
    expect(new Set(before.map((row) => row?.pid)).size).toBe(3);
    proxy.set('lost');
    expect(await failure(read())).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    const after = [await read(), ...(await Promise.all([read(), read(), read()]))];
    const lost = before.map((row) => row?.pid);
    for (const row of after) expect(lost).not.toContain(row?.pid);
    await proxied.close();
    await proxy.close();
  });

  describe.each([
    ['a statement', false],
    ['a statement without a timeout', true],
  ])('%s of a killed process', (statement, unlimited) => {
    it(`the server cancels ${statement} of a killed process`, async () => {
      const { child, running } = await startLongStatement(url, unlimited);
      child.kill('SIGKILL');
      await vi.waitFor(async () => expect(await running()).toBe(0), { timeout: 110_000 });
    });

    it.runIf(installed !== undefined)(`the server cancels ${statement} of a killed process behind a pooler`, async () => {
      const pooler = await startPgbouncer(process.env['TEST_POSTGRES_URL'] ?? '', { poolSize: 2 });
      try {
        const behind = new URL(url);
        behind.host = new URL(pooler.url).host;
        const { child, running } = await startLongStatement(behind, unlimited);
        child.kill('SIGKILL');
        await vi.waitFor(async () => expect(await running()).toBe(0), { timeout: 110_000 });
      } finally {
        await pooler.stop();
      }
    });
  });
});

it('isSupported is false for an unknown setting, and the transaction continues', async () => {
  const results = database.transaction(async (tx) => [
    await isSupported(tx, 'SET LOCAL nothing_of_that_name = 1'),
    await tx.one({ sql: 'SELECT 1 AS "n"', parameters: [] }),
  ]);
  expect(await results).toEqual([false, { n: 1 }]);
});
