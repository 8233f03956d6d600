import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import BetterSqlite3 from 'better-sqlite3';
import { SetupError } from '../../errors.ts';
import { driverCode } from './driver-error.ts';
import { openReadOnly } from './open-read-only.ts';
import { type BackupRequest, writeBackup } from './write-backup.ts';

/** A copy of a backup, to be changed before it replaces anything: the backup itself stays as it is. */
export interface Staged {
  readonly path: string;
  /** Removes it, and what lies beside it. No connection may be open. */
  remove(): void;
}

/** Copies a backup to lie beside the database that it will replace, in pages of the size that this has. */
export function stageBackup({ beside, ...request }: Omit<BackupRequest, 'to'> & { readonly beside: string }): Staged {
  const path = `${beside}.${randomUUID()}.part`;
  const remove = (): void => {
    for (const left of [path, `${path}-wal`, `${path}-shm`]) rmSync(left, { force: true });
  };
  writeBackup({ ...request, to: path });
  return { path, remove };
}

/** What takes the place of what. */
export interface Replacement {
  /** The file whose content it will be. Nobody else has it. */
  readonly from: string;
  /** The database whose content goes. Others may be working with it; its pages are of the same size. */
  readonly into: string;
  /** Called once nobody else can write any more, and before anything is replaced: what it still does to `from` counts. */
  prepare(): Promise<void>;
}

/** Milliseconds to wait for others to let us write. */
const PATIENCE = 60_000;
const PAUSE = 50;
/** As many as there are. */
const ALL = 0x7fffffff;

/**
 * Replaces the content of a database while others work with it: in one transaction, so that they see the one or the other, and so
 * does whoever opens it after we were killed. Their next transaction sees it; until then they wait, as for any other writer.
 *
 * @throws SetupError where others do not let go, or the disk has no room.
 */
export async function replaceContent({ from, into, prepare }: Replacement): Promise<void> {
  const source = openReadOnly(from);
  try {
    for (const begun = performance.now(); !(await tryToReplace(source, into, prepare)); ) {
      if (performance.now() - begun > PATIENCE) throw new SetupError(`${into} is locked by another process`);
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
 * SQLite's backup API with a live database as its destination. Its first step copies nothing and takes the lock: either it has it when it first
 * reports, or it ends at once without a report (the driver takes *busy* for *done*). The steps after copy nothing either
 * until everything is prepared, under that lock; then one copies all and commits.
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
 * The driver's own connection does not sync what it commits; the next commit that does syncs the log up to there. The log is as large
 * as the database now: it is folded in as far as nobody reads what stood before, without waiting for them, because all who write
 * would wait as long.
 */
function makeDurable(path: string): void {
  const driver = new BetterSqlite3(path, { timeout: PATIENCE });
  try {
    for (const pragma of ['synchronous = FULL', 'fullfsync = ON']) driver.pragma(pragma);
    driver.pragma(`user_version = ${Number(driver.pragma('user_version', { simple: true }))}`);
    driver.pragma('busy_timeout = 0');
    driver.pragma('wal_checkpoint(TRUNCATE)');
  } finally {
    driver.close();
  }
}
