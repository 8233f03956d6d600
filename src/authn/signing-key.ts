import { createPublicKey, createSecretKey, generateKeyPairSync, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';
import { readEdKey, readOrMakeKey } from '../files/index.ts';

/** The one algorithm that tokens are signed with. */
export type TokenAlgorithm = 'HS256' | 'EdDSA';

/** What tokens are signed and verified with. */
export interface TokenKey {
  readonly algorithm: TokenAlgorithm;
  readonly signing: KeyObject;
  readonly verifying: KeyObject;
}

/** Where the key comes from: what was given, or else a file in the data folder. */
export interface TokenKeySource {
  readonly algorithm: TokenAlgorithm;
  /** For HS256, at least 32 bytes as UTF-8. */
  readonly secret?: string | undefined;
  readonly dataFolder: string;
}

const LEAST_BYTES = 32;
const NAME = 'token key';

/**
 * The key that tokens are signed with. Where none was given it is generated into the data folder, readable for the
 * owner alone; of several starters at once the first makes it and all use it.
 *
 * @throws SetupError where the secret is too short, or the file cannot be made or used.
 */
export function loadTokenKey({ algorithm, secret, dataFolder }: TokenKeySource): TokenKey {
  if (algorithm === 'EdDSA') {
    if (secret !== undefined) throw new SetupError('a token secret is for HS256, and EdDSA was asked for; expected one or the other');
    return toEdKey(join(dataFolder, 'jwt.ed25519.pem'));
  }
  const bytes = secret === undefined ? readGenerated(join(dataFolder, 'jwt.key')) : Buffer.from(secret);
  if (bytes.length < LEAST_BYTES)
    throw new SetupError(`the token secret is too short: expected at least ${LEAST_BYTES} bytes, given ${bytes.length}`);
  const key = createSecretKey(bytes);
  return Object.freeze({ algorithm, signing: key, verifying: key });
}

/** A secret of 32 bytes for another purpose, the same wherever the token key is the same; it tells nothing of it. */
export function deriveKey(key: TokenKey, purpose: string): KeyObject {
  const material = key.signing.type === 'secret' ? key.signing.export() : key.signing.export({ type: 'pkcs8', format: 'der' });
  return createSecretKey(new Uint8Array(hkdfSync('sha256', material, '', `bailiwick ${purpose}`, 32)));
}

function readGenerated(path: string): Buffer {
  const text = readOrMakeKey({ path, name: NAME, make: () => randomBytes(LEAST_BYTES).toString('base64url') });
  const bytes = Buffer.from(text.trim(), 'base64url');
  if (bytes.length < LEAST_BYTES)
    throw new SetupError(`${path} holds no key: expected at least ${LEAST_BYTES} bytes as base64url; delete it to have one made`);
  return bytes;
}

function toEdKey(path: string): TokenKey {
  const make = (): string => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const text = readOrMakeKey({ path, name: NAME, make });
  const signing = readEdKey(path, text);
  return Object.freeze({ algorithm: 'EdDSA', signing, verifying: createPublicKey(signing) });
}
