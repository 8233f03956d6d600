import { Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuditEntry } from './audit-entry.ts';

/** A query of the audit log. Absent members do not restrict the result. */
export interface EntryQuery {
  readonly kind?: AuditEntry['kind'] | undefined;
  readonly userId?: string | undefined;
  readonly role?: string | undefined;
  readonly resource?: string | undefined;
  readonly action?: string | undefined;
  readonly allowed?: boolean | undefined;
  /** Milliseconds since 1970, inclusive. */
  readonly from?: number | undefined;
  /** Milliseconds since 1970, exclusive. */
  readonly to?: number | undefined;
  /** Matches the entries that the caller may read; absent if the caller may read all. */
  readonly where?: Sql | undefined;
  readonly limit: number;
  /** `next` of the previous page. */
  readonly cursor?: string | undefined;
}

/** A page of entries. */
export interface EntryPage {
  readonly entries: readonly AuditEntry[];
  /** The cursor of the next page; absent on the last page. */
  readonly next?: string;
}

/** A search first reads the newest 2 days, then back to 8, 32 and 128 days: each day is a partition, and most hits are recent. */
const FIRST_DAYS = 2;
const GROWTH = 4;
/** Number of ranges with a beginning; the range after them reads all older entries. */
const RANGES = 4;
const DAY = 24 * 60 * 60_000;

/**
 * Searches entries, newest first. A page costs the same regardless of its position.
 *
 * @throws Problem REQUEST_CURSOR
 */
export async function searchEntries(tx: Transaction, query: EntryQuery): Promise<EntryPage> {
  const position = query.cursor === undefined ? undefined : parseCursor(query.cursor);
  const conditions = [...comparisons(query, position)];
  const check = tx.deadlineCheck(sql.table('_Decision'));
  const rows: EntryRow[] = [];
  for (const range of timeRanges(query, position === undefined ? tx.now : Date.parse(position.at))) {
    const missing = query.limit + 1 - rows.length;
    rows.push(
      ...(await tx.all<EntryRow>(sql`
        select * from "_Decision" where ${sql.join([check, ...range, ...conditions], sql` and `)} order by "at" desc nulls last, "id" desc limit ${missing}`)),
    );
    if (rows.length > query.limit) break;
  }
  const entries = rows.slice(0, query.limit).map(toEntry);
  const last = entries.at(-1);
  return rows.length > query.limit && last !== undefined ? { entries, next: toCursor(last) } : { entries };
}

/** Yields SQL conditions for consecutive time ranges, newest first. The first range has no end and the last has no beginning. */
function* timeRanges({ from, to }: EntryQuery, newest: number): Generator<readonly Sql[]> {
  const first = Math.min(newest, to ?? newest);
  let until: string | undefined;
  for (let [index, days] = [1, FIRST_DAYS]; ; [index, days] = [index + 1, days * GROWTH]) {
    const since = index > RANGES || (from !== undefined && first - days * DAY <= from) ? undefined : toTime(first - days * DAY);
    yield [...(since === undefined ? [] : [sql`"at" >= ${since}`]), ...(until === undefined ? [] : [sql`"at" < ${until}`])];
    if (since === undefined) return;
    until = since;
  }
}

/** Milliseconds before and after the time in an id in which its entry is searched first: the clocks of process and database may differ. */
const MAX_SKEW = 2 * DAY;

/** Loads an entry by its id, if it matches `where`. */
export async function loadEntry(tx: Transaction, id: string, where: Sql = sql`1 = 1`): Promise<AuditEntry | undefined> {
  const createdAt = creationTimeOf(id);
  const near = createdAt === undefined ? undefined : sql`"at" between ${toTime(createdAt - MAX_SKEW)} and ${toTime(createdAt + MAX_SKEW)}`;
  const find = (when: Sql) => tx.one<EntryRow>(sql`select * from "_Decision" where "id" = ${id} and ${when} and (${where})`);
  const row = (near && (await find(near))) ?? (await find(sql`1 = 1`));
  return row === undefined ? undefined : toEntry(row);
}

/** Returns the time in a UUIDv7 in milliseconds since 1970; undefined for other texts. */
function creationTimeOf(id: string): number | undefined {
  const [, high, low] = /^([\da-f]{8})-([\da-f]{4})-7[\da-f]{3}-/.exec(id) ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function* comparisons(query: EntryQuery, position: Position | undefined): Generator<Sql> {
  for (const column of ['kind', 'userId', 'role', 'resource', 'action', 'allowed'] as const) {
    if (query[column] !== undefined) yield sql`${sql.ref(column)} = ${query[column]}`;
  }
  if (query.from !== undefined) yield sql`"at" >= ${toTime(query.from)}`;
  if (query.to !== undefined) yield sql`"at" < ${toTime(query.to)}`;
  if (query.where !== undefined) yield sql`(${query.where})`;
  if (position !== undefined) {
    const { at, id } = position;
    // The first half is redundant; it lets the index on "at" limit the scan.
    yield sql`"at" <= ${at} and ("at" < ${at} or "id" < ${id})`;
  }
}

/** The last entry of a page, after which the next page begins. */
type Position = Pick<AuditEntry, 'at' | 'id'>;

/** Renders a cursor. It is not signed, because a caller who may search the audit log may read all of it. */
function toCursor({ at, id }: AuditEntry): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

const POSITION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f-]{36})$/;

function parseCursor(cursor: string): Position {
  const [, at, id] = POSITION.exec(Buffer.from(cursor.slice(0, 200), 'base64url').toString()) ?? [];
  if (at === undefined || id === undefined) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the previous page');
  return { at, id };
}

/** An entry, as stored. */
interface EntryRow extends Record<Nullable, string | null> {
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

function toEntry(row: EntryRow): AuditEntry {
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
