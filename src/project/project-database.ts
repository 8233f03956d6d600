/** Locates and opens a project's database, and refuses to create a new one in place of a lost one. */
import { readdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { checkpointKeyPath } from '../audit/integrity/index.ts';
import { SetupError } from '../errors.ts';
import { SYSTEM } from '../resources/system/index.ts';
import {
  type CommitObserver,
  type Database,
  type DatabaseAddress,
  emptyFileOf,
  hasChains,
  type Log,
  listMigrations,
  loadOtherDefinitions,
  migrate,
  openDatabase,
  openForReading,
  validateProgramVersion,
} from '../storage/index.ts';

/** The database address, connection options and backups of a project, from its configuration. */
export interface DatabaseSettings {
  /** The address: `sqlite:` and the path of the file, or `postgres://…`. */
  readonly database: string;
  readonly databaseConnections: number;
  readonly databasePrepare: 'on' | 'off';
  readonly databaseStatementSeconds: number;
  readonly databaseLockSeconds: number;
  readonly databaseParallelWorkers: number;
  /** Number of reader threads on SQLite; 0 for the default. */
  readonly readers: number;
  readonly readerQueue: number;
  /** IANA name of the time zone of conditions. */
  readonly timezone: string;
  /** The folder that contains `backups/`. */
  readonly data: string;
  /** The number of automatic backups to keep; 0 writes none. */
  readonly backupsKept: number;
}

/** The location of a project and its database. */
export interface ProjectPlace extends DatabaseSettings {
  /** The folder that contains `resources/`. */
  readonly project: string;
  /** The file of signed checkpoints, or `off`. */
  readonly checkpoints: string;
  /** The retention of audit entries, such as `90d`; or `off`. */
  readonly decisionsKept: string;
}

/**
 * Returns the file path of a SQLite database: `data/bailiwick.db` for `sqlite:data/bailiwick.db`.
 *
 * @throws SetupError if the address is not that of a SQLite database.
 */
export function databasePath(database: string): string {
  if (database.startsWith(FILE)) return database.slice(FILE.length);
  throw new SetupError(
    'this command is for SQLite databases; back up and restore PostgreSQL with its own tools, such as pg_dump and pg_restore',
  );
}

const FILE = 'sqlite:';

/** Converts the configuration into the options of `openDatabase`. */
export function toDatabasePlace(settings: DatabaseSettings): DatabaseAddress {
  const { database, databaseConnections, databasePrepare, databaseStatementSeconds, databaseLockSeconds, data, backupsKept } = settings;
  const { databaseParallelWorkers, readers, readerQueue, timezone } = settings;
  return {
    database,
    connections: databaseConnections,
    preparedStatements: databasePrepare === 'on',
    statementTimeout: databaseStatementSeconds * 1000,
    lockTimeout: databaseLockSeconds * 1000,
    parallelWorkers: databaseParallelWorkers,
    readers: readers === 0 ? undefined : readers,
    readerQueue,
    timeZone: timezone,
    backups: backupsKept === 0 ? undefined : { folder: backupFolder(data), kept: backupsKept },
  };
}

/** Returns the folder of automatic backups. */
export function backupFolder(data: string): string {
  return join(data, 'backups');
}

/** A project, and the condition under which its database may be created. */
export interface CreatablePlace extends ProjectPlace {
  readonly createDatabase: 'when-new' | 'always' | 'never';
}

/** The receivers of the commits and of the log lines of the database. */
export interface DatabaseListeners {
  readonly observer?: CommitObserver | undefined;
  readonly log?: Log | undefined;
}

/** The listeners of a database, and options that the configuration does not contain. */
export interface OpenOptions extends DatabaseListeners, Pick<DatabaseAddress, 'timeLimits'> {}

/** A file that an earlier database left behind. */
interface Trace {
  readonly path: string;
  readonly what: string;
}

/**
 * Opens the database. With `when-new`, creates a missing or empty database only if no file of an earlier database exists: an unmounted
 * volume would otherwise look like a first start, with open setup. With `always`, renames the earlier checkpoints and write-ahead log.
 *
 * @throws SetupError if the database cannot be opened, or is missing or empty and must not be created.
 */
export async function openProjectDatabase(place: CreatablePlace, options: OpenOptions = {}): Promise<Database> {
  const empty = emptyFileOf(place.database);
  const traces = findTraces(place, empty?.path);
  const mayCreate = place.createDatabase === 'always' || (place.createDatabase === 'when-new' && traces.length === 0);
  if (empty !== undefined && !mayCreate) throw lost(empty.exists ? `${empty.path} is empty` : `there is no ${empty.path}`, traces);
  // SQLite would remove the write-ahead log of the earlier database, and the earlier checkpoints sign entries that the new database lacks.
  const renameTrace = (path: string): void => renameIfTrace(traces, { path, log: options.log });
  if (empty !== undefined) renameTrace(logOf(empty.path));
  const database = await openDatabase({ ...toDatabasePlace(place), ...options }, { makesSchema: mayCreate });
  try {
    if ((mayCreate && traces.length === 0) || (await database.transaction((tx) => listMigrations(tx, 1))).length > 0) return database;
    if (!mayCreate) throw lost('the database is empty', traces);
    renameTrace(place.checkpoints);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Opens a database with an audit log for reading. @throws SetupError if the database is missing, empty or has no audit log */
export async function openAuditLog(place: Pick<ProjectPlace, 'project' | keyof DatabaseSettings>): Promise<Database> {
  const empty = emptyFileOf(place.database);
  if (empty !== undefined) throw lost(empty.exists ? `${empty.path} is empty` : `there is no ${empty.path}`, []);
  const opened = await openForReading(toDatabasePlace(place));
  try {
    if (!(await opened.transaction(hasChains))) throw new SetupError(`the database of ${place.project} has no audit log yet`);
    return opened;
  } catch (error) {
    await opened.close();
    throw error;
  }
}

/** Finds the files of an earlier database. @param empty The path of the database file, if that file is missing or empty. */
function findTraces({ database, data, checkpoints }: ProjectPlace, empty: string | undefined): readonly Trace[] {
  const traces: Trace[] = [];
  const add = (path: string, what: string): void => void traces.push({ path, what });
  if (checkpoints !== 'off' && hasBytes(checkpoints)) add(checkpoints, 'checkpoints of its audit log');
  const backups = database.startsWith('sqlite:') ? countBackups(backupFolder(data)) : 0;
  if (backups > 0) add(backupFolder(data), `${backups} ${backups === 1 ? 'backup' : 'backups'} of it`);
  if (empty === undefined) return traces;
  // The key of a failed first start may lie beside a database file with content, so it counts only if that file is missing or empty.
  if (checkpoints !== 'off' && hasBytes(checkpointKeyPath(data))) add(checkpointKeyPath(data), 'the key of its checkpoints');
  if (hasBytes(logOf(empty))) add(logOf(empty), 'its latest changes');
  return traces;
}

function lost(found: string, traces: readonly Trace[]): SetupError {
  if (traces.length === 0)
    return new SetupError(found, ['correct the address of the database with --project, --data or --database; start creates a new one']);
  return new SetupError(`${found}, although there was a database before`, [
    ...traces.map(({ path, what }) => `${path}: ${what}`),
    'mount the volume or correct the address of the database, or restore a backup with bailiwick restore;',
    'to create a new, empty database, pass --create-database always',
  ]);
}

/** Renames a file of an earlier database instead of deleting it. */
function renameIfTrace(traces: readonly Trace[], { path, log }: DatabaseListeners & { readonly path: string }): void {
  if (!traces.some((trace) => trace.path === path)) return;
  const kept = `${path}.${new Date().toISOString().replace(/[-:.]/g, '')}`;
  try {
    renameSync(path, kept);
  } catch (error) {
    throw new SetupError(`cannot rename ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  log?.(`creating a new database; ${path} of the former one is renamed to ${kept}`);
}

function logOf(file: string): string {
  return `${file}-wal`;
}

function hasBytes(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function countBackups(folder: string): number {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
    ? readdirSync(folder).filter((name) => name.endsWith('.db')).length
    : 0;
}

/** Migrates the system tables to this version of the program. Leaves the tables of the project as they are. */
export async function migrateSystemTables(database: Database): Promise<void> {
  const definitions = await database.transaction(async (tx) => {
    await validateProgramVersion(tx, SYSTEM);
    return (await loadOtherDefinitions(tx, SYSTEM)) ?? SYSTEM;
  });
  await migrate(database, definitions, { actor: 'cli' });
}
