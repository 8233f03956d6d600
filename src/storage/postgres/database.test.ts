import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../contract.ts';
import { openForReading } from '../open-database.ts';
import { failure } from '../storage.fixture.ts';
import { openPostgres } from './database.ts';
import { FAMILY, openFamily } from './postgres.fixture.ts';
import { postgresTables } from './tables.ts';

const { url, open, runSql, close } = openFamily('storage_postgres_database');

let database: Database;
beforeAll(async () => {
  database = await open({ lockTimeout: 500, connections: 4 });
});
afterAll(() => close(database));
beforeEach(() => runSql(FAMILY));

const insert = (tx: Transaction, id: string): Promise<unknown> => tx.run(sql`INSERT INTO "Parent" ("id") VALUES (${id})`);
const ids = async (): Promise<readonly string[]> =>
  (await database.transaction((tx) => tx.all<{ id: string }>(sql`SELECT "id" FROM "Parent" ORDER BY "id"`))).map(({ id }) => id);

describe('metrics', () => {
  it('counts commits and connections, and the observer receives each commit', async () => {
    const observed: number[] = [];
    const withObserver = await open({ observer: { committed: ({ ms, unitsOfWork }) => void observed.push(ms > 0 ? unitsOfWork : 0) } });
    const { commits } = withObserver.metrics;
    await withObserver.transaction((tx) => insert(tx, 'a'));
    await withObserver.transaction((tx) => tx.all(sql`SELECT 1`));
    await withObserver.probe();
    expect(withObserver.metrics.commits - commits).toBe(2);
    expect(withObserver.metrics).toMatchObject({ waiting: 0, validationRetries: 0, connections: 2, idleConnections: 2 });
    expect(observed.slice(-2)).toEqual([1, 1]);
    await withObserver.close();
  });
});

describe('a unit of work', () => {
  it('commits a unit of work if it resolves, and rolls it back if it throws', async () => {
    await database.transaction(async (tx) => {
      await insert(tx, 'a');
      await insert(tx, 'b');
    });
    const error = new Error('no');
    const rolledBack = database.transaction(async (tx) => {
      await insert(tx, 'c');
      throw error;
    });
    expect(await failure(rolledBack)).toBe(error);
    expect(await ids()).toEqual(['a', 'b']);
  });

  it('a unit of work continues after a savepoint is rolled back', async () => {
    await database.transaction(async (tx) => {
      await insert(tx, 'a');
      const twice = tx.savepoint(async () => {
        await insert(tx, 'b');
        await insert(tx, 'a');
      });
      expect(await failure(twice)).toMatchObject({ constraint: 'unique', columns: ['id'], table: 'Parent' });
      await tx.savepoint(() => insert(tx, 'c'));
    });
    expect(await ids()).toEqual(['a', 'c']);
  });

  it('a unit of work fails if it ignored an error outside of a savepoint', async () => {
    const work = database.transaction(async (tx) => {
      await insert(tx, 'a');
      await failure(insert(tx, 'a'));
    });
    expect(await failure(work)).toMatchObject({ constraint: 'unique' });
    expect(await ids()).toEqual([]);
  });

  it('a unit of work cannot use a transaction that has ended, nor overlapping savepoints', async () => {
    let ended: Transaction | undefined;
    await database.transaction(async (tx) => {
      ended = tx;
    });
    expect(await failure(ended?.one(sql`SELECT 1`) ?? Promise.resolve())).toMatchObject({ code: 'INTERNAL' });
    const overlapping = database.transaction(async (tx) => {
      void tx.savepoint(() => new Promise(() => undefined));
    });
    expect(await failure(overlapping)).toMatchObject({ code: 'INTERNAL' });
  });

  it('uses the clock of the server, not of this process', async () => {
    vi.spyOn(Date, 'now').mockReturnValue(0);
    const { now, time } = await database.transaction(async (tx) => ({
      now: tx.now,
      time: await tx.one<{ ms: number }>(sql`SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS "ms"`),
    }));
    expect(Math.abs(now - (time?.ms ?? 0))).toBeLessThan(600_000);
  });
});

describe('values', () => {
  it('returns values as SQLite does', async () => {
    const row = await database.transaction(async (tx) => {
      await tx.run(
        sql`INSERT INTO "Parent" ("id", "n", "x", "is", "j", "t") VALUES ('a', ${9007199254740993n}, ${0.1}, ${true}, ${'{"b":1, "a":2}'}, ${'é😀'})`,
      );
      return tx.one(sql`SELECT *, count(*) OVER () AS "count", sum(1) OVER () AS "sum", "x" > 1 AS "large" FROM "Parent"`);
    });
    expect(row).toEqual({ id: 'a', n: 9007199254740993n, x: 0.1, is: 1, j: '{"b":1, "a":2}', t: 'é😀', count: 1, sum: 1, large: 0 });
  });

  it('refuses values with NUL before they are sent', async () => {
    await database.transaction(async (tx) => {
      expect(await failure(tx.one(sql`SELECT 1 FROM "Parent" WHERE "id" = ${'a\u0000b'}`))).toMatchObject({
        code: 'VALUE_INVALID',
        status: 422,
      });
      await insert(tx, 'a');
    });
    expect(await ids()).toEqual(['a']);
  });

  it.each([
    [
      'unique over several columns',
      `INSERT INTO "Parent" ("id", "t", "n") VALUES ('b', 'x', 1)`,
      { constraint: 'unique', columns: ['t', 'n'] },
    ],
    ['a reference to a missing record', `INSERT INTO "Child" VALUES ('c', 'none')`, { constraint: 'reference', columns: ['parentId'] }],
    ['a delete of a referenced record', `DELETE FROM "Parent"`, { constraint: 'reference' }],
    ['a check', `INSERT INTO "Child" VALUES ('')`, { constraint: 'check' }],
  ])('reports the violation of a constraint as ConstraintError: %s', async (_, text, expected) => {
    await runSql(`INSERT INTO "Parent" ("id", "t", "n") VALUES ('a', 'x', 1)`);
    await runSql(`INSERT INTO "Child" VALUES ('c0', 'a')`);
    expect(await failure(database.transaction((tx) => tx.run({ sql: text, parameters: [] })))).toMatchObject(expected);
  });
});

describe('concurrent units of work', () => {
  it('waits for row locks and named locks', async () => {
    await database.transaction((tx) => tx.run(sql`INSERT INTO "Parent" ("id", "n") VALUES ('a', 0)`));
    const addOne = (hold: (tx: Transaction) => Promise<unknown>): Promise<unknown> =>
      database.transaction(async (tx) => {
        await hold(tx);
        const row = await tx.one<{ n: number }>(sql`SELECT "n" FROM "Parent" WHERE "id" = 'a'`);
        await tx.run(sql`UPDATE "Parent" SET "n" = ${(row?.n ?? 0) + 1} WHERE "id" = 'a'`);
      });
    await Promise.all(
      Array.from({ length: 20 }, () => addOne((tx) => tx.one(sql`SELECT 1 FROM "Parent" WHERE "id" = 'a'${tx.rowLock('noKeyUpdate')}`))),
    );
    await Promise.all(Array.from({ length: 20 }, () => addOne((tx) => tx.lock('a'))));
    expect(await database.transaction((tx) => tx.one(sql`SELECT "n" FROM "Parent"`))).toEqual({ n: 40 });
  });

  it('takes several named locks in one order, so that units of work that need the same ones run once', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `name ${index}`);
    let runs = 0;
    const lockAll = (order: readonly string[]): Promise<unknown> =>
      database.transaction(async (tx) => {
        runs++;
        await tx.lock(...order);
      });
    await Promise.all(Array.from({ length: 40 }, (_, index) => lockAll(index % 2 === 0 ? names : names.toReversed())));
    expect(runs).toBe(40);
  });

  it('retries units of work after a deadlock', async () => {
    await database.transaction(async (tx) => {
      for (const id of ['a', 'b']) await insert(tx, id);
    });
    const patient = await openPostgres({ url: url.href });
    let [runs, holding] = [0, 0];
    const change = (first: string, second: string): Promise<unknown> =>
      patient.transaction(async (tx) => {
        runs++;
        await tx.run(sql`UPDATE "Parent" SET "n" = 1 WHERE "id" = ${first}`);
        holding++;
        // Waits until each holds the row that the other needs.
        while (holding < 2) await tx.one(sql`SELECT pg_sleep(0.01)`);
        await tx.run(sql`UPDATE "Parent" SET "n" = 2 WHERE "id" = ${second}`);
      });
    await Promise.all([change('a', 'b'), change('b', 'a')]);
    // The retry may start before the other has continued, and lose once more.
    expect(runs).toBeGreaterThan(2);
    await patient.close();
  });

  it('a unit of work fails after the lock timeout', async () => {
    await runSql('BEGIN');
    await runSql(`INSERT INTO "Parent" ("id") VALUES ('a')`);
    expect(await failure(database.transaction((tx) => insert(tx, 'a')))).toMatchObject({ code: 'STORAGE_BUSY' });
    await runSql('ROLLBACK');
    await database.transaction((tx) => insert(tx, 'a'));
    expect(database.healthy).toBe(true);
  });

  it('concurrent units of work never exceed the number of connections', async () => {
    let [now, most] = [0, 0];
    const work = (): Promise<unknown> =>
      database.transaction(async (tx) => {
        // Takes the connection.
        await tx.one(sql`SELECT 1`);
        most = Math.max(most, ++now);
        // Opening a connection may take longer than a unit of work: the first ones wait until all connections are used.
        do await tx.one(sql`SELECT pg_sleep(0.01)`);
        while (most < 4);
        now--;
      });
    await Promise.all(Array.from({ length: 20 }, work));
    expect(most).toBe(4);
  });
});

describe('a lost connection', () => {
  it('a lost connection fails the running unit of work, and the next one uses another connection', async () => {
    const cut = database.transaction(async (tx) => {
      await insert(tx, 'a');
      const row = await tx.one<{ pid: number }>(sql`SELECT pg_backend_pid() AS "pid"`);
      await runSql('SELECT pg_terminate_backend($1)', [row?.pid]);
      await insert(tx, 'b');
    });
    expect(await failure(cut)).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(database.healthy).toBe(false);
    await database.transaction((tx) => insert(tx, 'c'));
    expect([await ids(), database.healthy]).toEqual([['c'], true]);
  });

  it.each([
    ['is idle for too long', '25P03'],
    ['takes too long', '25P04'],
  ])('reports a connection whose transaction %s as STORAGE_UNAVAILABLE, and does not reuse it', async (_, code) => {
    const process = (): Promise<unknown> => database.transaction((tx) => tx.one(sql`SELECT pg_backend_pid() AS "process"`));
    const before = await process();
    const ended = database.transaction((tx) => tx.run(sql.raw(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $$`)));
    expect(await failure(ended)).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(await process()).not.toEqual(before);
  });

  it('replaces a lost connection without a request', async () => {
    const cut = database.transaction((tx) => tx.one(sql`SELECT pg_terminate_backend(pg_backend_pid())`));
    expect(await failure(cut)).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(database.healthy).toBe(false);
    await expect.poll(() => database.healthy).toBe(true);
  });
});

it('creates a missing schema, but not when it is opened for reading', async () => {
  const otherSchema = new URL(url);
  otherSchema.searchParams.set('schema', 'storage_postgres_elsewhere');
  const exists = async (): Promise<boolean> =>
    (await runSql(`SELECT 1 FROM pg_namespace WHERE nspname = 'storage_postgres_elsewhere'`)).rows.length > 0;
  const readOnly = await openForReading({ database: otherSchema.href });
  expect(await readOnly.transaction((tx) => postgresTables.introspect(tx))).toEqual([]);
  expect([await readOnly.transaction((tx) => postgresTables.hasTable(tx, 'Parent')), await exists()]).toEqual([false, false]);
  await readOnly.close();
  await (await openPostgres({ url: otherSchema.href })).close();
  expect(await exists()).toBe(true);
  await runSql('DROP SCHEMA storage_postgres_elsewhere');
});

describe('closing', () => {
  it('closing waits for running units of work and refuses new ones', async () => {
    const closing = await openPostgres({ url: url.href });
    const running = closing.transaction(async (tx) => {
      await tx.one(sql`SELECT pg_sleep(0.05)`);
      await insert(tx, 'a');
    });
    await closing.close();
    await running;
    expect(await ids()).toEqual(['a']);
    expect(await failure(closing.transaction((tx) => insert(tx, 'b')))).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
  });

  it('names an unreachable server without its password', async () => {
    const refusal = await failure(openPostgres({ url: 'postgres://ann:secret@127.0.0.1:1/none', connectTimeout: 1000 }));
    expect(refusal).toMatchObject({ name: 'SetupError', message: expect.stringContaining('postgres://ann@127.0.0.1:1/none') });
    expect(String(refusal)).not.toContain('secret');
  });
});
