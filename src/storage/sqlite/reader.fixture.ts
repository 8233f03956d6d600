import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { vi } from 'vitest';
import { databaseFolder } from '../../../test/database-folder.ts';
import { type Sql, sql } from '../../sql.ts';
import type { AppendStatements, Database, Query, Transaction } from '../contract.ts';
import { openSqlite, type SqliteOptions } from './database.ts';

/** A database with a table `Thing` of 1000 rows, the tables of a read set, and a table `Log` of appended rows. */
export interface ThingDatabase {
  readonly database: Database;
  readonly path: string;
  dispose(): Promise<void>;
}

/** The time limit of short attempts is over at their first deadline check, so that tests do not depend on the speed of the machine. */
const NO_TIME = { short: 0, writer: 60_000 };

/** Opens a new database in a folder of its own. */
export async function openThings(options: Partial<SqliteOptions> = {}): Promise<ThingDatabase> {
  const folder = mkdtempSync(join(databaseFolder, 'bailiwick-readers-'));
  const path = options.path ?? join(folder, 'test.db');
  const database = openSqlite({ timeLimits: NO_TIME, readers: 2, ...options, path });
  await database.transaction(async (tx) => {
    await tx.run(sql`CREATE TABLE "Thing" ("id" TEXT PRIMARY KEY NOT NULL, "n" INTEGER, "text" TEXT) STRICT`);
    await tx.run(sql`CREATE TABLE "Log" ("id" TEXT PRIMARY KEY NOT NULL) STRICT`);
    await tx.run(sql`CREATE TABLE "_State" ("id" TEXT PRIMARY KEY NOT NULL, "number" INTEGER, "text" TEXT) STRICT`);
    await tx.run(sql`CREATE TABLE "User" ("id" TEXT PRIMARY KEY NOT NULL, "version" INTEGER) STRICT`);
    await tx.run(sql`CREATE TABLE "_Session" ("id" TEXT PRIMARY KEY NOT NULL, "revokedAt" TEXT) STRICT`);
    await tx.run(sql`INSERT INTO "_State" VALUES ('epoch', 1, 'first')`);
    await tx.run(sql`INSERT INTO "User" VALUES ('ada', 1)`);
    await tx.run(sql`INSERT INTO "_Session" VALUES ('open', NULL)`);
    const numbers = sql`WITH RECURSIVE "count" ("n") AS (SELECT 1 UNION ALL SELECT "n" + 1 FROM "count" WHERE "n" < 1000) SELECT "n" FROM "count"`;
    await tx.run(sql`INSERT INTO "Thing" SELECT 'thing ' || "n", "n", 'text' FROM (${numbers})`);
  });
  return {
    database,
    path,
    async dispose() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const THING = sql.table('Thing');

/** Counts the things with a statement that has a deadline check. */
export async function countThings(tx: Transaction): Promise<number> {
  const row = await tx.one<{ count: number }>(sql`SELECT count(*) AS "count" FROM ${THING} WHERE ${checked(tx)}`);
  return row?.count ?? 0;
}

/** Returns the deadline check of the table of things. */
export function checked(tx: Transaction): Sql {
  return tx.dialect.deadlineCheck(THING);
}

/** Appends rows to the table `Log`, as audit entries are appended. */
export const LOG_ROWS: AppendStatements<string> = {
  write: (_, rows) => rows.map((id): Query => sql`INSERT INTO "Log" ("id") VALUES (${id})`),
  findCommitted: (id) => sql`SELECT 1 FROM "Log" WHERE "id" = ${id}`,
};

/** Returns the ids in the table `Log`, in order. */
export async function logged(database: Database): Promise<readonly string[]> {
  const rows = await database.transaction((tx) => tx.all<{ id: string }>(sql`SELECT "id" FROM "Log" ORDER BY "id"`));
  return rows.map(({ id }) => id);
}

/** Returns a set that collects the threads that get a message from now on. */
export function recordThreads(): ReadonlySet<Worker> {
  const threads = new Set<Worker>();
  const post = Worker.prototype.postMessage;
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, ...args) {
    threads.add(this);
    post.apply(this, args);
  });
  return threads;
}
