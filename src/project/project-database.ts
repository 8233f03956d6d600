/** Opens a project's database, and refuses to create a new database in place of a lost one. */
import { readdirSync, renameSync, statSync } from 'node:fs';
import { checkpointKeyPath } from '../audit/integrity/index.ts';
import { SetupError } from '../errors.ts';
import { type CommitObserver, type Database, emptyFileOf, type Log, listMigrations, openDatabase } from '../storage/index.ts';
import { backupFolder, type ProjectPlace, toDatabasePlace } from './project-paths.ts';

/** A project, with the permission to create its database although an earlier one existed. */
export interface CreatablePlace extends ProjectPlace {
  readonly createDatabase: 'when-new' | 'always' | 'never';
}

/** Listeners of the database. */
export interface DatabaseListeners {
  readonly observer?: CommitObserver | undefined;
  readonly log?: Log | undefined;
}

/** A file that an earlier database left behind. */
interface Trace {
  readonly path: string;
  readonly what: string;
}

/**
 * Opens the database. Creates a missing or empty database only if no file of an earlier database exists: an unmounted volume would
 * otherwise look like a first start, with open set-up.
 *
 * @throws SetupError if it cannot be opened or must not be created: with `never`, and with `when-new` if there was an earlier database.
 */
export async function openProjectDatabase(place: CreatablePlace, listeners: DatabaseListeners = {}): Promise<Database> {
  const empty = emptyFileOf(place.database);
  const traces = findTraces(place, empty?.path);
  const mayCreate = place.createDatabase === 'always' || (place.createDatabase === 'when-new' && traces.length === 0);
  if (empty !== undefined && !mayCreate) throw lost(empty.exists ? `${empty.path} is empty` : `there is no ${empty.path}`, traces);
  // A new database must start without these files: SQLite would remove the log, and the checkpoints belong to entries that it lacks.
  const setAside = (path: string): void => moveAside(traces, { path, ...listeners });
  if (empty !== undefined) setAside(logOf(empty.path));
  const database = await openDatabase({ ...toDatabasePlace(place), ...listeners }, { makesSchema: mayCreate });
  try {
    if ((mayCreate && traces.length === 0) || (await database.transaction((tx) => listMigrations(tx, 1))).length > 0) return database;
    if (!mayCreate) throw lost('the database is empty', traces);
    setAside(place.checkpoints);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** @param empty The database file, where it is missing or has no bytes. */
function findTraces({ database, data, checkpoints }: ProjectPlace, empty: string | undefined): readonly Trace[] {
  const traces: Trace[] = [];
  const add = (path: string, what: string): void => void traces.push({ path, what });
  if (checkpoints !== 'off' && hasBytes(checkpoints)) add(checkpoints, 'checkpoints of its audit log');
  const backups = database.startsWith('sqlite:') ? countBackups(backupFolder(data)) : 0;
  if (backups > 0) add(backupFolder(data), `${backups} ${backups === 1 ? 'backup' : 'backups'} of it`);
  if (empty === undefined) return traces;
  // A start that fails after creating the file also leaves the key, so next to an existing file the key proves no earlier database.
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
    'to begin with a new, empty database, say --create-database always',
  ]);
}

/** Renames a file of an earlier database instead of deleting it. */
function moveAside(traces: readonly Trace[], { path, log }: DatabaseListeners & { readonly path: string }): void {
  if (!traces.some((trace) => trace.path === path)) return;
  const kept = `${path}.${new Date().toISOString().replace(/[-:.]/g, '')}`;
  try {
    renameSync(path, kept);
  } catch (error) {
    throw new SetupError(`cannot move ${path} aside: ${error instanceof Error ? error.message : String(error)}`);
  }
  log?.(`a new database is created; ${path} of the one before is kept as ${kept}`);
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
