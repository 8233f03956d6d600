import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Cut, type PostgresProxy, startProxy } from '../../../test/postgres/proxy.ts';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../contract.ts';
import { failure } from '../storage.fixture.ts';
import { openPostgres } from './database.ts';
import { LOG, openFamily } from './postgres.fixture.ts';
import { staleFunctionSql } from './relation-checks.ts';

const { url, open, runSql, close } = openFamily('storage_postgres_in_doubt');

let direct: Database;
let proxy: PostgresProxy;
let database: Database;
beforeAll(async () => {
  direct = await open();
  await runSql(
    `CREATE TABLE "Count" ("id" TEXT DEFAULT 'count', "n" BIGINT); ${staleFunctionSql()}; CREATE TABLE "Log" ("id" TEXT COLLATE "C" PRIMARY KEY);
    CREATE TABLE "Part" ("id" TEXT COLLATE "C" PRIMARY KEY)`,
  );
  proxy = await startProxy(url.href);
  database = await openPostgres({ url: proxy.url, isContended: () => false });
});
afterAll(async () => {
  await database.close();
  await proxy.close();
  await close(direct);
});
beforeEach(async () => {
  await runSql(`DELETE FROM "Count"; DELETE FROM "Log"; DELETE FROM "Part"; INSERT INTO "Count" ("n") VALUES (0)`);
  // After a few transactions the connections are known not to be shared through a pooler.
  for (let at = 0; at < 3; at++) await database.transaction((tx) => tx.one(sql`SELECT 1`));
});

let entries = 0;

/** Changes the count and appends an entry with an id that is new in each run. */
async function change(tx: Transaction): Promise<string> {
  await tx.run(sql`UPDATE "Count" SET "n" = "n" + 1`);
  const id = `entry ${++entries}`;
  tx.append(LOG, [id]);
  return id;
}

/** Changes the count with the commit that appends the entry. */
async function changeDeferred(tx: Transaction): Promise<string> {
  const isOptimistic = tx.canBeOptimistic;
  const lock = isOptimistic ? sql`` : tx.rowLock('noKeyUpdate');
  const found = await tx.one<{ n: number }>(sql`SELECT "n" FROM "Count"${lock}`);
  const update = { row: 'Count', table: sql`"Count"`, assignments: sql`"n" = "n" + 1`, where: sql`"n" = ${String(found?.n)}::bigint` };
  await tx.updateRow(update, { isOptimistic, isDeferrable: true });
  const id = `entry ${++entries}`;
  tx.append(LOG, [id]);
  return id;
}

const PART = [{ name: 'id', type: 'text' }] as const;

/** Inserts a row with a unique value with the commit that appends the entry. */
async function insertDeferred(tx: Transaction): Promise<string> {
  const id = `entry ${++entries}`;
  const statement = { sql: 'INSERT INTO "Part" ("id") VALUES ($1)', parameters: [id] };
  await tx.insertRow({
    row: `Part ${id}`,
    table: sql`"Part"`,
    columns: PART,
    statement,
    references: [],
    uniqueValues: [id],
    isDeferrable: tx.canBeOptimistic,
  });
  tx.append(LOG, [id]);
  return id;
}

/** Appends an entry, and changes nothing else. */
async function appendOnly(tx: Transaction): Promise<string> {
  const id = `entry ${++entries}`;
  tx.append(LOG, [id]);
  return id;
}

/** Returns the number of changes and insertions, and the entries. */
const stored = async (): Promise<unknown> => {
  const { rows: counts } = await runSql(`SELECT "n"::int + (SELECT count(*)::int FROM "Part") AS "n" FROM "Count"`);
  const { rows: log } = await runSql(`SELECT "id" FROM "Log" ORDER BY "id"`);
  return [counts[0].n, log.map(({ id }) => id)];
};

describe.each<Cut>(['before', 'after'])('a connection lost at COMMIT, %s the server commits', (how) => {
  it.each([
    ['a change', change, 1],
    ['a deferred change', changeDeferred, 1],
    ['a deferred insertion', insertDeferred, 1],
    ['an entry alone', appendOnly, 0],
  ])(`saves %s exactly once if the connection is lost ${how} the server commits`, async (_, work, count) => {
    proxy.cut(how);
    const before = proxy.cuts;
    const id = await database.transaction(work);
    expect(proxy.cuts).toBe(before + 1);
    expect(await stored()).toEqual([count, [id]]);
  });

  it(`saves each entry of a commit batch exactly once if the connection is lost ${how} the server commits`, async () => {
    proxy.cut(how);
    const ids = await Promise.all(Array.from({ length: 50 }, () => database.transaction(appendOnly)));
    expect(await stored()).toEqual([0, ids.toSorted()]);
  });
});

describe('a COMMIT that reaches the server late', () => {
  it('awaits a COMMIT that reaches the server late, and does not make the change twice', async () => {
    proxy.cut('late');
    const before = proxy.cuts;
    const changed = database.transaction(change);
    await expect.poll(() => proxy.cuts).toBe(before + 1);
    // The retry waits meanwhile.
    await database.transaction((tx) => tx.one(sql`SELECT pg_sleep(0.2)`));
    proxy.deliver();
    const id = await changed;
    expect(await stored()).toEqual([1, [id]]);
  });

  it.each([
    ['an entry', appendOnly, 0],
    ['a deferred change', changeDeferred, 1],
    ['a deferred insertion', insertDeferred, 1],
  ])('a late COMMIT does not save %s again that the retry has saved', async (_, work, count) => {
    proxy.cut('late');
    const before = proxy.cuts;
    const appended = database.transaction(work);
    await expect.poll(() => proxy.cuts).toBe(before + 1);
    proxy.deliver();
    expect(await stored().then(() => appended)).toBe(`entry ${entries}`);
    expect(await stored()).toEqual([count, [await appended]]);
  });
});

it.each([
  ['a change', change],
  ['a deferred change', changeDeferred],
  ['a deferred insertion', insertDeferred],
])('the commit of %s whose outcome stays unknown fails with a hint that it may have been saved', async (_, work) => {
  const lost = await startProxy(url.href);
  const disconnected = await openPostgres({ url: lost.url, inDoubtTimeout: 300 });
  for (let at = 0; at < 3; at++) await disconnected.transaction((tx) => tx.one(sql`SELECT 1`));
  lost.cut('last');
  expect(await failure(disconnected.transaction(work))).toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    extras: { hint: expect.stringContaining('the change may have been saved'), mayBeStored: true },
  });
  await disconnected.close();
  await lost.close();
});

describe('a locked row of a deferred change whose commit is in doubt', () => {
  /** Loses the connection of a deferred change at its commit, and locks its row for some milliseconds. Returns the outcome of the change, and its runs. */
  async function changeLocked(milliseconds: number): Promise<{ readonly outcome: unknown; readonly runs: number }> {
    const locked = Promise.withResolvers<void>();
    let holder: Promise<unknown> | undefined;
    let runs = 0;
    proxy.cut('before');
    const outcome = await failureOrAnswer(
      database.transaction(async (tx) => {
        runs++;
        const id = await changeDeferred(tx);
        const hold = async (other: Transaction): Promise<void> => {
          await other.one(sql`SELECT "n" FROM "Count" FOR UPDATE`);
          locked.resolve();
          await setTimeout(milliseconds);
        };
        holder ??= direct.transaction(hold, { unlimited: true });
        await locked.promise;
        return id;
      }),
    );
    await holder;
    return { outcome, runs };
  }

  it('does the change once if the row is free soon', async () => {
    const { outcome, runs } = await changeLocked(60);
    expect([outcome, runs]).toEqual([`entry ${entries}`, 1]);
    expect(await stored()).toEqual([1, [outcome]]);
  });

  it('fails with a hint if the row stays locked, and does not run again', async () => {
    const { outcome, runs } = await changeLocked(2000);
    expect([outcome, runs]).toMatchObject([
      { code: 'STORAGE_UNAVAILABLE', extras: { hint: expect.stringContaining('may have been saved') } },
      1,
    ]);
    expect(await stored()).toEqual([0, []]);
  });
});

it('a deferred insertion whose commit is in doubt fails with a hint if its unique value is taken, and does not run again', async () => {
  let runs = 0;
  proxy.cut('before');
  const error = await failure(
    database.transaction(async (tx) => {
      runs++;
      const id = await insertDeferred(tx);
      await runSql('INSERT INTO "Part" ("id") VALUES ($1)', [id]);
    }),
  );
  expect([error, runs]).toMatchObject([
    { code: 'STORAGE_UNAVAILABLE', extras: { hint: expect.stringContaining('may have been saved') } },
    1,
  ]);
  expect(await stored()).toEqual([1, []]);
});

function failureOrAnswer(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch((error: unknown) => error);
}
