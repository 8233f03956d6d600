import { closeSync, existsSync, openSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { SetupError } from '../../errors.ts';
import { findFile, makeFolder, refuseSpecial } from '../../files/index.ts';
import type { BatchLimits } from '../attempt.ts';
import type { CommitObserver, Database, Log } from '../contract.ts';
import { createTurns, type Turns } from '../turns.ts';
import { type AutomaticBackupOptions, createBackups } from './automatic-backups.ts';
import { createCommitBatching } from './commit-batching.ts';
import { type Connection, createConnection } from './connection.ts';
import { driverCode } from './driver-error.ts';
import { type OpenFiles, watchOpenFiles } from './open-files.ts';
import { createOwnReader, createThreadReader } from './reader.ts';
import { createReaderPool, type ReaderPool } from './reader-pool.ts';
import { createRunner } from './runner.ts';
import { sqliteDialect } from './sql-dialect.ts';

/** The database file and how it is opened. */
export interface SqliteOptions {
  /** The database file; created with its folder if missing. `:memory:` opens a database that is gone when closed. */
  readonly path: string;
  /** Maximum milliseconds to wait while another process holds the write lock; 5000 if absent. All other transactions of this process wait meanwhile. */
  readonly busyTimeout?: number;
  /** Milliseconds after which a commit batch starts no further unit of work; 100 if absent. */
  readonly maxBatchTime?: number;
  /** Maximum milliseconds that a commit batch waits for further units of work; 5 if absent. */
  readonly batchWindow?: number;
  /** Number of reader threads for work that takes long; one less than the processors, at most 4, if absent. */
  readonly readers?: number | undefined;
  /** Maximum units of work that wait for a reader thread; 100 if absent. */
  readonly readerQueue?: number | undefined;
  /** Size of the write-ahead log in bytes above which the readers pause until it was truncated; 64 MiB if absent. */
  readonly maxLogBytes?: number | undefined;
  /** Time limits of attempts in a commit batch; 10 ms and 50 ms if absent. */
  readonly timeLimits?: BatchLimits | undefined;
  /** Folder and number of the automatic backups; none are made if absent. */
  readonly backups?: AutomaticBackupOptions | undefined;
  /** IANA name of the time zone in which the process decides. The audit log records it. */
  readonly timeZone?: string | undefined;
  /** Called after each commit. */
  readonly observer?: CommitObserver | undefined;
  readonly log?: Log | undefined;
}

/** SQLite truncates a larger write-ahead log when it begins again at its start. */
const MAX_LOG_BYTES = 67_108_864;

/**
 * The settings that durability and safety depend on. FULL syncs at every commit, so acknowledged changes survive a power cut; on macOS only
 * `fullfsync` reaches the disk and not just its cache. With `trusted_schema` off, views and triggers of a manipulated file cannot call our
 * functions. Large sorts and rollbacks use temporary files: in memory, a migration would need as much memory as its tables have data.
 */
const PRAGMAS = [
  'synchronous = FULL',
  'fullfsync = ON',
  'foreign_keys = ON',
  'trusted_schema = OFF',
  'temp_store = FILE',
  `journal_size_limit = ${MAX_LOG_BYTES}`,
];

/**
 * Opens a SQLite database with one connection; all transactions run in commit batches (see `commit-batching.ts`).
 *
 * @throws SetupError if the file cannot be created or opened, or is not a database.
 */
export function openSqlite({ path, busyTimeout = 5000, maxBatchTime = 100, batchWindow = 5, ...options }: SqliteOptions): Database {
  const { backups, timeZone, observer, log = () => undefined } = options;
  const { driver, files } = openFile(path, { busyTimeout, log });
  const connection = createConnection(driver);
  const batching = createCommitBatching(connection, {
    maxBatchTime,
    batchWindow,
    lockTimeout: busyTimeout,
    files,
    timeZone,
    observer,
  });
  const turns = createTurns();
  const readers = createReaders({ connection, files, turns }, { path, ...options });
  const runner = createRunner({ batching, readers, turns, limits: options.timeLimits ?? TIME_LIMITS });
  let closing: Promise<void> | undefined;

  async function close(): Promise<void> {
    // Long attempts append their audit entries in a commit batch. The readers close before the connection that checkpoints.
    await readers.close();
    await batching.drain();
    // Closing the last connection checkpoints the WAL. If that fails (disk full), the next connection does it.
    connection.close();
  }

  return {
    dialect: sqliteDialect,
    transaction: (work, how) => runner.run(work, how),
    backups: backups === undefined || path === ':memory:' ? undefined : createBackups(path, backups),
    get healthy() {
      return batching.healthy;
    },
    get fault() {
      return files.check()?.detail;
    },
    probe: () => batching.probe(),
    get metrics() {
      return { ...batching.metrics, ...runner.metrics };
    },
    close() {
      closing ??= close();
      return closing;
    },
  };
}

/** The defaults of `timeLimits`. */
const TIME_LIMITS: BatchLimits = { short: 10, writer: 50 };

interface ReaderComponents {
  readonly connection: Connection;
  readonly files: OpenFiles;
  readonly turns: Turns;
}

/** Creates the pool of readers: threads, or the connection itself for a database in memory, which no thread can open. */
function createReaders({ connection, files, turns }: ReaderComponents, options: SqliteOptions): ReaderPool {
  const { path, readerQueue = 100, maxLogBytes = MAX_LOG_BYTES, log = () => undefined } = options;
  const { readers = Math.max(1, Math.min(4, availableParallelism() - 1)) } = options;
  const cancelled = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const { opened } = files;
  return createReaderPool({
    readers,
    queueLength: readerQueue,
    createReader: () =>
      opened === undefined
        ? createOwnReader(connection, turns)
        : createThreadReader({ start: () => ({ path, dev: opened.dev, ino: opened.ino, cancelled }), turns, log }),
    log: { path: opened?.log, maxBytes: maxLogBytes, truncate: () => truncateLog(connection) },
    cancel: () => void Atomics.store(new Int32Array(cancelled), 0, 1),
  });
}

/** Truncates the write-ahead log. If another process has a snapshot, the log stays as it is, without a wait. */
function truncateLog(connection: Connection): void {
  if (!connection.inTransaction) connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
}

/** Returns whether the database file exists. */
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

const IN_MEMORY: OpenFiles = { opened: undefined, check: () => undefined };

function openFile(path: string, { busyTimeout, log }: { readonly busyTimeout: number; readonly log: Log }): Opened {
  let driver: BetterSqlite3.Database | undefined;
  try {
    if (path !== ':memory:') createFile(path);
    driver = new BetterSqlite3(path, { timeout: busyTimeout });
    const mode = setJournalMode(driver, busyTimeout);
    if (mode !== 'wal' && path !== ':memory:') throw new Error('its file system does not allow write-ahead logging');
    for (const pragma of PRAGMAS) driver.pragma(pragma);
    tryToWrite(driver);
    return { driver, files: path === ':memory:' ? IN_MEMORY : watchOpenFiles(path, log) };
  } catch (error) {
    driver?.close();
    throw cannotOpen(path, error);
  }
}

/**
 * Returns the journal mode of the database, which is `wal` where the file system allows it. While two processes create a database at the same
 * time, one of them can have a lock for which SQLite refuses the other at once instead of after the busy timeout; so the timeout is kept here.
 */
function setJournalMode(driver: BetterSqlite3.Database, busyTimeout: number): unknown {
  for (const end = performance.now() + busyTimeout; ; ) {
    try {
      return driver.pragma('journal_mode = WAL', { simple: true });
    } catch (error) {
      if (driverCode(error)?.startsWith('SQLITE_BUSY') !== true || performance.now() >= end) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, LOCK_RETRY);
  }
}

/** Milliseconds between two attempts to set the journal mode. */
const LOCK_RETRY = 10;

function cannotOpen(path: string, error: unknown): SetupError {
  return new SetupError(`cannot open the database file ${path}: ${error instanceof Error ? error.message : String(error)}`);
}

/**
 * Detects a read-only file or folder now and not with the first request. BEGIN IMMEDIATE alone succeeds for a read-only file. A lock held by another process is no reason to refuse: it may be a
 * migration that takes longer than the busy timeout, and each transaction reports the wait by itself. From here on, SQLite itself does not wait
 * for locks, because its wait would block the event loop: see `write-lock.ts`.
 */
function tryToWrite(driver: BetterSqlite3.Database): void {
  driver.pragma('busy_timeout = 0');
  try {
    driver.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${Number(driver.pragma('user_version', { simple: true }))}; ROLLBACK`);
  } catch (error) {
    if (driverCode(error)?.startsWith('SQLITE_BUSY') !== true) throw error;
  }
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
