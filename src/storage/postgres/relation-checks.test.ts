/** Commit validation of related records: which units of work of a batch run again, what waits, and what validation costs without relations. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Watch } from '../../authz/policies/index.ts';
import { sql } from '../../sql.ts';
import type { AppendStatements, Query, Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { createReadWriteSet, type ReadWriteSet } from '../read-write-set.ts';
import { insertRecord, updateRecord } from '../records.ts';
import type { ListRead, RelatedRead } from '../related/relation-reads.ts';
import { stampOf } from '../related/relation-reads.ts';
import { define, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../storage.fixture.ts';
import { writeMarksSql } from '../write-marks.ts';
import { parseStaleness, toCommitValidation } from './commit-validation.ts';
import { toRelationChecks } from './relation-checks.ts';

const definitions = define({
  Task: { fields: { project: { type: 'string', index: true } } },
  Log: { fields: { text: { type: 'string' } } },
});
const [task, log] = [resourceOf(definitions, 'Task'), resourceOf(definitions, 'Log')];
const WATCH: Watch = new Map([['Task', { links: [['project']], isReferenced: true }]]);
const PROJECTS = Array.from({ length: 12 }, (_, index) => `p${index}`);

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
    for (const project of PROJECTS) await insertRecord(tx, task, toRecord(`task of ${project}`, { project }));
  }),
);

/** Reads the tasks of a project, as a condition that counts them does. */
async function readTasks(tx: Transaction, project: string): Promise<number> {
  const rows = await tx.all<Record<string, unknown>>(sql`SELECT * FROM "Task" WHERE "project" = ${project} ORDER BY "id"`);
  const related: RelatedRead = {
    resource: task,
    links: [{ field: 'project', type: 'text', value: project, isText: true }],
    stamps: new Map(rows.map((row) => [String(row['id']), stampOf(row)])),
    isTruncated: false,
  };
  tx.addToReadSet({ watch: WATCH, relations: { related: [related] } });
  return rows.length;
}

const LINES: AppendStatements<string> = {
  write: (_, ids) => ids.map((id) => sql`INSERT INTO "Log" ("id", "version", "createdAt", "updatedAt") VALUES (${id}, 1, '', '')`),
  findCommitted: (id) => sql`SELECT 1 FROM "Log" WHERE "id" = ${id}`,
};

async function loadMarks(): Promise<string> {
  const row = await test.database.transaction((tx) =>
    tx.one<{ marks: string }>(sql`SELECT ${writeMarksSql(new Set(['Task']))} AS "marks"`),
  );
  return row?.marks ?? '';
}

function move(id: string, project: string): Promise<unknown> {
  return test.database.transaction(async (tx) => {
    tx.addToReadSet({ watch: WATCH });
    await updateRecord(tx, task, { id, version: 1, values: { project }, cleared: [], now: tx.now });
  });
}

describe('commit batches', () => {
  it('only the units of work whose related records have changed run again', async () => {
    const runs = new Map(PROJECTS.map((project) => [project, 0]));
    let ready = 0;
    const { promise: changed, resolve: release } = Promise.withResolvers<void>();
    const read = (project: string) =>
      test.database.transaction(async (tx) => {
        await readTasks(tx, project);
        const run = (runs.get(project) ?? 0) + 1;
        runs.set(project, run);
        tx.append(LINES, [`${project} in run ${run}`]);
        if (run > 1) return;
        // All of them have read before the change, as many as there are connections.
        if (++ready === 8) void move('task of p0', 'p1').then(() => release());
        await changed;
      });
    await Promise.all(PROJECTS.slice(0, 8).map(read));
    expect([...runs.values()].slice(0, 8)).toEqual([2, 2, 1, 1, 1, 1, 1, 1]);
    expect((await test.rows('Log')).map(({ id }) => id)).toContain('p0 in run 2');
    expect(await test.rows('Log')).toHaveLength(8);
  });
});

describe('lists', () => {
  const listOf = (project: string, ids: readonly string[]): ListRead => ({
    resource: task,
    records: ids.map((id) => ({ id, version: 1, project })),
    dependsOn: new Set(['Task']),
    toComparison: () => ({
      tables: sql`"Task"`,
      where: sql`"Task"."project" = ${project}`,
      texts: [sql`"Task"."project"`],
      valuesOf: (record) => [String(record['project'])],
    }),
    needsScans: () => false,
  });
  const setsOf = (list: ListRead): ReadWriteSet => {
    const sets = createReadWriteSet();
    sets.addToReadSet({ watch: WATCH, relations: { lists: [list] } });
    return sets.build();
  };

  /** Runs the checks of a list; returns whether it is stale. */
  const isStale = async (list: ListRead, comparesLists: boolean): Promise<boolean> => {
    const sets = setsOf(list);
    const checks = toRelationChecks([sets], { comparesLists });
    const failure = await test.database
      .transaction(async (tx) => {
        for (const check of checks) await tx.all(check);
      })
      .catch((error: unknown) => error);
    return failure !== undefined && parseStaleness(failure)({ sets, deferred: [] });
  };

  it('a list with write marks is stale after a write, unless its records are compared', async () => {
    const marked = { ...listOf('p0', ['task of p0']), marks: await loadMarks() };
    const compared = { ...marked, toComparison: () => expect.unreachable() };
    expect(await isStale(compared, false)).toBe(false);
    await move('task of p1', 'p2');
    expect([await isStale(compared, false), await isStale(marked, true)]).toEqual([true, false]);
    await move('task of p0', 'p2');
    expect(await isStale(marked, true)).toBe(true);
  });

  it('the records of a list are not compared if its write marks are unchanged', async () => {
    const other = { ...listOf('p0', ['task of p1']), marks: await loadMarks() };
    expect(await isStale(other, true)).toBe(false);
    await move('task of p2', 'p3');
    expect(await isStale(other, true)).toBe(true);
  });

  it('a list whose records still match is committed after a write of others, without another run', async () => {
    let runs = 0;
    await test.database.transaction(async (tx) => {
      runs++;
      const marked = { ...listOf('p0', ['task of p0']), marks: await loadMarks() };
      tx.addToReadSet({ watch: WATCH, relations: { lists: [marked] } });
      tx.append(LINES, ['after the write of another task']);
      if (runs === 1) await move('task of p1', 'p2');
    });
    expect([runs, await test.rows('Log')]).toMatchObject([1, [{ id: 'after the write of another task' }]]);
  });

  it('equal lists share a check, which names each of them if it fails', async () => {
    const [first, second] = [setsOf(listOf('p0', ['task of p0'])), setsOf(listOf('p0', ['task of p0']))];
    const others = [listOf('p1', ['task of p0']), listOf('p0', ['task of p1'])].map(setsOf);
    expect(toRelationChecks([first, second, ...others], { comparesLists: false })).toHaveLength(3);
    const checks = toRelationChecks([first, second], { comparesLists: false });
    expect(checks).toHaveLength(1);
    const check = (): Promise<unknown> => test.database.transaction((tx) => tx.all(checks[0] as Query));
    await expect(check()).resolves.toEqual([]);
    await move('task of p0', 'p1');
    const failure: unknown = await check().catch((error: unknown) => error);
    const isStale = parseStaleness(failure);
    expect([first, second, ...others].map((sets) => isStale({ sets, deferred: [] }))).toEqual([true, true, false, false]);
  });
});

describe('locks', () => {
  it('a writer of a related record waits until the decisions that have read it are committed', async () => {
    const order: string[] = [];
    let writing: Promise<unknown> | undefined;
    await test.database.transaction(async (tx) => {
      await readTasks(tx, 'p0');
      const sets = createReadWriteSet();
      sets.addToReadSet({
        relations: {
          related: [
            {
              resource: task,
              links: [{ field: 'project', type: 'text', value: 'p0', isText: true }],
              stamps: new Map(),
              isTruncated: false,
            },
          ],
        },
      });
      // Validation begins, and holds the locks until the commit.
      await tx.run(toCommitValidation([sets.build()]));
      writing = move('task of p0', 'p1').then(() => order.push('written'));
      const waiting = sql`SELECT count(*)::int AS "n" FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
      await expect.poll(async () => (await test.database.transaction((other) => other.one<{ n: number }>(waiting)))?.n).toBeGreaterThan(0);
      order.push('committed');
    });
    await writing;
    expect(order).toEqual(['committed', 'written']);
  });

  it('many concurrent units of work that fill a quota all end, within its bound', async () => {
    const answers = await Promise.allSettled(
      Array.from({ length: 30 }, (_, index) =>
        test.database.transaction(async (tx) => {
          if ((await readTasks(tx, 'quota')) >= 5) return 'full';
          await insertRecord(tx, task, toRecord(`q${index}`, { project: 'quota' }));
          return 'done';
        }),
      ),
    );
    const counted = Map.groupBy(answers, (answer) => (answer.status === 'fulfilled' ? answer.value : String(answer.reason)));
    expect(Object.fromEntries([...counted].map(([answer, same]) => [answer, same.length]))).toEqual({ done: 5, full: 25 });
  });
});

describe('the cost of validation', () => {
  it('a unit of work that reads no other records sends no check and takes the same locks', () => {
    const sets = createReadWriteSet();
    sets.addToReadSet({ revision: 'r', users: [{ id: 'ann', version: 1 }], watch: WATCH });
    const built = sets.build();
    expect([built.relations, toRelationChecks([built], { comparesLists: true })]).toEqual([undefined, []]);
    expect(toCommitValidation([built]).parameters.slice(0, 2)).toEqual([expect.stringMatching(/^\{0,\d+\}$/), '{f,f}']);
  });

  it('a write of a resource that no condition reads sends no statement of its own and takes no lock', async () => {
    const statements: unknown[] = [];
    await test.database.transaction(async (inner) => {
      inner.addToReadSet({ watch: new Map() });
      const tx = new Proxy(inner, {
        get: (target, name) => {
          if (name === 'one' || name === 'all' || name === 'run' || name === 'updateRow' || name === 'addToWriteSet') statements.push(name);
          const member: unknown = Reflect.get(target, name, target);
          return typeof member === 'function' ? member.bind(target) : member;
        },
      });
      await updateRecord(tx, task, { id: 'task of p0', version: 1, values: { project: 'p1' }, cleared: [], now: tx.now });
    });
    expect(statements).toEqual(['updateRow']);
  });
});
