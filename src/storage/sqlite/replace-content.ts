import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { SetupError } from '../../errors.ts';
import { driverCode } from './driver-error.ts';
import { openReadOnly } from './open-read-only.ts';
import { type BackupRequest, writeBackup } from './write-backup.ts';

/** A copy of a backup, which is changed before it replaces the database; the backup stays unchanged. */
export interface Staged {
  readonly path: string;
  /** Deletes the copy and its companion files. No connection may be open. */
  remove(): void;
}

/** Copies a backup into the folder of the database `beside`, which it will replace. `pageSize` must be the page size of that database. */
export function stageBackup({ beside, ...request }: Omit<BackupRequest, 'to'> & { readonly beside: string }): Staged {
  const path = `${beside}.${randomUUID()}.part`;
  const remove = (): void => {
    for (const left of [path, `${path}-wal`, `${path}-shm`]) rmSync(left, { force: true });
  };
  writeBackup({ ...request, to: path });
  return { path, remove };
}

/** A replacement of the content of a database. */
export interface Replacement {
  /** The file with the new content. No other process uses it. */
  readonly from: string;
  /** The database to overwrite. Other processes may use it; its page size is the same. */
  readonly into: string;
  /** Called after the write lock was taken and before content is replaced; its changes to `from` are included. */
  prepare(): Promise<void>;
}

/** Milliseconds to wait for the write lock. */
const LOCK_TIMEOUT = 60_000;
const PAUSE = 50;
/** The largest number of pages that one step can copy. */
const ALL = 0x7fffffff;

/**
 * Replaces the content of a database in one transaction while other processes use it. They see either the old or the new content, even if
 * this process is killed, and wait as for any other writer.
 *
 * @throws SetupError if the lock is not released, or the disk is full.
 */
export async function replaceContent({ from, into, prepare }: Replacement): Promise<void> {
  const source = openReadOnly(from);
  try {
    for (const begun = performance.now(); !(await tryToReplace(source, into, prepare)); ) {
      if (performance.now() - begun > LOCK_TIMEOUT) throw new SetupError(`${into} is locked by another process`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  } catch (error) {
    if (driverCode(error) === undefined || !(error instanceof Error)) throw error;
    throw new SetupError(`cannot replace ${into}: ${error.message}`);
  } finally {
    source.close();
  }
  makeDurable(into);
}

/**
 * Tries once to replace the content; returns false if another process holds the lock. Uses SQLite's backup API with a live database as the
 * destination. The first step copies nothing and takes the lock. If it succeeds, it reports progress; otherwise the backup ends at once
 * without a report, because the driver takes *busy* for *done*. The next steps copy nothing either until `prepare` has finished under that
 * lock. The last step copies everything and commits.
 */
async function tryToReplace(source: BetterSqlite3.Database, into: string, prepare: () => Promise<void>): Promise<boolean> {
  let preparing: Promise<void> | undefined;
  let prepared: { readonly error?: unknown } | undefined;
  await source.backup(into, {
    progress() {
      preparing ??= prepare().then(
        () => {
          prepared = {};
        },
        (error: unknown) => {
          prepared = { error };
        },
      );
      if (prepared !== undefined && 'error' in prepared) throw prepared.error;
      return prepared === undefined ? 0 : ALL;
    },
  });
  return preparing !== undefined;
}

/**
 * Makes the new content durable. The driver's connection does not sync its commit; the next commit that syncs covers it. The WAL is now as
 * large as the database, so it is checkpointed as far as no reader needs it, without waiting, because all writers would wait as well.
 */
function makeDurable(path: string): void {
  const driver = new BetterSqlite3(path, { timeout: LOCK_TIMEOUT });
  try {
    for (const pragma of ['synchronous = FULL', 'fullfsync = ON']) driver.pragma(pragma);
    driver.pragma(`user_version = ${Number(driver.pragma('user_version', { simple: true }))}`);
    driver.pragma('busy_timeout = 0');
    driver.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    driver.close();
  }
}
