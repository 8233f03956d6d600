import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../contract.ts';
import type { PostgresOptions } from './database.ts';
import { FAMILY, LOG } from './postgres.fixture.ts';
import { openSlowQueries, slow } from './slow-query.fixture.ts';

const { runSql, openShort, closeAll } = openSlowQueries('storage_postgres_reads');

beforeAll(async () => {
  await openShort();
  await closeAll();
  await runSql(`${FAMILY}; CREATE TABLE "Log" ("id" TEXT PRIMARY KEY)`);
});
let busy = true;
let database: Database;
beforeEach(async () => {
  busy = true;
  await runSql(`TRUNCATE "Parent", "Child", "Log"; INSERT INTO "Parent" ("id", "n") VALUES ('a', 1)`);
  database = await openBusy();
});
afterEach(closeAll);

/** Opens a database whose reads are shared while `busy` is true. A slow machine cuts no flight by default. */
function openBusy(options: Omit<PostgresOptions, 'url'> = {}): Promise<Database> {
  return openShort({ connections: 6, shortAttempt: 30_000, isBusy: () => busy, ...options });
}

/** Returns the process of the server that runs a read. The text of the read can be chosen, and how many seconds it takes. */
async function processOf(tx: Transaction, { text = 'slept', seconds = 0 } = {}): Promise<number | undefined> {
  const row = await tx.one<{ pid: number }>(sql`SELECT pg_backend_pid() AS "pid", pg_sleep(${seconds}) AS ${sql.raw(`"${text}"`)}`);
  return row?.pid;
}

/** Reads in a unit of work of a caller. */
function read(caller: string, how?: Parameters<typeof processOf>[1]): Promise<number | undefined> {
  return database.transaction((tx) => processOf(tx, how), { caller });
}

/** Returns the processes that run shared reads, in a database that has shared none yet. */
async function sharedProcesses(): Promise<ReadonlySet<number | undefined>> {
  return new Set(await Promise.all(Array.from({ length: 40 }, () => read('first', { text: 'first' }))));
}

describe('reads', () => {
  it('reads of a busy process share few connections, and those of a process that waits take connections of their own', async () => {
    const shared = await sharedProcesses();
    expect(shared.size).toBeLessThanOrEqual(2);
    busy = false;
    const own = new Set(await Promise.all(Array.from({ length: 6 }, () => read('first', { seconds: 0.1 }))));
    expect(own.size).toBe(6);
    expect([...shared].filter((process) => own.has(process))).toEqual([]);
  });

  it('each gets its own rows', async () => {
    const numbers = Array.from({ length: 40 }, (_, number) => number);
    const rows = await Promise.all(numbers.map((n) => database.transaction((tx) => tx.all(sql`SELECT ${n}::int AS "n"`))));
    expect(rows).toEqual(numbers.map((n) => [{ n }]));
  });

  it('an error of one fails no other', async () => {
    const answers = await Promise.allSettled(
      [1, 0, 1].map((n) => database.transaction((tx) => tx.one(sql`SELECT 1 / ${n}::int AS "one"`))),
    );
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });

  it('a unit of work that has written reads on its own connection, and sees what it wrote', async () => {
    const shared = await sharedProcesses();
    const found = await database.transaction(async (tx) => {
      const before = await processOf(tx);
      await tx.run(sql`UPDATE "Parent" SET "n" = 2 WHERE "id" = 'a'`);
      return [shared.has(before), (await tx.one<{ n: number }>(sql`SELECT "n" FROM "Parent"`))?.n, shared.has(await processOf(tx))];
    });
    expect(found).toEqual([true, 2, false]);
  });

  it('a unit of work that only reads appends its entry', async () => {
    await database.transaction(async (tx) => {
      await processOf(tx);
      tx.append(LOG, ['x']);
    });
    expect((await runSql('SELECT "id" FROM "Log"')).rows).toEqual([{ id: 'x' }]);
  });
});

describe('a read that takes long', () => {
  it('reads with its text take connections of their own for a while, and others do not', async () => {
    const shared = await sharedProcesses();
    await read('slow', { text: 'slow', seconds: 0.12 });
    expect(shared.has(await read('other', { text: 'slow' }))).toBe(false);
    expect(shared.has(await read('other'))).toBe(true);
    await expect.poll(async () => shared.has(await read('other', { text: 'slow' })), { timeout: 30_000, interval: 200 }).toBe(true);
  });

  it('a text is slow by its average', async () => {
    const shared = await sharedProcesses();
    const processes: boolean[] = [];
    for (let time = 0; time < 4; time++) processes.push(shared.has(await read('slow', { text: 'slow', seconds: 0.045 })));
    expect(processes).toEqual([true, true, false, false]);
  });

  it('reads of its caller take connections of their own for a while', async () => {
    const shared = await sharedProcesses();
    await read('slow', { text: 'slow', seconds: 0.12 });
    expect(shared.has(await read('slow'))).toBe(false);
  });

  it('reads with its text that wait for a flight take connections of their own', async () => {
    const shared = await sharedProcesses();
    const slowOnes = [read('slow', { text: 'slow', seconds: 0.2 })];
    await new Promise((resolve) => setTimeout(resolve, 50));
    slowOnes.push(read('slow', { text: 'slow', seconds: 0.2 }));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const waiting = await Promise.all([read('other', { text: 'slow' }), read('other')]);
    expect(waiting.map((process) => shared.has(process))).toEqual([false, true]);
    await Promise.all(slowOnes);
  });

  it('the time in which a read waits behind others does not count as its own', async () => {
    const ofShortAttempts = await openBusy({ shortAttempt: 300 });
    const others = Array.from({ length: 4 }, (_, nth) =>
      ofShortAttempts.transaction((tx) => processOf(tx, { text: `text${nth}`, seconds: 0.1 }), { caller: `caller${nth}` }),
    );
    const last = ofShortAttempts.transaction(async (tx) => {
      await tx.one(slow(tx, 0));
      return [tx.attempt, tx.remaining() > 200];
    });
    expect(await last).toEqual(['short', true]);
    await Promise.all(others);
  });

  it('runs again as a long attempt if it takes longer than a short one may', async () => {
    const ofShortAttempts = await openBusy({ shortAttempt: 50 });
    const attempts: string[] = [];
    const row = await ofShortAttempts.transaction((tx) => {
      attempts.push(tx.attempt);
      return tx.one(slow(tx));
    });
    expect([row, attempts]).toEqual([{ pg_sleep: '', one: 1 }, ['short', 'long']]);
  });

  it('reads that wait for a lock of another client do not delay those behind them until each was cancelled', async () => {
    const ofShortAttempts = await openBusy({ shortAttempt: 100 });
    await runSql(`BEGIN; LOCK TABLE "Parent"`);
    const waiting = Array.from({ length: 15 }, (_, nth) =>
      ofShortAttempts.transaction((tx) => tx.one(sql`SELECT "n" FROM "Parent" LIMIT 1`), { caller: `caller${nth}` }),
    );
    let attempts = 0;
    const begun = performance.now();
    const one = await ofShortAttempts.transaction((tx) => {
      attempts++;
      return tx.one(sql`SELECT 1 AS "one"`);
    });
    const took = performance.now() - begun;
    expect([one, attempts]).toEqual([{ one: 1 }, 2]);
    expect(took).toBeLessThan(1000);
    await runSql('COMMIT');
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ n: 1 })));
  });
});

it('units of work whose flight loses its connection run again on connections of their own', async () => {
  const attempts = new Map<number, number>();
  const work = (number: number) => async (tx: Transaction) => {
    const attempt = (attempts.get(number) ?? 0) + 1;
    attempts.set(number, attempt);
    const cut = number === 0 && attempt === 1 ? 'pg_terminate_backend(pg_backend_pid())' : 'true';
    return tx.one({ sql: `SELECT ${number} AS "number" WHERE ${cut}`, parameters: [] });
  };
  const numbers = Array.from({ length: 16 }, (_, number) => number);
  const answers = await Promise.all(numbers.map((number) => database.transaction(work(number))));
  expect(answers).toEqual(numbers.map((number) => ({ number })));
  expect(Math.max(...attempts.values())).toBe(2);
});
