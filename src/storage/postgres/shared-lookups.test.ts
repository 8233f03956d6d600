import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { Database, Statement, Transaction } from '../contract.ts';
import { parsePostgresUrl } from './connection-string.ts';
import { SharedConnectionFailed } from './driver-error.ts';
import { toBatches } from './lookup-batches.ts';
import { createConnectionSlots, createNetworkFailures, createPool } from './pool.ts';
import { FAMILY } from './postgres.fixture.ts';
import { createSharedLookups } from './shared-lookups.ts';
import { openSlowQueries, runWithLostConnection } from './slow-query.fixture.ts';

const { runSql, openShort, closeAll } = openSlowQueries('storage_postgres_lookups');

beforeAll(async () => {
  await openShort();
  await closeAll();
});
// A database for each test: for a moment after a flight has failed, there is none.
let database: Database;
beforeEach(async () => {
  await runSql(`${FAMILY}; INSERT INTO "Parent" ("id", "n") VALUES ('a', 1)`);
  // A slow machine cuts no flight.
  database = await openShort({ connections: 4, shortAttempt: 30_000 });
});
afterEach(closeAll);

/** Returns the statement of a lookup. */
const lookup = (text: string): Statement => ({ sql: text, parameters: [], isLookup: true });

/** Returns the process of the server that runs a lookup. */
async function lookUpProcess(tx: Transaction): Promise<number | undefined> {
  return (await tx.one<{ pid: number }>(lookup('SELECT pg_backend_pid() AS "pid"')))?.pid;
}

/** Returns the process of the server that runs other statements of a unit of work. */
async function processOf(tx: Transaction): Promise<number | undefined> {
  return (await tx.one<{ pid: number }>(sql`SELECT pg_backend_pid() AS "pid"`))?.pid;
}

describe('lookups', () => {
  it('lookups of concurrent units of work run on few connections, and other statements on one of their own', async () => {
    const work = async (tx: Transaction) => [await lookUpProcess(tx), await lookUpProcess(tx), await processOf(tx)];
    const processes = await Promise.all(Array.from({ length: 40 }, () => database.transaction(work)));
    const shared = new Set(processes.flatMap((each) => each.slice(0, 2)));
    expect(shared.size).toBeLessThanOrEqual(2);
    expect(processes.filter(([, , own]) => shared.has(own))).toEqual([]);
  });

  it('a lookup of a unit of work that has a connection runs there, so it reads what the unit of work wrote', async () => {
    const read = async (tx: Transaction) => (await tx.one<{ n: number }>(lookup(`SELECT "n" FROM "Parent" WHERE "id" = 'a'`)))?.n;
    const found = await database.transaction(async (tx) => {
      const before = await read(tx);
      await tx.run(sql`UPDATE "Parent" SET "n" = 2 WHERE "id" = 'a'`);
      return [before, await read(tx), (await lookUpProcess(tx)) === (await processOf(tx))];
    });
    expect(found).toEqual([1, 2, true]);
  });
});

describe('lookups with the same text', () => {
  it('share a statement, and each gets its own row', async () => {
    const given = ['a', `"b\\'`, '{c,NULL}', 'missing', ''];
    await runSql(`INSERT INTO "Parent" ("id", "n") VALUES ('"b\\''', 2), ('{c,NULL}', NULL), ('', 4)`);
    const text = `SELECT "n", "id" AS "$1", '$1' AS "literal", statement_timestamp()::text AS "at" FROM "Parent" WHERE "id" = $1`;
    const rows = await Promise.all(
      given.map((id) => database.transaction((tx) => tx.one({ sql: text, parameters: [id], isLookup: true }))),
    );
    const at = rows[0]?.['at'];
    const expected = [1, 2, null, undefined, 4].map((n, index) =>
      n === undefined ? undefined : { n, $1: given[index], literal: '$1', at },
    );
    expect(rows).toEqual(expected);
  });
});

describe('a flight', () => {
  it('reads the revision before all other rows, because it must not be newer than they are', () => {
    const user = { statement: { ...lookup('user'), parameters: ['a'] } };
    const revision = { statement: { ...lookup('revision'), keepsRow: true as const } };
    const batches = toBatches([user, revision, user, revision]);
    expect(batches.map(({ lookups }) => lookups)).toEqual([
      [revision, revision],
      [user, user],
    ]);
  });
});

describe('a flight that fails', () => {
  it('units of work whose flight loses its connection run again on connections of their own', async () => {
    const { numbers, attempts } = await runWithLostConnection(database, { count: 20, isLookup: true });
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, number) => number));
    expect(attempts).toBe(2);
  });

  it('lookups that wait for a lock of another client do not delay those behind them until each was cancelled', async () => {
    const ofShortAttempts = await openShort({ connections: 4 });
    await runSql(`BEGIN; LOCK TABLE "Parent"`);
    const waiting = Array.from({ length: 20 }, () => ofShortAttempts.transaction((tx) => tx.one(lookup('SELECT "n" FROM "Parent"'))));
    let attempts = 0;
    const one = await ofShortAttempts.transaction((tx) => {
      attempts++;
      return tx.one(lookup('SELECT 1 AS "one"'));
    });
    expect([one, attempts]).toEqual([{ one: 1 }, 2]);
    await runSql('COMMIT');
    expect(await Promise.all(waiting)).toEqual(waiting.map(() => ({ n: 1 })));
  });

  it('rejects a later lookup of the same unit of work instead of leaving it without an answer', { timeout: 20_000 }, async () => {
    const unreachable = createPool(parsePostgresUrl('postgres://ann@127.0.0.1:1/none'), 1, {
      onConnectionLost: () => undefined,
      slots: createConnectionSlots(),
      failures: createNetworkFailures(),
      sessionTimeout: 1000,
    });
    const send = createSharedLookups(unreachable, 1000).open();
    await expect(send(lookup('SELECT 1'))).rejects.toBeInstanceOf(SharedConnectionFailed);
    await expect(send(lookup('SELECT 2'))).rejects.toBeInstanceOf(SharedConnectionFailed);
    await unreachable.close();
  });
});
