import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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

describe('group commit', () => {
  it.each([
    [200, 1],
    [600, 3],
  ])('puts %i transactions that queue together into %i commits', async (count, expected) => {
    let commits = 0;
    using _ = onCommit(() => commits++);
    await Promise.all(Array.from({ length: count }, (_each, n) => family.database.transaction((tx) => insert(tx, `p${n}`))));
    expect(commits).toBe(expected);
    expect(await family.ids()).toHaveLength(count);
  });

  it.each([
    [Number.POSITIVE_INFINITY, 1],
    [0, 4],
  ])('waits for others while each turn of the event loop brings more, for %i ms', async (gatherTime, expected) => {
    const database = openSqlite({
      path: join(family.folder, `gathered${expected}.db`),
      maxBatchTime: Number.POSITIVE_INFINITY,
      batchWindow: gatherTime,
    });
    await database.transaction((tx) => tx.run(sql`CREATE TABLE "Kept" ("id" TEXT) STRICT`));
    const before = database.metrics.commits;
    const done: Promise<unknown>[] = [];
    const turn = (left: number): void => {
      // First, so that the next one comes before whoever waits for a turn.
      if (left > 1) setImmediate(() => turn(left - 1));
      done.push(database.transaction((tx) => tx.run(sql`INSERT INTO "Kept" VALUES (${String(left)})`)));
    };
    turn(4);
    await vi.waitUntil(() => done.length === 4);
    await Promise.all(done);
    expect(database.metrics.commits - before).toBe(expected);
    await database.close();
  });

  it('counts what was written, and tells who watches of each commit', async () => {
    const told: number[] = [];
    const watch = { committed: ({ ms, unitsOfWork }: CommitMetrics) => void told.push(ms > 0 ? unitsOfWork : 0) };
    const database = openSqlite({ path: join(family.folder, 'watched.db'), maxBatchTime: Number.POSITIVE_INFINITY, observer: watch });
    await database.transaction((tx) => tx.run(sql`CREATE TABLE "Kept" ("id" TEXT) STRICT`));
    const writes = ['a', 'b', 'c'].map((id) => database.transaction((tx) => tx.run(sql`INSERT INTO "Kept" VALUES (${id})`)));
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
    expect(told).toEqual([1, 3, 1]);
    await database.close();
    // Nothing to prove any more, and nothing to fail with.
    await database.probe();
  });

  it('answers nobody before the commit', async () => {
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

  it('lets nobody wait for all the slow ones behind', async () => {
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

  it('undoes only the work that throws, and throws its own error on', async () => {
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

  it('lets a work see what the works before it wrote', async () => {
    const [, seen] = await Promise.all([
      family.database.transaction((tx) => insert(tx, 'a')),
      family.database.transaction((tx) => tx.one(sql`SELECT count(*) AS "n" FROM "Parent"`)),
    ]);
    expect(seen).toEqual({ n: 1 });
  });

  it('writes at once what its works append, of those that did not fail', async () => {
    const groups: (readonly string[])[] = [];
    const parents = appendingTo(groups);
    const works = ['a', 'b', 'c'].map((id) =>
      family.database.transaction(async (tx) => {
        await tx.append(parents, [id]);
        if (id === 'b') throw new Error('no');
      }),
    );
    await Promise.allSettled(works);
    expect(groups).toEqual([['a', 'c']]);
    expect(await family.ids()).toEqual(['a', 'c']);
  });

  it('answers none of its works where what they append cannot be written, and keeps nothing of them', async () => {
    await family.database.transaction((tx) => insert(tx, 'taken'));
    const parents = appendingTo([]);
    const works = ['a', 'taken', 'b'].map((id) =>
      family.database.transaction(async (tx) => {
        await insert(tx, `by ${id}`);
        await tx.append(parents, [id]);
      }),
    );
    expect(await Promise.all(works.map(codeOf))).toEqual(['STORAGE_UNAVAILABLE', 'STORAGE_UNAVAILABLE', 'STORAGE_UNAVAILABLE']);
    expect(await family.ids()).toEqual(['taken']);
  });

  it('refuses more than it can hold', async () => {
    const queued = Array.from({ length: 10_001 }, () => family.database.transaction(async () => 1));
    expect(await codeOf(queued[10_000] as Promise<unknown>)).toBe('STORAGE_BUSY');
    expect(await Promise.all(queued.slice(0, 10_000))).toHaveLength(10_000);
  });
});

/** Adds parents, and tells which at once. */
function appendingTo(groups: (readonly string[])[]): AppendStatements<string> {
  return {
    write(_, ids) {
      groups.push(ids);
      return ids.map((id) => sql`INSERT INTO "Parent" ("id") VALUES (${id})`);
    },
    find: (id) => sql`SELECT 1 FROM "Parent" WHERE "id" = ${id}`,
  };
}

describe('a transaction', () => {
  it('is dead after its end', async () => {
    let kept: Transaction | undefined;
    await family.database.transaction(async (tx) => {
      kept = tx;
    });
    expect(await codeOf((kept as Transaction).run(sql`DELETE FROM "Parent"`))).toBe('INTERNAL');
    expect(await codeOf((kept as Transaction).savepoint(async () => 1))).toBe('INTERNAL');
  });

  it('fails loudly where it awaits anything else, and holds up nobody', async () => {
    let later: unknown;
    const stuck = family.database.transaction(async (tx) => {
      await insert(tx, 'a');
      await sleep(30);
      later = await failure(insert(tx, 'b'));
    });
    const next = family.database.transaction((tx) => insert(tx, 'c'));
    const error = await failure(stuck);
    expect(error).toMatchObject({ code: 'INTERNAL', cause: { message: 'a transaction awaited something else than itself' } });
    await next;
    await vi.waitFor(() => expect(later).toMatchObject({ code: 'INTERNAL' }));
    expect(await family.ids()).toEqual(['c']);
  });

  it('fails loudly where it waits for another transaction', async () => {
    const nested = family.database.transaction(async () => family.database.transaction(async () => 1));
    expect(await codeOf(nested)).toBe('INTERNAL');
  });

  it('does not call long work late', async () => {
    await family.database.transaction(async (tx) => {
      for (let n = 0; n < 2000; n++) await insert(tx, `p${n}`);
    });
    expect(await family.ids()).toHaveLength(2000);
  });

  it('undoes a savepoint whose work throws, and goes on', async () => {
    await family.database.transaction(async (tx) => {
      await insert(tx, 'a');
      const undone = tx.savepoint(async () => {
        await insert(tx, 'b');
        await tx.savepoint(() => insert(tx, 'c'));
        throw new Error('undo');
      });
      await expect(undone).rejects.toThrow('undo');
      await tx.savepoint(() => insert(tx, 'd'));
    });
    expect(await family.ids()).toEqual(['a', 'd']);
  });

  it('refuses savepoints that overlap or are not awaited', async () => {
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
