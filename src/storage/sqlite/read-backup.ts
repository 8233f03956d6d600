import { existsSync, statSync } from 'node:fs';
import type BetterSqlite3 from 'better-sqlite3';
import { SetupError } from '../../errors.ts';
import { driverCode } from './driver-error.ts';
import { openReadOnly } from './open-read-only.ts';
import { validateForeignKeys, validateIntegrity } from './write-backup.ts';

/** Facts about a database file and its content. */
export interface FileFacts {
  readonly bytes: number;
  /** Page size in bytes. */
  readonly pageSize: number;
  /** False if the file has no tables. */
  readonly hasTables: boolean;
  /** The revision; 0 and '' if there is none. */
  readonly revision: { readonly number: number; readonly stamp: string };
  /** The id of the last restore; undefined if there was none. */
  readonly restored: string | undefined;
  /** Time of the newest audit entry; undefined if there is none. */
  readonly lastEntryAt: string | undefined;
}

/** Tables that every database of this program has. */
const REQUIRED_TABLES = ['_State', '_Definition', '_Decision', '_Session', 'User'];

/**
 * Validates a backup, which may be any file, and returns its facts.
 *
 * @throws SetupError if it is not a SQLite database, is damaged, or belongs to another program.
 */
export function readBackup(path: string): FileFacts {
  if (!existsSync(path)) throw new SetupError(`the file ${path} does not exist`);
  // Opening a pipe would wait forever.
  if (!statSync(path).isFile()) throw new SetupError(`expected a file, given ${path}`);
  try {
    validateOrigin(path);
    validateIntegrity(path);
    validateForeignKeys(path);
    return readFacts(path);
  } catch (error) {
    if (error instanceof SetupError) throw error;
    const code = driverCode(error);
    if (code === 'SQLITE_NOTADB') throw new SetupError(`${path} is not a SQLite database`);
    if (code?.startsWith('SQLITE_CORRUPT') === true) throw new SetupError(`${path} is damaged`);
    throw new SetupError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Reads the facts of a database of this program while other processes use it. */
export function readFacts(path: string): FileFacts {
  return withReadOnly(path, (driver) => {
    const hasTables = driver.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() !== undefined;
    const state = hasTable(driver, '_State')
      ? driver.prepare<[string], StateRow>('SELECT "number", "text" FROM "_State" WHERE "id" = ?')
      : undefined;
    const revision = state?.get('epoch');
    const lastEntryAt = hasTable(driver, '_Decision')
      ? driver.prepare<[], string | null>('SELECT max("at") FROM "_Decision"').pluck().get()
      : undefined;
    return {
      bytes: statSync(path).size,
      pageSize: Number(driver.pragma('page_size', { simple: true })),
      hasTables,
      revision: { number: revision?.number ?? 0, stamp: revision?.text ?? '' },
      restored: state?.get('restored')?.text ?? undefined,
      lastEntryAt: lastEntryAt ?? undefined,
    };
  });
}

/** Counts the audit entries after a time. */
export function countEntriesSince(path: string, at: string): number {
  return withReadOnly(path, (driver) => {
    if (!hasTable(driver, '_Decision')) return 0;
    return driver.prepare<[string], number>('SELECT count(*) FROM "_Decision" WHERE "at" > ?').pluck().get(at) ?? 0;
  });
}

interface StateRow {
  readonly number: number;
  readonly text: string | null;
}

/**
 * Refuses a file without the required tables, or with triggers, views or virtual tables: this program creates none, and those of a
 * manipulated file would run with every request.
 */
function validateOrigin(path: string): void {
  withReadOnly(path, (driver) => {
    const missing = REQUIRED_TABLES.filter((name) => !hasTable(driver, name));
    if (missing.length > 0) throw new SetupError(`${path} is a database of another program: it has no table ${missing.join(', ')}`);
    const unexpected = driver
      .prepare<[], string>(
        `SELECT type || ' ' || name FROM sqlite_schema WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%' ORDER BY name`,
      )
      .pluck()
      .all();
    if (unexpected.length > 0) throw new SetupError(`${path} contains objects that Bailiwick never creates`, unexpected);
  });
}

function hasTable(driver: BetterSqlite3.Database, table: string): boolean {
  return driver.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(table) !== undefined;
}

function withReadOnly<T>(path: string, work: (driver: BetterSqlite3.Database) => T): T {
  const driver = openReadOnly(path);
  try {
    return work(driver);
  } finally {
    driver.close();
  }
}
