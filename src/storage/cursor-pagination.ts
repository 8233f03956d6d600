import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { Problem } from '../errors.ts';
import { createRandomSource } from '../ids.ts';
import type { Json } from '../operators/index.ts';
import type { ResolvedSortKey } from '../request/index.ts';
import { type Resource, type StoredRecord, typeOf } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { loadDeletedRecord, loadRecord } from './records.ts';
import { columnOf, type Existence } from './table-names.ts';

/** Characters of sort values that a position carries; where there are more, they are read again from its record. */
const MAX_KEY_LENGTH = 1000;

/** The order of a list: the keys asked for, then `id`, so that no two records stand at the same place. */
export type Order = readonly ResolvedSortKey[];

/** Completes sort keys to an order. `id` goes the way of the key before it, so that an index on that key can be walked. */
export function toOrder(resource: Resource, sort: readonly ResolvedSortKey[]): Order {
  const byId = sort.findIndex(({ field }) => field.name === 'id');
  if (byId >= 0) return sort.slice(0, byId + 1);
  const id = resource.fields.get('id');
  if (id === undefined) throw new Error(`${resource.name} has no id`);
  return [...sort, { field: id, descending: sort.at(-1)?.descending ?? false }];
}

/**
 * Records without a value come first, and in descending order last: said, because databases differ in what they take for granted.
 * Every record has an id, and where it were said of that, the index on ids would not be walked.
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

/** Where a record stands in an order. */
export function toPosition(record: StoredRecord, order: Order): CursorPosition {
  const keys = order.slice(0, -1).map(({ field }) => record[field.name] ?? null);
  return JSON.stringify(keys).length > MAX_KEY_LENGTH ? { id: record.id } : { id: record.id, keys };
}

/** Where a list goes on, and in which. */
export interface CursorQuery {
  readonly order: Order;
  readonly position: CursorPosition;
  readonly existence?: Existence | undefined;
}

/**
 * What stands behind a position, as stretches of the order, one after the other: an index on the first key can be entered
 * at the beginning of each. Together they are true on every record behind it. Throws REQUEST_CURSOR where the position no
 * longer means anything.
 */
export async function rangesAfter(tx: Transaction, resource: Resource, at: CursorQuery): Promise<readonly Sql[]> {
  const { order, position } = at;
  const keys = position.keys ?? (await loadKeys(tx, resource, at));
  if (keys.length !== order.length - 1) throw mismatch('the cursor is of a list in another order');
  const values = [...keys, position.id];
  const steps = order.map(
    (key, index): CursorStep => ({ key, column: columnOf(resource, key.field.name), value: toBound(key, values[index] ?? null) }),
  );
  return toRanges(steps);
}

/** One key of the order at the position. */
interface CursorStep {
  readonly key: ResolvedSortKey;
  readonly column: Sql;
  /** As the column holds it. */
  readonly value: unknown;
}

/** Records without a value are a stretch of their own: no range of an index holds them together with others. */
function toRanges([step, ...others]: readonly CursorStep[]): readonly Sql[] {
  if (step === undefined) return [];
  const { column, value, key } = step;
  if (value === null) {
    const rest = sql`(${column} IS NULL AND ${isAfter(others)})`;
    return key.descending ? [rest] : [rest, sql`${column} IS NOT NULL`];
  }
  const sign = sql.raw(key.descending ? '<' : '>');
  // The first comparison says nothing new, yet is what an index can be entered by.
  const rest = others.length === 0 ? sql`${column} ${sign} ${value}` : sql`(${column} ${sign}= ${value} AND ${isAfter([step, ...others])})`;
  return key.descending && !key.field.required ? [rest, sql`${column} IS NULL`] : [rest];
}

/** Behind by the first key, or level with it and behind by the others. */
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
  if (bound === undefined) throw mismatch(`the cursor is of a list in which ${field.name} was something else`);
  return bound;
}

async function loadKeys(tx: Transaction, resource: Resource, { order, position, existence }: CursorQuery): Promise<readonly Json[]> {
  const load = existence === 'deleted' ? loadDeletedRecord : loadRecord;
  const record = await load(tx, resource, position.id);
  if (record === undefined) throw mismatch('the record at which the cursor stood is gone');
  return order.slice(0, -1).map(({ field }) => record[field.name] ?? null);
}

function mismatch(detail: string): Problem {
  return new Problem('REQUEST_CURSOR', detail);
}

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

const takeNonce = createRandomSource(NONCE_BYTES);

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
