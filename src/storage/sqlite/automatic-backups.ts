import { accessSync, constants, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { makeFolder } from '../../files/index.ts';
import type { Backup, Backups } from '../contract.ts';
import { writeBackup } from './write-backup.ts';

/** The folder of automatic backups, and how many are kept. */
export interface AutomaticBackupOptions {
  readonly folder: string;
  /** Number of the newest backups to keep. */
  readonly kept: number;
  /** Number of the newest backups with the same label to keep, including the new one. */
  readonly keptPerLabel?: number;
}

/** Default of `keptPerLabel`: a migration that is killed again and again must not fill the disk. */
const DEFAULT_KEPT_PER_LABEL = 2;
/** Maximum characters of the label in a file name: enough to find the migration plan in the migration history. */
const LABEL = 12;
/** File names of automatic backups; other files in the folder are never deleted. */
const NAME = /^\d{8}T\d{9}Z-([a-z0-9]{1,12})\.db$/;
/** File names of incomplete backups of killed processes. */
const INCOMPLETE = /^\d{8}T\d{9}Z-[a-z0-9]{1,12}\.db\.[0-9a-f-]{36}\.part(-journal)?$/;

/** Creates the automatic backups of a database file. */
export function createBackups(path: string, { folder, kept, keptPerLabel = DEFAULT_KEPT_PER_LABEL }: AutomaticBackupOptions): Backups {
  /**
   * Returns the names of the backups other than `made`, with one label or all, the newest first. `made` is excluded by its name, because
   * after a clock change it may sort as the oldest.
   */
  const before = (made: string, label?: string): readonly string[] =>
    readdirSync(folder)
      .filter((name) => name !== made && NAME.test(name) && (label === undefined || NAME.exec(name)?.[1] === label))
      .toSorted()
      .toReversed();
  const remove = (names: readonly string[]): void => {
    for (const name of names) rmSync(join(folder, name), { force: true });
  };

  return {
    create(wanted): Backup {
      prepareFolder(folder);
      // The caller holds the write lock, so no other process is writing a backup.
      remove(readdirSync(folder).filter((name) => INCOMPLETE.test(name)));
      const label = wanted.slice(0, LABEL);
      const time = new Date().toISOString().replace(/[-:.]/g, '');
      const name = `${time}-${label}.db`;
      const written = writeBackup({ from: path, to: join(folder, name) });
      remove(before(name, label).slice(keptPerLabel - 1));
      return {
        ...written,
        name,
        complete: () => remove(before(name).slice(kept - 1)),
        discard: () => rmSync(written.file, { force: true }),
      };
    },
  };
}

function prepareFolder(folder: string): void {
  try {
    makeFolder(folder, 0o700);
    // The folder may belong to another user who ran a command before.
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new SetupError(`cannot use the folder ${folder}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
