/**
 * The windows in which the audit log is searched and counted: parts of the entries, in their order. A search in a long attempt can end between two
 * windows, and continue there on the next page.
 */
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuditEntry } from './audit-entry.ts';
import { type EntryConditions, type EntryFilter, toTimeText } from './entry-filter.ts';

/** The order of entries by time, and by id at the same time. */
export type EntryOrder = 'newest' | 'oldest';

/** The position of an entry in the order of a search. */
export type SearchPosition = Pick<AuditEntry, 'at' | 'id'>;

/** A part of the entries. */
export interface EntryWindow {
  /** Matches the entries of the window, in addition to the conditions of the filter. */
  readonly range: readonly Sql[];
  /** The last entry of the window; absent if the window ends with the last entry, or ends at a time. */
  readonly upTo?: SearchPosition;
  /** True if no window follows. */
  readonly isLast: boolean;
}

/** A search that is divided into windows. */
export interface WindowedSearch {
  readonly filter: EntryFilter;
  readonly conditions: EntryConditions;
  readonly order: EntryOrder;
  /** The search begins after this entry; with the first entry if absent. */
  readonly after?: SearchPosition | undefined;
}

/** Milliseconds after which a search in a long attempt ends. */
const SEARCH_TIME = 2000;

/** Returns a function that tells if the time of a search is up. */
export function startSearch({ limits }: EntryFilter): () => boolean {
  const { milliseconds = SEARCH_TIME } = limits ?? {};
  const began = performance.now();
  return () => performance.now() - began >= milliseconds;
}

/** Entries of the first window. */
const FIRST_WINDOW = 2000;
/** Milliseconds that a window should take, because a search can end only between two windows. */
const WINDOW_TIME = 50;

/**
 * Yields the windows of a search in its order. In a short attempt these are a few long ranges of time, because the attempt ends anyway when its time
 * is up; in a long attempt, each window has a limited number of entries, as many as the consumer examines in `WINDOW_TIME`.
 */
export async function* entryWindows(tx: Transaction, search: WindowedSearch): AsyncGenerator<EntryWindow> {
  if (tx.attempt !== 'long') {
    yield* timeWindows(tx, search);
    return;
  }
  const { windowRows } = search.filter.limits ?? {};
  let { after } = search;
  for (let rows = windowRows ?? FIRST_WINDOW; ; ) {
    const began = performance.now();
    const upTo = await findEnd(tx, { ...search, after }, rows);
    const range = [
      ...(after === undefined ? [] : [isAfter(after, search.order)]),
      ...(upTo === undefined ? [] : [isUpTo(upTo, search.order)]),
    ];
    yield { range, ...(upTo !== undefined && { upTo }), isLast: upTo === undefined };
    if (upTo === undefined) return;
    after = upTo;
    rows = windowRows ?? Math.max(1, Math.floor(rows * Math.min(4, WINDOW_TIME / Math.max(1, performance.now() - began))));
    await tx.checkTime();
  }
}

/** Finds the last of the next `rows` entries that match the indexed conditions. Reads an index only. */
function findEnd(tx: Transaction, { conditions, order, after }: WindowedSearch, rows: number): Promise<SearchPosition | undefined> {
  const range = after === undefined ? [] : [isAfter(after, order)];
  const where = sql.join([tx.dialect.deadlineCheck(sql.table('_Decision')), ...conditions.indexed, ...range], sql` and `);
  return tx.one<SearchPosition>(
    sql`select "at", "id" from "_Decision" where ${where} order by ${entryOrderSql(order)} limit 1 offset ${rows - 1}`,
  );
}

/** Renders the order of entries. The timestamps are never missing; `nulls last` makes the index of PostgreSQL usable. */
export function entryOrderSql(order: EntryOrder): Sql {
  return order === 'newest' ? sql`"at" desc nulls last, "id" desc` : sql`"at" nulls first, "id"`;
}

function isAfter({ at, id }: SearchPosition, order: EntryOrder): Sql {
  // The first half is redundant; it lets the index on "at" limit the scan.
  return order === 'newest' ? sql`"at" <= ${at} and ("at" < ${at} or "id" < ${id})` : sql`"at" >= ${at} and ("at" > ${at} or "id" > ${id})`;
}

function isUpTo({ at, id }: SearchPosition, order: EntryOrder): Sql {
  return order === 'newest'
    ? sql`"at" >= ${at} and ("at" > ${at} or "id" >= ${id})`
    : sql`"at" <= ${at} and ("at" < ${at} or "id" <= ${id})`;
}

/** The first window has the newest 2 days, the next ones go back to 8, 32 and 128 days: each day is a partition, and most hits are recent. */
const FIRST_DAYS = 2;
const GROWTH = 4;
/** Number of windows with a beginning; the window after them has all older entries. */
const RANGES = 4;
const DAY = 24 * 60 * 60_000;

function* timeWindows(tx: Transaction, { filter: { from, to }, order, after }: WindowedSearch): Generator<EntryWindow> {
  const position = after === undefined ? [] : [isAfter(after, order)];
  if (order === 'oldest') {
    yield { range: position, isLast: true };
    return;
  }
  const newest = after === undefined ? tx.now : Date.parse(after.at);
  const first = Math.min(newest, to ?? newest);
  let until: string | undefined;
  for (let [index, days] = [1, FIRST_DAYS]; ; [index, days] = [index + 1, days * GROWTH]) {
    const since = index > RANGES || (from !== undefined && first - days * DAY <= from) ? undefined : toTimeText(first - days * DAY);
    const range = [...(since === undefined ? [] : [sql`"at" >= ${since}`]), ...(until === undefined ? [] : [sql`"at" < ${until}`])];
    yield { range: [...position, ...range], isLast: since === undefined };
    if (since === undefined) return;
    until = since;
  }
}
