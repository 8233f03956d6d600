/** Files as commands read and write them: piece by piece. `-` is what stands before or behind in a pipe. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SetupError } from '../errors.ts';
import { moveToNewFile } from '../files/index.ts';

/** Opens a file to be read, until `stop` is aborted: then whoever reads gets its reason. Throws where it cannot. */
export async function openInput(path: string, stop?: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const file = path === '-' ? process.stdin : await openFile(path);
  // Told to whoever reads it. Nobody may read it yet, or any more.
  file.on('error', () => undefined);
  stop?.addEventListener('abort', () => file.destroy(stop.reason), { once: true });
  return file;
}

async function openFile(path: string): Promise<Readable> {
  // A folder can be opened, and only reading it would fail.
  if ((await stat(path)).isDirectory()) throw new SetupError(`expected a file, found a folder in ${path}`);
  const file = createReadStream(path);
  await once(file, 'open');
  return file;
}

/** True if an existing file may be replaced. */
export interface FileWriteOptions {
  readonly force: boolean;
}

/**
 * Writes a file as `<name>.<uuid>.part` and renames it when it is complete; after a crash the `.part` file remains. Refuses an existing
 * file before the content is requested, unless `force` is set.
 */
export async function writeOutput(path: string, open: () => Promise<AsyncIterable<string>>, { force }: FileWriteOptions): Promise<void> {
  if (path === '-') return writeToPipe(await open());
  if (!existsSync(dirname(path))) throw new SetupError(`there is no folder ${dirname(path)} to write ${basename(path)} into`);
  if (!force && existsSync(path)) throw alreadyThere(path);
  const part = `${path}.${randomUUID()}.part`;
  try {
    await pipeline(Readable.from(await open()), createWriteStream(part, { flags: 'wx', flush: true }));
    if (force) await rename(part, path);
    else moveToNewFile(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? alreadyThere(path) : error;
  }
}

function alreadyThere(path: string): SetupError {
  return new SetupError(`${path} exists, and nothing was written: name another file, or replace it with --force`);
}

/** Whoever reads along may stop doing so (`… | head -3`): then that is all of it that was wanted. */
async function writeToPipe(pieces: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(pieces), process.stdout, { end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}
