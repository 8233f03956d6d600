import { hash } from 'node:crypto';
import type { Json } from '../../operators/index.ts';
import type { ResolvedSortKey } from '../../request/index.ts';
import type { Resource, StoredRecord } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { columnOf } from '../table-names.ts';

/** Maximum characters of sort values in a cursor; longer ones are read again from the record. */
export const MAX_KEY_LENGTH = 1000;

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
export function orderSql(table: Pick<Resource, 'name'>, order: Order): Sql {
  return sql.join(
    order.map(({ field, descending }) => {
      const column = columnOf(table, field.name);
      if (field.name === 'id') return descending ? sql`${column} DESC` : sql`${column} ASC`;
      return descending ? sql`${column} DESC NULLS LAST` : sql`${column} ASC NULLS FIRST`;
    }),
  );
}

/** Returns the position of a record in an order. */
export function toPosition(record: StoredRecord, order: Order): CursorPosition {
  return { id: record.id, keys: order.slice(0, -1).map(({ field }) => record[field.name] ?? null) };
}

/** Returns the position for a cursor, with a digest instead of sort values that are too long for it. */
export function shortenPosition(position: CursorPosition): CursorPosition {
  const { keys } = position;
  if (keys === undefined || keys.length === 0 || JSON.stringify(keys).length <= MAX_KEY_LENGTH) return position;
  const { keys: _, ...others } = position;
  return { ...others, digest: digestOf(keys) };
}

/** Returns the digest of sort values. If that of the stored values differs, the list would continue at another position. */
export function digestOf(keys: readonly Json[]): string {
  return hash('sha256', JSON.stringify(keys), 'base64url');
}

/** The position in a list at which a page ended and the next page begins. */
export interface CursorPosition {
  /** Id of the last record that the previous page returned or scanned. */
  readonly id: string;
  /** Sort values of that record, null for missing ones; absent if they were too long for the cursor. */
  readonly keys?: readonly Json[];
  /** Digest of the sort values if they are absent. */
  readonly digest?: string;
  /** The remaining offset that the previous page could not skip. */
  readonly skip?: number;
}
