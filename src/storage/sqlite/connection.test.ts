import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { sql } from '../../sql.ts';
import type { Statement } from '../contract.ts';
import { type Connection, createConnection } from './connection.ts';

let connection: Connection;
let prepare: MockInstance<BetterSqlite3.Database['prepare']>;

beforeEach(() => {
  const driver = new BetterSqlite3(':memory:');
  connection = createConnection(driver);
  prepare = vi.spyOn(driver, 'prepare');
});

function query(n: number): void {
  connection.one({ sql: `SELECT ${n} AS "n"`, parameters: [] });
}

function prepared(n: number): number {
  return prepare.mock.calls.filter(([text]) => text === `SELECT ${n} AS "n"`).length;
}

describe('prepared statements', () => {
  it('plans a statement once for all parameters', () => {
    // The driver creates a function for the rows of each plan.
    const planned = vi.spyOn(globalThis, 'Function');
    const driver = new BetterSqlite3(':memory:');
    driver.exec('CREATE TABLE "T" ("id" TEXT PRIMARY KEY, "owner" TEXT) STRICT; CREATE INDEX "ix" ON "T" ("owner", "id")');
    driver.exec(`INSERT INTO "T" VALUES ('a', 'x')`);
    const mine = createConnection(driver);
    const find = (owner: string, limit: number) =>
      mine.all(sql`SELECT "id" FROM "T" WHERE "owner" = ${owner} ORDER BY "id" LIMIT ${limit}`);
    const bare = driver.prepare('SELECT "id" FROM "T" WHERE "owner" = ? ORDER BY "id" LIMIT ?');
    const plansOf = (work: () => void): number => {
      planned.mockClear();
      for (let time = 0; time < 5; time++) work();
      return planned.mock.calls.length;
    };
    expect(plansOf(() => bare.all('x', 1))).toBe(5);
    expect(plansOf(() => expect(find('x', 1)).toEqual([{ id: 'a' }]))).toBe(1);
    planned.mockRestore();
  });

  it('reuses prepared statements, and drops the least recently used above a limit', () => {
    for (let n = 0; n < 500; n++) query(n);
    query(0);
    expect(prepared(0)).toBe(1);
    query(500);
    query(0);
    query(2);
    expect([prepared(0), prepared(2)]).toEqual([2, 1]);
  });

  it('drops prepared statements when a table changes, rolled back or not', () => {
    query(7);
    connection.run({ sql: 'CREATE TABLE "T" ("id" TEXT)', parameters: [] });
    query(7);
    connection.exec('BEGIN');
    connection.run({ sql: 'ALTER TABLE "T" ADD COLUMN "n" INTEGER', parameters: [] });
    query(7);
    connection.exec('ROLLBACK');
    expect(prepared(7)).toBe(3);
    expect(connection.all({ sql: 'SELECT * FROM "T"', parameters: [] })).toEqual([]);
  });

  it('drops prepared statements when another process has changed a table, so that values have the new column type', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bailiwick-connection-'));
    const [mine, other] = [new BetterSqlite3(join(folder, 'x.db')), new BetterSqlite3(join(folder, 'x.db'))];
    try {
      const shared = createConnection(mine);
      other.exec(`CREATE TABLE "T" ("x" TEXT) STRICT; INSERT INTO "T" VALUES ('7')`);
      const read = (): unknown => {
        shared.begin();
        const row = shared.one({ sql: 'SELECT "x" FROM "T"', parameters: [] });
        shared.exec('COMMIT');
        return row;
      };
      expect(read()).toEqual({ x: '7' });
      other.exec('DROP TABLE "T"; CREATE TABLE "T" ("x" INTEGER) STRICT; INSERT INTO "T" VALUES (7)');
      expect(read()).toEqual({ x: 7 });
    } finally {
      mine.close();
      other.close();
      rmSync(folder, { recursive: true });
    }
  });

  it('drops statements of a change of a table that was rolled back, so that values have the column type from before', () => {
    connection.run({ sql: 'CREATE TABLE "T" ("x" TEXT) STRICT', parameters: [] });
    const read = (): unknown => connection.one({ sql: 'SELECT "x" FROM "T"', parameters: [] });
    connection.begin();
    connection.run({ sql: 'DROP TABLE "T"', parameters: [] });
    connection.run({ sql: 'CREATE TABLE "T" ("x" INTEGER) STRICT', parameters: [] });
    connection.run({ sql: 'INSERT INTO "T" VALUES (7)', parameters: [] });
    expect(read()).toEqual({ x: 7 });
    connection.exec('ROLLBACK');
    connection.begin();
    read();
    connection.exec('COMMIT');
    expect(prepare.mock.calls.filter(([text]) => text.startsWith('SELECT "x"'))).toHaveLength(2);
  });
});

describe('kept rows', () => {
  const STATE: Statement = { sql: 'SELECT "x" FROM "T"', parameters: [], keepsRow: true };
  const read = (): unknown => connection.one(STATE)?.['x'];
  const write = (x: number): unknown => connection.run(sql`UPDATE "T" SET "x" = ${x}`);
  let get: MockInstance<BetterSqlite3.Statement['get']>;
  const readings = (): number =>
    get.mock.contexts.filter((statement) => (statement as BetterSqlite3.Statement).source === STATE.sql).length;

  beforeEach(() => {
    connection.run({ sql: 'CREATE TABLE "T" ("x" INTEGER) STRICT', parameters: [] });
    connection.run({ sql: 'INSERT INTO "T" VALUES (1)', parameters: [] });
    get = vi.spyOn(Object.getPrototypeOf(new BetterSqlite3(':memory:').prepare('SELECT 1')), 'get');
  });

  afterEach(() => get.mockRestore());

  it('reads a kept row once in a transaction, and again after a write and after a rollback to a savepoint', () => {
    connection.begin();
    connection.savepoints.open('s');
    expect([read(), read(), readings()]).toEqual([1, 1, 1]);
    write(2);
    expect([read(), read(), readings()]).toEqual([2, 2, 2]);
    write(3);
    expect([read(), read(), readings()]).toEqual([3, 3, 3]);
    connection.savepoints.undo('s');
    expect([read(), readings()]).toEqual([1, 4]);
  });

  it('keeps no row beyond its transaction, and none outside of one', () => {
    connection.begin();
    read();
    connection.exec('COMMIT');
    expect([read(), read(), readings()]).toEqual([1, 1, 3]);
    connection.begin();
    expect([read(), readings()]).toEqual([1, 4]);
  });
});
