/** Key files: created once, atomically, readable only by their owner. */
import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, unlinkSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { SetupError } from '../errors.ts';
import { errorCode, findFile, makeFolder, readRegularFile } from './safe-files.ts';

/** Maximum bytes of a key file. */
export const KEY_FILE_BYTES = 1_000_000;

/** A key file to read or create. */
export interface KeyFile {
  readonly path: string;
  /** Name of the key in error messages. */
  readonly name: string;
  make(): string;
}

/**
 * Returns the content of a key file; creates the file if it is missing. If several processes start at once, one creates the file and all use
 * its key.
 *
 * @throws SetupError
 */
export function readOrMakeKey({ path, name, make }: KeyFile): string {
  try {
    const there = readIfThere(path);
    if (there !== undefined) return there;
    makeExclusively(path, make());
    return readRegularFile(path, KEY_FILE_BYTES).toString('utf8');
  } catch (error) {
    throw new SetupError(`the ${name} ${path} cannot be read or made: ${errorCode(error)}`);
  }
}

/** Parses an Ed25519 private key. @throws SetupError without the message of the library, which can quote the file. */
export function readEdKey(path: string, text: string): KeyObject {
  const refusal = new SetupError(`${path} holds no key: expected an Ed25519 private key as PKCS#8 PEM; delete it to have one made`);
  try {
    const key = createPrivateKey(text);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    throw refusal;
  }
  throw refusal;
}

function readIfThere(path: string): string | undefined {
  return findFile(path) === undefined ? undefined : readRegularFile(path, KEY_FILE_BYTES).toString('utf8');
}

/** Creates the file by a hard link, so that no process reads an incomplete key and an existing key is kept. */
function makeExclusively(path: string, content: string): void {
  makeFolder(dirname(path));
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeSync(file, content);
    fsyncSync(file);
    linkSync(draft, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    closeSync(file);
    unlinkSync(draft);
  }
}
