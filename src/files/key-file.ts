/** Key files: created or replaced atomically and durably. Private keys are readable only by their owner. */
import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { SetupError } from '../errors.ts';
import { errorCode, findFile, makeFolder, readRegularFile, syncFolder } from './safe-files.ts';

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

/**
 * Creates a file by a hard link, so that no process reads an incomplete file and an existing one is kept. Returns true if it was created.
 *
 * @throws the error of the system call
 */
export function makeExclusively(path: string, content: string): boolean {
  makeFolder(dirname(path));
  const draft = writeDraft(path, { content, mode: 0o600 });
  let isNew = true;
  try {
    linkSync(draft, path);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    isNew = false;
  } finally {
    rmSync(draft, { force: true });
  }
  // What the key signs must not outlive it.
  syncFolder(dirname(path));
  return isNew;
}

/**
 * Replaces the content of a file, or creates the file. After a power cut the file has the former or the new content.
 *
 * @throws the error of the system call. The file has the former content then, unless its folder cannot be synced.
 */
export function replaceFile(path: string, content: string): void {
  const draft = writeDraft(path, { content, mode: 0o644 });
  try {
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  syncFolder(dirname(path));
}

/** Writes and syncs a new file beside the file that it will become; returns its path. */
function writeDraft(path: string, { content, mode }: { readonly content: string; readonly mode: number }): string {
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  const file = openSync(draft, 'wx', mode);
  try {
    writeSync(file, content);
    fsyncSync(file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return draft;
}
