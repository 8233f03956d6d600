import { accessSync, constants, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { makeFolder } from '../../files/index.ts';
import type { Backup, Backups } from '../contract.ts';
import { writeBackup } from './write-backup.ts';

/** Where automatic backups go, and how many stay. */
export interface AutomaticBackupOptions {
  readonly folder: string;
  /** The newest that are kept. */
  readonly kept: number;
  /** Of one label, the newest that are kept before what they are made for is done. */
  readonly ofLabel?: number;
}

/** A start that is killed again and again before it is through must fill no disk: of one plan, the newest two are enough. */
const OF_PLAN = 2;
/** Characters of a label that go into a name: enough to find its plan in the history. */
const LABEL = 12;
/** What we name them, and nobody else: others in the folder are not ours to remove. */
const NAME = /^\d{8}T\d{9}Z-([a-z0-9]{1,12})\.db$/;
/** What a process that was killed left of one. */
const LEFT = /^\d{8}T\d{9}Z-[a-z0-9]{1,12}\.db\.[0-9a-f-]{36}\.part(-journal)?$/;

/** Makes the automatic backups of the database in a file. */
export function createBackups(path: string, { folder, kept, ofLabel = OF_PLAN }: AutomaticBackupOptions): Backups {
  /** Those before `made`, of a label or of all, the newest first. By its name it may be the oldest: clocks are set back. */
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
      // Whoever makes one holds the lock, so nobody else is about to.
      remove(readdirSync(folder).filter((name) => LEFT.test(name)));
      const label = wanted.slice(0, LABEL);
      const time = new Date().toISOString().replace(/[-:.]/g, '');
      const name = `${time}-${label}.db`;
      const written = writeBackup({ from: path, to: join(folder, name) });
      remove(before(name, label).slice(ofLabel - 1));
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
    // It may be somebody else's: made by a command that ran as another user.
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new SetupError(`cannot use the folder ${folder}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
