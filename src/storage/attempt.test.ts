import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sql } from '../sql.ts';
import { createStopwatch } from './attempt.ts';
import { failure, openTestDatabase, type TestDatabase } from './storage.fixture.ts';

let test: TestDatabase;
beforeEach(() => {
  test = openTestDatabase();
});
afterEach(() => test.dispose());

describe('deadlineCheck', () => {
  it.each([undefined, 8])('returns a condition that is true for every row, with %s rows between two checks', async (rows) => {
    const found = await test.database.transaction(async (tx) => {
      await tx.run(sql`CREATE TABLE "Thing" ("id" TEXT PRIMARY KEY)`);
      const values = Array.from({ length: 20 }, (_, id) => sql`(${String(id)})`);
      await tx.run(sql`INSERT INTO "Thing" ("id") VALUES ${sql.join(values)}`);
      const table = sql.table('Thing');
      return tx.all(sql`SELECT "id" FROM ${table} WHERE ${tx.dialect.deadlineCheck(table, rows)}`);
    });
    expect(found).toHaveLength(20);
  });
});

describe('createStopwatch', () => {
  it('counts no time while it is paused, also if pauses overlap', async () => {
    const stopwatch = createStopwatch(() => 1000);
    const { promise, resolve } = Promise.withResolvers<void>();
    const longer = stopwatch.pauseDuring(() => promise);
    await stopwatch.pauseDuring(async () => stopwatch.add(100));
    stopwatch.add(100);
    resolve();
    await longer;
    expect(stopwatch.remaining).toBe(1000);
    stopwatch.add(100);
    expect(stopwatch.remaining).toBe(900);
  });

  it('counts the time of statements that run at the same time once', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const stopwatch = createStopwatch(() => 1000);
    const first = performance.now();
    vi.advanceTimersByTime(100);
    const second = performance.now();
    vi.advanceTimersByTime(100);
    for (const begun of [first, second, first]) stopwatch.addSince(begun);
    vi.advanceTimersByTime(50);
    stopwatch.addSince(second);
    vi.useRealTimers();
    expect(stopwatch.remaining).toBe(750);
  });

  it('measures a slice of work also while its time is not counted', async () => {
    const stopwatch = createStopwatch(() => 1000);
    const begun = performance.now();
    let paused = 0;
    stopwatch.begin();
    await stopwatch.pauseDuring(async () => {
      const from = performance.now();
      while (performance.now() < from + 2);
      expect(stopwatch.slice).toBeGreaterThan(1);
      expect(stopwatch.lap).toBe(0);
      stopwatch.addLap();
      paused = performance.now() - from;
    });
    // On a busy machine, any time can pass before and after the pause.
    expect(stopwatch.remaining).toBeGreaterThanOrEqual(1000 - (performance.now() - begun - paused));
  });
});

describe('withoutTimeLimit', () => {
  it('lets its work continue when the time of the request is up, and nothing after it', async () => {
    const table = sql.table('Thing');
    await test.database.transaction(async (tx) => {
      await tx.run(sql`CREATE TABLE "Thing" ("id" TEXT PRIMARY KEY)`);
      await tx.run(sql`INSERT INTO "Thing" ("id") VALUES ('a')`);
    });
    const found: unknown[] = [];
    const work = test.database.transaction(
      async (tx) => {
        tx.limitTime(0);
        const select = async () =>
          void found.push(await tx.one(sql`SELECT "id" FROM ${table} WHERE ${tx.dialect.deadlineCheck(table, 1)}`));
        await tx.withoutTimeLimit(async () => {
          await select();
          await tx.checkTime();
        });
        await select();
      },
      { beginsLong: true },
    );
    expect(await failure(work)).toMatchObject({ code: 'REQUEST_BUDGET' });
    expect(found).toEqual([{ id: 'a' }]);
  });
});
