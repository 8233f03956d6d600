import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';

/** A database file with one table of numbers, open in WAL mode. */
export interface NumbersFile {
  readonly folder: string;
  readonly path: string;
  readonly driver: BetterSqlite3.Database;
  dispose(): void;
}

/** Creates a database file that contains the number 1. */
export function createNumbersFile(): NumbersFile {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-backup-'));
  const path = join(folder, 'live.db');
  const driver = new BetterSqlite3(path);
  driver.exec(`PRAGMA journal_mode = WAL; CREATE TABLE "T" ("n" INTEGER); INSERT INTO "T" VALUES (1)`);
  return {
    folder,
    path,
    driver,
    dispose() {
      driver.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the numbers in a database file, in order. */
export function readNumbers(file: string): unknown[] {
  const database = new BetterSqlite3(file, { readonly: true });
  try {
    return database.prepare('SELECT "n" FROM "T" ORDER BY "n"').pluck().all();
  } finally {
    database.close();
  }
}
