/**
 * Writes a backup: a complete copy of a database file. If that fails, no file is left.
 *
 * `VACUUM INTO` copies one snapshot in one step while others write. SQLite's backup API copies in many steps and restarts with every commit
 * of another process, so it never ends under load. `VACUUM INTO` also needs no lock, so it works while the caller holds one, and the copy
 * needs no WAL.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { SetupError } from '../../errors.ts';
import { moveToNewFile, syncFolder } from '../../files/index.ts';
import { openReadOnly } from './open-read-only.ts';

/** A written backup. */
export interface WrittenBackup {
  /** Absolute path. */
  readonly file: string;
  readonly bytes: number;
}

/** The database to copy and the file to write. */
export interface BackupRequest {
  readonly from: string;
  /** The backup file; must not exist. */
  readonly to: string;
  /** Page size of the copy in bytes; that of the original if absent. */
  readonly pageSize?: number;
  /** Called before each step with a line for the log, such as `checking the copy`. */
  readonly log?: ((line: string) => void) | undefined;
}

/** Suffixes of SQLite's companion files: SQLite would use a backup with such a name as its own log and delete it. */
const COMPANION_SUFFIXES = ['-journal', '-wal', '-shm'];

/**
 * Writes the committed state into a file that only its owner can read. The file gets its name after it was verified and synced.
 *
 * @throws SetupError if it cannot be written. No incomplete file is left.
 */
export function writeBackup({ from, to, pageSize, log: show }: BackupRequest): WrittenBackup {
  const file = resolve(to);
  if (!existsSync(from)) throw new SetupError(`there is no database ${from}; say with --project or --data where it is`);
  if (COMPANION_SUFFIXES.some((suffix) => file === `${resolve(from)}${suffix}`))
    throw new SetupError(`${file} is a name that SQLite uses beside ${from}`);
  if (existsSync(file)) throw alreadyThere(file);
  if (!existsSync(dirname(file))) throw new SetupError(`there is no folder ${dirname(file)} to write the backup into`);
  const part = `${file}.${randomUUID()}.part`;
  try {
    closeSync(openSync(part, 'wx', 0o600));
  } catch (error) {
    throw cannotWrite(file, error);
  }
  try {
    show?.(`copying ${statSync(from).size} bytes`);
    copy(from, part, pageSize);
    show?.('checking the copy');
    validateIntegrity(part);
    sync(part);
    moveToNewFile(part, file);
    nameDurably(file);
    return { file, bytes: statSync(file).size };
  } catch (error) {
    for (const left of [part, `${part}-journal`]) rmSync(left, { force: true });
    throw error instanceof SetupError ? error : cannotWrite(file, error);
  }
}

function cannotWrite(file: string, error: unknown): SetupError {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST') return alreadyThere(file);
  return new SetupError(`cannot write the backup ${file}: ${error instanceof Error ? error.message : String(error)}`);
}

/** Refuses a file whose pages, indexes or values contradict each other. @throws SetupError with the first contradictions. */
export function validateIntegrity(path: string): void {
  const driver = openReadOnly(path);
  try {
    const found = driver.prepare<[], string>('PRAGMA integrity_check(5)').pluck().all();
    if (found.join() !== 'ok') throw new SetupError(`${path} is damaged`, found);
  } finally {
    driver.close();
  }
}

/** Refuses a file in which records reference missing ones. @throws SetupError that names the tables. */
export function validateForeignKeys(path: string): void {
  const driver = openReadOnly(path);
  try {
    const broken = driver.prepare<[], string>('SELECT DISTINCT "table" FROM pragma_foreign_key_check').pluck().all();
    const mistakes = broken.map((table) => `${table} references records that do not exist`);
    if (broken.length > 0) throw new SetupError(`${path} is damaged`, mistakes);
  } finally {
    driver.close();
  }
}

function alreadyThere(file: string): SetupError {
  return new SetupError(`${file} exists, and a backup replaces no file: name another one`);
}

function copy(from: string, to: string, pageSize: number | undefined): void {
  const driver = openReadOnly(from);
  try {
    if (pageSize !== undefined) driver.pragma(`page_size = ${pageSize}`);
    driver.prepare('VACUUM INTO ?').run(to);
  } finally {
    driver.close();
  }
}

/** Syncs the name of a complete backup to the disk; removes the backup if that fails. */
function nameDurably(file: string): void {
  try {
    syncFolder(dirname(file));
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  }
}

/** Syncs a file to the disk. No connection may have it open: closing the descriptor would release its locks. */
function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
