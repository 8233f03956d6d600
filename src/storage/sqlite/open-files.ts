import { realpathSync, statSync } from 'node:fs';
import { Problem } from '../../errors.ts';
import type { Log, Statement } from '../contract.ts';
import { type Connection, DATA_VERSION } from './connection.ts';

/** The files of a database that a connection has open. */
export interface OpenFiles {
  /** Device and inode of the database file, and the path of its write-ahead log; undefined for a database in memory. */
  readonly opened: { readonly dev: number; readonly ino: number; readonly log: string } | undefined;
  /**
   * Returns why a commit must not be acknowledged: a path leads to another file than the open one, or to none, so the next start would
   * not find the commit. The reason is permanent. Undefined while every path leads to the open file.
   */
  check(): Problem | undefined;
}

interface OpenFile {
  readonly path: string;
  /** Device and inode, as doubles. Two inodes above 2^53 may be equal as doubles, but a stat with bigints allocates 500 bytes more, six times a commit. */
  readonly dev: number;
  readonly ino: number;
  /** True for the database file, which always has a page; a WAL may be empty after a checkpoint. */
  readonly isDatabase: boolean;
}

/**
 * Records the open files of a database in write-ahead mode. SQLite itself keeps writing to a file that was removed, and reports no error.
 *
 * @throws Error if one of the files cannot be found.
 */
export function watchOpenFiles(path: string, log: Log): OpenFiles {
  // SQLite resolves symbolic links before it names the companion files.
  const beside = realpathSync(path);
  const files = [path, `${beside}-wal`, `${beside}-shm`].map((each) => identify(each, each === path));
  const { dev, ino } = files[0] as OpenFile;
  let lost: Problem | undefined;

  return {
    opened: { dev, ino, log: `${beside}-wal` },
    check() {
      if (lost !== undefined) return lost;
      for (const file of files) {
        const found = compare(file);
        if (found === 'same') continue;
        if (found instanceof Error) return new Problem('STORAGE_UNAVAILABLE', 'the database file cannot be reached', { cause: found });
        log(`${file.path} was ${found} while the service was running; every request is refused from now on: ${remedyOf(file)}`);
        lost = new Problem('STORAGE_UNAVAILABLE', 'the database file was removed or replaced while the service was running', {
          hint: 'trying again does not help until the service is restarted; its log says what to do',
        });
        return lost;
      }
      return undefined;
    },
  };
}

/**
 * Throws if the next start would not find a commit. Called before a batch, so that nothing is written, and after it, so that nothing is
 * acknowledged.
 */
export function assertOpenFiles(files: OpenFiles): void {
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

/**
 * Returns the remedy for the operator. If only a companion file was lost, the database survives: SQLite writes its open log into the
 * database when it closes.
 */
function remedyOf({ isDatabase }: OpenFile): string {
  if (isDatabase) return 'put the file back or restore a backup, then restart the service';
  return 'restart the service with SIGTERM, which saves all changes in the database file; SIGKILL would lose them';
}

const HAS_STATE_TABLE: Statement = Object.freeze({ sql: `SELECT 1 FROM sqlite_schema WHERE "name" = '_State'`, parameters: [] });
const RESTORED: Statement = Object.freeze({ sql: `SELECT "text" FROM "_State" WHERE "id" = 'restored'`, parameters: [] });

/**
 * Creates a function that returns whether a backup was restored since its last call, for state in memory that depends on the old content.
 * Call it in a transaction. A missing `_State` table is not a restore.
 */
export function createRestoreDetector(connection: Connection): () => boolean {
  let version: unknown;
  let stamp: unknown;

  return () => {
    const now = connection.one(DATA_VERSION)?.['data_version'];
    if (now === version) return false;
    const isFirst = version === undefined;
    const before = stamp;
    version = now;
    stamp = connection.one(HAS_STATE_TABLE) === undefined ? undefined : connection.one(RESTORED)?.['text'];
    return !isFirst && stamp !== before;
  };
}
