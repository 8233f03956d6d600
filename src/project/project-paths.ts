/** Where a project's definitions and its database are. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';
import { type Definitions, printMistake } from '../resources/index.ts';
import { loadProject } from '../resources/system/index.ts';
import type { DatabaseAddress } from '../storage/index.ts';

/** Where the database is, and how it is spoken to, as settings say it. */
export interface DatabaseSettings {
  /** `sqlite:` and the file, or `postgres://…`. */
  readonly database: string;
  readonly databaseConnections: number;
  readonly databasePrepare: 'on' | 'off';
  readonly databaseStatementSeconds: number;
  readonly databaseLockSeconds: number;
  /** Folder that holds `backups/`. */
  readonly data: string;
  /** Automatic backups that stay; 0 makes none. */
  readonly backupsKept: number;
}

/** Where a project is, and its database. */
export interface ProjectPlace extends DatabaseSettings {
  /** Folder that holds `resources/`. */
  readonly project: string;
  /** File of signed checkpoints, or `off`. */
  readonly checkpoints: string;
  /** For how long entries are kept, such as `90d`; or `off`. */
  readonly decisionsKept: string;
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

/**
 * The file of a database: `sqlite:data/bailiwick.db` is in `data/bailiwick.db`.
 *
 * @throws SetupError where it is none.
 */
export function databasePath(database: string): string {
  if (database.startsWith(FILE)) return database.slice(FILE.length);
  throw new SetupError(
    'a PostgreSQL server is backed up and restored by its own tools, such as pg_dump and pg_restore; this is for sqlite: files',
  );
}

const FILE = 'sqlite:';

/** Where the database is, how it is spoken to, and what becomes of automatic backups of it. */
export function toDatabasePlace(settings: DatabaseSettings): DatabaseAddress {
  const { database, databaseConnections, databasePrepare, databaseStatementSeconds, databaseLockSeconds, data, backupsKept } = settings;
  return {
    database,
    connections: databaseConnections,
    preparedStatements: databasePrepare === 'on',
    statementTimeout: databaseStatementSeconds * 1000,
    lockTimeout: databaseLockSeconds * 1000,
    backups: backupsKept === 0 ? undefined : { folder: backupFolder(data), kept: backupsKept },
  };
}

/** The folder of automatic backups. */
export function backupFolder(data: string): string {
  return join(data, 'backups');
}
