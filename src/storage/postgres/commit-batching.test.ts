import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { WrittenColumn } from '../../operators/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { AppendStatements, Database, Transaction } from '../contract.ts';
import { advanceRevision, loadRevision } from '../policies/revision.ts';
import type { ReadSet } from '../read-set.ts';
import { failure } from '../storage.fixture.ts';
import { toCommitStatements } from './commit-statements.ts';
import { commitValidationSql } from './commit-validation.ts';
import { toStatement } from './connection.ts';
import { STALE } from './driver-error.ts';
import { openFamily } from './postgres.fixture.ts';
import { postgresDialect } from './sql-dialect.ts';

const { open, runSql, close } = openFamily('storage_postgres_batching');

let database: Database;
beforeAll(async () => {
  database = await open({ connections: 8 });
  await runSql(`
    CREATE TABLE "_State" ("id" TEXT COLLATE "C" PRIMARY KEY, "number" BIGINT, "text" TEXT);
    CREATE TABLE "_Epoch" ("id" TEXT COLLATE "C" PRIMARY KEY, "number" BIGINT, "at" TEXT);
    CREATE TABLE "User" ("id" TEXT COLLATE "C" PRIMARY KEY, "version" BIGINT);
    CREATE TABLE "_Session" ("id" TEXT COLLATE "C" PRIMARY KEY, "revokedAt" TEXT);
    CREATE TABLE "Log" ("id" TEXT COLLATE "C" PRIMARY KEY, "revision" TEXT, CHECK ("id" <> 'refused'));
    ${commitValidationSql()}`);
});
afterAll(() => close(database));
beforeEach(() =>
  runSql(`
    DELETE FROM "_State"; DELETE FROM "User"; DELETE FROM "Log";
    INSERT INTO "_State" VALUES ('epoch', 1, 'first');
    INSERT INTO "User" SELECT 'user ' || n, 1 FROM generate_series(0, 199) AS n`),
);

interface Line {
  readonly id: string;
  readonly revision: string;
}

/** Like the audit log, one statement inserts all lines, and validates the commit. */
const toInsertion = (lines: readonly Line[]): Sql => {
  const columns = [lines.map(({ id }) => id), lines.map(({ revision }) => revision)];
  return sql`INSERT INTO "Log" ("id", "revision") ${postgresDialect.rowsOf?.(columns.map((values) => ({ type: 'text', values })))}`;
};

const LOG: AppendStatements<Line> = {
  write: (_, lines) => [toInsertion(lines)],
  findCommitted: ({ id }) => sql`SELECT 1 FROM "Log" WHERE "id" = ${id}`,
};

/** A read that appends a line with the revision that it used. */
async function read(tx: Transaction, id: string, readSet: ReadSet = {}): Promise<string> {
  const { stamp } = await loadRevision(tx);
  tx.addToReadSet({ revision: stamp, ...readSet });
  tx.append(LOG, [{ id, revision: stamp }]);
  return stamp;
}

const lines = async (): Promise<readonly unknown[]> =>
  (await runSql(`SELECT "id", "revision", "xmin"::text AS "commit" FROM "Log" ORDER BY "id"`)).rows;
const commits = async (): Promise<number> => (await runSql(`SELECT count(DISTINCT "xmin"::text)::int AS "n" FROM "Log"`)).rows[0].n;

describe('units of work that only append lines', () => {
  it('units of work that only append lines share commits', async () => {
    await Promise.all(Array.from({ length: 200 }, (_, at) => database.transaction((tx) => read(tx, `line ${at}`))));
    expect([(await lines()).length, (await commits()) < 100]).toEqual([200, true]);
  });

  it('saves appended lines if the unit of work succeeds, and not if it fails', async () => {
    expect(await database.transaction((tx) => read(tx, 'done'))).toBe('first');
    const error = new Error('no');
    const failed = database.transaction(async (tx) => {
      await read(tx, 'failed');
      throw error;
    });
    expect(await failure(failed)).toBe(error);
    expect(await lines()).toMatchObject([{ id: 'done' }]);
  });

  it('rolls back appended lines with their savepoint', async () => {
    await database.transaction(async (tx) => {
      tx.append(LOG, [{ id: 'before', revision: '' }]);
      await failure(
        tx.savepoint(async () => {
          tx.append(LOG, [{ id: 'within', revision: '' }]);
          throw new Error('no');
        }),
      );
      await tx.savepoint(async () => tx.append(LOG, [{ id: 'within another', revision: '' }]));
    });
    expect(await lines()).toMatchObject([{ id: 'before' }, { id: 'within another' }]);
  });

  it('saves appended lines though the line of another unit of work cannot be written', async () => {
    const unitsOfWork = ['a', 'refused', 'b'].map((id) => database.transaction((tx) => read(tx, id)));
    expect((await Promise.allSettled(unitsOfWork)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await lines()).toMatchObject([{ id: 'a' }, { id: 'b' }]);
  });

  it('retries the one whose read set became stale, refuses the one whose line cannot be written, and saves the others of the commit', async () => {
    const runs = new Map<string, number>();
    const work = (id: string) =>
      database.transaction(async (tx) => {
        const run = (runs.get(id) ?? 0) + 1;
        runs.set(id, run);
        const row = await tx.one<{ version: number }>(sql`SELECT "version" FROM "User" WHERE "id" = 'user 1'`);
        const users = id === 'stale' ? [{ id: 'user 1', version: row?.version ?? 0 }] : [];
        await read(tx, run === 1 ? id : `${id} again`, { users });
        // The last one lets all of them commit together.
        if (id === 'stale' && run === 1) await runSql(`UPDATE "User" SET "version" = 2 WHERE "id" = 'user 1'`);
        if (id === 'stale' && run === 1) changed.resolve();
        await changed.promise;
      });
    const changed = Promise.withResolvers<void>();
    const outcomes = await Promise.allSettled(['a', 'stale', 'refused', 'b'].map(work));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled']);
    expect(await lines()).toMatchObject([{ id: 'a' }, { id: 'b' }, { id: 'stale again' }]);
    expect([runs.get('a'), runs.get('b')]).toEqual([1, 1]);
  });

  it('inserts lines before the locks of commit validation are taken, and before it compares', async () => {
    const stale = {
      revision: 'an earlier one',
      users: new Map(),
      sessions: [],
      validUntil: Number.POSITIVE_INFINITY,
      advancesRevision: false,
      changedUsers: new Set<string>(),
    };
    const codeFor = async (id: string): Promise<unknown> => {
      const [query, ...others] = toCommitStatements([toInsertion([{ id, revision: '' }])], [stale], {
        comparesLists: false,
        deferred: [],
      }).map(toStatement);
      expect(others).toEqual([]);
      return ((await failure(runSql(query?.sql ?? '', query?.parameters))) as { code: string }).code;
    };
    expect(await codeFor('accepted')).toBe(STALE);
    // The constraint fails first.
    expect(await codeFor('refused')).toBe('23514');
    expect(await lines()).toEqual([]);
  });

  it('commits appended lines with the other changes of their unit of work', async () => {
    await database.transaction(async (tx) => {
      await read(tx, 'with it');
      await tx.run(sql`UPDATE "User" SET "version" = 2 WHERE "id" = 'user 0'`);
    });
    const [line] = await lines();
    const { rows } = await runSql(`SELECT "xmin"::text AS "commit" FROM "User" WHERE "id" = 'user 0'`);
    expect(line).toMatchObject(rows[0]);
  });
});

describe('rows to insert', () => {
  const COLUMNS: readonly WrittenColumn[] = [
    { type: 'text', values: ['a "quoted" \\ text', '{,}', 'NULL', '', null] },
    { type: 'integer', values: [1, -2, 9007199254740993n, null, 0] },
    { type: 'boolean', values: [true, false, null, true, false] },
    { type: 'json', values: ['{"a":"\\u0000 \\""}', null, '[]', '""', 'null'] },
  ];

  it.each([1, 5])('keeps every value of %i rows', async (count) => {
    const columns = COLUMNS.map(({ type, values }) => ({ type, values: values.slice(0, count) }));
    const rows = postgresDialect.rowsOf?.(columns) ?? sql``;
    const found = await database.transaction((tx) => tx.all(sql`SELECT * FROM (${rows}) AS "row" ("text", "integer", "boolean", "json")`));
    const toStored = (value: unknown): unknown => (typeof value === 'boolean' ? Number(value) : value);
    const names = columns.map(({ type }) => type);
    expect(found).toEqual(
      Array.from({ length: count }, (_, row) => Object.fromEntries(names.map((name, at) => [name, toStored(columns[at]?.values[row])]))),
    );
  });

  it('refuses a text that the database cannot store', async () => {
    for (const values of [['a\u0000'], ['a', 'b\u0000']]) {
      const rows = postgresDialect.rowsOf?.([{ type: 'text', values }]) ?? sql``;
      expect(await failure(database.transaction((tx) => tx.all(sql`SELECT * FROM (${rows}) AS "row"`)))).toMatchObject({
        code: 'VALUE_INVALID',
      });
    }
  });
});

describe('a unit of work with a stale read set in a commit batch', () => {
  it('retries a unit of work whose read set is stale, and not the others of its commit batch', async () => {
    const runs = new Map<string, number>();
    const readAs = (user: string) =>
      database.transaction(async (tx) => {
        runs.set(user, (runs.get(user) ?? 0) + 1);
        const row = await tx.one<{ version: number }>(sql`SELECT "version" FROM "User" WHERE "id" = ${user}`);
        if (runs.get(user) === 1) await changeAfterReads();
        return read(tx, `${user} at ${row?.version}`, { users: [{ id: user, version: row?.version ?? 0 }] });
      });
    let changed: Promise<unknown> | undefined;
    const changeAfterReads = (): Promise<unknown> => {
      changed ??= runSql(`UPDATE "User" SET "version" = 2 WHERE "id" IN ('user 1', 'user 3')`);
      return changed;
    };
    await Promise.all([0, 1, 2, 3, 4].map((at) => readAs(`user ${at}`)));
    const ids = (await lines()).map((line) => (line as Line).id);
    const versions = [1, 2, 1, 2, 1].map((version, at) => `user ${at} at ${version}`);
    expect(ids).toEqual(versions);
    expect([0, 2, 4].map((at) => runs.get(`user ${at}`))).toEqual([1, 1, 1]);
  });

  it('a unit of work with a stale read set succeeds though the revision changes again and again', async () => {
    let ended = false;
    const change = async () => {
      for (let at = 0; at < 20; at++) await database.transaction((tx) => advanceRevision(tx));
    };
    const changing = change().finally(() => {
      ended = true;
    });
    const stamps: Promise<string>[] = [];
    for (let at = 0; !ended; at++) {
      stamps.push(database.transaction((tx) => read(tx, `line ${at}`)));
      if (at % 5 === 0) await stamps.at(-1);
    }
    await changing;
    const { length } = await Promise.all(stamps);
    expect(await lines()).toHaveLength(length);
  });
});

describe('a unit of work that only reads', () => {
  const transactions = async (work: (tx: Transaction) => Promise<unknown>) => {
    let seen: unknown;
    await database.transaction(async (tx) => {
      await work(tx);
      seen = (await tx.one<{ n: number }>(sql`SELECT CASE WHEN pg_current_xact_id_if_assigned() IS NULL THEN 0 ELSE 1 END AS "n"`))?.n;
    });
    return seen;
  };

  it('a unit of work that only reads has no transaction until it writes, takes a lock or locks a row', async () => {
    await database.transaction((tx) => tx.one(sql`SELECT 1`));
    const inTransaction = async (work: (tx: Transaction) => Promise<unknown>) =>
      database.transaction(async (tx) => {
        await work(tx);
        // now() is constant within a transaction.
        const at = () => tx.one(sql`SELECT now()::text AS "now"`);
        return [(await at())?.['now']].includes((await at())?.['now']);
      });
    expect(await inTransaction(async (tx) => tx.savepoint(() => tx.one(sql`SELECT 1`)))).toBe(false);
    expect(await inTransaction((tx) => tx.lock('name'))).toBe(true);
    expect(await inTransaction((tx) => tx.one(sql`SELECT 1 FROM "User" WHERE "id" = 'user 0'${tx.rowLock('share')}`))).toBe(true);
    expect(await inTransaction((tx) => tx.one(sql`UPDATE "User" SET "version" = 3 RETURNING 1`))).toBe(true);
    expect(await transactions((tx) => tx.one(sql`SELECT 1`))).toBe(0);
  });

  it('rolls back the writes of a savepoint, even if they are the first of the unit of work', async () => {
    const versionOf = async (tx: Transaction) =>
      (await tx.one<{ version: number }>(sql`SELECT "version" FROM "User" WHERE "id" = 'user 0'`))?.version;
    const seen: unknown[] = [];
    await database.transaction(async (tx) => {
      for (const version of [7, 8]) {
        const rolledBack = tx.savepoint(async () => {
          await tx.savepoint(() => tx.one(sql`SELECT 1`));
          await tx.run(sql`UPDATE "User" SET "version" = ${version} WHERE "id" = 'user 0'`);
          seen.push(await versionOf(tx));
          throw new Error('no');
        });
        await failure(rolledBack);
        seen.push(await versionOf(tx));
      }
    });
    expect(seen).toEqual([7, 1, 8, 1]);
  });

  it('validates a unit of work even if it appends nothing', async () => {
    let runs = 0;
    const answer = await database.transaction(async (tx) => {
      const { stamp } = await loadRevision(tx);
      tx.addToReadSet({ revision: stamp });
      if (runs++ === 0) await runSql(`UPDATE "_State" SET "text" = 'second'`);
      return stamp;
    });
    expect(answer).toBe('second');
  });
});
