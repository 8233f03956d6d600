import { existsSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** The file system of Linux that is in memory. A container may have little of it. */
const MEMORY = '/dev/shm';
const ENOUGH_BYTES = 2 ** 31;

/** The folder for test databases: in memory if possible, because every commit is synced. Tests of durability use the temporary folder. */
export const databaseFolder: string = hasMemory() ? MEMORY : tmpdir();

function hasMemory(): boolean {
  if (process.platform !== 'linux' || !existsSync(MEMORY)) return false;
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > ENOUGH_BYTES;
}
