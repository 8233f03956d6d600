import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Problem } from '../../errors.ts';
import { sql } from '../../sql.ts';
import type { Database, ReadSet, Transaction } from '../contract.ts';
import { advanceRevision, loadRevision, lockPolicies } from '../revision.ts';
import { failure } from '../storage.fixture.ts';
import { commitValidationSql, toCommitValidation } from './commit-validation.ts';
import { openFamily } from './postgres.fixture.ts';

const { open, ask, close } = openFamily('storage_postgres_guard');

let database: Database;
beforeAll(async () => {
  database = await open({ connections: 8 });
  await ask(`
    CREATE TABLE "_State" ("id" TEXT COLLATE "C" PRIMARY KEY, "number" BIGINT, "text" TEXT);
    CREATE TABLE "_Epoch" ("id" TEXT COLLATE "C" PRIMARY KEY, "number" BIGINT, "at" TEXT);
    CREATE TABLE "User" ("id" TEXT COLLATE "C" PRIMARY KEY, "version" BIGINT, "role" TEXT);
    CREATE TABLE "_Session" ("id" TEXT COLLATE "C" PRIMARY KEY, "revokedAt" TEXT);
    CREATE TABLE "Done" ("what" TEXT)`);
});
afterAll(() => close(database));
beforeEach(() =>
  ask(`
    ${commitValidationSql()};
    DELETE FROM "_State"; DELETE FROM "User"; DELETE FROM "_Session"; DELETE FROM "Done";
    INSERT INTO "_State" VALUES ('epoch', 1, 'first');
    INSERT INTO "User" VALUES ('ann', 1, 'admin'), ('bob', 1, 'user');
    INSERT INTO "_Session" VALUES ('login', NULL)`),
);

/** Whatever this was done under is in its text. */
const note = (tx: Transaction, what: string): Promise<unknown> => tx.run(sql`INSERT INTO "Done" ("what") VALUES (${what})`);
const done = async (): Promise<readonly unknown[]> => (await ask(`SELECT "what" FROM "Done" ORDER BY "what"`)).rows.map(({ what }) => what);

/** What is found, rests on it and is noted; `meanwhile` is done by somebody else the first time, before it commits. */
async function decide(
  load: (tx: Transaction) => Promise<{ basis: ReadSet; seen: string }>,
  meanwhile: () => Promise<unknown>,
): Promise<void> {
  let runs = 0;
  await database.transaction(async (tx) => {
    const { basis, seen } = await load(tx);
    tx.addToReadSet(basis);
    await note(tx, seen);
    if (runs++ === 0) await meanwhile();
  });
}

const byEpoch = async (tx: Transaction) => {
  const { stamp } = await loadRevision(tx);
  return { basis: { revision: stamp }, seen: stamp };
};
const byUser = async (tx: Transaction) => {
  const ann = await tx.one<{ version: number; role: string }>(sql`SELECT "version", "role" FROM "User" WHERE "id" = 'ann'`);
  return { basis: { users: [{ id: 'ann', version: ann?.version ?? 0 }] }, seen: ann?.role ?? 'nobody' };
};
const bySession = async (tx: Transaction) => {
  const login = await tx.one(sql`SELECT 1 FROM "_Session" WHERE "id" = 'login' AND "revokedAt" IS NULL`);
  return { basis: login === undefined ? {} : { sessions: [{ id: 'login', userId: 'ann' }] }, seen: login === undefined ? 'out' : 'in' };
};
const byClock = async (tx: Transaction) => ({
  basis: tx.now < expires ? { validUntil: expires } : {},
  seen: tx.now < expires ? 'valid' : 'expired',
});
let expires = 0;

const revoke = () => ask(`UPDATE "_State" SET "number" = 2, "text" = 'second'`);
const demote = () => ask(`UPDATE "User" SET "version" = 2, "role" = 'user' WHERE "id" = 'ann'`);
const remove = () => ask(`DELETE FROM "User" WHERE "id" = 'ann'`);
const logOut = () => ask(`UPDATE "_Session" SET "revokedAt" = 'now'`);
const waitUntil = (time: number) => ask(`SELECT pg_sleep(greatest(0, ${time} / 1000.0 - extract(epoch FROM clock_timestamp())))`);

const CASES = [
  ['a policy is revoked', byEpoch, revoke, 'first', 'second'],
  ['a user is demoted', byUser, demote, 'admin', 'user'],
  ['a user is deleted', byUser, remove, 'admin', 'nobody'],
  ['a login ends', bySession, logOut, 'in', 'out'],
  ['an assignment expires, by the clock of the server', byClock, () => waitUntil(expires), 'valid', 'expired'],
] as const;

describe('what is decided is decided again where, before it commits,', () => {
  beforeEach(async () => {
    expires = await database.transaction(async (tx) => tx.now + 300);
  });

  it.each(CASES)('%s', async (_, load, meanwhile, __, now) => {
    await decide(load, meanwhile);
    expect(await done()).toEqual([now]);
  });

  it.each(CASES)('%s: which nobody would have noticed without the guard', async (_, load, meanwhile, before) => {
    await ask(commitValidationSql().replace(/BEGIN[\s\S]*END \$guard\$/, 'BEGIN RETURN 0; END $guard$'));
    await decide(load, meanwhile);
    expect(await done()).toEqual([before]);
  });
});

describe('a work', () => {
  it('that sees two states is run again', async () => {
    let runs = 0;
    await database.transaction(async (tx) => {
      tx.addToReadSet((await byEpoch(tx)).basis);
      if (runs++ === 0) await revoke();
      // Got over, and run again all the same.
      await failure((async () => tx.addToReadSet((await byEpoch(tx)).basis))());
    });
    expect(runs).toBe(2);
  });

  it('may change what it rests on, from what it found', async () => {
    await database.transaction(async (tx) => {
      tx.addToReadSet((await byEpoch(tx)).basis);
      tx.addToReadSet((await byUser(tx)).basis);
      tx.addToReadSet((await bySession(tx)).basis);
      await advanceRevision(tx);
      await tx.run(sql`UPDATE "User" SET "version" = 2 WHERE "id" = 'ann'`);
      tx.addToWriteSet({ users: [{ id: 'ann', version: 1 }] });
      await tx.run(sql`UPDATE "_Session" SET "revokedAt" = 'now'`);
      tx.addToWriteSet({ endedSessionsOf: ['ann'] });
      tx.addToReadSet((await byEpoch(tx)).basis);
      tx.addToReadSet((await byUser(tx)).basis);
      await note(tx, 'all');
    });
    expect(await done()).toEqual(['all']);
  });

  it('rests on what was there before, where its change is undone', async () => {
    let runs = 0;
    const work = database.transaction(async (tx) => {
      const { basis } = await byUser(tx);
      tx.addToReadSet(basis);
      await failure(
        tx.savepoint(async () => {
          await tx.run(sql`UPDATE "User" SET "version" = "version" + 1 WHERE "id" = 'ann'`);
          tx.addToWriteSet({ users: basis.users });
          throw new Error('no');
        }),
      );
      await note(tx, (await byUser(tx)).seen);
      if (runs++ === 0) await demote();
    });
    await work;
    expect([runs, await done()]).toEqual([2, ['user']]);
  });

  it('that never finds it still so is refused as busy, in the end', async () => {
    let runs = 0;
    const work = database.transaction(async (tx) => {
      tx.addToReadSet((await byEpoch(tx)).basis);
      await ask(`UPDATE "_State" SET "text" = 'other ${++runs}'`);
      await note(tx, 'never');
    });
    expect(await failure(work)).toMatchObject({ code: 'STORAGE_BUSY' });
    expect([runs, await done()]).toEqual([10, []]);
  });
});

it('many at once that begin an epoch, one after the other, all come to an end', async () => {
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

describe('of two at once', () => {
  it('that begin an epoch, the second decides under that of the first', async () => {
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

  it('the one that revokes waits for the one that has looked and not yet committed', async () => {
    await ask('BEGIN');
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
    await ask(text, parameters);
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
      await note(tx, 'of somebody else');
    });
    const held = `SELECT count(*)::int AS n FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    await expect.poll(async () => (await ask(held)).rows[0]?.n).toBe(2);
    order.push('committed');
    await ask('COMMIT');
    await Promise.all([revoked, demoted]);
    expect(order[0]).toBe('committed');
  });
});

it('many at once, of whom some change what others rest on, come to an end', async () => {
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
