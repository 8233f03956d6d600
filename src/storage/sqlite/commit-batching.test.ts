import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import type { AppendStatements, CommitMetrics, Transaction } from '../contract.ts';
import { failure } from '../storage.fixture.ts';
import { openSqlite } from './database.ts';
import { codeOf, type Family, insert, onCommit, openFamily } from './sqlite.fixture.ts';

let family: Family;

beforeEach(async () => {
  family = await openFamily();
});
afterEach(() => family.dispose());

describe('commit batching', () => {
  it.each([
    [200, 1],
    [600, 3],
  ])('commits %i queued transactions in %i commits', async (count, expected) => {
    let commits = 0;
    using _ = onCommit(() => commits++);
    await Promise.all(Array.from({ length: count }, (_each, n) => family.database.transaction((tx) => insert(tx, `p${n}`))));
    expect(commits).toBe(expected);
    expect(await family.ids()).toHaveLength(count);
  });

  it.each([
    [Number.POSITIVE_INFINITY, 1],
    [0, 4],
  ])('waits up to %i ms for more transactions while each turn of the event loop adds one', async (batchWindow, expected) => {
    const database = openSqlite({
      path: join(family.folder, `batched${expected}.db`),
      maxBatchTime: Number.POSITIVE_INFINITY,
      batchWindow,
    });
    await database.transaction((tx) => tx.run(sql`CREATE TABLE "Row" ("id" TEXT) STRICT`));
    const before = database.metrics.commits;
    const done: Promise<unknown>[] = [];
    const turn = (left: number): void => {
      // Scheduled first, so that the next transaction is queued before the batch ends its turn.
      if (left > 1) setImmediate(() => turn(left - 1));
      done.push(database.transaction((tx) => tx.run(sql`INSERT INTO "Row" VALUES (${String(left)})`)));
    };
    turn(4);
    await expect.poll(() => done.length).toBe(4);
    await Promise.all(done);
    expect(database.metrics.commits - before).toBe(expected);
    await database.close();
  });

  it('counts commits, and the observer receives each commit', async () => {
    const observed: number[] = [];
    const observer = { committed: ({ ms, unitsOfWork }: CommitMetrics) => void observed.push(ms > 0 ? unitsOfWork : 0) };
    const database = openSqlite({ path: join(family.folder, 'observed.db'), maxBatchTime: Number.POSITIVE_INFINITY, observer });
    await database.transaction((tx) => tx.run(sql`CREATE TABLE "Row" ("id" TEXT) STRICT`));
    const writes = ['a', 'b', 'c'].map((id) => database.transaction((tx) => tx.run(sql`INSERT INTO "Row" VALUES (${id})`)));
    expect(database.metrics).toMatchObject({
      commits: 1,
      unitsOfWork: 1,
      waiting: 3,
      validationRetries: 0,
      connections: 0,
      idleConnections: 0,
    });
    await Promise.all(writes);
    await database.transaction((tx) => tx.all(sql`SELECT 1`));
    await database.probe();
    expect(database.metrics).toMatchObject({ commits: 3, unitsOfWork: 5, waiting: 0 });
    expect(observed).toEqual([1, 3, 1]);
    await database.close();
    // A probe of a closed database does nothing.
    await database.probe();
  });

  it('resolves no transaction before the commit', async () => {
    const order: string[] = [];
    using _ = onCommit(() => order.push('commit'));
    await Promise.all([
      family.database.transaction(async () => order.push('work 1')).then(() => order.push('answer 1')),
      family.database.transaction(() => Promise.reject(new Error('no'))).catch(() => order.push('answer 2')),
      family.database.transaction(async () => order.push('work 3')).then(() => order.push('answer 3')),
    ]);
    expect(order.slice(0, 3)).toEqual(['work 1', 'work 3', 'commit']);
    expect(order.slice(3).toSorted()).toEqual(['answer 1', 'answer 2', 'answer 3']);
  });

  it('commits before the next transaction if transactions are slow', async () => {
    const order: string[] = [];
    const slow = async (name: string): Promise<void> => {
      const end = performance.now() + 120;
      while (performance.now() < end);
      order.push(`work ${name}`);
    };
    const database = openSqlite({ path: join(family.folder, 'slow.db') });
    await Promise.all(['1', '2', '3'].map((name) => database.transaction(() => slow(name)).then(() => order.push(`answer ${name}`))));
    await database.close();
    expect(order).toEqual(['work 1', 'answer 1', 'work 2', 'answer 2', 'work 3', 'answer 3']);
  });

  it('rolls back only the unit of work that throws, and rejects with its error', async () => {
    const mine = new Error('mine');
    const results = await Promise.allSettled([
      family.database.transaction((tx) => insert(tx, 'a')),
      family.database.transaction(async (tx) => {
        await insert(tx, 'b');
        throw mine;
      }),
      family.database.transaction(async (tx) => {
        await insert(tx, 'c');
        return 'c is in';
      }),
    ]);
    expect(results[1]).toEqual({ status: 'rejected', reason: mine });
    expect(results[2]).toEqual({ status: 'fulfilled', value: 'c is in' });
    expect(await family.ids()).toEqual(['a', 'c']);
  });

  it('shows a unit of work the writes of earlier ones', async () => {
    const [, seen] = await Promise.all([
      family.database.transaction((tx) => insert(tx, 'a')),
      family.database.transaction((tx) => tx.one(sql`SELECT count(*) AS "n" FROM "Parent"`)),
    ]);
    expect(seen).toEqual({ n: 1 });
  });

  it('writes appended rows together, without those of failed units of work', async () => {
    const batches: (readonly string[])[] = [];
    const parents = appendingTo(batches);
    const unitsOfWork = ['a', 'b', 'c'].map((id) =>
      family.database.transaction(async (tx) => {
        tx.append(parents, [id]);
        if (id === 'b') throw new Error('no');
      }),
    );
    await Promise.allSettled(unitsOfWork);
    expect(batches).toEqual([['a', 'c']]);
    expect(await family.ids()).toEqual(['a', 'c']);
  });

  it('rejects and rolls back the whole batch if the appended rows cannot be written', async () => {
    await family.database.transaction((tx) => insert(tx, 'taken'));
    const parents = appendingTo([]);
    const unitsOfWork = ['a', 'taken', 'b'].map((id) =>
      family.database.transaction(async (tx) => {
        await insert(tx, `by ${id}`);
        tx.append(parents, [id]);
      }),
    );
    expect(await Promise.all(unitsOfWork.map(codeOf))).toEqual(['STORAGE_UNAVAILABLE', 'STORAGE_UNAVAILABLE', 'STORAGE_UNAVAILABLE']);
    expect(await family.ids()).toEqual(['taken']);
  });

  it('rejects transactions if the queue is full', async () => {
    const queued = Array.from({ length: 10_001 }, () => family.database.transaction(async () => 1));
    expect(await codeOf(queued[10_000] as Promise<unknown>)).toBe('STORAGE_BUSY');
    expect(await Promise.all(queued.slice(0, 10_000))).toHaveLength(10_000);
  });
});

/** Inserts parents, and collects the ids that are written together. */
function appendingTo(batches: (readonly string[])[]): AppendStatements<string> {
  return {
    write(_, ids) {
      batches.push(ids);
      return ids.map((id) => sql`INSERT INTO "Parent" ("id") VALUES (${id})`);
    },
    findCommitted: (id) => sql`SELECT 1 FROM "Parent" WHERE "id" = ${id}`,
  };
}

describe('transactions', () => {
  it('a transaction cannot be used after its end', async () => {
    let ended: Transaction | undefined;
    await family.database.transaction(async (tx) => {
      ended = tx;
    });
    expect(await codeOf((ended as Transaction).run(sql`DELETE FROM "Parent"`))).toBe('INTERNAL');
    expect(await codeOf((ended as Transaction).savepoint(async () => 1))).toBe('INTERNAL');
  });

  it('a transaction fails if it awaits anything but its own statements, and does not block others', async () => {
    let later: unknown;
    const stuck = family.database.transaction(async (tx) => {
      await insert(tx, 'a');
      await sleep(30);
      later = await failure(insert(tx, 'b'));
    });
    const next = family.database.transaction((tx) => insert(tx, 'c'));
    const error = await failure(stuck);
    expect(error).toMatchObject({ code: 'INTERNAL', cause: { message: expect.stringMatching(/awaited/) } });
    await next;
    await expect.poll(() => later).toMatchObject({ code: 'INTERNAL' });
    expect(await family.ids()).toEqual(['c']);
  });

  it('a transaction fails if it awaits another transaction', async () => {
    const nested = family.database.transaction(async () => family.database.transaction(async () => 1));
    expect(await codeOf(nested)).toBe('INTERNAL');
  });

  it('a transaction may run many statements', async () => {
    await family.database.transaction(async (tx) => {
      for (let n = 0; n < 2000; n++) await insert(tx, `p${n}`);
    });
    expect(await family.ids()).toHaveLength(2000);
  });

  it('rolls back a savepoint that throws, and continues', async () => {
    await family.database.transaction(async (tx) => {
      await insert(tx, 'a');
      const rolledBack = tx.savepoint(async () => {
        await insert(tx, 'b');
        await tx.savepoint(() => insert(tx, 'c'));
        throw new Error('undo');
      });
      await expect(rolledBack).rejects.toThrow('undo');
      await tx.savepoint(() => insert(tx, 'd'));
    });
    expect(await family.ids()).toEqual(['a', 'd']);
  });

  it('a transaction fails if savepoints overlap or are not awaited', async () => {
    const overlapping = family.database.transaction((tx) =>
      Promise.all([tx.savepoint(() => insert(tx, 'a')), tx.savepoint(() => insert(tx, 'b'))]),
    );
    const loose = family.database.transaction(async (tx) => {
      await insert(tx, 'c');
      void tx.savepoint(() => new Promise(() => undefined));
    });
    expect(await codeOf(overlapping)).toBe('INTERNAL');
    expect(await codeOf(loose)).toBe('INTERNAL');
    expect(await family.ids()).toEqual([]);
  });
});
