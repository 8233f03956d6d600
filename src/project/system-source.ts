import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { BackupFile, SystemSource } from '../api/index.ts';
import type { DiskSpace } from './disk-space.ts';
import { backupFolder } from './project-database.ts';

/** The dependencies of the status of this process. */
export interface SystemSourceDeps extends Pick<SystemSource, 'version' | 'options'> {
  readonly disk: Pick<DiskSpace, 'freeBytes' | 'databaseBytes' | 'fault'>;
  /** The folder that contains `backups/`; undefined if the database has none. */
  readonly data: string | undefined;
  /** The connection to the primary, if this process is a worker. */
  readonly primary: { readonly working: number | undefined } | undefined;
}

/** Creates the source of the status of this process, for the endpoint that shows it. */
export function createSystemSource({ disk, data, primary, ...rest }: SystemSourceDeps): SystemSource {
  const startedAt = Date.now();
  const started = performance.now();
  return {
    ...rest,
    disk,
    node: process.versions.node,
    startedAt: new Date(startedAt).toISOString(),
    uptimeSeconds: () => Math.floor((performance.now() - started) / 1000),
    runningWorkers: () => primary?.working,
    lastBackup: () => (data === undefined ? undefined : findLastBackup(backupFolder(data))),
  };
}

/** File names of automatic backups begin with the time of the backup. */
const NAME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-[a-z0-9]{1,12}\.db$/;

/** Returns the newest automatic backup in a folder. */
export function findLastBackup(folder: string): BackupFile | undefined {
  const name = listFolder(folder)
    .filter((each) => NAME.test(each))
    .toSorted()
    .at(-1);
  if (name === undefined) return undefined;
  const bytes = statSync(join(folder, name), { throwIfNoEntry: false })?.size;
  return bytes === undefined ? undefined : { name, at: name.replace(NAME, '$1-$2-$3T$4:$5:$6.$7Z'), bytes };
}

/** Returns the names in a folder; none if it does not exist. */
function listFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
