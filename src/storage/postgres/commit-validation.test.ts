import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../../errors.ts';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../contract.ts';
import { advanceRevision, loadRevision, lockPolicies } from '../policies/revision.ts';
import type { ReadSet } from '../read-set.ts';
import { failure } from '../storage.fixture.ts';
import { commitValidationSql, toCommitValidation } from './commit-validation.ts';
import { openFamily } from './postgres.fixture.ts';

const { open, runSql, close } = openFamily('storage_postgres_validation');

let database: Database;
beforeAll(async () => {
  database = await open({ connections: 8 });
  await runSql(`
    CREATE TABLE "_State" ("id" TEXT COLLATE "C" PRIMARY KEY, "number" BIGINT, "text" TEXT);
    CREATE TABLE "_Epoch" ("id" TEXT COLLATE "C" PRIMARY KEY, "number" BIGINT, "at" TEXT);
    CREATE TABLE "User" ("id" TEXT COLLATE "C" PRIMARY KEY, "version" BIGINT, "role" TEXT);
    CREATE TABLE "_Session" ("id" TEXT COLLATE "C" PRIMARY KEY, "revokedAt" TEXT);
    CREATE TABLE "Done" ("what" TEXT)`);
});
afterAll(() => close(database));
beforeEach(() =>
  runSql(`
    ${commitValidationSql()};
    DELETE FROM "_State"; DELETE FROM "User"; DELETE FROM "_Session"; DELETE FROM "Done";
    INSERT INTO "_State" VALUES ('epoch', 1, 'first');
    INSERT INTO "User" VALUES ('ann', 1, 'admin'), ('bob', 1, 'user');
    INSERT INTO "_Session" VALUES ('login', NULL)`),
);

/** Saves a note that names the state in which it was made. */
const note = (tx: Transaction, what: string): Promise<unknown> => tx.run(sql`INSERT INTO "Done" ("what") VALUES (${what})`);
const done = async (): Promise<readonly unknown[]> =>
  (await runSql(`SELECT "what" FROM "Done" ORDER BY "what"`)).rows.map(({ what }) => what);

/** Adds the loaded state to the read set and saves a note of it. In the first run, `meanwhile` changes the state before the commit. */
async function noteState(
  load: (tx: Transaction) => Promise<{ readSet: ReadSet; seen: string }>,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  let runs = 0;
  await database.transaction(async (tx) => {
    const { readSet, seen } = await load(tx);
    tx.addToReadSet(readSet);
    await note(tx, seen);
    if (runs++ === 0) await meanwhile();
  });
}

const byRevision = async (tx: Transaction) => {
  const { stamp } = await loadRevision(tx);
  return { readSet: { revision: stamp }, seen: stamp };
};
const byUser = async (tx: Transaction) => {
  const ann = await tx.one<{ version: number; role: string }>(sql`SELECT "version", "role" FROM "User" WHERE "id" = 'ann'`);
  return { readSet: { users: [{ id: 'ann', version: ann?.version ?? 0 }] }, seen: ann?.role ?? 'deleted' };
};
const bySession = async (tx: Transaction) => {
  const login = await tx.one(sql`SELECT 1 FROM "_Session" WHERE "id" = 'login' AND "revokedAt" IS NULL`);
  return { readSet: login === undefined ? {} : { sessions: [{ id: 'login', userId: 'ann' }] }, seen: login === undefined ? 'out' : 'in' };
};
const byClock = async (tx: Transaction) => {
  // Begins with the first attempt, which sees it valid on a busy machine too.
  if (expires === 0) expires = tx.now + 300;
  return { readSet: tx.now < expires ? { validUntil: expires } : {}, seen: tx.now < expires ? 'valid' : 'expired' };
};
let expires = 0;

const revoke = () => runSql(`UPDATE "_State" SET "number" = 2, "text" = 'second'`);
const demote = () => runSql(`UPDATE "User" SET "version" = 2, "role" = 'user' WHERE "id" = 'ann'`);
const remove = () => runSql(`DELETE FROM "User" WHERE "id" = 'ann'`);
const logOut = () => runSql(`UPDATE "_Session" SET "revokedAt" = 'now'`);
const waitUntil = (time: number) => runSql(`SELECT pg_sleep(greatest(0, ${time} / 1000.0 - extract(epoch FROM clock_timestamp())))`);

const CASES = [
  ['a policy is revoked', byRevision, revoke, 'first', 'second'],
  ['a user is demoted', byUser, demote, 'admin', 'user'],
  ['a user is deleted', byUser, remove, 'admin', 'deleted'],
  ['a login ends', bySession, logOut, 'in', 'out'],
  ['an assignment expires, by the clock of the server', byClock, () => waitUntil(expires), 'valid', 'expired'],
] as const;

describe('changes before a unit of work commits', () => {
  beforeEach(() => {
    expires = 0;
  });

  it.each(CASES)('retries a unit of work if, before it commits, %s', async (_, load, meanwhile, __, now) => {
    await noteState(load, meanwhile);
    expect(await done()).toEqual([now]);
  });

  it.each(CASES)('commits the stale state without commit validation if %s', async (_, load, meanwhile, before) => {
    await runSql(commitValidationSql().replace(/BEGIN[\s\S]*END \$guard\$/, 'BEGIN RETURN 0; END $guard$'));
    await noteState(load, meanwhile);
    expect(await done()).toEqual([before]);
  });
});

describe('a unit of work', () => {
  it('retries a unit of work that reads two revisions', async () => {
    let runs = 0;
    await database.transaction(async (tx) => {
      tx.addToReadSet((await byRevision(tx)).readSet);
      if (runs++ === 0) await revoke();
      // Retried though the error is ignored.
      await failure((async () => tx.addToReadSet((await byRevision(tx)).readSet))());
    });
    expect(runs).toBe(2);
  });

  it('a unit of work may change the records of its own read set', async () => {
    await database.transaction(async (tx) => {
      tx.addToReadSet((await byRevision(tx)).readSet);
      tx.addToReadSet((await byUser(tx)).readSet);
      tx.addToReadSet((await bySession(tx)).readSet);
      await advanceRevision(tx);
      await tx.run(sql`UPDATE "User" SET "version" = 2 WHERE "id" = 'ann'`);
      tx.addToWriteSet({ users: [{ id: 'ann', version: 1 }] });
      await tx.run(sql`UPDATE "_Session" SET "revokedAt" = 'now'`);
      tx.addToWriteSet({ endedSessionsOf: ['ann'] });
      tx.addToReadSet((await byRevision(tx)).readSet);
      tx.addToReadSet((await byUser(tx)).readSet);
      await note(tx, 'all');
    });
    expect(await done()).toEqual(['all']);
  });

  it('validates a unit of work against the former state if its own change is rolled back', async () => {
    let runs = 0;
    const work = database.transaction(async (tx) => {
      const { readSet } = await byUser(tx);
      tx.addToReadSet(readSet);
      await failure(
        tx.savepoint(async () => {
          await tx.run(sql`UPDATE "User" SET "version" = "version" + 1 WHERE "id" = 'ann'`);
          tx.addToWriteSet({ users: readSet.users });
          throw new Error('no');
        }),
      );
      await note(tx, (await byUser(tx)).seen);
      if (runs++ === 0) await demote();
    });
    await work;
    expect([runs, await done()]).toEqual([2, ['user']]);
  });

  it('a unit of work whose read set is stale in every run fails with STORAGE_BUSY', async () => {
    let runs = 0;
    const work = database.transaction(async (tx) => {
      tx.addToReadSet((await byRevision(tx)).readSet);
      await runSql(`UPDATE "_State" SET "text" = 'other ${++runs}'`);
      await note(tx, 'never');
    });
    expect(await failure(work)).toMatchObject({ code: 'STORAGE_BUSY' });
    expect([runs, await done()]).toEqual([10, []]);
  });
});

it('many concurrent changes that advance the revision all succeed', async () => {
  let runs = 0;
  const change = () =>
    database.transaction(async (tx) => {
      runs++;
      tx.addToReadSet({ revision: (await loadRevision(tx)).stamp });
      await lockPolicies(tx);
      return advanceRevision(tx);
    });
  const numbers = await Promise.all(Array.from({ length: 40 }, change));
  expect([new Set(numbers).size, runs < 200]).toEqual([40, true]);
});

describe('two concurrent units of work', () => {
  it('the second of two units of work that advance the revision uses the revision of the first', async () => {
    const seen: number[] = [];
    let waiting = 0;
    const change = () =>
      database.transaction(async (tx) => {
        const { number, stamp } = await loadRevision(tx);
        tx.addToReadSet({ revision: stamp });
        seen.push(number);
        waiting++;
        while (waiting < 2) await tx.one(sql`SELECT pg_sleep(0.01)`);
        return advanceRevision(tx);
      });
    const numbers = await Promise.all([change(), change()]);
    expect([numbers.toSorted(), seen]).toEqual([
      [2, 3],
      [1, 1, 2],
    ]);
  });

  it('a unit of work that revokes waits until one that was validated has committed', async () => {
    await runSql('BEGIN');
    const { sql: text, parameters } = toCommitValidation([
      {
        revision: 'first',
        users: new Map([['ann', 1]]),
        sessions: ['login'],
        validUntil: Number.POSITIVE_INFINITY,
        advancesRevision: false,
        changedUsers: new Set(),
      },
    ]);
    await runSql(text, parameters);
    const order: string[] = [];
    const revoked = database.transaction((tx) => advanceRevision(tx)).then(() => order.push('revoked'));
    const demoted = database
      .transaction(async (tx) => {
        await tx.run(sql`UPDATE "User" SET "version" = 2 WHERE "id" = 'ann'`);
        tx.addToWriteSet({ users: [{ id: 'ann', version: 1 }] });
      })
      .then(() => order.push('demoted'));
    await database.transaction(async (tx) => {
      tx.addToReadSet({ users: [{ id: 'bob', version: 1 }] });
      await note(tx, 'of another user');
    });
    const held = `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    await expect.poll(async () => (await runSql(held)).rows[0]?.n).toBe(2);
    order.push('committed');
    await runSql('COMMIT');
    await Promise.all([revoked, demoted]);
    expect(order[0]).toBe('committed');
  });
});

it('many concurrent units of work that change each other’s read sets come to an end', async () => {
  const change = (id: string, by: number) =>
    database.transaction(async (tx) => {
      const { stamp } = await loadRevision(tx);
      const user = await tx.one<{ version: number }>(sql`SELECT "version" FROM "User" WHERE "id" = ${id}`);
      tx.addToReadSet({ revision: stamp, users: [{ id, version: user?.version ?? 0 }] });
      if (by % 5 === 0) await advanceRevision(tx);
      if (by % 3 !== 0) return;
      const found = await tx.one<{ version: number }>(sql`SELECT "version" FROM "User" WHERE "id" = ${id}${tx.rowLock('noKeyUpdate')}`);
      await tx.run(sql`UPDATE "User" SET "version" = "version" + 1 WHERE "id" = ${id}`);
      tx.addToWriteSet({ users: [{ id, version: found?.version ?? 0 }] });
    });
  const ended = await Promise.allSettled(Array.from({ length: 100 }, (_, by) => change(by % 2 === 0 ? 'ann' : 'bob', by)));
  const failed = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(failed.filter((error) => !(error instanceof Problem && error.code === 'STORAGE_BUSY'))).toEqual([]);
});
