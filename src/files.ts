/** Files as commands read and write them: piece by piece. `-` is what stands before or behind in a pipe. */
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { SetupError } from './errors.ts';

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

/** Writes a file, which stands under its own name once it is whole: half an export must not pass for one. */
export async function writeOutput(path: string, pieces: AsyncIterable<string>): Promise<void> {
  if (path === '-') return writeToPipe(pieces);
  const part = `${path}.part`;
  try {
    await pipeline(Readable.from(pieces), createWriteStream(part));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

/** Whoever reads along may stop doing so (`… | head -3`): then that is all of it that was wanted. */
async function writeToPipe(pieces: AsyncIterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(pieces), process.stdout, { end: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error;
  }
}
