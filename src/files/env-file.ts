import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { SetupError } from '../errors.ts';
import { errorCode, findFile, RefusedPath, readRegularFile } from './safe-files.ts';

const MOST_BYTES = 64 * 1024;
const OWN = /^BAILIWICK_/;

/**
 * Returns the variables that begin with `BAILIWICK_` of the file `.env` in a folder. Others, such as the port of a web app in the same
 * folder, belong to other programs.
 *
 * @throws SetupError if the file cannot be read.
 */
export function readEnvFile(folder: string): Readonly<Record<string, string>> {
  // The command that reads the project reports a folder that does not exist or is a file.
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return {};
  const path = join(folder, '.env');
  try {
    if (findFile(path) === undefined) return {};
    const values = parseEnv(readRegularFile(path, MOST_BYTES).toString('utf8'));
    return Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => OWN.test(entry[0])));
  } catch (error) {
    throw new SetupError(`cannot read ${path}: ${error instanceof RefusedPath ? error.message : errorCode(error)}`);
  }
}
