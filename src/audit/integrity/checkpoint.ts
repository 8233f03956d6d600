import { createHash, createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto';
import type { Head } from '../index.ts';
import { isHead } from './entry-rows.ts';

/**
 * What a line says of the heads in it. `heads`: these entries were there. `restored`: a backup was restored, and of the chains that stood
 * by then these entries are the last, of those begun later none is left. `cut`: these entries and all before them were pruned.
 */
export type CheckpointKind = 'heads' | 'restored' | 'cut';

/** One line of the checkpoint file. */
export interface Checkpoint {
  /** ISO 8601. */
  readonly at: string;
  /** Fingerprint of the key that signed it: see `fingerprintOf`. */
  readonly service: string;
  readonly kind: CheckpointKind;
  readonly heads: readonly Head[];
  /** Hash of the line before it, see `hashOfLine`; empty in the first. */
  readonly previous: string;
  /** Ed25519, base64url. */
  readonly signature: string;
}

/** Where the beginning of a chain was pruned: the last entry that went, signed. */
export interface Cut {
  readonly at: string;
  readonly service: string;
  readonly sequence: number;
  readonly hash: string;
  readonly signature: string;
}

/** Public keys by fingerprint. */
export type PublicKeys = ReadonlyMap<string, KeyObject>;

const KINDS: readonly string[] = ['heads', 'restored', 'cut'] satisfies readonly CheckpointKind[];

/** SHA-256 of a public key as DER, base64url: `openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | basenc --base64url`. */
export function fingerprintOf(key: KeyObject): string {
  const shown = key.type === 'private' ? createPublicKey(key) : key;
  return createHash('sha256')
    .update(shown.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
}

/** SHA-256 of a line without its end, base64url. */
export function hashOfLine(line: string): string {
  return hash('sha256', line, 'base64url');
}

/** A line of the file, without its end. */
export function toLine(said: Omit<Checkpoint, 'service' | 'signature'>, key: KeyObject): string {
  const { at, kind, heads, previous } = said;
  const unsigned = { at, service: fingerprintOf(key), kind, heads, previous };
  return JSON.stringify({ ...unsigned, signature: sign(null, toBytes(unsigned), key).toString('base64url') });
}

/** A line as what it says; undefined where it is none of ours. */
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

/** Its signature, in one spelling: of one checkpoint by one key there is one. */
export function signatureOf({ signature }: Checkpoint): string {
  return Buffer.from(signature, 'base64url').toString('base64url');
}

/** Whether it was signed by one of these keys: the one it names. */
export function isSigned(checkpoint: Checkpoint, keys: PublicKeys): boolean {
  return isBy(toBytes(checkpoint), checkpoint, keys);
}

/** A cut of a chain, signed. */
export function toCut(head: Head, { at, key }: { readonly at: string; readonly key: KeyObject }): Cut {
  const unsigned = { at, service: fingerprintOf(key), sequence: head.sequence, hash: head.hash };
  return { ...unsigned, signature: sign(null, toCutBytes(head.writer, unsigned), key).toString('base64url') };
}

/** The cut of a chain; undefined where it is none, or was signed by none of these keys. */
export function parseCut(text: string, writer: string, keys: PublicKeys): Cut | undefined {
  try {
    const cut = Object(JSON.parse(text)) as Cut;
    const texts = [cut.at, cut.service, cut.signature].every((each) => typeof each === 'string');
    return texts && isHead({ writer, ...cut }) && isBy(toCutBytes(writer, cut), cut, keys) ? cut : undefined;
  } catch {
    return undefined;
  }
}

/** What is signed, as every hash of the record is made: a JSON array as RFC 8785 fixes it. */
function toBytes({ at, service, kind, heads, previous }: Omit<Checkpoint, 'signature'>): Buffer {
  const places = heads.map(({ writer, sequence, hash }) => [writer, sequence, hash]);
  return Buffer.from(JSON.stringify(['bailiwick checkpoint 1', at, service, kind, places, previous]));
}

function toCutBytes(writer: string, { at, service, sequence, hash }: Omit<Cut, 'signature'>): Buffer {
  return Buffer.from(JSON.stringify(['bailiwick cut 1', at, service, writer, sequence, hash]));
}

function isBy(bytes: Buffer, { service, signature }: Pick<Checkpoint, 'service' | 'signature'>, keys: PublicKeys): boolean {
  const key = keys.get(service);
  return key !== undefined && verify(null, bytes, key, Buffer.from(signature, 'base64url'));
}
