/** Checkpoints: the lines of the checkpoint file, signed cuts of chains, and the keys that sign them. */

import { createHash, createPublicKey, generateKeyPairSync, hash, type KeyObject, sign, verify } from 'node:crypto';
import { join } from 'node:path';
import { SetupError } from '../../errors.ts';
import { errorCode, findFile, KEY_FILE_BYTES, readEdKey, readOrMakeKey, readRegularFile, replaceFile } from '../../files/index.ts';
import type { ChainHead } from '../index.ts';
import { isHead } from './entry-rows.ts';

/**
 * The meaning of the heads in a line. `heads`: these entries existed. `restored`: a backup was restored, these entries are the last of their
 * chains, and chains that began later no longer exist. `cut`: these entries and all before them in their chains were pruned.
 */
export type CheckpointKind = 'heads' | 'restored' | 'cut';

/** One line of the checkpoint file. */
export interface Checkpoint {
  /** ISO 8601. */
  readonly at: string;
  /** Fingerprint of the key that signed the line: see `fingerprintOf`. */
  readonly service: string;
  readonly kind: CheckpointKind;
  readonly heads: readonly ChainHead[];
  /** Hash of the previous line, see `hashOfLine`; empty in the first line. */
  readonly previous: string;
  /** Ed25519, base64url. */
  readonly signature: string;
}

/** The signed cut of a chain whose beginning was pruned: the last deleted entry. */
export interface Cut {
  readonly at: string;
  readonly service: string;
  readonly sequence: number;
  readonly hash: string;
  readonly signature: string;
}

/** A head, with the time at which a checkpoint signed it. */
export interface SignedHead extends ChainHead {
  readonly at: string;
}

/** Public keys by fingerprint. */
export type PublicKeys = ReadonlyMap<string, KeyObject>;

const KINDS: readonly string[] = ['heads', 'restored', 'cut'] satisfies readonly CheckpointKind[];

/** Returns the SHA-256 of a public key as DER, base64url: `openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | basenc --base64url`. */
export function fingerprintOf(key: KeyObject): string {
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  return createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}

/** Returns the SHA-256 of a line without its line end, base64url. */
export function hashOfLine(line: string): string {
  return hash('sha256', line, 'base64url');
}

/** Signs a checkpoint and renders it as a line without its line end. */
export function renderCheckpointLine(checkpoint: Omit<Checkpoint, 'service' | 'signature'>, key: KeyObject): string {
  const { at, kind, heads, previous } = checkpoint;
  const unsigned = { at, service: fingerprintOf(key), kind, heads, previous };
  return JSON.stringify({ ...unsigned, signature: sign(null, toBytes(unsigned), key).toString('base64url') });
}

/** Parses a line; undefined if it is not a checkpoint. */
export function parseCheckpointLine(line: string): Checkpoint | undefined {
  try {
    const { at, service, kind, heads, previous, signature } = Object(JSON.parse(line)) as Record<string, unknown>;
    const texts = [at, service, previous, signature].every((text) => typeof text === 'string');
    if (!texts || !KINDS.includes(String(kind)) || !Array.isArray(heads) || !heads.every(isHead)) return undefined;
    return { at, service, kind, heads, previous, signature } as Checkpoint;
  } catch {
    return undefined;
  }
}

/** Returns the signature in canonical base64url, so that equal signatures have equal texts. */
export function signatureOf({ signature }: Checkpoint): string {
  return Buffer.from(signature, 'base64url').toString('base64url');
}

/** Returns whether the key that the checkpoint names is one of the given keys and has signed it. */
export function isSigned(checkpoint: Checkpoint, keys: PublicKeys): boolean {
  return hasSigned(toBytes(checkpoint), checkpoint, keys);
}

/** Signs a cut of a chain. */
export function signCut(head: ChainHead, { at, key }: { readonly at: string; readonly key: KeyObject }): Cut {
  const unsigned = { at, service: fingerprintOf(key), sequence: head.sequence, hash: head.hash };
  return { ...unsigned, signature: sign(null, toCutBytes(head.writer, unsigned), key).toString('base64url') };
}

/** Parses the cut of a chain; undefined if it is not a cut or none of the keys has signed it. */
export function parseCut(text: string, writer: string, keys: PublicKeys): Cut | undefined {
  try {
    const cut = Object(JSON.parse(text)) as Cut;
    const texts = [cut.at, cut.service, cut.signature].every((each) => typeof each === 'string');
    return texts && isHead({ writer, ...cut }) && hasSigned(toCutBytes(writer, cut), cut, keys) ? cut : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the signed bytes: a JSON array as of RFC 8785, like the hashed bytes of entries. */
function toBytes({ at, service, kind, heads, previous }: Omit<Checkpoint, 'signature'>): Buffer {
  const positions = heads.map(({ writer, sequence, hash }) => [writer, sequence, hash]);
  return Buffer.from(JSON.stringify(['bailiwick checkpoint 1', at, service, kind, positions, previous]));
}

function toCutBytes(writer: string, { at, service, sequence, hash }: Omit<Cut, 'signature'>): Buffer {
  return Buffer.from(JSON.stringify(['bailiwick cut 1', at, service, writer, sequence, hash]));
}

function hasSigned(bytes: Buffer, { service, signature }: Pick<Checkpoint, 'service' | 'signature'>, keys: PublicKeys): boolean {
  const key = keys.get(service);
  return key !== undefined && verify(null, bytes, key, Buffer.from(signature, 'base64url'));
}

/** Returns the path of the public key, which a verifier on another machine needs. */
export function publicKeyPath(dataFolder: string): string {
  return join(dataFolder, 'checkpoint.pub.pem');
}

/** Returns the path of the private key. */
export function checkpointKeyPath(dataFolder: string): string {
  return join(dataFolder, 'checkpoint.ed25519.pem');
}

/**
 * Loads the private key of checkpoints. If there is none, generates it into a file in the data folder that only its owner can read. The
 * public key is added to a second file, which keeps the public keys of earlier private keys, so that older checkpoints can be verified.
 *
 * @throws SetupError if a file cannot be created, read or used.
 */
export function loadCheckpointKey(dataFolder: string): KeyObject {
  const path = checkpointKeyPath(dataFolder);
  const make = (): string => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const key = readEdKey(path, readOrMakeKey({ path, name: 'checkpoint key', make }));
  addPublicKey(publicKeyPath(dataFolder), createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString());
  return key;
}

function addPublicKey(path: string, text: string): void {
  try {
    const existing = readIfExists(path) ?? '';
    if (!existing.includes(text.trim())) replaceFile(path, text + existing);
  } catch (error) {
    throw new SetupError(
      `the public checkpoint key cannot be written to ${path}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/**
 * Loads the public keys from a PEM file; none if the file does not exist.
 *
 * @throws SetupError if the file contains no Ed25519 public key.
 */
export function loadPublicKeys(path: string): PublicKeys {
  const text = readIfExists(path);
  if (text === undefined) return new Map();
  const blocks = text.match(/-----BEGIN PUBLIC KEY-----[^-]*-----END PUBLIC KEY-----/g) ?? [];
  const keys = blocks.map((block) => parsePublicKey(path, block));
  if (keys.length === 0) throw noKey(path);
  return new Map(keys.map((key) => [fingerprintOf(key), key]));
}

function parsePublicKey(path: string, block: string): KeyObject {
  try {
    const key = createPublicKey(block);
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    throw noKey(path);
  }
  throw noKey(path);
}

function noKey(path: string): SetupError {
  return new SetupError(`${path} contains no key: expected Ed25519 public keys as PEM`);
}

function readIfExists(path: string): string | undefined {
  try {
    return findFile(path) === undefined ? undefined : readRegularFile(path, KEY_FILE_BYTES).toString('utf8');
  } catch (error) {
    throw new SetupError(`${path} cannot be read: ${errorCode(error)}`);
  }
}
