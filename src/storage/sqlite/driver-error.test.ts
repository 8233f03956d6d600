import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Problem } from '../../errors.ts';
import { sql } from '../../sql.ts';
import { ConstraintError, type Transaction } from '../contract.ts';
import { failure } from '../storage.fixture.ts';
import { codeOf, type Family, insert, onCommit, openFamily } from './sqlite.fixture.ts';

let family: Family;

beforeEach(async () => {
  family = await openFamily();
});
afterEach(() => family.dispose());

describe('errors of the driver', () => {
  it.each([
    ['unique', ['a', 'b'], sql`INSERT INTO "Child" ("id", "a", "b") VALUES ('2', 'x', 'y')`],
    ['unique', ['id'], sql`INSERT INTO "Child" ("id") VALUES ('1')`],
    ['reference', [], sql`INSERT INTO "Child" ("id", "parent") VALUES ('2', 'none')`],
    ['reference', [], sql`DELETE FROM "Parent"`],
    ['check', ['n'], sql`INSERT INTO "Parent" ("id", "n") VALUES ('2', 'text')`],
    ['check', ['id'], sql`INSERT INTO "Parent" ("id") VALUES (NULL)`],
  ] as const)('reports the violation of a %s constraint on %j (case %#)', async (constraint, columns, statement) => {
    await family.database.transaction(async (tx) => {
      await insert(tx, 'p');
      await tx.run(sql`INSERT INTO "Child" VALUES ('1', 'p', 'x', 'y')`);
    });
    const error = await failure(family.database.transaction((tx) => tx.run(statement)));
    expect(error).toBeInstanceOf(ConstraintError);
    expect(error).toMatchObject({ constraint, columns: constraint === 'check' && columns[0] === 'n' ? [] : columns });
  });

  it('driver errors do not reveal SQL to the caller', async () => {
    const error = await failure(family.database.transaction((tx) => tx.all(sql`SELECT * FROM "Secret"`)));
    expect(error).toMatchObject({ code: 'INTERNAL', detail: expect.not.stringMatching(/Secret|select/i) });
    expect((error as Problem).cause).toMatchObject({ message: expect.stringContaining('Secret') });
  });

  it('reports STORAGE_BUSY while another process holds the lock', async () => {
    const other = new BetterSqlite3(family.path);
    other.exec('BEGIN IMMEDIATE');
    expect(await codeOf(family.database.transaction((tx) => insert(tx, 'a')))).toBe('STORAGE_BUSY');
    expect(family.database.healthy).toBe(false);
    other.exec('ROLLBACK');
    other.close();
    await family.database.transaction((tx) => insert(tx, 'b'));
    expect(family.database.healthy).toBe(true);
    expect(await family.ids()).toEqual(['b']);
  });
});

describe('a full disk', () => {
  const pages = (count: number): Promise<unknown> =>
    family.database.transaction((tx) => tx.one({ sql: `PRAGMA max_page_count = ${count}`, parameters: [] }));
  const big = (tx: Transaction, id: string): Promise<unknown> =>
    tx.run(sql`INSERT INTO "Parent" ("id") VALUES (${id + 'x'.repeat(20_000)})`);

  it('rejects writes that do not fit on the disk, and accepts writes again when there is space', async () => {
    await family.database.transaction((tx) => insert(tx, 'before'));
    await pages(1);
    const [full] = await Promise.allSettled([family.database.transaction((tx) => big(tx, 'a'))]);
    expect(full).toMatchObject({ status: 'rejected', reason: { code: 'STORAGE_UNAVAILABLE' } });
    expect(family.database.healthy).toBe(false);
    expect(await family.ids()).toEqual(['before']);
    expect(family.database.healthy).toBe(false);
    await pages(1_000_000);
    await family.database.transaction((tx) => big(tx, 'b'));
    expect(family.database.healthy).toBe(true);
  });

  it('rejects a whole batch that SQLite rolled back, and commits no later statement by itself', async () => {
    await family.database.transaction((tx) => insert(tx, 'before'));
    let later: unknown;
    const unitsOfWork = [
      family.database.transaction((tx) => insert(tx, 'a')),
      family.database.transaction(async (tx) => {
        // SQLite may roll back like this when the disk is full.
        await failure(tx.run(sql`INSERT OR ROLLBACK INTO "Parent" ("id") VALUES ('before')`));
        later = await failure(insert(tx, 'later'));
      }),
      family.database.transaction((tx) => insert(tx, 'c')),
    ];
    expect(await Promise.all(unitsOfWork.map(codeOf))).toEqual(Array(3).fill('STORAGE_UNAVAILABLE'));
    expect(later).toMatchObject({ code: 'STORAGE_UNAVAILABLE' });
    expect(await family.ids()).toEqual(['before']);
  });

  it('the database is healthy again without a request when the disk has space', async () => {
    await pages(1);
    await failure(family.database.transaction((tx) => big(tx, 'a')));
    expect(family.database.healthy).toBe(false);
    await pages(1_000_000);
    await expect.poll(() => family.database.healthy).toBe(true);
  });

  it('rolls back and rejects a whole batch whose COMMIT fails', async () => {
    using commit = onCommit(() => {
      throw new BetterSqlite3.SqliteError('disk I/O error', 'SQLITE_IOERR_FSYNC');
    });
    const unitsOfWork = [
      family.database.transaction((tx) => insert(tx, 'a')),
      family.database.transaction(() => Promise.reject(new Error('mine'))),
    ];
    expect(await Promise.all(unitsOfWork.map(codeOf))).toEqual(['STORAGE_UNAVAILABLE', 'STORAGE_UNAVAILABLE']);
    expect(family.database.healthy).toBe(false);
    commit[Symbol.dispose]();
    await family.database.transaction((tx) => insert(tx, 'b'));
    expect(family.database.healthy).toBe(true);
    expect(await family.ids()).toEqual(['b']);
  });
});
