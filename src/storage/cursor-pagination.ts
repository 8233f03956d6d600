import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { Problem } from '../errors.ts';
import { createRandomSource } from '../ids.ts';
import type { Json } from '../operators/index.ts';
import { MAX_CURSOR_LENGTH, type ResolvedSortKey } from '../request/index.ts';
import { type Resource, type StoredRecord, typeOf } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { loadDeletedRecord, loadRecord } from './records.ts';
import { columnOf, type Existence } from './table-names.ts';

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
  const keys = order.slice(0, -1).map(({ field }) => record[field.name] ?? null);
  return JSON.stringify(keys).length > MAX_KEY_LENGTH ? { id: record.id } : { id: record.id, keys };
}

/** The position after which a list continues. */
export interface CursorQuery {
  readonly order: Order;
  readonly position: CursorPosition;
  readonly existence?: Existence | undefined;
}

/**
 * Renders the condition for the records after a position, as consecutive ranges: an index on the first key can seek to the beginning of
 * each range. Throws REQUEST_CURSOR if the position is no longer valid.
 */
export async function rangesAfter(tx: Transaction, resource: Resource, at: CursorQuery): Promise<readonly Sql[]> {
  const { order, position } = at;
  const keys = position.keys ?? (await loadKeys(tx, resource, at));
  if (keys.length !== order.length - 1) throw mismatch('the cursor belongs to a list with another sort order');
  const values = [...keys, position.id];
  const steps = order.map(
    (key, index): CursorStep => ({ key, column: columnOf(resource, key.field.name), value: toBound(key, values[index] ?? null) }),
  );
  return toRanges(steps);
}

/** One key of the order, and its value at the position. */
interface CursorStep {
  readonly key: ResolvedSortKey;
  readonly column: Sql;
  /** The value in the form that the column stores; null if the record has none. */
  readonly value: unknown;
}

/**
 * Renders the ranges of the records after the position. Records without a value of the first key are a range of their own, because no range
 * of an index contains them together with other records.
 */
function toRanges([step, ...others]: readonly CursorStep[]): readonly Sql[] {
  if (step === undefined) return [];
  const { column, value, key } = step;
  if (value === null) {
    const rest = sql`(${column} IS NULL AND ${isAfter(others)})`;
    return key.descending ? [rest] : [rest, sql`${column} IS NOT NULL`];
  }
  const sign = sql.raw(key.descending ? '<' : '>');
  // The first comparison is redundant, but lets the database use an index.
  const rest = others.length === 0 ? sql`${column} ${sign} ${value}` : sql`(${column} ${sign}= ${value} AND ${isAfter([step, ...others])})`;
  return key.descending && !key.field.required ? [rest, sql`${column} IS NULL`] : [rest];
}

/** Renders the condition for records after the position: greater by the first key, or equal in the first key and greater by the others. */
function isAfter([step, ...others]: readonly CursorStep[]): Sql {
  if (step === undefined) return sql`FALSE`;
  const beyond = isAfterKey(step);
  if (others.length === 0) return beyond;
  const level = step.value === null ? sql`${step.column} IS NULL` : sql`${step.column} = ${step.value}`;
  return sql`(${beyond} OR (${level} AND ${isAfter(others)}))`;
}

function isAfterKey({ key, column, value }: CursorStep): Sql {
  if (!key.descending) return value === null ? sql`${column} IS NOT NULL` : sql`${column} > ${value}`;
  if (value === null) return sql`FALSE`;
  return key.field.required ? sql`${column} < ${value}` : sql`(${column} < ${value} OR ${column} IS NULL)`;
}

function toBound({ field }: ResolvedSortKey, value: Json): unknown {
  const bound = value === null ? null : typeOf(field).toColumn(value, field);
  if (bound === undefined) throw mismatch(`the type of ${field.name} has changed since the cursor was created`);
  return bound;
}

async function loadKeys(tx: Transaction, resource: Resource, { order, position, existence }: CursorQuery): Promise<readonly Json[]> {
  const load = existence === 'deleted' ? loadDeletedRecord : loadRecord;
  const record = await load(tx, resource, position.id);
  if (record === undefined) throw mismatch('the record of the cursor no longer exists');
  return order.slice(0, -1).map(({ field }) => record[field.name] ?? null);
}

function mismatch(detail: string): Problem {
  return new Problem('REQUEST_CURSOR', detail);
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
