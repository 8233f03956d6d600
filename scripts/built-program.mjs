// The place of the program that is built from the sources of this checkout. Plain JavaScript, because `bin/bailiwick.js` imports it.
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listFiles } from './files.mjs';

const checkout = fileURLToPath(new URL('..', import.meta.url));

/** The folder of the built programs, each in a folder of its own: a service that runs imports some files later. */
export const builtPrograms = join(checkout, 'dist/programs');

/** The inputs of a build besides the sources. */
const INPUTS = ['package-lock.json', 'package.json', 'rolldown.config.ts'];

/**
 * Returns the folder of the program that is built from the present sources; it does not exist before the build. Its name contains a hash of
 * the size of each source and of the time of its last change, because each start computes it, and would need four times as long to read the sources.
 */
export function builtProgram() {
  const sources = listFiles(checkout, 'src').filter((path) => /(?<!\.test|\.fixture)\.ts$/.test(path));
  const hash = createHash('sha256');
  for (const path of [...INPUTS, ...sources]) {
    const { size, mtimeMs } = statSync(join(checkout, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return join(builtPrograms, hash.digest('hex').slice(0, 20));
}
