import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../contract.ts';
import { LOG_ROWS, logged, openThings, type ThingDatabase } from './reader.fixture.ts';

let things: ThingDatabase;
let database: Database;
/** The attempts at the units of work of the test. */
let attempts: string[];

beforeEach(async () => {
  things = await openThings();
  database = things.database;
  attempts = [];
});
afterEach(() => things.dispose());

const addThing = (tx: Transaction, id: string) => tx.run(sql`INSERT INTO "Thing" ("id") VALUES (${id})`);

describe('a unit of work that undoes a part of its writes', () => {
  /** Adds a thing, and in a savepoint another one, which is undone. */
  const undoSecond = (first: string, second: string, caller = 'ann') =>
    database.transaction(
      async (tx) => {
        attempts.push(tx.attempt);
        await addThing(tx, first);
        await tx.savepoint(() => addThing(tx, second).then(() => Promise.reject(new Error('undone')))).catch(() => undefined);
        tx.append(LOG_ROWS, [`${tx.attempt} ${first}`]);
      },
      { caller },
    );
  const added = async (): Promise<unknown> =>
    (await database.transaction((tx) => tx.all<{ id: string }>(sql`SELECT "id" FROM "Thing" WHERE "id" LIKE 'added%'`))).map(
      ({ id }) => id,
    );

  it('runs again as the writer, which undoes this part', async () => {
    await undoSecond('added', 'added too');
    expect([attempts, await added(), await logged(database)]).toEqual([['short', 'writer'], ['added'], ['writer added']]);
  });

  it('does not run again if the statement of this part failed', async () => {
    await undoSecond('added', 'added');
    expect([attempts, await added(), await logged(database)]).toEqual([['short'], ['added'], ['short added']]);
  });

  it('does not run again for a caller whose unit of work did so seconds before', async () => {
    await undoSecond('added', 'added too');
    await undoSecond('added second', 'added too');
    await undoSecond('added third', 'added too', 'bob');
    expect([attempts, await added()]).toEqual([
      ['short', 'writer', 'short', 'short', 'writer'],
      ['added', 'added second', 'added third'],
    ]);
  });

  it('leaves the time limit of the caller as it was', async () => {
    await things.dispose();
    things = await openThings({ timeLimits: { short: 10_000, writer: 10_000 } });
    database = things.database;
    await undoSecond('added', 'added too');
    expect(await database.transaction(async (tx) => tx.remaining(), { caller: 'ann' })).toBe(10_000);
  });

  it('counts one commit', async () => {
    const { commits } = database.metrics;
    await undoSecond('added', 'added too');
    expect(database.metrics.commits).toBe(commits + 1);
  });

  it('does not undo the writes of others in the same commit batch', async () => {
    await Promise.all([database.transaction((tx) => addThing(tx, 'added first')), undoSecond('added', 'added too')]);
    expect(await added()).toEqual(['added', 'added first']);
  });
});
