import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Cut, type PostgresProxy, startProxy } from '../../../test/postgres/proxy.ts';
import { sql } from '../../sql.ts';
import type { AppendStatements, Database, Transaction } from '../contract.ts';
import { failure } from '../storage.fixture.ts';
import { openPostgres } from './database.ts';
import { openFamily } from './postgres.fixture.ts';

const { url, open, ask, close } = openFamily('storage_postgres_fate');

let direct: Database;
let proxy: PostgresProxy;
let database: Database;
beforeAll(async () => {
  direct = await open();
  await ask(`CREATE TABLE "Count" ("n" BIGINT); CREATE TABLE "Log" ("id" TEXT COLLATE "C" PRIMARY KEY)`);
  proxy = await startProxy(url.href);
  database = await openPostgres({ url: proxy.url });
});
afterAll(async () => {
  await database.close();
  await proxy.close();
  await close(direct);
});
beforeEach(async () => {
  await ask(`DELETE FROM "Count"; DELETE FROM "Log"; INSERT INTO "Count" VALUES (0)`);
  // On connections that are known to be our own.
  for (let at = 0; at < 3; at++) await database.transaction((tx) => tx.one(sql`SELECT 1`));
});

const LOG: AppendStatements<string> = {
  write: (_, ids) => ids.map((id) => sql`INSERT INTO "Log" ("id") VALUES (${id})`),
  find: (id) => sql`SELECT 1 FROM "Log" WHERE "id" = ${id}`,
};

let entries = 0;

/** A change and its entry, by a name that is new each time it is run. */
async function change(tx: Transaction): Promise<string> {
  await tx.run(sql`UPDATE "Count" SET "n" = "n" + 1`);
  const id = `entry ${++entries}`;
  await tx.append(LOG, [id]);
  return id;
}

/** An entry and nothing else. */
async function look(tx: Transaction): Promise<string> {
  const id = `entry ${++entries}`;
  await tx.append(LOG, [id]);
  return id;
}

const stored = async (): Promise<unknown> => {
  const { rows: counts } = await ask(`SELECT "n"::int FROM "Count"`);
  const { rows: log } = await ask(`SELECT "id" FROM "Log" ORDER BY "id"`);
  return [counts[0].n, log.map(({ id }) => id)];
};

describe.each<Cut>(['before', 'after'])('a connection that is cut off at COMMIT, %s the server has done it', (how) => {
  it.each([
    ['a change', change, 1],
    ['an entry alone', look, 0],
  ])('leaves %s done once', async (_, work, count) => {
    proxy.cut(how);
    const before = proxy.cuts;
    const id = await database.transaction(work);
    expect(proxy.cuts).toBe(before + 1);
    expect(await stored()).toEqual([count, [id]]);
  });

  it('leaves each of many entries that share a commit', async () => {
    proxy.cut(how);
    const ids = await Promise.all(Array.from({ length: 50 }, () => database.transaction(look)));
    expect(await stored()).toEqual([0, ids.toSorted()]);
  });
});

describe('a COMMIT that comes late', () => {
  it('is waited for, and the change is not made twice', async () => {
    proxy.cut('late');
    const before = proxy.cuts;
    const changed = database.transaction(change);
    await expect.poll(() => proxy.cuts).toBe(before + 1);
    // Asked meanwhile, and not yet told.
    await database.transaction((tx) => tx.one(sql`SELECT pg_sleep(0.2)`));
    proxy.deliver();
    const id = await changed;
    expect(await stored()).toEqual([1, [id]]);
  });

  it('finds the entries written that it would have written', async () => {
    proxy.cut('late');
    const before = proxy.cuts;
    const looked = database.transaction(look);
    await expect.poll(() => proxy.cuts).toBe(before + 1);
    proxy.deliver();
    expect(await stored().then(() => looked)).toBe(`entry ${entries}`);
    expect(await stored()).toEqual([0, [await looked]]);
  });
});

it('what nobody can find out is not said to have failed, nor to be done', async () => {
  const lost = await startProxy(url.href);
  const cutOff = await openPostgres({ url: lost.url, inDoubtTimeout: 300 });
  for (let at = 0; at < 3; at++) await cutOff.transaction((tx) => tx.one(sql`SELECT 1`));
  lost.cut('last');
  expect(await failure(cutOff.transaction(change))).toMatchObject({
    code: 'STORAGE_UNAVAILABLE',
    extras: { hint: expect.stringContaining('the change may have been saved') },
  });
  await cutOff.close();
  await lost.close();
});
