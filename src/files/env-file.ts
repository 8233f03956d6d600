import { statSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { SetupError } from '../errors.ts';
import { errorCode, findFile, RefusedPath, readRegularFile } from './safe-files.ts';

const MOST_BYTES = 64 * 1024;
const OWN = /^BAILIWICK_/;
/** A line with one of our names, and the sign with which it assigns a value. */
const NAMED = /^\s*(?:export\s+)?(BAILIWICK_[^\s=]*)\s*(=?)/;

/**
 * Returns the variables that begin with `BAILIWICK_` of the file `.env` in a folder. Others, such as the port of a web app in the same
 * folder, belong to other programs.
 *
 * @throws SetupError if the file cannot be read, or if a line with one of these names assigns no value.
 */
export function readEnvFile(folder: string): Readonly<Record<string, string>> {
  // The command that reads the project reports a folder that does not exist or is a file.
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return {};
  const path = join(folder, '.env');
  const text = readText(path);
  const values = parseEnv(text);
  requireAssignments(path, text, values);
  return Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => OWN.test(entry[0])));
}

/** Refuses a line that names a setting, but is no assignment: the parser skips it, and it could have been meant to restrict access. */
function requireAssignments(path: string, text: string, values: Readonly<Record<string, string | undefined>>): void {
  for (const [index, line] of text.split('\n').entries()) {
    const [, name, assigns] = NAMED.exec(line) ?? [];
    if (name === undefined || (assigns === '=' && values[name] !== undefined)) continue;
    const isInValue = Object.values(values).some((value) => value?.split('\n').includes(line.replace(/\r$/, '')));
    if (!isInValue) throw new SetupError(`${path}:${index + 1}: expected NAME=value`);
  }
}

/** Returns the text of a file; an empty one if it does not exist. */
function readText(path: string): string {
  try {
    return findFile(path) === undefined
      ? ''
      : readRegularFile(path, MOST_BYTES)
          .toString('utf8')
          .replace(/^\uFEFF/, '');
  } catch (error) {
    throw new SetupError(`cannot read ${path}: ${error instanceof RefusedPath ? error.message : errorCode(error)}`);
  }
}
