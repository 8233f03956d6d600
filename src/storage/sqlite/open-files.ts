import { realpathSync, statSync } from 'node:fs';
import { Problem } from '../../errors.ts';
import type { Statement, Tell } from '../contract.ts';
import type { Connection } from './connection.ts';

/** The files of a database that a connection has open. */
export interface OpenFiles {
  /**
   * Returns why a commit must not be acknowledged: a path leads to another file than the open one, or to none, so the next start would
   * not find the commit. The reason is permanent. Undefined while every path leads to the open file.
   */
  check(): Problem | undefined;
}

interface OpenFile {
  readonly path: string;
  /** Device and inode, as doubles: two inodes above 2^53 may look alike, but a stat with bigints allocates 500 bytes more, six times a commit. */
  readonly dev: number;
  readonly ino: number;
  /** True for the database file, which always has a page; a log may be empty after a checkpoint. */
  readonly isDatabase: boolean;
}

/**
 * Records the open files of a database in write-ahead mode. SQLite itself keeps writing to a file that was removed, and reports
 * no error.
 *
 * @throws Error where one of them cannot be found.
 */
export function rememberOpenFiles(path: string, tell: Tell): OpenFiles {
  // SQLite follows a link before it names the files beside the database.
  const beside = realpathSync(path);
  const files = [path, `${beside}-wal`, `${beside}-shm`].map((each) => identify(each, each === path));
  let lost: Problem | undefined;

  return {
    check() {
      if (lost !== undefined) return lost;
      for (const file of files) {
        const found = compare(file);
        if (found === 'same') continue;
        if (found instanceof Error) return new Problem('STORAGE_UNAVAILABLE', 'the database file cannot be reached', { cause: found });
        tell(`${file.path} was ${found} while the service was running; every request is refused from now on: ${remedyOf(file)}`);
        lost = new Problem('STORAGE_UNAVAILABLE', 'the database file was removed or replaced while the service was running', {
          hint: 'trying again does not help until the service is restarted; its log says what to do',
        });
        return lost;
      }
      return undefined;
    },
  };
}

/** Throws where a commit would not be found at the next start: before a group, so that nothing is written; after it, so that nothing is acknowledged. */
export function refuseLost(files: OpenFiles): void {
  const lost = files.check();
  if (lost !== undefined) throw lost;
}

const PRESENT_OR_NOT = { throwIfNoEntry: false } as const;

function identify(path: string, isDatabase: boolean): OpenFile {
  const { dev, ino } = statSync(path);
  return { path, dev, ino, isDatabase };
}

function compare({ path, dev, ino, isDatabase }: OpenFile): 'same' | 'removed' | 'replaced' | 'emptied' | Error {
  try {
    const now = statSync(path, PRESENT_OR_NOT);
    if (now === undefined) return 'removed';
    if (isDatabase && now.size === 0) return 'emptied';
    return now.dev === dev && now.ino === ino ? 'same' : 'replaced';
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The database survives if only a companion file was lost: SQLite writes its open log into the database when it closes. */
function remedyOf({ isDatabase }: OpenFile): string {
  if (isDatabase) return 'put the file back or restore a backup, then restart the service';
  return 'restart the service with SIGTERM, which saves all changes in the database file; SIGKILL would lose them';
}

/** Another number than before where somebody else has written. */
const VERSION: Statement = Object.freeze({ sql: 'PRAGMA data_version', parameters: [] });
const IS_OURS: Statement = Object.freeze({ sql: `SELECT 1 FROM sqlite_schema WHERE "name" = '_State'`, parameters: [] });
const RESTORED: Statement = Object.freeze({ sql: `SELECT "text" FROM "_State" WHERE "id" = 'restored'`, parameters: [] });

/**
 * Tells whether a backup has been restored since last asked, for whoever keeps in memory what only the database as it was knows. Asked
 * within a transaction. That somebody else has taken away what we wrote is no restoring, and must not pass for it.
 */
export function createReplacementWatch(connection: Connection): () => boolean {
  let version: unknown;
  let stamp: unknown;

  return () => {
    const now = connection.one(VERSION)?.['data_version'];
    if (now === version) return false;
    const isFirst = version === undefined;
    const before = stamp;
    version = now;
    stamp = connection.one(IS_OURS) === undefined ? undefined : connection.one(RESTORED)?.['text'];
    return !isFirst && stamp !== before;
  };
}
