/** Writes and restores backups of a project's SQLite database, while its service runs or not. */
import { existsSync } from 'node:fs';
import { appendSystemEntry } from '../audit/index.ts';
import { loadCheckpointKey, writeRestored } from '../audit/integrity/index.ts';
import { deleteSetupTokens, revokeAllSessions } from '../authn/index.ts';
import { SetupError } from '../errors.ts';
import {
  advanceRevisionAbove,
  type Backup,
  countEntriesSince,
  createBackups,
  type Database,
  describeDamage,
  type FileFacts,
  openSqlite,
  readBackup,
  readFacts,
  readingEarlierTables,
  recordRestore,
  replaceContent,
  stageBackup,
  type Transaction,
  verifyRows,
  type WrittenBackup,
  withBackupFile,
  writeBackup,
} from '../storage/index.ts';
import { findBreaks } from './project-audit-log.ts';
import { backupFolder, databasePath, migrateSystemTables, type ProjectPlace } from './project-database.ts';

/** The effect of a restore, before or after it is done. */
export interface Restore {
  readonly bytes: number;
  /** The time of the last audit entry in the backup; undefined if the backup has no entry. */
  readonly until: string | undefined;
  /** The number of audit entries in the present database that are later than `until`. The restore loses these entries. */
  readonly entriesSince: number;
  /** The damaged rows of the backup, and the breaks of its audit log. */
  readonly damaged: readonly string[];
  /** The file with the backup of the former content; undefined before the restore, or if there was no content. */
  readonly kept: string | undefined;
}

/** The operations on backups of a project. */
export interface ProjectBackups {
  /** Writes a backup into a new file and verifies it. @throws SetupError if the file exists or cannot be written. */
  write(file: string, options?: BackupOptions): Promise<WrittenBackup & Pick<Restore, 'damaged'>>;
  /** Checks a backup and returns the effect of restoring it. Changes nothing. @throws SetupError if the backup cannot be restored. */
  look(file: string): Promise<Restore>;
  /**
   * Writes a backup of the present database, then replaces its content with that of a backup file. A running service uses the restored
   * content from its next request. Begins a new revision and ends every session.
   *
   * @throws SetupError if the restore fails; nothing has changed then, unless the message states otherwise.
   */
  restore(file: string, options?: BackupOptions): Promise<Restore>;
}

/** Options of a backup or restore. */
export interface BackupOptions {
  /** Receives a line when a part of the work begins. */
  readonly show?: ((line: string) => void) | undefined;
}

/** Creates the operations on the backups of a project. Opens no file. @throws SetupError if its database is not SQLite. */
export function openBackups(place: ProjectPlace): ProjectBackups {
  const path = databasePath(place.database);

  return {
    async write(file, { show } = {}) {
      const written = writeBackup({ from: path, to: file, log: show });
      show?.('verifying the rows and the audit log');
      return { ...written, damaged: await findDamaged(file, place) };
    },
    look: async (file) => toRestore(path, readBackup(file), await findDamaged(file, place)),
    async restore(file, { show } = {}) {
      show?.('checking the backup');
      const backup = readBackup(file);
      // Creates the database if there is none, so that its content can be replaced.
      await openSqlite({ path }).close();
      const effect = toRestore(path, backup, await findDamaged(file, place));
      const staged = stageBackup({ from: file, beside: path, pageSize: readPresent(path).pageSize, log: show });
      try {
        show?.('replacing the content of the database');
        const kept = await replace(staged.path, { path, until: backup.lastEntryAt, place });
        return { ...effect, kept };
      } finally {
        staged.remove();
      }
    },
  };
}

/**
 * Describes the damaged rows of a backup and the breaks of its audit log. They do not prevent its restore: it may be the only one, and a
 * damaged row never grants.
 */
function findDamaged(file: string, place: ProjectPlace): Promise<readonly string[]> {
  return withBackupFile(file, async (open) => {
    const transaction = readingEarlierTables(open);
    const rows = (await verifyRows(transaction))?.damaged ?? [];
    return [...rows.map(describeDamage), ...(await findBreaks(transaction, place))];
  });
}

function toRestore(path: string, { bytes, lastEntryAt }: FileFacts, damaged: readonly string[]): Restore {
  const entriesSince = existsSync(path) && readPresent(path).hasTables ? countEntriesSince(path, lastEntryAt ?? '') : 0;
  return { bytes, until: lastEntryAt, entriesSince, damaged, kept: undefined };
}

interface ReplaceOptions {
  readonly path: string;
  readonly until: string | undefined;
  readonly place: ProjectPlace;
}

/**
 * Replaces the content of the database with the staged backup. Returns the file with the backup of the former content, if it had tables.
 */
async function replace(staged: string, { path, until, place }: ReplaceOptions): Promise<string | undefined> {
  const from = performance.now();
  const database = openSqlite({ path: staged });
  const number = Math.max(1, place.backupsKept);
  // An operator may restore one backup after another to find the right one: the content before the first restore must be kept.
  const backups = createBackups(path, { folder: backupFolder(place.data), kept: number, keptPerLabel: number + 1 });
  let kept: Backup | undefined;
  let before: FileFacts | undefined;
  try {
    await migrateSystemTables(database);
    await replaceContent({
      from: staged,
      into: path,
      async prepare() {
        before = readPresent(path);
        if (before.hasTables) kept = backups.create('restore');
        const [above, reason] = [before.revision.number, toReason(until, kept)];
        await database.transaction((tx) => recordRestored(tx, { above, reason, from }));
      },
    });
    if (!isReplaced(path, before)) throw new SetupError(`cannot replace the content of ${path}; nothing was changed`);
    await signContent(path, place);
    kept?.complete();
    return kept?.file;
  } catch (error) {
    if (isReplaced(path, before)) throw restoreIncomplete(path, { error, kept });
    kept?.discard();
    throw error;
  } finally {
    await database.close();
  }
}

async function signContent(path: string, place: ProjectPlace): Promise<void> {
  const database = openSqlite({ path });
  try {
    await signRestored(database, place);
  } finally {
    await database.close();
  }
}

/**
 * Returns true if the content may have been replaced: another restore is the last one than before. The revision would not show it, because
 * other processes may have begun a later one. An unreadable file counts as replaced: the backup may be the only copy of the former content.
 */
function isReplaced(path: string, before: FileFacts | undefined): boolean {
  if (before === undefined) return false;
  try {
    return readFacts(path).restored !== before.restored;
  } catch {
    return true;
  }
}

function restoreIncomplete(path: string, { error, kept }: { readonly error: unknown; readonly kept: Backup | undefined }): SetupError {
  const why = error instanceof Error ? error.message : String(error);
  const where = kept === undefined ? [] : [`the former content is in ${kept.file}`];
  return new SetupError(`${path} is restored, but a later step failed: ${why}`, where);
}

function toReason(until: string | undefined, kept: Backup | undefined): string {
  const what =
    until === undefined ? 'restored from a backup without audit entries' : `restored from a backup whose last audit entry is of ${until}`;
  return kept === undefined ? what : `${what}; a backup was written first: ${kept.name}`;
}

/** Reads the facts of the present database. Throws if it is unreadable, because a restore first writes a backup of the present database. */
function readPresent(path: string): FileFacts {
  try {
    return readFacts(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SetupError(`cannot read the present database ${path}: ${why}`, [
      'to restore anyway: stop the service, move the file with its -wal and -shm away, and restore again',
    ]);
  }
}

/** The requester in the audit entry: a command has no request id. */
const BY = 'bailiwick restore';

/** A restore that is to be recorded. */
export interface RestoreRecord {
  /** Number of the revision before the restore; 0 if unknown. */
  readonly above: number;
  readonly reason: string;
  /** Start time by `performance.now()`. */
  readonly from: number;
}

/**
 * Records a restore: begins a revision above every earlier one, so that no cached policy is used, and ends every session and setup
 * token, so that no logout is undone.
 */
export async function recordRestored(tx: Transaction, { above, reason, from }: RestoreRecord): Promise<void> {
  const revision = await advanceRevisionAbove(tx, above);
  await revokeAllSessions(tx);
  await deleteSetupTokens(tx);
  appendSystemEntry(tx, { resource: '*', action: 'restore', reason, epoch: revision, by: BY });
  await recordRestore(tx, { reason, startedAt: from });
}

/** Appends a signed checkpoint for the restore. Without it, verification would report the entries of earlier checkpoints as missing. */
export async function signRestored(database: Database, { checkpoints, data }: ProjectPlace): Promise<void> {
  if (checkpoints !== 'off') await writeRestored({ database, path: checkpoints, key: loadCheckpointKey(data) });
}
