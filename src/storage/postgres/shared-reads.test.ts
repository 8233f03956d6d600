import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../contract.ts';
import type { PostgresOptions } from './database.ts';
import { FAMILY, LOG } from './postgres.fixture.ts';
import { openSlowQueries, runWithLostConnection, slow } from './slow-query.fixture.ts';

const { runSql, openShort, closeAll } = openSlowQueries('storage_postgres_reads');

beforeAll(async () => {
  await openShort();
  await closeAll();
  await runSql(`${FAMILY}; CREATE TABLE "Log" ("id" TEXT PRIMARY KEY)`);
});
let contended = true;
let database: Database;
beforeEach(async () => {
  contended = true;
  await runSql(`TRUNCATE "Parent", "Child", "Log"; INSERT INTO "Parent" ("id", "n") VALUES ('a', 1)`);
  database = await openContended();
});
afterEach(closeAll);

/** Opens a database whose reads are shared while `contended` is true. A slow machine cuts no flight by default. */
function openContended(options: Omit<PostgresOptions, 'url'> = {}): Promise<Database> {
  return openShort({ connections: 6, shortAttempt: 30_000, isContended: () => contended, ...options });
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
  return new Set(await Promise.all(Array.from({ length: 30 }, () => read('first', { text: 'first' }))));
}

describe('reads', () => {
  it('reads share few connections while there is contention, and otherwise each takes one of its own', async () => {
    const shared = await sharedProcesses();
    expect(shared.size).toBeLessThanOrEqual(2);
    contended = false;
    const own = new Set(await Promise.all(Array.from({ length: 6 }, () => read('first', { seconds: 0.1 }))));
    expect(own.size).toBe(6);
    expect([...shared].filter((process) => own.has(process))).toEqual([]);
  });

  it('each gets its own rows', async () => {
    const shared = await sharedProcesses();
    const numbers = Array.from({ length: 40 }, (_, number) => number);
    const rows = await Promise.all(
      numbers.map((n) =>
        database.transaction((tx) => tx.one<{ n: number; pid: number }>(sql`SELECT ${n}::int AS "n", pg_backend_pid() AS "pid"`)),
      ),
    );
    expect(rows.map((row) => row?.n)).toEqual(numbers);
    expect(rows.some((row) => shared.has(row?.pid))).toBe(true);
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
  it('reads with its text and of its caller take connections of their own for a while, and others do not', async () => {
    const shared = await sharedProcesses();
    await read('slow', { text: 'slow', seconds: 0.12 });
    const processes = [await read('other', { text: 'slow' }), await read('slow'), await read('other')];
    expect(processes.map((process) => shared.has(process))).toEqual([false, false, true]);
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

  it('statements of one unit of work are executed in the order in which it sends them', async () => {
    const shared = await sharedProcesses();
    const columns = 'extract(epoch FROM clock_timestamp())::text AS "at", pg_backend_pid() AS "pid"';
    const run = (tx: Transaction, seconds: number): Promise<{ at: string; pid: number } | undefined> =>
      tx.one({ sql: `SELECT ${columns}, pg_sleep($1) AS "slow"`, parameters: [seconds] });
    const runQuick = (tx: Transaction, text: string, how: { readonly isLookup?: true } = {}) =>
      tx.one<{ at: string; pid: number }>({ sql: `SELECT ${columns}, 1 AS "${text}"`, parameters: [], ...how });
    await database.transaction((tx) => run(tx, 0.12), { caller: 'slow' });
    // Both connections for reads are taken.
    const others = [0, 1].map((nth) => read(`caller ${nth}`, { text: `text ${nth}`, seconds: 0.3 }));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const rows = await database.transaction((tx) => {
      const first = runQuick(tx, 'first');
      const later = first.then(() => runQuick(tx, 'later'));
      const written = first.then(() => tx.run(sql`UPDATE "Parent" SET "n" = 3`)).then(() => runQuick(tx, 'written'));
      return Promise.all([first, run(tx, 0), runQuick(tx, 'lookup', { isLookup: true }), later, written]);
    });
    const times = rows.map((row) => Number(row?.at));
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(rows.slice(0, 2).map((row) => shared.has(row?.pid))).toEqual([true, false]);
    await Promise.all(others);
  });

  it('the time in which a read waits behind others does not count as its own', async () => {
    const ofShortAttempts = await openContended({ shortAttempt: 2000 });
    const others = Array.from({ length: 5 }, (_, nth) =>
      ofShortAttempts.transaction((tx) => processOf(tx, { text: `text${nth}`, seconds: 0.3 }), { caller: `caller${nth}` }),
    );
    let attempts = 0;
    const remaining = await ofShortAttempts.transaction(async (tx) => {
      attempts++;
      await tx.one(slow(tx, 0));
      return tx.remaining();
    });
    expect(remaining).toBeGreaterThan(1000);
    expect(attempts).toBe(1);
    await Promise.all(others);
  });

  it('the time in which a read waits for a flight and leaves it does not count as its own', async () => {
    const ofShortAttempts = await openContended({ shortAttempt: 2000 });
    const begin = (caller: string): Promise<unknown> => ofShortAttempts.transaction((tx) => tx.one(slow(tx, 1.5)), { caller });
    const others = [begin('ann'), new Promise((resolve) => setTimeout(resolve, 50)).then(() => begin('bob'))];
    await new Promise((resolve) => setTimeout(resolve, 100));
    const remaining = await ofShortAttempts.transaction(async (tx) => {
      await tx.one(slow(tx, 0));
      return tx.remaining();
    });
    expect(remaining).toBeGreaterThan(1000);
    await Promise.all(others);
  });

  it('runs again as a long attempt if it takes longer than a short one may', async () => {
    const ofShortAttempts = await openContended({ shortAttempt: 200 });
    const attempts: string[] = [];
    const row = await ofShortAttempts.transaction((tx) => {
      attempts.push(tx.attempt);
      return tx.one(slow(tx, 0.8));
    });
    expect([row, attempts]).toEqual([{ pg_sleep: '', one: 1 }, ['short', 'long']]);
  });

  it('reads that wait for a lock of another client do not delay those behind them until each was cancelled', async () => {
    const ofShortAttempts = await openContended({ shortAttempt: 100 });
    await runSql(`BEGIN; LOCK TABLE "Parent"`);
    // Both flights have some of them.
    const waiting = Array.from({ length: 32 }, (_, nth) =>
      ofShortAttempts.transaction((tx) => tx.one(sql`SELECT "n" AS ${sql.raw(`"n${nth}"`)} FROM "Parent"`), { caller: `caller${nth}` }),
    );
    try {
      let attempts = 0;
      const one = await ofShortAttempts.transaction((tx) => {
        attempts++;
        return tx.one(sql`SELECT 1 AS "one"`);
      });
      expect([one, attempts]).toEqual([{ one: 1 }, 2]);
    } finally {
      await runSql('COMMIT');
    }
    expect(await Promise.all(waiting)).toEqual(waiting.map((_, nth) => ({ [`n${nth}`]: 1 })));
  });
});

it('units of work whose flight loses its connection run again on connections of their own', async () => {
  // Some of them wait for another flight.
  const { numbers, attempts } = await runWithLostConnection(database, { count: 60 });
  expect(numbers).toEqual(Array.from({ length: 60 }, (_, number) => number));
  expect(attempts).toBe(2);
});
