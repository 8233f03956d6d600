import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { SetupError } from '../errors.ts';
import { errorCode, findFile, RefusedPath, readRegularFile } from './safe-files.ts';

const MOST_BYTES = 64 * 1024;
const OWN = /^BAILIWICK_/;
/** A line with one of our names, and one that also has a value. */
const NAMED = /^\s*(?:export\s+)?BAILIWICK_/;
const WITH_VALUE = /^\s*(?:export\s+)?BAILIWICK_\w*\s*=/;

/**
 * Returns the variables that begin with `BAILIWICK_` of the file `.env` in a folder. Others, such as the port of a web app in the same
 * folder, belong to other programs.
 *
 * @throws SetupError if the file cannot be read, or if a line with one of these names has no value.
 */
export function readEnvFile(folder: string): Readonly<Record<string, string>> {
  // The command that reads the project reports a folder that does not exist or is a file.
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return {};
  const path = join(folder, '.env');
  const text = readText(path);
  const wrong = text.split('\n').findIndex((line) => NAMED.test(line) && !WITH_VALUE.test(line));
  // The parser skips such a line, which could have been meant to restrict access.
  if (wrong >= 0) throw new SetupError(`${path}:${wrong + 1}: expected NAME=value`);
  const values = Object.entries(parseEnv(text));
  return Object.fromEntries(values.filter((entry): entry is [string, string] => OWN.test(entry[0])));
}

/** Returns the text of a file; an empty one if it does not exist. */
function readText(path: string): string {
  try {
    return findFile(path) === undefined ? '' : readRegularFile(path, MOST_BYTES).toString('utf8');
  } catch (error) {
    throw new SetupError(`cannot read ${path}: ${error instanceof RefusedPath ? error.message : errorCode(error)}`);
  }
}
