import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { createRandom } from '../random.ts';

/** Where a list goes on. */
export interface CursorPosition {
  /** Id of the last record that the page before had, or had looked at. */
  readonly id: string;
  /** Its values of the sort keys, null where it has none; absent where they were too long to carry. */
  readonly keys?: readonly Json[];
  /** Matches still to be passed over: what is left of an offset that the page before could not use up. */
  readonly skip?: number;
}

/** Seals cursors: 32 bytes. */
export type CursorKey = KeyObject;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MAX_LENGTH = 8192;

const takeNonce = createRandom(NONCE_BYTES);

/**
 * A position as text that only we can read or make: it holds values of records, and a forged one would probe for others.
 * `binding` says what it is good for (resource, action, sort, filter, principal); it opens for nothing else.
 * The key is an object of its own: to take plain bytes for one costs a cipher several times what sealing does.
 */
export function sealCursor(position: CursorPosition, key: CursorKey, binding: string): string {
  const nonce = takeNonce();
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(binding));
  const sealed = Buffer.concat([cipher.update(JSON.stringify(position)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** The position in a cursor. Throws REQUEST_CURSOR, in the same words whatever is wrong with it. */
export function openCursor(text: string, key: CursorKey, binding: string): CursorPosition {
  const bytes = text.length > MAX_LENGTH ? Buffer.alloc(0) : Buffer.from(text, 'base64url');
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) throw unreadable();
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(binding)).setAuthTag(tag);
  const opened = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  try {
    // What was sealed with our key for this very use has the shape that sealCursor gave it.
    return JSON.parse(Buffer.concat([opened, decipher.final()]).toString()) as CursorPosition;
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(cause?: unknown): Problem {
  return new Problem('REQUEST_CURSOR', 'the cursor is not one that this list gave to this caller', { cause });
}
