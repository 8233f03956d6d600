import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { vi } from 'vitest';
import { databaseFolder } from '../../../test/database-folder.ts';
import { Problem } from '../../errors.ts';
import { sql } from '../../sql.ts';
import type { Change, Database, Transaction } from '../contract.ts';
import { failure } from '../storage.fixture.ts';
import { openSqlite } from './database.ts';

/** A test database with tables of parents and children, in its own folder. */
export interface Family {
  readonly database: Database;
  readonly folder: string;
  readonly path: string;
  /** Ids of all parents. */
  ids(): Promise<readonly string[]>;
  dispose(): Promise<void>;
}

/** Opens a new test database. */
export async function openFamily(): Promise<Family> {
  const folder = mkdtempSync(join(databaseFolder, 'bailiwick-sqlite-'));
  const path = join(folder, 'data', 'test.db');
  // Queued transactions share one commit even on a busy machine.
  const database = openSqlite({ path, busyTimeout: 20, maxBatchTime: Number.POSITIVE_INFINITY });
  await database.transaction(async (tx) => {
    await tx.run(sql`CREATE TABLE "Parent" ("id" TEXT PRIMARY KEY NOT NULL, "n" INTEGER, "amount" INTEGER, "flag" INTEGER) STRICT`);
    await tx.run(
      sql`CREATE TABLE "Child" ("id" TEXT PRIMARY KEY NOT NULL, "parent" TEXT REFERENCES "Parent" ("id") ON DELETE RESTRICT, "a" TEXT, "b" TEXT) STRICT`,
    );
    await tx.run(sql`CREATE UNIQUE INDEX "ux" ON "Child" ("a", "b")`);
  });
  return {
    database,
    folder,
    path,
    ids: () => parentsOf(database),
    async dispose() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the ids of all parents in a database, in order. */
export async function parentsOf(database: Database): Promise<readonly string[]> {
  const rows = await database.transaction((tx) => tx.all<{ id: string }>(sql`SELECT "id" FROM "Parent" ORDER BY "id"`));
  return rows.map((row) => row.id);
}

/** Inserts a parent. */
export function insert(tx: Transaction, id: string): Promise<Change> {
  return tx.run(sql`INSERT INTO "Parent" ("id") VALUES (${id})`);
}

/** Returns the code of the Problem that a promise rejects with; any other error is returned itself. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await failure(promise);
  return error instanceof Problem ? error.code : error;
}

/** Calls `listener` before each COMMIT. An error of the listener becomes the error of the COMMIT. */
export function onCommit(listener: () => void): Disposable {
  const exec = BetterSqlite3.prototype.exec;
  const spy = vi.spyOn(BetterSqlite3.prototype, 'exec').mockImplementation(function (this: BetterSqlite3.Database, text) {
    if (text === 'COMMIT') listener();
    return exec.call(this, text);
  });
  return { [Symbol.dispose]: () => spy.mockRestore() };
}
