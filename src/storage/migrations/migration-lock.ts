import { Problem, SetupError } from '../../errors.ts';
import type { Backup, Backups, Database, Log, Transaction } from '../contract.ts';
import type { Step } from './migration-plan.ts';

/** Has what is committed copied before something is done with it; answers the name of the backup, where the database has one. */
export type CreateBackup = (label: string) => string | undefined;

/**
 * A transaction that can have a backup made before it changes anything, while it holds the lock: so that there is nothing between
 * the two. The backup stays where the transaction commits, and the oldest make room for it; else it goes.
 */
export async function withBackup<T>(
  database: Database,
  tell: Log,
  work: (tx: Transaction, backUp: CreateBackup) => Promise<T>,
): Promise<T> {
  let backup: Backup | undefined;
  const backUp: CreateBackup = (label) => {
    if (database.backups === undefined) {
      tell('no backup is made first: not by itself, of this database');
      return undefined;
    }
    tell('a backup is made first of what stands now');
    backup = make(database.backups, label);
    tell(`what stands now is kept in ${backup.file}`);
    return backup.name;
  };
  let answer: T;
  try {
    answer = await database.transaction((tx) => work(tx, backUp), { longRunning: true });
  } catch (error) {
    backup?.discard();
    throw error;
  }
  try {
    backup?.complete();
  } catch (error) {
    // What was asked for is done; that older backups stay is no reason to say otherwise.
    tell(`older backups could not be removed: ${error instanceof Error ? error.message : String(error)}`);
  }
  return answer;
}

/** Whether a step changes or loses values: then what stands before is kept whole. */
export function requiresBackup({ risk }: Step): boolean {
  return risk !== 'safe';
}

function make(backups: Backups, label: string): Backup {
  try {
    return backups.create(label);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    throw new SetupError('no backup could be made of what stands now, so nothing was done', [error.message, ...error.mistakes]);
  }
}

/** Milliseconds to wait for another process that evolves the same database. */
const PATIENCE = 10 * 60_000;
/** Milliseconds between two tries, in which requests go on. */
const PAUSE = 50;

/**
 * Two may start at once: the second waits until the first is done, however long a conversion takes, and then finds nothing to do.
 * Whoever looks on is told that it waits.
 */
export async function retryWhileBusy<T>(work: () => Promise<T>, tell: Log): Promise<T> {
  let isTold = false;
  for (const from = performance.now(); ; ) {
    try {
      return await work();
    } catch (error) {
      const isBusy = error instanceof Problem && error.code === 'STORAGE_BUSY';
      if (!isBusy || performance.now() - from > PATIENCE) throw error;
      if (!isTold) tell('another process works on the database; this waits until that is done');
      isTold = true;
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}
