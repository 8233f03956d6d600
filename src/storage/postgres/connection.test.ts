import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sql } from '../../sql.ts';
import type { Database } from '../contract.ts';
import { failure } from '../storage.fixture.ts';
import { createConnection, createIdleTimeout } from './connection.ts';
import { isConnectionLost } from './driver-error.ts';
import { FAMILY, openFamily } from './postgres.fixture.ts';

const { url, open, runSql, close } = openFamily('storage_postgres_connection');

let database: Database;
beforeAll(async () => {
  database = await open({ connections: 4 });
});
afterAll(() => close(database));
beforeEach(() => runSql(FAMILY));

describe('prepared statements', () => {
  const read = (): Promise<unknown> => database.transaction((tx) => tx.all(sql`SELECT "n" FROM "Parent" WHERE "id" = ${'a'}`));
  const often = async (work: () => Promise<unknown>): Promise<void> => {
    for (let i = 0; i < 12; i++) await work();
  };

  it('prepared statements still work after a column changes its type', async () => {
    await runSql(`INSERT INTO "Parent" ("id", "n") VALUES ('a', 7)`);
    await often(read);
    await runSql('ALTER TABLE "Parent" ALTER COLUMN "n" TYPE TEXT');
    expect(await read()).toEqual([{ n: '7' }]);
  });

  it('prepared statements still work after a parameter changes its type', async () => {
    const find = (n: unknown): Promise<unknown> => database.transaction((tx) => tx.all(sql`SELECT "id" FROM "Parent" WHERE "n" = ${n}`));
    await often(() => find(7));
    await runSql('ALTER TABLE "Parent" ALTER COLUMN "n" TYPE TEXT');
    await runSql(`INSERT INTO "Parent" ("id", "n") VALUES ('a', 'seven')`);
    expect(await find('seven')).toEqual([{ id: 'a' }]);
  });

  it('writes the given value after the column changed its type', async () => {
    const write = (id: string, n: unknown, type: 'integer' | 'text'): Promise<unknown> =>
      database.transaction((tx) => tx.run(sql`INSERT INTO "Parent" ("id", "n") VALUES (${id}, ${tx.dialect.writtenValue(n, type)})`));
    for (let i = 0; i < 12; i++) await write(`i${i}`, i, 'integer');
    await runSql('ALTER TABLE "Parent" ALTER COLUMN "n" TYPE TEXT');
    await write('a', '007', 'text');
    expect((await runSql(`SELECT "n" FROM "Parent" WHERE "id" = 'a'`)).rows).toEqual([{ n: '007' }]);
  });

  it('prepared statements still work behind a pooler that switches connections', async () => {
    await runSql(`INSERT INTO "Parent" ("id", "n") VALUES ('a', 7)`);
    const pooled = await open({ connections: 1 });
    const again = (): Promise<unknown> => pooled.transaction((tx) => tx.all(sql`SELECT "n" FROM "Parent" WHERE "id" = ${'a'}`));
    await often(again);
    // Another client of the pooler may do this to the connection that we receive next.
    await pooled.transaction((tx) => tx.run({ sql: 'DEALLOCATE ALL', parameters: [] }));
    expect(await again()).toEqual([{ n: 7 }]);
    await often(again);
    const names = await pooled.transaction((tx) => tx.all(sql`SELECT "name" FROM pg_prepared_statements`));
    expect(names).toEqual([]);
    await pooled.close();
  });

  it('creates no prepared statements if they are disabled', async () => {
    const plain = await open({ connections: 1, preparedStatements: false });
    await often(() => plain.transaction((tx) => tx.all(sql`SELECT ${1}::int AS "n"`)));
    expect(await plain.transaction((tx) => tx.all(sql`SELECT "name" FROM pg_prepared_statements`))).toEqual([]);
    await plain.close();
  });

  it('limits the number of prepared statements', async () => {
    const one = await open({ connections: 1 });
    for (let i = 0; i < 600; i++) {
      await one.transaction(async (tx) => {
        for (let twice = 0; twice < 2; twice++) await tx.one(sql`SELECT ${1}::int AS ${sql.raw(`"c${i}"`)}`);
      });
    }
    const { count = 0 } =
      (await one.transaction((tx) => tx.one<{ count: number }>(sql`SELECT count(*) AS "count" FROM pg_prepared_statements`))) ?? {};
    expect(count).toBeLessThan(510);
    await one.close();
  });
});

it('closes a connection whose settings are refused or cancelled', async () => {
  const client = new pg.Client({ connectionString: url.href });
  client.on('error', () => undefined);
  await client.connect();
  const connection = createConnection(client as unknown as pg.PoolClient, { slot: 0, preparesStatements: () => true });
  expect((await connection.query({ sql: 'SELECT 1 AS "one"', parameters: [] })).rows).toEqual([{ one: 1 }]);
  connection.applySettings(`SET lock_timeout = 1; SET lock_timeout = 'long'`);
  // It was sent before the answer, and may have been executed without the settings.
  await connection.query({ sql: 'SELECT 1', parameters: [] }).catch(() => undefined);
  const lost = await failure(connection.query({ sql: 'SELECT 1', parameters: [] }));
  expect([lost, isConnectionLost(lost)]).toEqual([expect.any(Error), true]);
});

describe('the idle timeout', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('closes the connection if no pending statement completes within the timeout', async () => {
    const closeConnection = vi.fn();
    const idleTimeout = createIdleTimeout(closeConnection);
    idleTimeout.set(100);
    for (let statements = 0; statements < 2; statements++) idleTimeout.sent();
    await vi.advanceTimersByTimeAsync(90);
    idleTimeout.answered();
    await vi.advanceTimersByTimeAsync(90);
    expect(closeConnection).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(20);
    expect(closeConnection).toHaveBeenCalledOnce();
  });

  it('the idle timeout does nothing if no statement is pending, or without a limit', async () => {
    const closeConnection = vi.fn();
    const idleTimeout = createIdleTimeout(closeConnection);
    idleTimeout.set(100);
    idleTimeout.sent();
    idleTimeout.answered();
    await vi.advanceTimersByTimeAsync(200);
    idleTimeout.set(undefined);
    idleTimeout.sent();
    await vi.advanceTimersByTimeAsync(200);
    expect(closeConnection).not.toHaveBeenCalled();
  });
});
