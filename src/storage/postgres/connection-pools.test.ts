/** Units of work that take long run on connections of their own: a bounded number, and callers take turns. */
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { installed, type Pgbouncer, startPgbouncer } from '../../../test/postgres/pgbouncer.ts';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../contract.ts';
import { failure } from '../storage.fixture.ts';
import { commitValidationSql } from './commit-validation.ts';
import { openPostgres } from './database.ts';
import { FAMILY } from './postgres.fixture.ts';
import { appended, insert, openSlowQueries, slow } from './slow-query.fixture.ts';

const { url, runSql, openShort, closeLater, closeAll, ids } = openSlowQueries('storage_postgres_pools');

beforeAll(async () => {
  await openShort();
  await closeAll();
});
beforeEach(() => runSql(FAMILY));
afterEach(closeAll);

describe('many units of work that take long', () => {
  it('lets the short ones of others through: 20 long ones of one caller run two at a time', async () => {
    const database = await openShort({ connections: 3, readers: 4 });
    let [running, most, ended, maxWaiting] = [0, 0, 0, 0];
    let isReleased = false;
    const long = Array.from({ length: 20 }, () =>
      database.transaction(
        async (tx) => {
          if (tx.attempt === 'short') return tx.one(slow(tx));
          most = Math.max(most, ++running);
          maxWaiting = Math.max(maxWaiting, database.metrics.longWaiting);
          do await tx.one(slow(tx, 0.1));
          while (!isReleased);
          running--;
          return ended++;
        },
        { caller: 'one' },
      ),
    );
    // All of them have left the connections of short attempts, as the queue shows.
    await expect.poll(() => database.metrics.longAttempts + database.metrics.longWaiting).toBe(20);
    for (let count = 0; count < 20; count++) await database.transaction((tx) => tx.one(sql`SELECT ${count}::int`), { caller: 'other' });
    expect(ended).toBe(0);
    isReleased = true;
    await Promise.all(long);
    expect([most, database.metrics.longAttempts, database.metrics.longWaiting]).toEqual([2, 0, 0]);
    expect(maxWaiting).toBeGreaterThan(0);
  });

  it('gives callers turns, and refuses those above the queue with a time to retry', async () => {
    const database = await openShort({ connections: 3, readers: 1, readerQueue: 4 });
    const order: string[] = [];
    const begin = (caller: string) =>
      database.transaction(
        async (tx) => {
          order.push(caller);
          await tx.one(sql`SELECT pg_sleep(0.1)`);
        },
        { caller, beginsLong: true },
      );
    const [first, second, third, refused, other] = [begin('one'), begin('one'), begin('one'), begin('one'), begin('other')];
    expect(await failure(refused)).toMatchObject({ code: 'STORAGE_BUSY', status: 503, extras: { retryAfter: 2 } });
    await Promise.all([first, second, third, other]);
    expect(order).toEqual(['one', 'one', 'other', 'one']);
    expect(database.metrics.longRefused).toBe(1);
  });

  it('shortens the next short attempts of the caller, and not those of others', async () => {
    const database = await openShort({ shortAttempt: 1000 });
    const timeoutFor = (caller: string) =>
      database.transaction(async (tx) => (await tx.one<{ now: string }>(sql`SELECT current_setting('statement_timeout') AS "now"`))?.now, {
        caller,
      });
    expect([await timeoutFor('one'), await timeoutFor('other')]).toEqual(['1s', '1s']);
    await database.transaction((tx) => tx.one(slow(tx, 1.1)), { caller: 'one' });
    expect([await timeoutFor('one'), await timeoutFor('other')]).toEqual(['100ms', '1s']);
  });
});

describe('commit validation after a long read', () => {
  it('decides again if the policies of the first attempt are revoked while it runs, and commits no entry of it', async () => {
    await runSql(`CREATE TABLE IF NOT EXISTS "_State" ("id" TEXT PRIMARY KEY, "number" BIGINT, "text" TEXT);
      CREATE TABLE IF NOT EXISTS "User" ("id" TEXT PRIMARY KEY, "version" BIGINT);
      CREATE TABLE IF NOT EXISTS "_Session" ("id" TEXT PRIMARY KEY, "revokedAt" TEXT);
      INSERT INTO "_State" VALUES ('epoch', 1, 'first'); ${commitValidationSql()}`);
    const database = await openShort();
    const runs: string[] = [];
    const answer = await database.transaction(async (tx) => {
      const state = await tx.one<{ stamp: string }>(sql`SELECT "text" AS "stamp" FROM "_State"`);
      const stamp = state?.stamp ?? '';
      tx.addToReadSet({ revision: stamp });
      runs.push(`${tx.attempt} ${stamp}`);
      tx.append(appended, [`decided by ${stamp}`]);
      await tx.one(slow(tx));
      if (stamp === 'first') await runSql(`UPDATE "_State" SET "text" = 'second'`);
      return stamp;
    });
    expect([answer, runs, await ids()]).toEqual(['second', ['short first', 'long first', 'long second'], ['decided by second']]);
    expect(database.metrics.validationRetries).toBe(1);
  });
});

/** Opens a database that sets its timeouts in each transaction, as behind a pooler. */
function openShared(address: URL, shortAttempt: number): Promise<Database> {
  return openPostgres({ url: address.href, shortAttempt, preparedStatements: false });
}

/** Expects that a transaction limits its statements, and leaves no limit for the next one of another client on the same connection. */
async function expectOwnLimits(address: URL): Promise<void> {
  const [database, other] = [closeLater(await openShared(address, 50)), closeLater(await openShared(address, 5000))];
  const runs: string[] = [];
  const work = async (tx: Transaction): Promise<unknown> => {
    runs.push(tx.attempt);
    return tx.one(slow(tx));
  };
  for (let round = 0; round < 2; round++) {
    await database.transaction(work);
    expect(runs.splice(0)).toEqual(['short', 'long']);
    await other.transaction(work);
    expect(runs.splice(0)).toEqual(['short']);
    expect(await failure(database.transaction(work, { milliseconds: 100 }))).toMatchObject({ code: 'REQUEST_BUDGET' });
    runs.length = 0;
    await database.transaction(async (tx) => {
      await insert(tx, `${round}`);
      await tx.one(sql`SELECT pg_sleep(0.1)`);
    });
  }
  expect(await ids()).toEqual(['0', '1']);
}

it('limits the statements of each transaction on connections without settings of their own', () => expectOwnLimits(url));

describe.runIf(installed !== undefined)('behind a pooler', () => {
  let pooler: Pgbouncer;
  afterEach(() => pooler?.stop());

  it('limits the statements of each transaction, and leaves no limit on a connection of the pooler', async () => {
    pooler = await startPgbouncer(process.env['TEST_POSTGRES_URL'] ?? '', { poolSize: 2, preparedStatements: 0 });
    const behind = new URL(url);
    behind.host = new URL(pooler.url).host;
    await expectOwnLimits(behind);
  });
});
