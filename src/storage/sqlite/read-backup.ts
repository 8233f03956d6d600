import { existsSync, statSync } from 'node:fs';
import type BetterSqlite3 from 'better-sqlite3';
import { SetupError } from '../../errors.ts';
import { driverCode } from './driver-error.ts';
import { openReadOnly } from './open-read-only.ts';
import { validateIntegrity } from './write-backup.ts';

/** What a database file says of itself. */
export interface FileFacts {
  readonly bytes: number;
  /** Bytes of a page. */
  readonly pageSize: number;
  /** False of a file without a single table. */
  readonly hasTables: boolean;
  /** Number and stamp of the epoch; 0 and '' where it has none. */
  readonly revision: { readonly number: number; readonly stamp: string };
  /** When the newest entry was made: until then it knows what happened. Undefined where it has none. */
  readonly lastEntryAt: string | undefined;
}

/** Tables without which a database is not ours. */
const OURS = ['_State', '_Definition', '_Decision', '_Session', 'User'];

/**
 * Reads a backup: a file that may be anything.
 *
 * @throws SetupError where it is no database, damaged, or another program's.
 */
export function readBackup(path: string): FileFacts {
  if (!existsSync(path)) throw new SetupError(`there is no ${path}`);
  // A pipe would be waited for without end.
  if (!statSync(path).isFile()) throw new SetupError(`expected a file, given ${path}`);
  try {
    checkOurs(path);
    validateIntegrity(path);
    checkForeignKeys(path);
    return readFacts(path);
  } catch (error) {
    if (error instanceof SetupError) throw error;
    const code = driverCode(error);
    if (code === 'SQLITE_NOTADB') throw new SetupError(`${path} is no SQLite database`);
    if (code?.startsWith('SQLITE_CORRUPT') === true) throw new SetupError(`${path} is damaged`);
    throw new SetupError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** What a database of ours says of itself, while whoever else works with it. */
export function readFacts(path: string): FileFacts {
  return reading(path, (driver) => {
    const hasTables = driver.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined;
    const revision = isThere(driver, '_State')
      ? driver.prepare<[], RevisionRow>(`SELECT "number", "text" FROM "_State" WHERE "id" = 'epoch'`).get()
      : undefined;
    const lastEntryAt = isThere(driver, '_Decision')
      ? driver.prepare<[], string | null>('SELECT max("at") FROM "_Decision"').pluck().get()
      : undefined;
    return {
      bytes: statSync(path).size,
      pageSize: Number(driver.pragma('page_size', { simple: true })),
      hasTables,
      revision: { number: revision?.number ?? 0, stamp: revision?.text ?? '' },
      lastEntryAt: lastEntryAt ?? undefined,
    };
  });
}

/** How many entries were made after a moment. */
export function countEntriesSince(path: string, at: string): number {
  return reading(path, (driver) => {
    if (!isThere(driver, '_Decision')) return 0;
    return driver.prepare<[string], number>('SELECT count(*) FROM "_Decision" WHERE "at" > ?').pluck().get(at) ?? 0;
  });
}

interface RevisionRow {
  readonly number: number;
  readonly text: string | null;
}

/** Our own tables have neither triggers nor views; those of a file that somebody prepared would run with every request. */
function checkOurs(path: string): void {
  reading(path, (driver) => {
    const missing = OURS.filter((name) => !isThere(driver, name));
    if (missing.length > 0) throw new SetupError(`${path} is a database of another program: it has no table ${missing.join(', ')}`);
    const strange = driver
      .prepare<[], string>(
        `SELECT type || ' ' || name FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%' ORDER BY name`,
      )
      .pluck()
      .all();
    if (strange.length > 0) throw new SetupError(`${path} has what Bailiwick never makes`, strange);
  });
}

function checkForeignKeys(path: string): void {
  reading(path, (driver) => {
    const broken = driver.prepare<[], string>('SELECT DISTINCT "table" FROM pragma_foreign_key_check').pluck().all();
    if (broken.length > 0)
      throw new SetupError(
        `${path} is damaged`,
        broken.map((table) => `${table} refers to records that are not there`),
      );
  });
}

function isThere(driver: BetterSqlite3.Database, table: string): boolean {
  return driver.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(table) !== undefined;
}

function reading<T>(path: string, work: (driver: BetterSqlite3.Database) => T): T {
  const driver = openReadOnly(path);
  try {
    return work(driver);
  } finally {
    driver.close();
  }
}
