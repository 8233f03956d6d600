/** Files that commands read and write, streamed; `-` is standard input or output. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { constants, createReadStream, createWriteStream, existsSync, fstatSync, openSync, statSync } from 'node:fs';
import { chmod, readFile, rename, rm, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SetupError } from '../errors.ts';
import { moveToNewFile } from '../files/index.ts';
import { cannotWrite, isClosedPipe } from './standard-output.ts';

const STANDARD_INPUT = 0;

/** Opens a file for reading. Aborting `stop` ends the read with the reason of the abort. Throws if the file cannot be opened. */
export async function openInput(path: string, stop?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const file = path === '-' ? openStandardInput() : await openFile(path);
  // The reader receives errors too. Without this listener, an error before or after the reading would end the process.
  file.on('error', () => undefined);
  stop?.addEventListener('abort', () => file.destroy(stop.reason), { once: true });
  return file;
}

function openStandardInput(): Readable {
  // Node.js would read a folder as an empty file.
  if (fstatSync(STANDARD_INPUT).isDirectory()) throw new SetupError('expected a file, found a folder on standard input');
  return process.stdin;
}

async function openFile(path: string): Promise<Readable> {
  // Opening a folder succeeds; only reading it would fail.
  const found = await stat(path);
  if (found.isDirectory()) throw new SetupError(`expected a file, found a folder in ${path}`);
  // A read of a named pipe waits for a writer. Waiting in the thread pool, it could not be aborted, and the process could not exit.
  if (found.isFIFO()) return new Socket({ fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), readable: true, writable: false });
  const file = createReadStream(path);
  await once(file, 'open');
  return file;
}

/** The content of a file, in pieces. */
type Pieces = AsyncIterable<string> | Iterable<string>;

/** Options for writing a file. */
export interface FileWriteOptions {
  /** True if an existing file may be replaced. */
  readonly force: boolean;
}

/**
 * Writes a file as `<name>.<uuid>.part` and renames it when it is complete; after a crash the `.part` file remains. Refuses an existing
 * file before the content is requested, unless `force` is set; the new file then has the mode of the former. Refuses folders, devices and
 * named pipes in any case.
 */
export async function writeOutput(path: string, open: () => Promise<Pieces>, { force }: FileWriteOptions): Promise<void> {
  if (path === '-') return writeToPipe(await open());
  if (!existsSync(dirname(path))) throw new SetupError(`cannot write ${path}: the folder ${dirname(path)} does not exist`);
  const replaced = statSync(path, { throwIfNoEntry: false });
  if (replaced !== undefined && !replaced.isFile()) throw notRegular(path);
  if (!force && replaced !== undefined) throw fileExists(path);
  const mode = (replaced?.mode ?? 0o666) & 0o777;
  const part = `${path}.${randomUUID()}.part`;
  try {
    await pipeline(Readable.from(await open()), createWriteStream(part, { flags: 'wx', flush: true, mode }));
    // The umask can remove bits from the mode of a new file.
    if (replaced !== undefined) await chmod(part, mode);
    if (force) await rename(part, path);
    else moveToNewFile(part, path);
  } catch (error) {
    await rm(part, { force: true });
    const failure = error as NodeJS.ErrnoException;
    // The error of a system call on an open file has no path.
    if (failure.syscall === 'write' || failure.syscall === 'fsync') failure.path ??= path;
    throw failure.code === 'EEXIST' ? fileExists(path) : failure;
  }
}

/** Returns the text of a file that is to be written; undefined if it does not exist. @throws SetupError for what `writeOutput` refuses */
export async function readOutput(path: string): Promise<string | undefined> {
  const present = statSync(path, { throwIfNoEntry: false });
  // A read of a named pipe would wait for a writer.
  if (present !== undefined && !present.isFile()) throw notRegular(path);
  return present === undefined ? undefined : readFile(path, 'utf8');
}

function notRegular(path: string): SetupError {
  return new SetupError(`${path} is not a regular file; nothing was written. Name another file, or - for standard output`);
}

function fileExists(path: string): SetupError {
  return new SetupError(`${path} exists; nothing was written. Name another file, or replace it with --force`);
}

/** Writes to standard output. A reader that closes the pipe (`… | head -3`) is not an error. */
async function writeToPipe(chunks: Pieces): Promise<void> {
  try {
    await pipeline(Readable.from(chunks), process.stdout, { end: false });
  } catch (error) {
    if (isClosedPipe(error)) return;
    // An error of the content has no system call that writes.
    throw (error as NodeJS.ErrnoException).syscall === 'write' ? cannotWrite(error as NodeJS.ErrnoException) : error;
  }
}
