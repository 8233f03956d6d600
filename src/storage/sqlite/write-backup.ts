/**
 * A database file as another file: whole or not there.
 *
 * `VACUUM INTO` copies one snapshot, in one step, while others write: SQLite's backup API, which copies in many, begins again
 * with every commit of another process and so never ends under load. It waits for nobody, and so it can be done under a lock,
 * too; and what it writes is one file that needs no log beside it.
 */
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { SetupError } from '../../errors.ts';
import { moveToNewFile } from '../../files/index.ts';
import { openReadOnly } from './open-read-only.ts';

/** A backup that was written. */
export interface WrittenBackup {
  /** Where it is; absolute. */
  readonly file: string;
  readonly bytes: number;
}

/** Which database, and where to. */
export interface BackupRequest {
  readonly from: string;
  /** A file that is not there yet. */
  readonly to: string;
  /** Bytes of a page of the copy; those of the original where absent. */
  readonly pageSize?: number;
  /** Shown what is done, as it begins. */
  readonly log?: ((line: string) => void) | undefined;
}

/** What SQLite adds to the name of a database: whoever opens that next takes such a file for its log, and removes it. */
const BESIDE = ['-journal', '-wal', '-shm'];

/**
 * Writes what is committed into a file, for its owner alone. It bears its name once it is checked, and durable.
 *
 * @throws SetupError where it cannot; then nothing is left of it.
 */
export function writeBackup({ from, to, pageSize, log: show }: BackupRequest): WrittenBackup {
  const file = resolve(to);
  if (!existsSync(from)) throw new SetupError(`there is no database ${from}; say with --project or --data where it is`);
  if (BESIDE.some((suffix) => file === `${resolve(from)}${suffix}`))
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
    sync(dirname(file));
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

/** What a file holds, or a folder names, is on the disk from now on. No connection may be open on it: closing it here would end the locks of that. */
function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
