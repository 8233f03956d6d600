/**
 * A project's database as another file, and back, while its service runs or not.
 */
import { existsSync } from 'node:fs';
import { SetupError } from '../errors.ts';
import {
  type Backup,
  countEntriesSince,
  createBackups,
  type FileFacts,
  openSqlite,
  readBackup,
  readFacts,
  replaceContent,
  stageBackup,
  type WrittenBackup,
  writeBackup,
} from '../storage/index.ts';
import { fitProgram, noteRestored, signRestored } from './after-restore.ts';
import { backupFolder, databasePath, type ProjectPlace } from './project-paths.ts';

/** What a restore would do, or has done. */
export interface Restore {
  readonly bytes: number;
  /** When the newest entry of the backup was made: what happened after it is not in it. Undefined where it has none. */
  readonly until: string | undefined;
  /** Entries that what stands now has beyond that. */
  readonly entriesSince: number;
  /** What stood before, once it is done; undefined where nothing did. */
  readonly kept: string | undefined;
}

/** What can be done with the backups of a project. */
export interface ProjectBackups {
  /** Writes the database into a file that is not there yet. @throws SetupError where it cannot. */
  write(file: string, shown?: BackupDescription): Promise<WrittenBackup>;
  /** Checks a backup, and says what restoring it would mean; does none of it. @throws SetupError where it cannot be restored. */
  look(file: string): Promise<Restore>;
  /**
   * Puts the content of a backup in the place of what stands now, of which it makes a backup first. A running service goes by it with
   * its next request: under a new epoch, with every session ended. @throws SetupError where it cannot; then nothing has changed.
   */
  restore(file: string, shown?: BackupDescription): Promise<Restore>;
}

/** Shown what is done, as it begins. */
export interface BackupDescription {
  readonly show?: ((line: string) => void) | undefined;
}

/** Opens nothing yet. */
export function openBackups(place: ProjectPlace): ProjectBackups {
  const path = databasePath(place.database);

  return {
    write: async (file, { show } = {}) => writeBackup({ from: path, to: file, log: show }),
    look: async (file) => toRestore(path, readBackup(file)),
    async restore(file, { show } = {}) {
      show?.('checking the backup');
      const backup = readBackup(file);
      // Where nothing stands, an empty database does from now on: there is but one way to restore.
      await openSqlite({ path }).close();
      const outlook = toRestore(path, backup);
      const staged = stageBackup({ from: file, beside: path, pageSize: readNow(path).pageSize, log: show });
      try {
        show?.('replacing what stands now');
        const kept = await replace(staged.path, { path, until: backup.lastEntryAt, place });
        return { ...outlook, kept };
      } finally {
        staged.remove();
      }
    },
  };
}

function toRestore(path: string, { bytes, lastEntryAt }: FileFacts): Restore {
  const entriesSince = existsSync(path) && readNow(path).hasTables ? countEntriesSince(path, lastEntryAt ?? '') : 0;
  return { bytes, until: lastEntryAt, entriesSince, kept: undefined };
}

interface Replacing {
  readonly path: string;
  readonly until: string | undefined;
  readonly place: ProjectPlace;
}

/** Answers the file of what stood before. */
async function replace(staged: string, { path, until, place }: Replacing): Promise<string | undefined> {
  const from = performance.now();
  const database = openSqlite({ path: staged });
  const number = Math.max(1, place.backupsKept);
  // Whoever looks for the right backup restores one after the other: what stood before the first must outlast the others.
  const backups = createBackups(path, { folder: backupFolder(place.data), kept: number, ofLabel: number + 1 });
  let kept: Backup | undefined;
  let stamp = '';
  try {
    await fitProgram(database);
    await replaceContent({
      from: staged,
      into: path,
      async prepare() {
        const now = readNow(path);
        if (now.hasTables) kept = backups.create('restore');
        const reason = toReason(until, kept);
        stamp = await database.transaction((tx) => noteRestored(tx, { above: now.revision.number, reason, from }));
      },
    });
    if (readNow(path).revision.stamp !== stamp) throw new SetupError(`${path} could not be replaced; it is as it was`);
    await signContent(path, place);
    kept?.complete();
    return kept?.file;
  } catch (error) {
    if (isReplaced(path, stamp)) throw notAllDone(path, { error, kept });
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

/** Where it cannot be read it may be, and what stood before is nowhere else. */
function isReplaced(path: string, stamp: string): boolean {
  if (stamp === '') return false;
  try {
    return readFacts(path).revision.stamp === stamp;
  } catch {
    return true;
  }
}

function notAllDone(path: string, { error, kept }: { readonly error: unknown; readonly kept: Backup | undefined }): SetupError {
  const why = error instanceof Error ? error.message : String(error);
  const where = kept === undefined ? [] : [`what stood before is kept in ${kept.file}`];
  return new SetupError(`${path} is restored, but not all is done that comes after: ${why}`, where);
}

function toReason(until: string | undefined, kept: Backup | undefined): string {
  const what = until === undefined ? 'restored from a backup without entries' : `restored from a backup whose last entry is of ${until}`;
  return kept === undefined ? what : `${what}; what stood before is kept as ${kept.name}`;
}

/** What stands now has to be readable, or no backup could be made of it. */
function readNow(path: string): FileFacts {
  try {
    return readFacts(path);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new SetupError(`cannot read what stands now, ${path}: ${why}`, [
      'to restore all the same: stop the service, move the file and those beside it (-wal, -shm) away, and restore again',
    ]);
  }
}
