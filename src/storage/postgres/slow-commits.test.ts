/** Commits with checks that scan a table for each record: others do not wait for their connection, and their callers take turns. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Watch } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import { type Sql, sql } from '../../sql.ts';
import type { AppendStatements } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { createReadWriteSet } from '../read-write-set.ts';
import { insertRecord } from '../records.ts';
import type { ListRead, RelationReads } from '../related/relation-reads.ts';
import { define, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../storage.fixture.ts';
import { type CommitBatcher, createCommitBatcher } from './commit-batching.ts';
import { fromDriver, STALE } from './driver-error.ts';
import { hasSlowCheck, SHARED_CHECK } from './slow-commits.ts';
import type { BatchedWork, TransactionOutcome } from './transaction.ts';

const definitions = define({
  Task: { fields: { project: { type: 'string', index: true }, owner: { type: 'string' } } },
  Log: { fields: { text: { type: 'string' } } },
});
const task = resourceOf(definitions, 'Task');
const WATCH: Watch = new Map([['Task', { links: [['project'], ['owner']], isReferenced: true }]]);

/** A list without write marks, which each commit compares by this condition. */
const listOf = (where: Sql, more: Partial<ListRead> = {}): ListRead => ({
  resource: task,
  records: [{ id: 't', version: 1 }],
  dependsOn: new Set(['Task']),
  toComparison: () => ({ tables: sql`"Task"`, where, texts: [], valuesOf: () => [] }),
  needsScans: () => true,
  ...more,
});

const setsOf = (relations: RelationReads) => {
  const sets = createReadWriteSet();
  sets.addToReadSet({ watch: WATCH, relations });
  return sets.build();
};

describe('a slow check', () => {
  const related = (...fields: readonly string[]): RelationReads => ({
    related: [
      {
        resource: task,
        links: fields.map((field) => ({ field, type: 'text', value: 'x', isText: true })),
        stamps: new Map(),
        isTruncated: false,
      },
    ],
  });

  it.each([
    ['related records by an index', related('project'), false, false],
    ['related records by an index and another field', related('owner', 'project'), false, false],
    ['related records without an index', related('owner'), false, true],
    ['the write marks of a list', { lists: [listOf(sql`TRUE`, { marks: '1' })] }, false, false],
    ['the records of a list, after a write', { lists: [listOf(sql`TRUE`, { marks: '1' })] }, true, true],
    ['the records of a list without write marks', { lists: [listOf(sql`TRUE`)] }, false, true],
    ['the records of a list by an index', { lists: [listOf(sql`TRUE`, { needsScans: () => false })] }, true, false],
  ])('compares %s: slow or not', (_, relations, comparesLists, expected) => {
    expect(hasSlowCheck(setsOf(relations), { comparesLists })).toBe(expected);
  });
});

/** A commit, and the functions that end it. */
interface Commit extends Pick<BatchedWork, 'comparesLists' | 'isSlow' | 'statementLimit'> {
  readonly units: number;
  succeed(): void;
  fail(code: string, detail?: object): void;
  lose(): void;
}

/** A server error of the driver. */
function serverError(code: string, detail: object): Error {
  return Object.assign(new pg.DatabaseError('refused', 0, 'error'), { code, detail: JSON.stringify(detail) });
}

/** Creates a batcher whose commits the test ends. */
function createBatcher(): { readonly batcher: CommitBatcher; next(): Promise<Commit> } {
  const begun: Commit[] = [];
  const waiting: ((commit: Commit) => void)[] = [];
  const commitBatch = (work: BatchedWork): Promise<TransactionOutcome<void>> => {
    const { promise, resolve } = Promise.withResolvers<TransactionOutcome<void>>();
    const commit: Commit = {
      ...work,
      units: work.sets.length,
      succeed: () => resolve({ answer: undefined, wrote: true, ms: 1 }),
      fail: (code, detail = {}) =>
        resolve({ error: fromDriver(serverError(code, detail)), retryReason: code === STALE ? 'stale' : undefined, broken: false }),
      lose: () => {
        const inDoubt = { answer: undefined, commit: { transactionId: undefined, find: undefined } };
        resolve({ error: new Problem('STORAGE_UNAVAILABLE', 'lost'), retryReason: undefined, broken: true, inDoubt });
      },
    };
    const next = waiting.shift();
    if (next === undefined) begun.push(commit);
    else next(commit);
    return promise;
  };
  const options = { concurrency: 2, inDoubtTimeout: 1000, committed: () => undefined };
  const next = (): Promise<Commit> => {
    const commit = begun.shift();
    return commit === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(commit);
  };
  return { batcher: createCommitBatcher(commitBatch, options), next };
}

const SLOW = { lists: [listOf(sql`TRUE`)] };

/** A unit of work that commits with these reads. */
function commit(batcher: CommitBatcher, relations: RelationReads, caller = 'a'): Promise<boolean> {
  return batcher.commit({ appends: [], deferred: [], sets: setsOf(relations) }, caller);
}

describe('commits with slow checks', () => {
  it('other commits do not wait for their connection', async () => {
    const { batcher, next } = createBatcher();
    const slow = commit(batcher, SLOW);
    const first = await next();
    expect(first).toMatchObject({ units: 1, isSlow: true, comparesLists: true });
    for (let count = 0; count < 3; count++) {
      const fast = commit(batcher, {});
      const other = await next();
      expect(other).toMatchObject({ units: 1, isSlow: false });
      other.succeed();
      expect(await fast).toBe(true);
    }
    first.succeed();
    expect(await slow).toBe(true);
  });

  it('several units of work share a commit with a short limit; after it, each has a commit of its own without one', async () => {
    const { batcher, next } = createBatcher();
    const all = [1, 2, 3].map(() => commit(batcher, SLOW));
    const shared = await next();
    expect(shared).toMatchObject({ units: 3, statementLimit: SHARED_CHECK });
    shared.fail('57014');
    for (let count = 0; count < 3; count++) {
      const alone = await next();
      expect(alone).toMatchObject({ units: 1, isSlow: true, statementLimit: undefined });
      alone.succeed();
    }
    expect(await Promise.all(all)).toEqual([true, true, true]);
  });

  it('a commit in doubt is sent again without a short limit', async () => {
    const { batcher, next } = createBatcher();
    const all = [commit(batcher, SLOW), commit(batcher, SLOW)];
    (await next()).lose();
    const again = await next();
    expect(again).toMatchObject({ units: 2, isSlow: true, statementLimit: undefined });
    again.succeed();
    expect(await Promise.all(all)).toEqual([true, true]);
  });

  it('callers take turns', async () => {
    const { batcher, next } = createBatcher();
    const first = commit(batcher, SLOW, 'many');
    const begun = await next();
    const settled: string[] = [];
    const many = Array.from({ length: 40 }, () => commit(batcher, SLOW, 'many').then(() => settled.push('many')));
    const few = commit(batcher, SLOW, 'few').then(() => settled.push('few'));
    await commitFast(batcher, next);
    begun.succeed();
    const second = await next();
    expect(second.units).toBe(16);
    second.succeed();
    await few;
    expect(settled.filter((caller) => caller === 'many').length).toBeLessThan(40);
    for (const units of [16, 9]) {
      const later = await next();
      expect(later.units).toBe(units);
      later.succeed();
    }
    await Promise.all([first, ...many]);
  });

  it('refuses a unit of work if a thousand wait', async () => {
    const { batcher, next } = createBatcher();
    void commit(batcher, SLOW);
    await next();
    const all = Array.from({ length: 1001 }, () => commit(batcher, SLOW).catch((error: unknown) => error));
    await commitFast(batcher, next);
    expect(await Promise.race(all)).toMatchObject({ code: 'STORAGE_BUSY' });
    expect(batcher.waiting).toBe(1000);
  });

  it('a list whose write marks are stale is moved to them, and the others of its batch are committed at once', async () => {
    const { batcher, next } = createBatcher();
    const sets = setsOf({ lists: [listOf(sql`TRUE`, { marks: '1' })] });
    const list = batcher.commit({ appends: [], deferred: [], sets }, 'a');
    const other = commit(batcher, {});
    const shared = await next();
    expect(shared).toMatchObject({ units: 2, isSlow: false, comparesLists: false });
    shared.fail(STALE, { checks: [sets.relations?.lists[0]?.key] });
    const commits = [await next(), await next()].sort((a, b) => Number(a.isSlow) - Number(b.isSlow));
    expect(commits).toMatchObject([
      { units: 1, isSlow: false },
      { units: 1, isSlow: true, comparesLists: true },
    ]);
    for (const each of commits) each.succeed();
    expect(await Promise.all([list, other])).toEqual([true, true]);
  });

  async function commitFast(batcher: CommitBatcher, next: () => Promise<Commit>): Promise<void> {
    const fast = commit(batcher, {});
    (await next()).succeed();
    await fast;
  }
});

describe('slow checks on the server', () => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = openTestDatabase();
    await migrate(test.database, definitions);
    await test.database.transaction(async (tx) => {
      tx.addToReadSet({ watch: WATCH });
      await insertRecord(tx, task, toRecord('t', { project: 'p', owner: 'o' }));
    });
  });
  afterAll(() => test.dispose());

  const LINES: AppendStatements<string> = {
    write: (_, ids) => ids.map((id) => sql`INSERT INTO "Log" ("id", "version", "createdAt", "updatedAt") VALUES (${id}, 1, '', '')`),
    findCommitted: (id) => sql`SELECT 1 FROM "Log" WHERE "id" = ${id}`,
  };

  /** Reads a list and appends a line. Returns the number of runs. */
  function list(id: string, conditionOf: (run: number) => Sql): Promise<number> {
    let run = 0;
    return test.database.transaction(async (tx) => {
      run++;
      tx.addToReadSet({ watch: WATCH, relations: { lists: [listOf(conditionOf(run))] } });
      tx.append(LINES, [`${id} in run ${run}`]);
      return run;
    });
  }

  it('commits those that take longer than a shared commit, and none twice', async () => {
    const ids = Array.from({ length: 20 }, (_, index) => `${index}`);
    const runs = await Promise.all(ids.map((id) => list(id, () => (id === '7' ? sql`pg_sleep(0.2) IS NOT NULL` : sql`TRUE`))));
    expect(new Set(runs)).toEqual(new Set([1]));
    const lines = (await test.rows('Log')).map(({ id }) => String(id)).filter((id) => !id.startsWith('changed'));
    expect(lines.sort()).toEqual(ids.map((id) => `${id} in run 1`).sort());
  });

  it('a list whose records have changed runs again', async () => {
    expect(await list('changed', (run) => (run === 1 ? sql`"Task"."owner" = 'another'` : sql`TRUE`))).toBe(2);
  });
});
