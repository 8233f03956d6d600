import { Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuditEntry } from './audit-entry.ts';

/** Which entries are looked for. Absent members leave the choice open. */
export interface DecisionQuery {
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
  readonly limit: number;
  /** `next` of the page before. */
  readonly cursor?: string | undefined;
}

/** A page of the record. */
export interface DecisionPage {
  readonly entries: readonly AuditEntry[];
  /** Cursor of the page after; absent on the last. */
  readonly next?: string;
}

/** Days that are looked at first, and then so many times as many: most that is asked for is of these days, and each day is a partition. */
const FIRST_DAYS = 2;
const GROWTH = 4;
const LOOKS = 4;
const DAY = 24 * 60 * 60_000;

/**
 * Entries, newest first. A page costs the same however far back it lies.
 *
 * @throws Problem REQUEST_CURSOR
 */
export async function searchDecisions(tx: Transaction, query: DecisionQuery): Promise<DecisionPage> {
  const position = query.cursor === undefined ? undefined : readCursor(query.cursor);
  const conditions = [...comparisons(query, position)];
  const rows: EntryRow[] = [];
  for (const stretch of stretches(query, position === undefined ? tx.now : Date.parse(position.at))) {
    const missing = query.limit + 1 - rows.length;
    rows.push(
      ...(await tx.all<EntryRow>(sql`
        select * from "_Decision" where ${sql.join([...stretch, ...conditions], sql` and `)} order by "at" desc nulls last, "id" desc limit ${missing}`)),
    );
    if (rows.length > query.limit) break;
  }
  const entries = rows.slice(0, query.limit).map(toEntry);
  const last = entries.at(-1);
  return rows.length > query.limit && last !== undefined ? { entries, next: toCursor(last) } : { entries };
}

/** Stretches of time, one behind the other, the newest first; the first has no end but what is asked for, nor has the last a beginning. */
function* stretches({ from, to }: DecisionQuery, newest: number): Generator<readonly Sql[]> {
  const first = Math.min(newest, to ?? newest);
  let until: string | undefined;
  for (let [look, days] = [1, FIRST_DAYS]; ; [look, days] = [look + 1, days * GROWTH]) {
    const since = look > LOOKS || (from !== undefined && first - days * DAY <= from) ? undefined : toTime(first - days * DAY);
    yield [
      ...(since === undefined ? [] : [sql`"at" >= ${since}`]),
      ...(until === undefined ? [] : [sql`"at" < ${until}`]),
      ...(since === undefined && until === undefined ? [sql`1 = 1`] : []),
    ];
    if (since === undefined) return;
    until = since;
  }
}

/** How far the clocks of a process and of its database may be apart, for an entry to be found at once by its id. */
const APART = 2 * DAY;

/** The entry of that id. */
export async function loadDecision(tx: Transaction, id: string): Promise<AuditEntry | undefined> {
  const made = madeAt(id);
  const near = made === undefined ? undefined : sql`"at" between ${toTime(made - APART)} and ${toTime(made + APART)}`;
  const find = (where: Sql) => tx.one<EntryRow>(sql`select * from "_Decision" where "id" = ${id} and ${where}`);
  const row = (near && (await find(near))) ?? (await find(sql`1 = 1`));
  return row === undefined ? undefined : toEntry(row);
}

/** When a UUIDv7 was made, in milliseconds since 1970; undefined of any other text. */
function madeAt(id: string): number | undefined {
  const [, high, low] = /^([\da-f]{8})-([\da-f]{4})-7[\da-f]{3}-/.exec(id) ?? [];
  return high === undefined || low === undefined ? undefined : Number.parseInt(high + low, 16);
}

function toTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

function* comparisons(query: DecisionQuery, position: Position | undefined): Generator<Sql> {
  for (const column of ['kind', 'userId', 'role', 'resource', 'action', 'allowed'] as const) {
    if (query[column] !== undefined) yield sql`${sql.ref(column)} = ${query[column]}`;
  }
  if (query.from !== undefined) yield sql`"at" >= ${toTime(query.from)}`;
  if (query.to !== undefined) yield sql`"at" < ${toTime(query.to)}`;
  if (position !== undefined) {
    const { at, id } = position;
    // The first half is what the index on "at" can use.
    yield sql`"at" <= ${at} and ("at" < ${at} or "id" < ${id})`;
  }
}

/** The last entry of a page. */
type Position = Pick<AuditEntry, 'at' | 'id'>;

/** Not sealed: whoever may search the record may see all of it. */
function toCursor({ at, id }: AuditEntry): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

const POSITION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f-]{36})$/;

function readCursor(cursor: string): Position {
  const [, at, id] = POSITION.exec(Buffer.from(cursor.slice(0, 200), 'base64url').toString()) ?? [];
  if (at === undefined || id === undefined) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  return { at, id };
}

/** An entry as the columns hold it. */
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
