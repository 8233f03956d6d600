/** Runs the database behind a real PgBouncer in transaction mode. Each transaction may use another server connection, which other clients used before. */

import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installed, type Pgbouncer, startPgbouncer } from '../../../test/postgres/pgbouncer.ts';
import { type PostgresProxy, startProxy } from '../../../test/postgres/proxy.ts';
import { startPostgres } from '../../../test/postgres/server.ts';
import { sql } from '../../sql.ts';
import type { AppendStatements, Database, Transaction } from '../contract.ts';
import { parsePostgresUrl } from './connection-string.ts';
import { openPostgres, type PostgresOptions } from './database.ts';
import { FAMILY, openFamily } from './postgres.fixture.ts';
import { createRunner, type Runner } from './runner.ts';
import { findLockProblems } from './server-checks.ts';

const POOL = 2;
/** The statement timeout of the tests in milliseconds. A minute, because units of work wait for each other's locks, and the machine may be busy. */
const PATIENCE = 60_000;
const modes = [
  ['that does not track prepared statements', { known: 0, prepares: true }],
  ['without prepared statements', { known: 0, prepares: false }],
  ...(installed?.knowsNames === true ? [['that tracks prepared statements', { known: 100, prepares: true }] as const] : []),
] as const;

/** The suites run at the same time, because they mostly wait. */
const AT_ONCE = { concurrent: true };
/** The tests of one pooler run one after the other. */
const IN_TURN = { concurrent: false };

it.runIf(installed === undefined)('runs behind a real pooler', AT_ONCE, ({ skip }) => skip('no pgbouncer is installed'));

describe.runIf(installed !== undefined).each(modes)('a pooler %s', AT_ONCE, (mode, { known, prepares }) => {
  const { url, runSql, open, close } = openFamily(`storage_postgres_pooler_${known}_${prepares}`);
  let proxy: PostgresProxy;
  let pooler: Pgbouncer;
  const opened: Database[] = [];

  /** Opens a database through the pooler, like another process. */
  async function openBehind(options: Omit<PostgresOptions, 'url'> = {}): Promise<Database> {
    const behind = new URL(url);
    behind.host = new URL(pooler.url).host;
    const database = await openPostgres({ url: behind.href, preparedStatements: prepares, ...options });
    opened.push(database);
    return database;
  }

  let direct: Database;
  beforeAll(async () => {
    direct = await open();
    // The proxy between pooler and server can close connections.
    proxy = await startProxy(process.env['TEST_POSTGRES_URL'] ?? '');
    pooler = await startPgbouncer(proxy.url, { poolSize: POOL, preparedStatements: known });
  });
  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await pooler?.stop();
    await proxy?.close();
    await close(direct);
  });
  beforeEach(() => runSql(FAMILY));

  it(`a client never runs a prepared statement of another client, behind a pooler ${mode}`, IN_TURN, async () => {
    const [one, other] = [await openBehind({ connections: 1 }), await openBehind({ connections: 1 })];
    const select = (database: Database, text: string, meanwhile?: Promise<void>): Promise<unknown> =>
      database.transaction(async (tx) => {
        const query = sql`SELECT ${sql.lit(text)} || ${'!'}::text AS "said"`;
        // The second execution prepares the statement.
        await tx.one(query);
        const said = await tx.one(query);
        await meanwhile;
        return said;
      });
    for (let round = 0; round < 4; round++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const first = select(one, 'one', promise);
      // Runs on another connection and releases it first. The pooler gives out the connection that was released last.
      expect(await select(other, 'other')).toEqual({ said: 'other!' });
      resolve();
      expect(await first).toEqual({ said: 'one!' });
      expect(await select(other, 'other')).toEqual({ said: 'other!' });
    }
  });

  it(`concurrent units of work wait for locks, commit or roll back, and are retried, behind a pooler ${mode}`, IN_TURN, async () => {
    const patient = { connectTimeout: PATIENCE, lockTimeout: PATIENCE, statementTimeout: PATIENCE };
    const [one, other] = [await openBehind(patient), await openBehind(patient)];
    await one.transaction((tx) => tx.run(sql`INSERT INTO "Parent" ("id", "n") VALUES ('a', 0)`));
    const addOne = (database: Database, fails: boolean): Promise<unknown> =>
      database.transaction(async (tx) => {
        await tx.lock('a');
        await tx.savepoint(() => count(tx, 1));
        await tx.savepoint(() => count(tx, 100).then(() => Promise.reject(new Error('rolled back')))).catch(() => undefined);
        if (fails) throw new Error('rolled back');
      });
    const unitsOfWork = Array.from({ length: 40 }, (_, index) => addOne(index % 2 === 0 ? one : other, index % 4 === 0));
    expect((await Promise.allSettled(unitsOfWork)).filter(({ status }) => status === 'fulfilled')).toHaveLength(30);
    expect((await runSql('SELECT "n" FROM "Parent"')).rows).toEqual([{ n: '30' }]);
  });

  it(`connections keep no session settings and no locks, behind a pooler ${mode}`, IN_TURN, async () => {
    const database = await openBehind();
    await Promise.all(Array.from({ length: 20 }, () => database.transaction((tx) => tx.lock('a'))));
    const planner = sql`SELECT current_setting('max_parallel_workers_per_gather') AS "workers", current_setting('jit') AS "jit"`;
    expect(await database.transaction((tx) => tx.one(planner))).toEqual({ workers: '0', jit: 'off' });
    const clients = await Promise.all(Array.from({ length: POOL }, () => connect(pooler.url)));
    const found = await Promise.all(
      clients.map(async (client) => {
        await client.query('BEGIN');
        const { rows } = await client.query(FACTS);
        return { client, ...rows[0] };
      }),
    );
    expect(new Set(found.map(({ process }) => process)).size).toBe(POOL);
    const [fact] = (await runSql(FACTS)).rows;
    for (const { client, ...facts } of found) {
      expect(facts).toEqual({ ...fact, process: facts.process, path: '"$user", public' });
      await client.query('COMMIT');
      await client.end();
    }
  });

  it(`connection slots are between 0 and 31, behind a pooler ${mode}`, IN_TURN, async () => {
    const databases = await Promise.all(Array.from({ length: 8 }, () => openBehind({ connections: 1 })));
    const slots = await Promise.all(databases.map((database) => database.transaction(async (tx) => tx.slot())));
    expect(slots.filter((slot) => slot < 0 || slot > 31)).toEqual([]);
  });

  it(`a read succeeds though the server connection is lost when its transaction ends, behind a pooler ${mode}`, IN_TURN, async () => {
    const database = await openBehind({ connections: 1 });
    const LOG: AppendStatements<string> = {
      write: (_tx, ids) => ids.map((id) => sql`INSERT INTO "Parent" ("id") VALUES (${id})`),
      findCommitted: (id) => sql`SELECT 1 FROM "Parent" WHERE "id" = ${id}`,
    };
    proxy.cut('before');
    await database.transaction(async (tx) => {
      await tx.one(sql`SELECT 1`);
      tx.append(LOG, ['read']);
    });
    expect((await runSql('SELECT "id" FROM "Parent"')).rows).toEqual([{ id: 'read' }]);
    expect(proxy.cuts).toBe(1);
  });

  it(`many processes can start at once, behind a pooler ${mode}`, IN_TURN, async () => {
    const opening = Array.from({ length: 4 * POOL }, () => openBehind({ connections: 2, connectTimeout: PATIENCE }));
    expect((await Promise.allSettled(opening)).filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  it(`requests fail with STORAGE_UNAVAILABLE while a pooler ${mode} restarts`, IN_TURN, async () => {
    const database = await openBehind();
    const work = database.transaction(async (tx) => {
      await tx.run(sql`INSERT INTO "Parent" ("id") VALUES ('a')`);
      await pooler.restart();
    });
    await expect(work).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(await database.transaction((tx) => tx.all(sql`SELECT "id" FROM "Parent"`))).toEqual([]);
  });
});

it.runIf(installed !== undefined)('locks cannot be verified behind a pooler with one connection', AT_ONCE, async () => {
  // A server of its own: the transaction holds the lock by which processes verify locks in turn, and starts on its server would wait for it.
  const server = await startPostgres({ inMemory: true });
  const pooler = await startPgbouncer(server.url, { poolSize: 1 });
  const [holder, other] = [1, 2].map(() => createRunner(parsePostgresUrl(pooler.url), { connections: 1, statementTimeout: 500 }));
  try {
    const mistakes = await findLockProblems({ holder: holder as Runner, other: other as Runner, timeout: 100 });
    expect(mistakes).toEqual([expect.stringContaining('expected at least two connections')]);
  } finally {
    await Promise.all([holder?.close(), other?.close()]);
    await pooler.stop();
    await server.stop();
  }
});

/** Selects the session settings and locks of a connection. */
const FACTS = `SELECT pg_backend_pid() AS "process", current_setting('search_path') AS "path",
  current_setting('statement_timeout') AS "statement", current_setting('lock_timeout') AS "lock",
  current_setting('idle_in_transaction_session_timeout') AS "idle",
  current_setting('max_parallel_workers_per_gather') AS "workers", current_setting('jit') AS "jit",
  (SELECT count(*) FROM pg_locks WHERE "locktype" = 'advisory' AND "pid" = pg_backend_pid()) AS "locks",
  (SELECT count(*) FROM pg_listening_channels()) AS "channels"`;

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

async function count(tx: Transaction, by: number): Promise<void> {
  const row = await tx.one<{ n: number }>(sql`SELECT "n" FROM "Parent" WHERE "id" = 'a'`);
  await tx.run(sql`UPDATE "Parent" SET "n" = ${(row?.n ?? 0) + by} WHERE "id" = 'a'`);
}
