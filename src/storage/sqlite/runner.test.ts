import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { AttemptEnded, TimeLimit } from '../attempt.ts';
import type { Database, Transaction } from '../contract.ts';
import { checked, countThings, LOG_ROWS, logged, openThings, recordThreads, type ThingDatabase } from './reader.fixture.ts';
import { codeOf } from './sqlite.fixture.ts';

let things: ThingDatabase;
let database: Database;
/** The attempts at the unit of work of the test. */
let attempts: string[];

beforeEach(async () => {
  things = await openThings();
  database = things.database;
  attempts = [];
});
afterEach(() => things.dispose());

const begin = (tx: Transaction): void => void attempts.push(tx.attempt);
const change = (text: string): Promise<unknown> => database.transaction((tx) => tx.run(sql`${sql.raw(text)}`));
const addThing = (tx: Transaction, id: string) => tx.run(sql`INSERT INTO "Thing" ("id") VALUES (${id})`);

describe('a unit of work whose time is up in the short attempt', () => {
  it('runs again in a reader, and its rows are appended', async () => {
    const answer = await database.transaction(async (tx) => {
      begin(tx);
      tx.append(LOG_ROWS, [tx.attempt]);
      return countThings(tx);
    });
    expect([answer, attempts, await logged(database)]).toEqual([1000, ['short', 'long'], ['long']]);
  });

  it('runs as the writer if it has written', async () => {
    const answer = await database.transaction(async (tx) => {
      begin(tx);
      await addThing(tx, tx.attempt);
      return countThings(tx);
    });
    expect([answer, attempts]).toEqual([1001, ['short', 'writer']]);
  });

  it('runs as the writer if it has taken a lock', async () => {
    await database.transaction(async (tx) => {
      begin(tx);
      await tx.lock('things');
      return countThings(tx);
    });
    expect(attempts).toEqual(['short', 'writer']);
  });

  it('runs as the writer if it writes after a long search, and keeps what the search has found', async () => {
    const answer = await database.transaction(async (tx) => {
      begin(tx);
      const found = tx.retained.get('found') ?? (await countThings(tx));
      tx.retained.set('found', found);
      await addThing(tx, tx.attempt);
      return found;
    });
    expect([answer, attempts]).toEqual([1000, ['short', 'long', 'writer']]);
    expect(await database.transaction((tx) => tx.all(sql`SELECT "id" FROM "Thing" WHERE "n" IS NULL`))).toEqual([{ id: 'writer' }]);
  });

  it.each(['lock', 'rowLock', 'addToWriteSet', 'delete'])('runs as the writer if the long attempt calls %s', async (call) => {
    await database.transaction(async (tx) => {
      begin(tx);
      if (!tx.retained.has('found')) await countThings(tx);
      tx.retained.set('found', true);
      if (call === 'lock') await tx.lock('things');
      if (call === 'rowLock') tx.rowLock('update');
      if (call === 'addToWriteSet') tx.addToWriteSet({ revision: 'first' });
      if (call === 'delete') await tx.one(sql`DELETE FROM "Thing" WHERE "n" = 1 RETURNING "id"`);
    });
    expect(attempts).toEqual(['short', 'long', 'writer']);
  });

  it('runs again even if it catches the end of the attempt', async () => {
    const answer = await database.transaction(async (tx) => {
      begin(tx);
      const count = await tx.savepoint(() => countThings(tx)).catch(() => -1);
      if (tx.attempt === 'short') expect(() => tx.append(LOG_ROWS, ['refused'])).toThrow(AttemptEnded);
      else tx.append(LOG_ROWS, [`${count}`]);
      return count;
    });
    expect([answer, attempts, await logged(database)]).toEqual([1000, ['short', 'long'], ['1000']]);
  });

  it('begins with the long attempt if it is known to take long', async () => {
    await database.transaction(
      async (tx) => {
        begin(tx);
        await countThings(tx);
      },
      { beginsLong: true },
    );
    expect(attempts).toEqual(['long']);
  });

  it('gets no time limit if it is unlimited', async () => {
    const answer = await database.transaction(
      async (tx) => {
        begin(tx);
        expect(tx.remaining()).toBe(Number.POSITIVE_INFINITY);
        await tx.checkTime();
        return countThings(tx);
      },
      { unlimited: true },
    );
    expect([answer, attempts]).toEqual([1000, ['writer']]);
  });

  it('ends at a check of work in memory too', async () => {
    await database.transaction(async (tx) => {
      begin(tx);
      await tx.checkTime();
    });
    expect(attempts).toEqual(['short', 'long']);
  });
});

describe('the time limit of a short attempt', () => {
  it('falls if an earlier attempt of the caller has ended in the same commit batch', async () => {
    await things.dispose();
    things = await openThings({ timeLimits: { short: 40, writer: 0 } });
    database = things.database;
    const limits: unknown[] = [];
    const spin = async (tx: Transaction): Promise<void> => {
      while (tx.attempt === 'short') await tx.checkTime();
    };
    const takeLimit = async (tx: Transaction): Promise<void> => void limits.push(tx.remaining());
    const begunAt = performance.now();
    await Promise.all([
      database.transaction(takeLimit, { caller: 'one' }),
      database.transaction((tx) => countThings(tx).then(() => spin(tx)), { caller: 'one' }),
      database.transaction(takeLimit, { caller: 'one' }),
      database.transaction(takeLimit, { caller: 'other' }),
    ]);
    const isBusy = performance.now() - begunAt > 200;
    // All callers together may lose 200 ms, and a caller's loss of 40 ms is forgiven in 800 ms: the test may have waited for a processor so long.
    expect(limits).toEqual(isBusy ? [40, expect.any(Number), expect.any(Number)] : [40, 4, 40]);
  });
});

describe('the time limit of a long attempt', () => {
  it('ends its statements, and the unit of work can still answer', async () => {
    const answer = await database.transaction(async (tx) => {
      begin(tx);
      tx.limitTime(0);
      try {
        return await countThings(tx);
      } catch (error) {
        tx.append(LOG_ROWS, [String((error as Error).name)]);
        return error instanceof TimeLimit ? error.code : error;
      }
    });
    expect([answer, attempts, await logged(database)]).toEqual(['REQUEST_BUDGET', ['short', 'long'], ['Problem']]);
  });

  it('ends work in memory', async () => {
    const work = database.transaction(
      async (tx) => {
        begin(tx);
        await tx.checkTime();
      },
      { milliseconds: 0 },
    );
    expect([await codeOf(work), attempts]).toEqual(['REQUEST_BUDGET', ['short', 'long']]);
  });

  it('lets other requests in between slices of work in memory', async () => {
    let turns = 0;
    const count = setInterval(() => turns++, 0);
    await database.transaction(
      async (tx) => {
        // Does not end if no other callback runs in between.
        while (turns < 2) await tx.checkTime();
      },
      { beginsLong: true },
    );
    clearInterval(count);
  });
});

describe('the time limit of the writer', () => {
  it('ends statements, and what is caught stays undone', async () => {
    await things.dispose();
    things = await openThings({ timeLimits: { short: 0, writer: 0 } });
    database = things.database;
    const answer = await database.transaction(async (tx) => {
      begin(tx);
      await addThing(tx, 'new');
      const error = await tx.savepoint(() => countThings(tx)).catch((error: unknown) => error);
      return error instanceof TimeLimit ? error.code : error;
    });
    expect([answer, attempts]).toEqual(['REQUEST_BUDGET', ['short', 'writer']]);
    expect(await database.transaction((tx) => tx.all(sql`SELECT "id" FROM "Thing" WHERE "n" IS NULL`))).toEqual([{ id: 'new' }]);
  });
});

describe('a long attempt', () => {
  it('reads one snapshot', async () => {
    const seen = await database.transaction(
      async (tx) => {
        const before = await countThings(tx);
        await change(`DELETE FROM "Thing" WHERE "n" <= 10`);
        return [before, await countThings(tx)];
      },
      { beginsLong: true },
    );
    expect(seen).toEqual([1000, 1000]);
  });

  it('returns many rows in order, with large integers and long texts', async () => {
    const text = 'x'.repeat(1000);
    await change(`UPDATE "Thing" SET "text" = '${text}', "n" = "n" + 9007199254740992`);
    const rows = await database.transaction(
      (tx) => tx.all<{ n: bigint }>(sql`SELECT "n", "text" FROM "Thing" WHERE ${checked(tx)} ORDER BY "n"`),
      { beginsLong: true },
    );
    const expected = Array.from({ length: 1000 }, (_, index) => ({ n: 9007199254740993n + BigInt(index), text }));
    expect(rows).toEqual(expected);
  });

  it('runs several statements at once', async () => {
    const found = await database.transaction(
      (tx) => Promise.all([1, 2, 3].map((n) => tx.one(sql`SELECT "n" FROM "Thing" WHERE "n" = ${n}`))),
      { beginsLong: true },
    );
    expect(found).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
  });

  it('reports the error of a statement as on the event loop', async () => {
    const wrong = (tx: Transaction) => tx.all(sql`SELECT "missing" FROM "Thing"`);
    expect(await codeOf(database.transaction(wrong, { beginsLong: true }))).toBe('INTERNAL');
    expect(await codeOf(database.transaction(wrong))).toBe('INTERNAL');
  });

  it('sees tables as a migration has changed them', async () => {
    const all = () => database.transaction((tx) => tx.one(sql`SELECT * FROM "Thing" WHERE "n" = 1`), { beginsLong: true });
    expect(await all()).toEqual({ id: 'thing 1', n: 1, text: 'text' });
    await change(`ALTER TABLE "Thing" RENAME COLUMN "text" TO "words"`);
    expect(await all()).toEqual({ id: 'thing 1', n: 1, words: 'text' });
  });

  it('runs in slices on the event loop for a database in memory', async () => {
    const memory = await openThings({ path: ':memory:' });
    const threads = recordThreads();
    const answer = await memory.database.transaction(async (tx) => {
      begin(tx);
      return countThings(tx);
    });
    expect([answer, attempts, threads.size]).toEqual([1000, ['short', 'long'], 0]);
    await memory.dispose();
  });
});
