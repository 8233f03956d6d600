import { Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuditEntry } from './audit-entry.ts';
import { type EntryFilter, toEntryConditions, toTimeText } from './entry-filter.ts';
import { type EntryOrder, entryOrderSql, entryWindows, type SearchPosition, startSearch } from './entry-windows.ts';

/** A query of the audit log. */
export interface EntryQuery extends EntryFilter {
  /** Default: the newest entries first. */
  readonly order?: EntryOrder | undefined;
  readonly limit: number;
  /** `next` of the previous page. */
  readonly cursor?: string | undefined;
}

/** A page of entries. */
export interface EntryPage {
  readonly entries: readonly AuditEntry[];
  /** The cursor of the next page; absent on the last page. */
  readonly next?: string;
  /** True if the search ended before the page was full, because it took too long. The next page continues there. */
  readonly isPartial?: true;
}

/**
 * Searches entries. A page costs the same regardless of its position.
 *
 * @throws Problem REQUEST_CURSOR
 */
export async function searchEntries(tx: Transaction, query: EntryQuery): Promise<EntryPage> {
  const { order = 'newest', limit } = query;
  const conditions = toEntryConditions(query);
  const after = query.cursor === undefined ? undefined : parseCursor(query.cursor);
  const isTimeUp = startSearch(query);
  const rows: EntryRow[] = [];
  for await (const { range, upTo } of entryWindows(tx, { filter: query, conditions, order, after })) {
    const where = [tx.dialect.deadlineCheck(sql.table('_Decision')), ...range, ...conditions.indexed, ...conditions.others];
    rows.push(
      ...(await tx.all<EntryRow>(sql`
        select * from "_Decision" where ${sql.join(where, sql` and `)} order by ${entryOrderSql(order)} limit ${limit + 1 - rows.length}`)),
    );
    if (rows.length > limit) break;
    if (upTo !== undefined && isTimeUp()) {
      return { entries: rows.map(toEntry), next: toCursor(upTo), isPartial: true };
    }
  }
  const entries = rows.slice(0, limit).map(toEntry);
  const last = entries.at(-1);
  return rows.length > limit && last !== undefined ? { entries, next: toCursor(last) } : { entries };
}

/** Number of milliseconds of a day. */
const DAY = 24 * 60 * 60_000;
/** Milliseconds before and after the time in an id in which its entry is searched first: the clocks of process and database may differ. */
const MAX_SKEW = 2 * DAY;

/** Loads an entry by its id, if it matches `where`. */
export async function loadEntry(tx: Transaction, id: string, where: Sql = sql`1 = 1`): Promise<AuditEntry | undefined> {
  const createdAt = creationTimeOf(id);
  const near =
    createdAt === undefined ? undefined : sql`"at" between ${toTimeText(createdAt - MAX_SKEW)} and ${toTimeText(createdAt + MAX_SKEW)}`;
  const find = (when: Sql) => tx.one<EntryRow>(sql`select * from "_Decision" where "id" = ${id} and ${when} and (${where})`);
  const row = (near && (await find(near))) ?? (await find(sql`1 = 1`));
  return row === undefined ? undefined : toEntry(row);
}

/** Returns the time in a UUIDv7 in milliseconds since 1970; undefined for other texts. */
function creationTimeOf(id: string): number | undefined {
  const [, high, low] = /^([\da-f]{8})-([\da-f]{4})-7[\da-f]{3}-/.exec(id) ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
}

/** Renders a cursor. It is not signed, because a caller who may search the audit log may read all of it. */
function toCursor({ at, id }: SearchPosition): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

const POSITION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f-]{36})$/;

function parseCursor(cursor: string): SearchPosition {
  const [, at, id] = POSITION.exec(Buffer.from(cursor.slice(0, 200), 'base64url').toString()) ?? [];
  if (at === undefined || id === undefined) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the previous page');
  return { at, id };
}

/** An entry, as stored. */
export interface EntryRow extends Record<Nullable, string | null> {
  readonly id: string;
  readonly at: string;
  readonly kind: AuditEntry['kind'];
  readonly role: string;
  readonly resource: string;
  readonly action: string;
  readonly allowed: boolean | number;
  readonly reason: string;
  readonly epoch: number;
  readonly requestId: string;
  readonly ip: string;
}
type Nullable = 'userId' | 'recordId' | 'ruleId' | 'policyId' | 'outcome' | 'facts';

/** Converts a stored entry. */
export function toEntry(row: EntryRow): AuditEntry {
  return Object.freeze({
    id: row.id,
    at: row.at,
    kind: row.kind,
    userId: row.userId ?? undefined,
    role: row.role,
    resource: row.resource,
    action: row.action,
    recordId: row.recordId ?? undefined,
    allowed: Boolean(row.allowed),
    reason: row.reason,
    ruleId: row.ruleId ?? undefined,
    policyId: row.policyId ?? undefined,
    epoch: row.epoch,
    requestId: row.requestId,
    ip: row.ip,
    outcome: row.outcome ?? undefined,
    facts: row.facts === null ? undefined : (JSON.parse(row.facts) as JsonObject),
  });
}
