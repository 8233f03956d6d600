import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Sql, sql } from '../../sql.ts';
import type { Statement, Transaction } from '../contract.ts';
import { failure } from '../storage.fixture.ts';
import type { Connection } from './connection.ts';
import type { LazyTransaction } from './lazy-transaction.ts';
import { FAMILY } from './postgres.fixture.ts';
import { appended, insert, openSlowQueries, slow } from './slow-query.fixture.ts';
import { createTimedStatements } from './timed-statements.ts';
import type { TransactionState } from './transaction-state.ts';

const { runSql, openShort, closeAll, ids } = openSlowQueries('storage_postgres_timed');

beforeAll(async () => {
  await openShort();
  await closeAll();
});
beforeEach(() => runSql(FAMILY));
afterEach(closeAll);

describe('a unit of work that takes long', () => {
  it('runs again as a long attempt, keeps retained values, and answers once', async () => {
    const database = await openShort();
    const attempts: unknown[] = [];
    const answer = await database.transaction(async (tx) => {
      attempts.push([tx.attempt, tx.retained.get('found')]);
      tx.retained.set('found', tx.attempt);
      tx.append(appended, [`entry of ${tx.attempt}`]);
      return tx.one<{ one: number }>(slow(tx));
    });
    expect(answer?.one).toBe(1);
    expect(attempts).toEqual([
      ['short', undefined],
      ['long', 'short'],
    ]);
    expect(await ids()).toEqual(['entry of long']);
  });

  it('runs again even if it catches the error, and the short attempt accepts no more statements', async () => {
    const database = await openShort();
    const runs: string[] = [];
    await database.transaction(async (tx) => {
      const error = await failure(tx.savepoint(() => tx.one(slow(tx)))).catch(() => undefined);
      const later = await failure(tx.one(sql`SELECT 1`)).catch(() => undefined);
      runs.push(`${tx.attempt} ${error instanceof Error} ${later instanceof Error}`);
    });
    expect(runs).toEqual(['short true true', 'long false false']);
  });

  it('rolls back the writes of the short attempt, and writes in the long one', async () => {
    const database = await openShort();
    await database.transaction(async (tx) => {
      await insert(tx, tx.attempt);
      await tx.one(slow(tx));
      await insert(tx, `${tx.attempt}, later`);
    });
    expect(await ids()).toEqual(['long', 'long, later']);
  });

  it('begins with the long attempt if it is known to take long', async () => {
    const database = await openShort();
    expect(await database.transaction(async (tx) => tx.attempt, { beginsLong: true })).toBe('long');
  });

  it('runs again if many statements with a deadline check take long together', async () => {
    const database = await openShort();
    const runs: string[] = [];
    await database.transaction(async (tx) => {
      runs.push(tx.attempt);
      for (let count = 0; count < 10; count++) await tx.one(slow(tx, 0.02));
    });
    expect(runs).toEqual(['short', 'long']);
  });

  it('runs again if work in memory takes long', async () => {
    const database = await openShort();
    const runs: string[] = [];
    await database.transaction(async (tx) => {
      runs.push(tx.attempt);
      for (const end = performance.now() + 60_000; tx.attempt === 'short' && performance.now() < end; ) await tx.checkTime();
    });
    expect(runs).toEqual(['short', 'long']);
  });
});

describe('turns of the event loop', () => {
  function openFake(attempt: 'short' | 'long') {
    const taken: string[] = [];
    const yielded: string[] = [];
    const rows = [{ id: 'a' }];
    const statements = createTimedStatements({
      connection: {
        query: async ({ sql: text }: Statement) => ({ rows: text === 'without' ? [] : rows, changes: 0 }),
      } as unknown as Connection,
      state: { check: () => undefined, follow: (answer: unknown) => answer } as unknown as TransactionState,
      lazy: { isWriting: false, setTimeout: () => undefined } as unknown as LazyTransaction,
      limits: {
        attempt,
        short: 60_000,
        statementTimeout: 60_000,
        state: { retained: new Map(), limit: 60_000, yieldFirst: () => yielded.push(attempt) },
        turns: {
          goFirst: () => () => undefined,
          async take(work) {
            taken.push('turn');
            return work();
          },
        },
      },
    });
    return { statements, taken, yielded };
  }

  it.each([
    ['long', 'with', 'continues in a turn of its own', 1],
    ['long', 'without', 'continues at once', 0],
    ['short', 'with', 'continues at once', 0],
  ] as const)('a %s attempt after a statement %s rows %s', async (attempt, text, _, turns) => {
    const { statements, taken } = openFake(attempt);
    await statements.query({ sql: text, parameters: [] });
    expect(taken).toHaveLength(turns);
  });

  it('a short attempt that evaluates rows in memory takes turns, no longer goes first, and has a tenth of its time', async () => {
    const { statements, taken, yielded } = openFake('short');
    expect([yielded.length, statements.remaining() > 6000]).toEqual([0, true]);
    for (let count = 0; count < 2; count++) statements.beginInMemory();
    await statements.query({ sql: 'with', parameters: [] });
    expect([taken.length, yielded]).toEqual([1, ['short']]);
    expect(statements.remaining()).toBeGreaterThan(600);
    expect(statements.remaining()).toBeLessThanOrEqual(6000);
  });

  it('a long attempt does not go first', () => {
    expect(openFake('long').yielded).toEqual(['long']);
  });

  it.each(['short', 'long'] as const)('work of the service in a %s attempt lets other requests in between its slices', async (attempt) => {
    const { statements, taken } = openFake(attempt);
    await statements.query({ sql: 'without', parameters: [] });
    await statements.withoutTimeLimit(async () => {
      for (const end = performance.now() + 1000; taken.length === 0 && performance.now() < end; ) await statements.checkTime();
    });
    expect(taken).toHaveLength(1);
  });
});

describe('a lock', () => {
  it.each([
    ['a named lock', (tx: Transaction) => tx.lock('a name')],
    ['a row lock', (tx: Transaction) => tx.one(sql`SELECT "id" FROM "Parent" WHERE "id" = 'a'${tx.rowLock('update')}`)],
    ['a lock of an update', (tx: Transaction) => tx.run(sql`UPDATE "Parent" SET "n" = 1 WHERE "id" = 'a'`)],
    [
      'a lock after a savepoint that was rolled back',
      async (tx: Transaction) => {
        await insert(tx, 'b');
        // The search has a short timeout. The savepoint then gets a long one, which its rollback undoes.
        await tx.one(slow(tx, 0));
        await failure(tx.savepoint(() => tx.run(sql`SELECT 1 / 0`)));
        await tx.lock('a name');
      },
    ],
  ])('%s is awaited longer than a short attempt may take, without another attempt', async (_, take) => {
    // Long enough for the statements beside the lock on a busy machine.
    const database = await openShort({ shortAttempt: 500 });
    await runSql(`INSERT INTO "Parent" ("id") VALUES ('a')`);
    const runs: string[] = [];
    const { promise: held, resolve: hold } = Promise.withResolvers<void>();
    const holder = database.transaction(async (tx) => {
      await tx.lock('a name');
      await tx.run(sql`UPDATE "Parent" SET "n" = 2 WHERE "id" = 'a'`);
      hold();
      await tx.one(sql`SELECT pg_sleep(0.8)`);
    });
    await held;
    const waiter = database.transaction(async (tx) => {
      runs.push(tx.attempt);
      await take(tx);
    });
    await Promise.all([holder, waiter]);
    expect(runs).toEqual(['short']);
  });

  it('a search after a write is limited, and a lock after the search is not', async () => {
    const database = await openShort({ shortAttempt: 1000 });
    const timeouts: unknown[] = [];
    const read = async (tx: Transaction, check: Sql) =>
      timeouts.push((await tx.one<{ now: string }>(sql`SELECT current_setting('statement_timeout') AS "now" WHERE ${check}`))?.now);
    await database.transaction(async (tx) => {
      const check = tx.dialect.deadlineCheck(sql.table('Parent'));
      await read(tx, sql`TRUE`);
      await insert(tx, 'a');
      await read(tx, sql`TRUE`);
      await read(tx, check);
      await failure(tx.savepoint(() => insert(tx, 'a')));
      await read(tx, sql`TRUE`);
    });
    expect(timeouts.slice(0, 2)).toEqual(['1s', '30s']);
    expect(timeouts[2]).toMatch(/^(1s|\d+ms)$/);
    expect(timeouts[3]).toBe('30s');
  });
});

describe('the time limit of a request', () => {
  const REFUSED = { code: 'REQUEST_BUDGET', status: 400 };

  it('ends a statement with a deadline check, and the unit of work continues after its savepoint', async () => {
    const database = await openShort();
    const error = await database.transaction(async (tx) => {
      tx.limitTime(200);
      const caught = await failure(tx.savepoint(() => tx.one(slow(tx, 60))));
      expect(tx.remaining()).toBe(0);
      await failure(tx.one(slow(tx, 0)));
      await insert(tx, 'a');
      return caught;
    });
    expect(error).toMatchObject(REFUSED);
    expect(await ids()).toEqual(['a']);
  });

  it('ends statements that together take too long, and work in memory', async () => {
    const database = await openShort();
    const limited = (work: (tx: Transaction) => Promise<unknown>) => failure(database.transaction(work, { milliseconds: 100 }));
    const statements = limited(async (tx) => {
      for (;;) await tx.one(slow(tx, 0.02));
    });
    expect(await statements).toMatchObject(REFUSED);
    const memory = limited(async (tx) => {
      for (;;) await tx.checkTime();
    });
    expect(await memory).toMatchObject(REFUSED);
  });

  it('leaves the statement timeout of the server in force, with STORAGE_BUSY', async () => {
    const database = await openShort({ statementTimeout: 100 });
    expect(await failure(database.transaction((tx) => tx.one(sql`SELECT pg_sleep(60)`)))).toMatchObject({ code: 'STORAGE_BUSY' });
    expect(await failure(database.transaction((tx) => tx.run(sql`SELECT pg_sleep(60)`)))).toMatchObject({ code: 'STORAGE_BUSY' });
  });

  it('does not apply to unlimited work', async () => {
    const database = await openShort({ statementTimeout: 100 });
    const work = async (tx: Transaction) => [tx.remaining(), (await tx.one<{ one: number }>(slow(tx)))?.one];
    expect(await database.transaction(work, { unlimited: true })).toEqual([Number.POSITIVE_INFINITY, 1]);
  });
});

describe('a cancelled statement', () => {
  it('leaves its connection usable, and ends no later statement, however close it is to its end', async () => {
    const database = await openShort({ connections: 1, readers: 1 });
    const processes = new Set<unknown>();
    const kinds = new Set<string>();
    // On a busy machine, few statements end within a short attempt.
    for (let round = 0; round < 60 || kinds.size < 2; round++) {
      // From no time and well below to well above the time of a short attempt.
      const seconds = round % 20 === 0 ? 0 : 0.03 + (round % 20) * 0.002;
      const caller = `caller ${round}`;
      await database.transaction(
        async (tx) => {
          await tx.one(slow(tx, seconds));
          kinds.add(tx.attempt);
        },
        { caller },
      );
      // The next statements on the connection of short attempts. If the machine is slow, they end by their own time, and not before.
      await database.transaction(
        async (tx) => {
          if (tx.attempt === 'long') return;
          for (let count = 0; count < 2; count++) {
            const begun = performance.now();
            const row = await tx.one<{ process: number }>(sql`SELECT pg_backend_pid() AS "process", pg_sleep(0.001)`).catch((error) => {
              expect(performance.now() - begun).toBeGreaterThanOrEqual(49);
              throw error;
            });
            processes.add(row?.process);
          }
        },
        { caller: `${caller}, later` },
      );
    }
    expect([kinds, processes.size]).toEqual([new Set(['short', 'long']), 1]);
  });
});
