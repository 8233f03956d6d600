import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { SetupError } from '../../errors.ts';
import { findFile, makeFolder, refuseSpecial } from '../../files/index.ts';
import type { CommitWatch, Database, Tell } from '../contract.ts';
import { createBackups, type KeptBackups } from './automatic-backups.ts';
import { createCommitBatching } from './commit-batching.ts';
import { createConnection } from './connection.ts';
import { driverCode } from './driver-error.ts';
import { type OpenFiles, rememberOpenFiles } from './open-files.ts';
import { sqliteDialect } from './sql-dialect.ts';

/** Where the file is and how it is opened. */
export interface SqliteOptions {
  /** The database file; it and its folder are made where they are missing. `:memory:` for one that is gone when closed. */
  readonly path: string;
  /** Milliseconds to wait for another process that holds the lock. Everything else waits with it. */
  readonly busyTimeout?: number;
  /** Milliseconds after which a group of transactions takes no further one. */
  readonly groupTime?: number;
  /** Milliseconds in which a group waits for others that are about to come. */
  readonly gatherTime?: number;
  /** What becomes of backups that are made by themselves; none are where absent. */
  readonly backups?: KeptBackups | undefined;
  /** Told of each commit. */
  readonly watch?: CommitWatch | undefined;
  readonly tell?: Tell | undefined;
}

/**
 * Every setting that durability and safety rest on. FULL syncs at every commit, so what was answered survives a power
 * cut; on macOS only `fullfsync` means the disk by that, and not the disk's own memory. Without `trusted_schema`, a file
 * tampered with cannot call our functions from its views and triggers. What a statement sorts, and what it takes to undo a
 * large one, goes to nameless files where it does not fit the cache: in memory, tables that follow definitions would need
 * as much of it as they have rows.
 */
const PRAGMAS = [
  'synchronous = FULL',
  'fullfsync = ON',
  'foreign_keys = ON',
  'trusted_schema = OFF',
  'temp_store = FILE',
  'journal_size_limit = 67108864',
];

/**
 * Opens a SQLite database. One connection, of which every transaction is part of a group (see group-commit.ts).
 *
 * @throws SetupError where the file cannot be made, opened or is no database.
 */
export function openSqlite({ path, busyTimeout = 5000, groupTime = 100, gatherTime = 5, ...options }: SqliteOptions): Database {
  const { backups, watch, tell = () => undefined } = options;
  const { driver, files } = openFile(path, { busyTimeout, tell });
  const connection = createConnection(driver);
  const group = createCommitBatching(connection, { groupTime, gatherTime, files, watch });
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    await group.drain();
    // The last to close folds the log into the file; where that cannot be done (a full disk), whoever opens it next does.
    connection.close();
  }

  return {
    dialect: sqliteDialect,
    transaction: (work) => group.submit(work),
    backups: backups === undefined || path === ':memory:' ? undefined : createBackups(path, backups),
    get healthy() {
      return group.healthy;
    },
    get fault() {
      return files.check()?.detail;
    },
    prove: () => group.prove(),
    get figures() {
      return group.figures;
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** Whether there is a database file. */
export function hasSqlite(path: string): boolean {
  return existsSync(path);
}

/** Returns whether the database file is missing or has no bytes. @throws SetupError if the path cannot be followed. */
export function isEmpty(path: string): boolean {
  try {
    const found = findFile(path);
    return found === undefined || (found.isFile() && found.size === 0);
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

interface Opened {
  readonly driver: BetterSqlite3.Database;
  readonly files: OpenFiles;
}

const IN_MEMORY: OpenFiles = { check: () => undefined };

function openFile(path: string, { busyTimeout, tell }: { readonly busyTimeout: number; readonly tell: Tell }): Opened {
  let driver: BetterSqlite3.Database | undefined;
  try {
    if (path !== ':memory:') createFile(path);
    driver = new BetterSqlite3(path, { timeout: busyTimeout });
    const mode = driver.pragma('journal_mode = WAL', { simple: true });
    if (mode !== 'wal' && path !== ':memory:') throw new Error('its file system does not allow write-ahead logging');
    for (const pragma of PRAGMAS) driver.pragma(pragma);
    tryToWrite(driver, busyTimeout);
    return { driver, files: path === ':memory:' ? IN_MEMORY : rememberOpenFiles(path, tell) };
  } catch (error) {
    driver?.close();
    throw cannotOpen(path, error);
  }
}

function cannotOpen(path: string, error: unknown): SetupError {
  return new SetupError(`cannot open the database file ${path}: ${error instanceof Error ? error.message : String(error)}`);
}

/**
 * A folder that only lets us read is found out here and not by the first request. Another process that writes is no reason to refuse:
 * it may let tables follow definitions for longer than we wait, and every transaction says by itself that it has to wait.
 */
function tryToWrite(driver: BetterSqlite3.Database, busyTimeout: number): void {
  driver.pragma('busy_timeout = 0');
  try {
    driver.exec('BEGIN IMMEDIATE; ROLLBACK');
  } catch (error) {
    if (driverCode(error)?.startsWith('SQLITE_BUSY') !== true) throw error;
  }
  driver.pragma(`busy_timeout = ${busyTimeout}`);
}

/**
 * Creates the file, readable by its owner only: it holds password hashes. SQLite gives its companion files the same mode. An existing file is
 * not opened, because closing it would release the locks of other connections of this process.
 */
function createFile(path: string): void {
  const found = findFile(path);
  if (found === undefined) {
    makeFolder(dirname(path), 0o700);
    closeSync(openSync(path, 'a', 0o600));
  } else refuseSpecial(found);
}
