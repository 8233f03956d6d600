import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { errorCode, findFile, KEY_FILE_BYTES, readEdKey, readOrMakeKey, readRegularFile } from '../../files/index.ts';
import { fingerprintOf, type PublicKeys } from './checkpoint.ts';

/** Where the public key lies, for whoever verifies elsewhere. */
export function publicKeyPath(dataFolder: string): string {
  return join(dataFolder, 'checkpoint.pub.pem');
}

/** Path of the private key. */
export function checkpointKeyPath(dataFolder: string): string {
  return join(dataFolder, 'checkpoint.ed25519.pem');
}

/**
 * The key that checkpoints are signed with, generated into the data folder and readable for its owner alone. The public one lies beside it,
 * before those of keys that were there earlier: what was signed with them can be verified as long as it is kept.
 *
 * @throws SetupError where it cannot be made or used.
 */
export function loadCheckpointKey(dataFolder: string): KeyObject {
  const path = checkpointKeyPath(dataFolder);
  const make = (): string => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const key = readEdKey(path, readOrMakeKey({ path, name: 'key of the checkpoints', make }));
  keepPublic(publicKeyPath(dataFolder), createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString());
  return key;
}

function keepPublic(path: string, text: string): void {
  try {
    const there = readIfThere(path) ?? '';
    if (!there.includes(text.trim())) writeFileSync(path, text + there);
  } catch (error) {
    throw new SetupError(
      `the public key of the checkpoints ${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/**
 * The public keys in a file, one or several as PEM; none where the file is not there.
 *
 * @throws SetupError where it is there and holds no such key.
 */
export function readPublicKeys(path: string): PublicKeys {
  const text = readIfThere(path);
  if (text === undefined) return new Map();
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----/g) ?? [];
  const keys = blocks.map((block) => readPublicKey(path, block));
  if (keys.length === 0) throw noKey(path);
  return new Map(keys.map((key) => [fingerprintOf(key), key]));
}

function readPublicKey(path: string, block: string): KeyObject {
  try {
    const key = createPublicKey(block);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    throw noKey(path);
  }
  throw noKey(path);
}

function noKey(path: string): SetupError {
  return new SetupError(`${path} holds no key: expected Ed25519 public keys as PEM`);
}

function readIfThere(path: string): string | undefined {
  try {
    return findFile(path) === undefined ? undefined : readRegularFile(path, KEY_FILE_BYTES).toString('utf8');
  } catch (error) {
    throw new SetupError(`${path} cannot be read: ${errorCode(error)}`);
  }
}
