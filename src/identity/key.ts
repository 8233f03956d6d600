import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SetupError } from '../errors.ts';

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

/**
 * The key that tokens are signed with. Where none was given it is generated into the data folder, readable for the
 * owner alone; of several starters at once the first makes it and all use it.
 *
 * @throws SetupError where the secret is too short, or the file cannot be made or used.
 */
export function loadTokenKey({ algorithm, secret, dataFolder }: TokenKeySource): TokenKey {
  if (algorithm === 'EdDSA') {
    if (secret !== undefined) throw new SetupError('a token secret is for HS256, and EdDSA was asked for; expected one or the other');
    return toEdKey(join(dataFolder, 'jwt.ed25519.pem'), dataFolder);
  }
  const bytes = secret === undefined ? readGenerated(join(dataFolder, 'jwt.key'), dataFolder) : Buffer.from(secret);
  if (bytes.length < LEAST_BYTES)
    throw new SetupError(`the token secret is too short: expected at least ${LEAST_BYTES} bytes, given ${bytes.length}`);
  const key = createSecretKey(bytes);
  return Object.freeze({ algorithm, signing: key, verifying: key });
}

/** 32 bytes for another purpose, the same wherever the token key is the same; they tell nothing of it. */
export function deriveKey(key: TokenKey, purpose: string): Uint8Array {
  const material = key.signing.type === 'secret' ? key.signing.export() : key.signing.export({ type: 'pkcs8', format: 'der' });
  return new Uint8Array(hkdfSync('sha256', material, '', `bailiwick ${purpose}`, 32));
}

function readGenerated(path: string, folder: string): Buffer {
  const text = readOrMake(path, folder, () => randomBytes(LEAST_BYTES).toString('base64url'));
  const bytes = Buffer.from(text.trim(), 'base64url');
  if (bytes.length < LEAST_BYTES)
    throw new SetupError(`${path} holds no key: expected at least ${LEAST_BYTES} bytes as base64url; delete it to have one made`);
  return bytes;
}

function toEdKey(path: string, folder: string): TokenKey {
  const text = readOrMake(path, folder, () =>
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  );
  const signing = readEdKey(path, text);
  return Object.freeze({ algorithm: 'EdDSA', signing, verifying: createPublicKey(signing) });
}

function readEdKey(path: string, text: string): KeyObject {
  const refusal = new SetupError(`${path} holds no key: expected an Ed25519 private key as PKCS#8 PEM; delete it to have one made`);
  try {
    const key = createPrivateKey(text);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // In our words, without a cause: the library's may quote the file.
    throw refusal;
  }
  throw refusal;
}

function readOrMake(path: string, folder: string, make: () => string): string {
  try {
    const there = readIfThere(path);
    if (there !== undefined) return there;
    makeExclusively(path, folder, make());
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SetupError(`the token key ${path} cannot be read or made: ${errorCode(error) ?? String(error)}`);
  }
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** A link is made or refused as a whole, so nobody ever reads half a key, and a key that is there stays. */
function makeExclusively(path: string, folder: string, content: string): void {
  mkdirSync(folder, { recursive: true });
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

function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
