import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../sql.ts';
import { openTestDatabase, type TestDatabase } from './storage.fixture.ts';

describe('deadlineCheck', () => {
  let test: TestDatabase;
  beforeEach(() => {
    test = openTestDatabase();
  });
  afterEach(() => test.dispose());

  it.each([undefined, 8])('returns a condition that is true for every row, with %s rows between two checks', async (rows) => {
    const found = await test.database.transaction(async (tx) => {
      await tx.run(sql`CREATE TABLE "Thing" ("id" TEXT PRIMARY KEY)`);
      const values = Array.from({ length: 20 }, (_, id) => sql`(${String(id)})`);
      await tx.run(sql`INSERT INTO "Thing" ("id") VALUES ${sql.join(values)}`);
      const table = sql.table('Thing');
      return tx.all(sql`SELECT "id" FROM ${table} WHERE ${tx.deadlineCheck(table, rows)}`);
    });
    expect(found).toHaveLength(20);
  });
});
