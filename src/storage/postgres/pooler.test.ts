/** Behind a real PgBouncer in transaction mode: each transaction may be on another connection, which was somebody else's before. */

import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installed, type Pgbouncer, startPgbouncer } from '../../../test/postgres/pgbouncer.ts';
import { type PostgresProxy, startProxy } from '../../../test/postgres/proxy.ts';
import { sql } from '../../sql.ts';
import type { AppendStatements, Database, Transaction } from '../contract.ts';
import { parsePostgresUrl } from './connection-string.ts';
import { openPostgres, type PostgresOptions } from './database.ts';
import { FAMILY, openFamily } from './postgres.fixture.ts';
import { createRunner, type Runner } from './runner.ts';
import { findLockProblems } from './server-checks.ts';

const POOL = 2;
const ways = [
  ['that knows no prepared statements', { known: 0, prepares: true }],
  ['that is given none', { known: 0, prepares: false }],
  ...(installed?.knowsNames === true ? [['that keeps track of prepared statements', { known: 100, prepares: true }] as const] : []),
] as const;

it.runIf(installed === undefined)('a real pooler', ({ skip }) => skip('no pgbouncer is installed'));

describe.runIf(installed !== undefined).each(ways)('behind a pooler %s', (_, { known, prepares }) => {
  const { url, ask, open, close } = openFamily(`storage_postgres_pooler_${known}_${prepares}`);
  let proxy: PostgresProxy;
  let pooler: Pgbouncer;
  const opened: Database[] = [];

  /** A database by way of the pooler: what another process would have. */
  async function openBehind(how: Omit<PostgresOptions, 'url'> = {}): Promise<Database> {
    const behind = new URL(url);
    behind.host = new URL(pooler.url).host;
    const database = await openPostgres({ url: behind.href, preparedStatements: prepares, ...how });
    opened.push(database);
    return database;
  }

  let direct: Database;
  beforeAll(async () => {
    direct = await open();
    // Between pooler and server, to be cut.
    proxy = await startProxy(process.env['TEST_POSTGRES_URL'] ?? '');
    pooler = await startPgbouncer(proxy.url, { poolSize: POOL, preparedStatements: known });
  });
  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()));
    await pooler?.stop();
    await proxy?.close();
    await close(direct);
  });
  beforeEach(() => ask(FAMILY));

  it('nobody is answered what another has prepared', async () => {
    const [one, other] = [await openBehind({ connections: 1 }), await openBehind({ connections: 1 })];
    const say = (database: Database, text: string, meanwhile?: Promise<void>): Promise<unknown> =>
      database.transaction(async (tx) => {
        const asked = sql`SELECT ${sql.lit(text)} || ${'!'}::text AS "said"`;
        // Prepared the second time.
        await tx.one(asked);
        const said = await tx.one(asked);
        await meanwhile;
        return said;
      });
    for (let round = 0; round < 4; round++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const first = say(one, 'one', promise);
      // On another connection, which is let go before: next comes the one that was let go last.
      expect(await say(other, 'other')).toEqual({ said: 'other!' });
      resolve();
      expect(await first).toEqual({ said: 'one!' });
      expect(await say(other, 'other')).toEqual({ said: 'other!' });
    }
  });

  it('works side by side wait for each other, are kept or undone, and run again', async () => {
    const [one, other] = [await openBehind(), await openBehind()];
    await one.transaction((tx) => tx.run(sql`INSERT INTO "Parent" ("id", "n") VALUES ('a', 0)`));
    const addOne = (database: Database, fails: boolean): Promise<unknown> =>
      database.transaction(async (tx) => {
        await tx.lock('a');
        await tx.savepoint(() => count(tx, 1));
        await tx.savepoint(() => count(tx, 100).then(() => Promise.reject(new Error('undone')))).catch(() => undefined);
        if (fails) throw new Error('undone');
      });
    const works = Array.from({ length: 40 }, (_, index) => addOne(index % 2 === 0 ? one : other, index % 4 === 0));
    expect((await Promise.allSettled(works)).filter(({ status }) => status === 'fulfilled')).toHaveLength(30);
    expect((await ask('SELECT "n" FROM "Parent"')).rows).toEqual([{ n: '30' }]);
  });

  it('nothing is left on its connections: no settings, no locks', async () => {
    const database = await openBehind();
    await Promise.all(Array.from({ length: 20 }, () => database.transaction((tx) => tx.lock('a'))));
    const clients = await Promise.all(Array.from({ length: POOL }, () => connect(pooler.url)));
    const found = await Promise.all(
      clients.map(async (client) => {
        await client.query('BEGIN');
        const { rows } = await client.query(FACTS);
        return { client, ...rows[0] };
      }),
    );
    expect(new Set(found.map(({ process }) => process)).size).toBe(POOL);
    const [fact] = (await ask(FACTS)).rows;
    for (const { client, ...facts } of found) {
      expect(facts).toEqual({ ...fact, process: facts.process, path: '"$user", public' });
      await client.query('COMMIT');
      await client.end();
    }
  });

  it('counts are split as they are without it', async () => {
    const databases = await Promise.all(Array.from({ length: 8 }, () => openBehind({ connections: 1 })));
    const lanes = await Promise.all(databases.map((database) => database.transaction(async (tx) => tx.slot)));
    expect(lanes.filter((lane) => lane < 0 || lane > 31)).toEqual([]);
  });

  it('a connection of the server that is lost as a transaction ends that only looked matters to nobody', async () => {
    const database = await openBehind({ connections: 1 });
    const LOG: AppendStatements<string> = {
      write: (_tx, ids) => ids.map((id) => sql`INSERT INTO "Parent" ("id") VALUES (${id})`),
      find: (id) => sql`SELECT 1 FROM "Parent" WHERE "id" = ${id}`,
    };
    proxy.cut('before');
    await database.transaction(async (tx) => {
      await tx.one(sql`SELECT 1`);
      await tx.append(LOG, ['looked']);
    });
    expect((await ask('SELECT "id" FROM "Parent"')).rows).toEqual([{ id: 'looked' }]);
    expect(proxy.cuts).toBe(1);
  });

  it('many that start at once do not take from each other what they need', async () => {
    const opening = Array.from({ length: 16 }, () => openBehind({ connections: 2 }));
    expect((await Promise.allSettled(opening)).filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  it('a pooler that is gone is 503 until it is back', async () => {
    const database = await openBehind();
    const work = database.transaction(async (tx) => {
      await tx.run(sql`INSERT INTO "Parent" ("id") VALUES ('a')`);
      await pooler.restart();
    });
    await expect(work).rejects.toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(await database.transaction((tx) => tx.all(sql`SELECT "id" FROM "Parent"`))).toEqual([]);
  });
});

it.runIf(installed !== undefined)('behind a pooler with one connection, whether locks lock cannot be seen', async () => {
  const pooler = await startPgbouncer(process.env['TEST_POSTGRES_URL'] ?? '', { poolSize: 1 });
  const [holder, other] = [1, 2].map(() => createRunner(parsePostgresUrl(pooler.url), { connections: 1, statementTimeout: 100 }));
  try {
    const mistakes = await findLockProblems({ holder: holder as Runner, other: other as Runner, timeout: 100 });
    expect(mistakes).toEqual([expect.stringContaining('expected two connections at least')]);
  } finally {
    await Promise.all([holder?.close(), other?.close()]);
    await pooler.stop();
  }
});

/** What a connection has of settings and locks. */
const FACTS = `SELECT pg_backend_pid() AS "process", current_setting('search_path') AS "path",
  current_setting('statement_timeout') AS "statement", current_setting('lock_timeout') AS "lock",
  current_setting('idle_in_transaction_session_timeout') AS "idle",
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
