/** Commits with checks that scan a table for each record: others do not wait for them, and they have a time limit. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Watch } from '../../authz/policies/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { AppendStatements, Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { createReadWriteSet } from '../read-write-set.ts';
import { insertRecord } from '../records.ts';
import type { ListRead, RelationReads } from '../relation-reads.ts';
import { define, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../storage.fixture.ts';
import { hasSlowCheck } from './slow-commits.ts';

const definitions = define({
  Task: { fields: { project: { type: 'string', index: true }, owner: { type: 'string' } } },
  Log: { fields: { text: { type: 'string' } } },
});
const [task, log] = [resourceOf(definitions, 'Task'), resourceOf(definitions, 'Log')];
const WATCH: Watch = new Map([['Task', { links: [['project'], ['owner']], isReferenced: true }]]);

let test: TestDatabase;
beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
});
afterAll(() => test.dispose());
beforeEach(() =>
  test.database.transaction(async (tx) => {
    for (const { name } of [task, log]) await tx.run(sql`DELETE FROM ${sql.table(name)}`);
    tx.addToReadSet({ watch: WATCH });
    await insertRecord(tx, task, toRecord('t', { project: 'p', owner: 'o' }));
  }),
);

const LINES: AppendStatements<string> = {
  write: (_, ids) => ids.map((id) => sql`INSERT INTO "Log" ("id", "version", "createdAt", "updatedAt") VALUES (${id}, 1, '', '')`),
  findCommitted: (id) => sql`SELECT 1 FROM "Log" WHERE "id" = ${id}`,
};

/** A list that is always compared, by this condition. */
const listOf = (where: Sql, more: Partial<ListRead> = {}): ListRead => ({
  resource: task,
  records: [{ id: 't', version: 1 }],
  dependsOn: new Set(['Task']),
  toComparison: () => ({ tables: sql`"Task"`, where, texts: [], valuesOf: () => [] }),
  needsScans: () => true,
  ...more,
});

/** Reads a list and appends a line. */
function list(id: string, conditionOf: (run: number) => Sql): Promise<number> {
  let run = 0;
  return test.database.transaction(async (tx: Transaction) => {
    run++;
    tx.addToReadSet({ watch: WATCH, relations: { lists: [listOf(conditionOf(run))] } });
    tx.append(LINES, [id]);
    return run;
  });
}

const append = (id: string): Promise<void> => test.database.transaction(async (tx) => tx.append(LINES, [id]));
const lines = async (): Promise<readonly unknown[]> => (await test.rows('Log')).map(({ id }) => id).sort();

describe('a slow check', () => {
  const isSlow = (relations: RelationReads, comparesLists: boolean): boolean => {
    const sets = createReadWriteSet();
    sets.addToReadSet({ watch: WATCH, relations });
    return hasSlowCheck(sets.build(), { comparesLists });
  };
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
    expect(isSlow(relations, comparesLists)).toBe(expected);
  });
});

describe('commits with slow checks', () => {
  it('other units of work do not wait for them', async () => {
    const ended: string[] = [];
    const note = (id: string) => (): unknown => ended.push(id);
    const slow: Promise<unknown>[] = [];
    for (const id of ['slow 1', 'slow 2', 'slow 3']) {
      slow.push(list(id, () => sql`pg_sleep(0.7) IS NOT NULL`).then(note(id)));
      // Otherwise, they would share one of the two commits that run at the same time.
      await pause(30);
    }
    for (const id of ['a', 'b', 'c']) await append(id).then(note(id));
    await Promise.all(slow);
    expect(ended).toEqual(['a', 'b', 'c', 'slow 1', 'slow 2', 'slow 3']);
    expect(await lines()).toEqual(['a', 'b', 'c', 'slow 1', 'slow 2', 'slow 3']);
  });

  it('those that take no long time share commits', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `line ${index}`);
    await Promise.all(ids.map((id) => list(id, () => sql`TRUE`)));
    const commits = await test.database.transaction((tx) =>
      tx.one<{ n: number }>(sql`SELECT count(DISTINCT "xmin"::text)::integer AS "n" FROM "Log"`),
    );
    expect([(await lines()).length, (commits?.n ?? 0) < 50]).toEqual([60, true]);
  });

  it('a check that takes longer than a second lets its unit of work run again, and not those that share its commit', async () => {
    const first = append('before');
    const fast = () => sql`TRUE`;
    const all = [list('first', fast), list('slow', (run) => (run === 1 ? sql`pg_sleep(5) IS NOT NULL` : sql`TRUE`)), list('last', fast)];
    expect(await Promise.all(all)).toEqual([1, 2, 1]);
    await first;
    expect(await lines()).toEqual(['before', 'first', 'last', 'slow']);
  });

  it('a list whose records have changed runs again', async () => {
    expect(await list('changed', (run) => (run === 1 ? sql`"Task"."owner" = 'another'` : sql`TRUE`))).toBe(2);
  });
});
