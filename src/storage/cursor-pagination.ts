import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { Problem } from '../errors.ts';
import { createRandomSource } from '../ids.ts';
import type { Json } from '../operators/index.ts';
import { MAX_CURSOR_LENGTH, type ResolvedSortKey } from '../request/index.ts';
import type { Resource, StoredRecord } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import { columnOf } from './table-names.ts';

/** Maximum characters of sort values in a cursor; longer ones are read again from the record. */
const MAX_KEY_LENGTH = 1000;

/** The order of a list: the requested keys, then `id`, so that no two records are equal. */
export type Order = readonly ResolvedSortKey[];

/**
 * Adds `id` to the sort keys, in the direction of the last key, so that an index on that key can be used. If `id` is a sort key already,
 * drops the keys after it.
 */
export function toOrder(resource: Resource, sort: readonly ResolvedSortKey[]): Order {
  const byId = sort.findIndex(({ field }) => field.name === 'id');
  if (byId >= 0) return sort.slice(0, byId + 1);
  const id = resource.fields.get('id');
  if (id === undefined) throw new Error(`${resource.name} has no id`);
  return [...sort, { field: id, descending: sort.at(-1)?.descending ?? false }];
}

/**
 * Renders the list of ORDER BY. Records without a value come first in ascending order and last in descending order; NULLS is explicit
 * because the defaults of databases differ. For `id`, which is never NULL, NULLS is omitted, because it would prevent the use of the index
 * on ids.
 */
export function orderSql(resource: Resource, order: Order): Sql {
  return sql.join(
    order.map(({ field, descending }) => {
      const column = columnOf(resource, field.name);
      if (field.name === 'id') return descending ? sql`${column} DESC` : sql`${column} ASC`;
      return descending ? sql`${column} DESC NULLS LAST` : sql`${column} ASC NULLS FIRST`;
    }),
  );
}

/** Returns the position of a record in an order. */
export function toPosition(record: StoredRecord, order: Order): CursorPosition {
  return { id: record.id, keys: order.slice(0, -1).map(({ field }) => record[field.name] ?? null) };
}

/** Returns the position for a cursor, without sort values that are too long for it. */
export function shortenPosition(position: CursorPosition): CursorPosition {
  const { keys } = position;
  if (keys === undefined || keys.length === 0 || JSON.stringify(keys).length <= MAX_KEY_LENGTH) return position;
  const { keys: _, ...others } = position;
  return others;
}

/** The position in a list at which a page ended and the next page begins. */
export interface CursorPosition {
  /** Id of the last record that the previous page returned or scanned. */
  readonly id: string;
  /** Sort values of that record, null for missing ones; absent if they were too long for the cursor. */
  readonly keys?: readonly Json[];
  /** The remaining offset that the previous page could not skip. */
  readonly skip?: number;
}

/** The key that encrypts cursors: 32 bytes. */
export type CursorKey = KeyObject;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const takeNonce = createRandomSource(NONCE_BYTES);

/**
 * Encrypts a position as text, because a position contains values of records, and a forged position could probe for other values. A cursor
 * opens only with the same `binding` (resource, action, sort, filter, principal). The key is a KeyObject because converting bytes costs
 * several times as much as the encryption.
 */
export function sealCursor(position: CursorPosition, key: CursorKey, binding: string): string {
  const nonce = takeNonce();
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(binding));
  const sealed = Buffer.concat([cipher.update(JSON.stringify(position)), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
}

/** Decrypts a cursor. Throws REQUEST_CURSOR with the same text for every error. */
export function openCursor(text: string, key: CursorKey, binding: string): CursorPosition {
  const bytes = text.length > MAX_CURSOR_LENGTH ? Buffer.alloc(0) : Buffer.from(text, 'base64url');
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) throw unreadable();
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const tag = bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(binding)).setAuthTag(tag);
  const opened = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  try {
    // Authenticated content has the shape that sealCursor gave it.
    return JSON.parse(Buffer.concat([opened, decipher.final()]).toString()) as CursorPosition;
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(cause?: unknown): Problem {
  return new Problem('REQUEST_CURSOR', 'the cursor is not one that this list gave to this caller', { cause });
}
