/** Changes, lost threads, full queues, backups and restores while long attempts run. */
import { renameSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../contract.ts';
import type { ReadSet } from '../read-set.ts';
import { define, resourceOf } from '../storage.fixture.ts';
import { openSqlite } from './database.ts';
import { countThings, LOG_ROWS, logged, openThings, recordThreads, type ThingDatabase } from './reader.fixture.ts';
import { replaceContent } from './replace-content.ts';
import { sqliteDialect } from './sql-dialect.ts';
import { codeOf } from './sqlite.fixture.ts';
import { writeBackup } from './write-backup.ts';

let things: ThingDatabase;
let database: Database;

beforeEach(async () => {
  things = await openThings();
  database = things.database;
});
afterEach(() => things.dispose());

const change = (text: string): Promise<unknown> => database.transaction((tx) => tx.run(sql`${sql.raw(text)}`));
const LONG = { beginsLong: true };
const THING = sql.table('Thing');
const WATCHED = new Set(['Thing']);
const RESOURCE = resourceOf(define({ Thing: { fields: { n: { type: 'integer' } } } }), 'Thing');

describe('a read set that becomes stale during a long attempt', () => {
  /** A description of the change → the read set, and the statement. */
  const CHANGES: readonly (readonly [what: string, readSet: ReadSet, change: string])[] = [
    ['a policy', { revision: 'first' }, `UPDATE "_State" SET "text" = 'second'`],
    ['the role of the user', { users: [{ id: 'ada', version: 1 }] }, `UPDATE "User" SET "version" = 2`],
    ['the user, who is deleted', { users: [{ id: 'ada', version: 1 }] }, `DELETE FROM "User"`],
    ['a user, who is created', { users: [{ id: 'bob', version: 0 }] }, `INSERT INTO "User" VALUES ('bob', 1)`],
    ['the session, which ends', { sessions: [{ id: 'open', userId: 'ada' }] }, `UPDATE "_Session" SET "revokedAt" = 'now'`],
    ['the session, which is deleted', { sessions: [{ id: 'open', userId: 'ada' }] }, `DELETE FROM "_Session"`],
  ];

  it.each(CHANGES)('runs the unit of work again: %s', async (_, readSet, text) => {
    let runs = 0;
    const before = database.metrics.validationRetries;
    const answer = await database.transaction(async (tx) => {
      runs++;
      if (runs === 1) tx.addToReadSet(readSet);
      const count = await countThings(tx);
      tx.append(LOG_ROWS, [`run ${runs}`]);
      if (runs === 1) await change(text);
      return `run ${runs}: ${count}`;
    }, LONG);
    expect([answer, await logged(database)]).toEqual(['run 2: 1000', ['run 2']]);
    expect(database.metrics.validationRetries).toBe(before + 1);
  });

  it('runs the unit of work again after an assignment has expired', async () => {
    let runs = 0;
    await database.transaction(async (tx) => {
      if (runs++ === 0) tx.addToReadSet({ validUntil: Date.now() });
      await countThings(tx);
    }, LONG);
    expect(runs).toBe(2);
  });

  it('refuses the request after ten runs', async () => {
    let runs = 0;
    const work = database.transaction(async (tx) => {
      runs++;
      tx.addToReadSet({ validUntil: 0 });
    }, LONG);
    expect([await codeOf(work), runs]).toEqual(['STORAGE_BUSY', 10]);
  });

  it('runs the unit of work again if the comparison of its list takes longer than a writer may, and not if nothing was written', async () => {
    const limited = await openThings({ timeLimits: { short: 0, writer: 50 } });
    const where = sql`(SELECT count(*) FROM "Thing" AS "a" CROSS JOIN "Thing" AS "b" CROSS JOIN "Thing" WHERE ${sqliteDialect.deadlineCheck(THING)}) > 0`;
    let runs = 0;
    await limited.database.transaction(async (tx) => {
      runs++;
      const marks = await tx.loadWriteState(WATCHED);
      const toComparison = () => ({ tables: THING, where, texts: [], valuesOf: () => [] });
      const records = [{ id: 'thing 1', version: 1 }];
      tx.addToReadSet({
        relations: { lists: [{ resource: RESOURCE, records, dependsOn: WATCHED, marks, toComparison, needsScans: () => true }] },
      });
      tx.append(LOG_ROWS, [`run ${runs}`]);
      if (runs === 1) await limited.database.transaction(async (other) => other.noteWritten('Thing'));
    }, LONG);
    expect([runs, await logged(limited.database)]).toEqual([2, ['run 2']]);
    await limited.dispose();
  });

  it('commits an answer whose read set is current', async () => {
    let runs = 0;
    await database.transaction(async (tx) => {
      runs++;
      tx.addToReadSet({
        revision: 'first',
        users: [
          { id: 'ada', version: 1 },
          { id: 'bob', version: 0 },
        ],
        sessions: [{ id: 'open', userId: 'ada' }],
        validUntil: Date.now() + 60_000,
      });
      await change(`UPDATE "Thing" SET "n" = 0 WHERE "n" = 1`);
    }, LONG);
    expect(runs).toBe(1);
  });
});

describe('a reader thread that ends', () => {
  /** Ends the threads during the first `times` runs of a unit of work. */
  async function runWhileThreadsEnd(times: number): Promise<readonly [answer: unknown, runs: number]> {
    const threads = recordThreads();
    let runs = 0;
    const work = database.transaction(async (tx) => {
      runs++;
      await countThings(tx);
      const counting = countThings(tx);
      counting.catch(() => undefined);
      if (runs <= times) for (const thread of threads) await thread.terminate();
      tx.append(LOG_ROWS, [`run ${runs}`]);
      return countThings(tx);
    }, LONG);
    const answer = await work.catch((error: { readonly code: string }) => error.code);
    return [answer, runs];
  }

  it('causes its unit of work to run again in another thread', async () => {
    expect(await runWhileThreadsEnd(1)).toEqual([1000, 2]);
    expect(await logged(database)).toEqual(['run 2']);
  });

  it('fails its unit of work if it ends a second time', async () => {
    expect(await runWhileThreadsEnd(2)).toEqual(['STORAGE_UNAVAILABLE', 2]);
    expect(await logged(database)).toEqual([]);
    expect(await database.transaction(countThings, LONG)).toBe(1000);
  });

  it('loses the snapshot of its unit of work even between two statements', async () => {
    const threads = recordThreads();
    const counts: number[] = [];
    await database.transaction(async (tx) => {
      counts.push(await countThings(tx));
      if (counts.length === 1) {
        await change(`DELETE FROM "Thing" WHERE "n" = 1`);
        for (const thread of threads) await thread.terminate();
      }
      counts.push(await countThings(tx));
    }, LONG);
    expect(counts).toEqual([1000, 999, 999]);
  });
});

describe('the database file', () => {
  it('refuses answers from a file that replaced the database', async () => {
    const other = await openThings();
    await other.database.close();
    expect(await database.transaction(countThings, LONG)).toBe(1000);
    const moved = `${things.path}.moved`;
    const answer = database.transaction(async (tx) => {
      const count = await countThings(tx);
      renameSync(things.path, moved);
      renameSync(other.path, things.path);
      return count;
    }, LONG);
    expect(await codeOf(answer)).toBe('STORAGE_UNAVAILABLE');
    renameSync(things.path, other.path);
    renameSync(moved, things.path);
    await other.dispose();
  });

  it('refuses a thread that starts after it was replaced', async () => {
    const other = await openThings();
    await other.database.close();
    const moved = `${things.path}.moved`;
    renameSync(things.path, moved);
    renameSync(other.path, things.path);
    let seen: number | undefined;
    const answer = database.transaction(async (tx) => {
      seen = await countThings(tx);
    }, LONG);
    expect(await codeOf(answer)).toBe('STORAGE_UNAVAILABLE');
    expect(seen).toBeUndefined();
    renameSync(things.path, other.path);
    renameSync(moved, things.path);
    await other.dispose();
  });
});

describe('the write-ahead log', () => {
  it('stays bounded while each long attempt begins before the one before it ends', async () => {
    await things.dispose();
    things = await openThings({ maxLogBytes: 500_000 });
    database = things.database;
    const size = (): number => statSync(`${things.path}-wal`).size;
    /** Begins a long attempt, or its wait for the readers to pause. */
    const beginReading = async (): Promise<() => Promise<number>> => {
      const [begun, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const read = database.transaction(async (tx) => {
        const count = await countThings(tx);
        begun.resolve();
        await end.promise;
        return count;
      }, LONG);
      while ((await Promise.race([begun.promise.then(() => 1), nextTurn()])) !== 1 && database.metrics.longWaiting === 0);
      return () => {
        end.resolve();
        return read;
      };
    };
    let largest = 0;
    let end = await beginReading();
    for (let round = 0; round < 40; round++) {
      await change(`UPDATE "Thing" SET "text" = hex(randomblob(100))`);
      largest = Math.max(largest, size());
      const next = await beginReading();
      await end();
      end = next;
    }
    await end();
    // The updates write 12 MB. Without a pause of the readers, all of them stay in the log.
    expect(largest).toBeLessThan(3_000_000);
  });
});

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('the queue of long attempts', () => {
  const hold = (until: Promise<void>) => async (tx: Transaction) => {
    await countThings(tx);
    await until;
    return tx.attempt;
  };

  it('refuses requests above its length with Retry-After, and shows its numbers', async () => {
    await things.dispose();
    things = await openThings({ readers: 1, readerQueue: 2 });
    database = things.database;
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = database.transaction(hold(promise), { beginsLong: true, caller: 'a' });
    const waiting = database.transaction(hold(promise), { beginsLong: true, caller: 'a' });
    const refused = database.transaction(hold(promise), { beginsLong: true, caller: 'a' });
    await expect(refused).rejects.toMatchObject({ code: 'STORAGE_BUSY', extras: { retryAfter: 2 } });
    const other = database.transaction(hold(promise), { beginsLong: true, caller: 'b' });
    expect(database.metrics).toMatchObject({ longAttempts: 1, longWaiting: 2, longRefused: 1 });
    resolve();
    expect(await Promise.all([held, waiting, other])).toEqual(['long', 'long', 'long']);
    await expect.poll(() => database.metrics).toMatchObject({ longAttempts: 0, longWaiting: 0 });
  });

  it('finishes before the database closes, and refuses later requests', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const held = database.transaction(async (tx) => {
      await promise;
      tx.append(LOG_ROWS, ['held']);
      return countThings(tx);
    }, LONG);
    const closing = database.close();
    const late = database.transaction(countThings, LONG);
    resolve();
    expect(await codeOf(late)).toBe('STORAGE_UNAVAILABLE');
    expect(await held).toBe(1000);
    await closing;
  });
});

describe('a copy of the database during a long attempt', () => {
  it('makes a backup that is complete, and the long attempt keeps its snapshot', async () => {
    const to = `${things.path}.backup`;
    const counts = await database.transaction(async (tx) => {
      const before = await countThings(tx);
      await change(`DELETE FROM "Thing" WHERE "n" <= 400`);
      writeBackup({ from: things.path, to });
      return [before, await countThings(tx)];
    }, LONG);
    expect(counts).toEqual([1000, 1000]);
    const copy = openSqlite({ path: to });
    expect(await copy.transaction(countThings)).toBe(600);
    await copy.close();
  });

  it('restores a backup, after which the long attempt runs again on the restored content', async () => {
    const to = `${things.path}.backup`;
    writeBackup({ from: things.path, to });
    await change(`DELETE FROM "Thing" WHERE "n" <= 400`);
    const counts: number[] = [];
    await database.transaction(async (tx) => {
      tx.addToReadSet({ revision: counts.length === 0 ? 'first' : 'restored' });
      counts.push(await countThings(tx));
      if (counts.length > 1) return;
      await replaceContent({ from: to, into: things.path, prepare: async () => undefined });
      await change(`UPDATE "_State" SET "text" = 'restored'`);
    }, LONG);
    expect(counts).toEqual([600, 1000]);
  });
});
