/** Where a project's definitions and its database are. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';
import { type Definitions, printMistake } from '../resource/index.ts';
import type { KeptBackups } from '../storage/index.ts';
import { loadProject } from '../system/index.ts';

/** Where a project is, and its database. */
export interface ProjectPlace {
  /** Folder that holds `resources/`. */
  readonly project: string;
  /** Folder that holds `backups/`. */
  readonly data: string;
  /** `sqlite:` and the file. */
  readonly database: string;
  /** Automatic backups that stay; 0 makes none. */
  readonly backupsKept: number;
}

/** The folder of definition files. */
export function definitionFolder(project: string): string {
  return join(project, 'resources');
}

/** The project's definitions and our own. @throws SetupError with every mistake of every file. */
export function readProject(project: string): Definitions {
  const folder = definitionFolder(project);
  if (!existsSync(folder)) throw new SetupError(`there is no folder ${folder}; say with --project which folder holds resources/`);
  const { definitions, mistakes } = loadProject(folder);
  if (mistakes.length === 0) return definitions;
  throw new SetupError(
    `${mistakes.length} ${mistakes.length === 1 ? 'mistake' : 'mistakes'} in the definitions`,
    mistakes.map(printMistake),
  );
}

/** The file of a database: `sqlite:data/bailiwick.db` is in `data/bailiwick.db`. */
export function databasePath(database: string): string {
  return database.slice('sqlite:'.length);
}

/** Where automatic backups are kept, and how many; undefined where none are made. */
export function toKeptBackups({ data, backupsKept }: Pick<ProjectPlace, 'data' | 'backupsKept'>): KeptBackups | undefined {
  return backupsKept === 0 ? undefined : { folder: backupFolder(data), kept: backupsKept };
}

/** The folder of automatic backups. */
export function backupFolder(data: string): string {
  return join(data, 'backups');
}
