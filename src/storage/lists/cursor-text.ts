import { createCipheriv, createDecipheriv, createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { Problem } from '../../errors.ts';
import { createRandomSource } from '../../ids.ts';
import type { JsonObject } from '../../operators/index.ts';
import { MAX_CURSOR_LENGTH, type ResolvedSortKey } from '../../request/index.ts';
import { type CursorPosition, shortenPosition } from './cursor-pagination.ts';

/** The keys of cursors: 32 bytes each. Key objects, because converting bytes costs several times as much as the encryption. */
export interface CursorKeys {
  readonly encryption: KeyObject;
  readonly signature: KeyObject;
}

/** The list that a cursor belongs to. */
export interface CursorScope {
  readonly keys: CursorKeys;
  /** Identifies resource, action, sort, filter and principal. A cursor opens only with the same text, which has no line breaks. */
  readonly binding: string;
}

/**
 * Renders a position as text that only this service can create, because a forged position could probe for values. A position that contains
 * nothing that `lastShown` does not is signed, which takes less time. All other positions contain values that the caller must not see, and
 * are encrypted. Sort values that are too long are replaced by their digest.
 *
 * @param lastShown The last record of the page, as shown to the caller, and the sort keys of the list.
 */
export function sealCursor(position: CursorPosition, scope: CursorScope, lastShown: ShownRecord): string {
  const short = shortenPosition(position);
  return contains(lastShown, short) ? signCursor(short, scope) : encryptCursor(short, scope);
}

/** A record as the caller sees it, and the sort keys of its list. */
export interface ShownRecord {
  /** Undefined if the page has no records. */
  readonly record: JsonObject | undefined;
  readonly sort: readonly ResolvedSortKey[];
}

function contains({ record, sort }: ShownRecord, { id, keys = [], digest, skip }: CursorPosition): boolean {
  if (record === undefined || record['id'] !== id || skip !== undefined || digest !== undefined) return false;
  return keys.every((key, index) => record[sort[index]?.field.name ?? ''] === key);
}

/** Reads a cursor. Throws REQUEST_CURSOR with the same text for every error. */
export function openCursor(text: string, scope: CursorScope): CursorPosition {
  if (text.length > MAX_CURSOR_LENGTH) throw unreadable();
  return text.includes(SEPARATOR) ? verifyCursor(text, scope) : decryptCursor(text, scope);
}

/** Separates the position of a signed cursor from its signature. Does not occur in base64url, so no encrypted cursor contains it. */
const SEPARATOR = '.';

function signCursor(position: CursorPosition, scope: CursorScope): string {
  const content = Buffer.from(JSON.stringify(position)).toString('base64url');
  return `${content}${SEPARATOR}${toSignature(content, scope)}`;
}

function verifyCursor(text: string, scope: CursorScope): CursorPosition {
  const end = text.indexOf(SEPARATOR);
  const content = text.slice(0, end);
  const [given, expected] = [Buffer.from(text.slice(end + 1)), Buffer.from(toSignature(content, scope))];
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw unreadable();
  return parsePosition(Buffer.from(content, 'base64url'));
}

function toSignature(content: string, { keys, binding }: CursorScope): string {
  return createHmac('sha256', keys.signature).update(`${binding}\n${content}`).digest('base64url');
}

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const takeNonce = createRandomSource(NONCE_BYTES);

function encryptCursor(position: CursorPosition, { keys, binding }: CursorScope): string {
  const nonce = takeNonce();
  const cipher = createCipheriv(CIPHER, keys.encryption, nonce).setAAD(Buffer.from(binding));
  const sealed = Buffer.concat([cipher.update(JSON.stringify(position)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

function decryptCursor(text: string, { keys, binding }: CursorScope): CursorPosition {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) throw unreadable();
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, keys.encryption, nonce, { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(binding))
    .setAuthTag(tag);
  const opened = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  try {
    return parsePosition(Buffer.concat([opened, decipher.final()]));
  } catch (error) {
    throw unreadable(error);
  }
}

/** Parses authenticated content, which has the shape that `sealCursor` gave it. */
function parsePosition(content: Buffer): CursorPosition {
  return JSON.parse(content.toString()) as CursorPosition;
}

function unreadable(cause?: unknown): Problem {
  return new Problem('REQUEST_CURSOR', 'the cursor is not one that this list gave to this caller', { cause });
}
