import BetterSqlite3 from 'better-sqlite3';
import { beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { type Connection, createConnection } from './connection.ts';

let connection: Connection;
let prepare: MockInstance<BetterSqlite3.Database['prepare']>;

beforeEach(() => {
  const driver = new BetterSqlite3(':memory:');
  connection = createConnection(driver);
  prepare = vi.spyOn(driver, 'prepare');
});

function ask(n: number): void {
  connection.one({ sql: `SELECT ${n} AS "n"`, parameters: [] });
}

function prepared(n: number): number {
  return prepare.mock.calls.filter(([text]) => text === `SELECT ${n} AS "n"`).length;
}

describe('prepared statements', () => {
  it('are used again, and only so many are kept: those used last', () => {
    for (let n = 0; n < 500; n++) ask(n);
    ask(0);
    expect(prepared(0)).toBe(1);
    ask(500);
    ask(0);
    ask(1);
    expect([prepared(0), prepared(1)]).toEqual([1, 2]);
  });

  it('are forgotten when a table changes, undone or not', () => {
    ask(7);
    connection.run({ sql: 'CREATE TABLE "T" ("id" TEXT)', parameters: [] });
    ask(7);
    connection.exec('BEGIN');
    connection.run({ sql: 'ALTER TABLE "T" ADD COLUMN "n" INTEGER', parameters: [] });
    ask(7);
    connection.exec('ROLLBACK');
    expect(prepared(7)).toBe(3);
    expect(connection.all({ sql: 'SELECT * FROM "T"', parameters: [] })).toEqual([]);
  });
});
