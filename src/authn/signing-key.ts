import { createPublicKey, createSecretKey, generateKeyPairSync, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';
import { readEdKey, readOrMakeKey } from '../files/index.ts';

/** The signature algorithms of tokens. */
export type TokenAlgorithm = 'HS256' | 'EdDSA';

/** The key with which tokens are signed and verified. */
export interface TokenKey {
  readonly algorithm: TokenAlgorithm;
  readonly signing: KeyObject;
  readonly verifying: KeyObject;
}

/** The source of the token key: a given secret, or a file in the data folder. */
export interface TokenKeySource {
  readonly algorithm: TokenAlgorithm;
  /** The secret for HS256, at least 32 bytes as UTF-8. If absent, the key file in the data folder is used. */
  readonly secret?: string | undefined;
  readonly dataFolder: string;
}

const MIN_BYTES = 32;
const NAME = 'token key';

/**
 * Loads the token key. Without a secret, reads the key from a file in the data folder that only its owner can read; a missing file is created
 * with a generated key. If several processes start at the same time, the first creates the file and all use it.
 *
 * @throws SetupError if the secret is too short, or the file cannot be created or read.
 */
export function loadTokenKey({ algorithm, secret, dataFolder }: TokenKeySource): TokenKey {
  if (algorithm === 'EdDSA') {
    if (secret !== undefined)
      throw new SetupError('a token secret cannot be used with EdDSA; remove the secret or set the algorithm to HS256');
    return toEdKey(join(dataFolder, 'jwt.ed25519.pem'));
  }
  const bytes = secret === undefined ? readGenerated(join(dataFolder, 'jwt.key')) : Buffer.from(secret);
  if (bytes.length < MIN_BYTES)
    throw new SetupError(`the token secret is too short: expected at least ${MIN_BYTES} bytes, given ${bytes.length}`);
  const key = createSecretKey(bytes);
  return Object.freeze({ algorithm, signing: key, verifying: key });
}

/** Derives a secret of 32 bytes for another purpose (HKDF). Equal token keys give equal secrets; the token key cannot be computed from it. */
export function deriveKey(key: TokenKey, purpose: string): KeyObject {
  const material = key.signing.type === 'secret' ? key.signing.export() : key.signing.export({ type: 'pkcs8', format: 'der' });
  return createSecretKey(new Uint8Array(hkdfSync('sha256', material, '', `bailiwick ${purpose}`, 32)));
}

function readGenerated(path: string): Buffer {
  const text = readOrMakeKey({ path, name: NAME, make: () => randomBytes(MIN_BYTES).toString('base64url') });
  const bytes = Buffer.from(text.trim(), 'base64url');
  if (bytes.length < MIN_BYTES)
    throw new SetupError(
      `${path} contains no key: expected at least ${MIN_BYTES} bytes as base64url; delete the file to generate a new key`,
    );
  return bytes;
}

function toEdKey(path: string): TokenKey {
  const make = (): string => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const text = readOrMakeKey({ path, name: NAME, make });
  const signing = readEdKey(path, text);
  return Object.freeze({ algorithm: 'EdDSA', signing, verifying: createPublicKey(signing) });
}
