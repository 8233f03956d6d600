import { Problem, SetupError } from '../../errors.ts';
import type { Backup, Backups, Database, Log, Transaction } from '../contract.ts';
import type { Step } from './migration-plan.ts';

/** The name of the lock that every migration and prune holds. */
export const MIGRATION_LOCK = 'evolution';

/** Writes a backup of the committed content; returns the name of the backup, or undefined if the database has no automatic backups. */
export type CreateBackup = (label: string) => string | undefined;

/**
 * Runs work in a transaction that can write a backup before its first change. The backup is written under the lock of the transaction, so
 * no other commit lies between the backup and the work. If the transaction commits, the backup is kept and the oldest ones are removed;
 * otherwise the backup is discarded.
 */
export async function withBackup<T>(
  database: Database,
  log: Log,
  work: (tx: Transaction, createBackup: CreateBackup) => Promise<T>,
): Promise<T> {
  let backup: Backup | undefined;
  const createBackup: CreateBackup = (label) => {
    if (database.backups === undefined) {
      log('no backup is written first: this database has no automatic backups');
      return undefined;
    }
    log('writing a backup first');
    backup = writeBackup(database.backups, label);
    log(`backup written: ${backup.file}`);
    return backup.name;
  };
  let result: T;
  try {
    result = await database.transaction((tx) => work(tx, createBackup), { unlimited: true });
  } catch (error) {
    backup?.discard();
    throw error;
  }
  try {
    backup?.complete();
  } catch (error) {
    // The work is committed, so the failure is only logged.
    log(`cannot remove older backups: ${error instanceof Error ? error.message : String(error)}`);
  }
  return result;
}

/** Returns whether a step needs a backup, because it writes, hides or loses values. */
export function requiresBackup({ risk }: Step): boolean {
  return risk !== 'safe';
}

function writeBackup(backups: Backups, label: string): Backup {
  try {
    return backups.create(label);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    throw new SetupError('cannot write a backup first, so nothing was changed', [error.message, ...error.mistakes]);
  }
}

/** Milliseconds after which work is no longer repeated while another process holds the lock of the database. */
const RETRY_TIMEOUT = 10 * 60_000;
/** Milliseconds between two attempts. Requests are served meanwhile. */
const RETRY_INTERVAL = 50;

/**
 * Repeats work for up to ten minutes while another process holds the lock of the database, and logs once that the work waits. Of two
 * processes that start at the same time, the second waits for the migration of the first and then finds nothing to do.
 */
export async function retryWhileBusy<T>(work: () => Promise<T>, log: Log): Promise<T> {
  let isLogged = false;
  for (const startedAt = performance.now(); ; ) {
    try {
      return await work();
    } catch (error) {
      const isBusy = error instanceof Problem && error.code === 'STORAGE_BUSY';
      if (!isBusy || performance.now() - startedAt > RETRY_TIMEOUT) throw error;
      if (!isLogged) log('another process has locked the database; waiting until it has finished');
      isLogged = true;
      await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL));
    }
  }
}
