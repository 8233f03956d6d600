import { type RawBuilder, sql } from 'kysely';
import { Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import type { Transaction } from '../storage/index.ts';
import type { Entry } from './entry.ts';

/** Which entries are looked for. Absent members leave the choice open. */
export interface DecisionQuery {
  readonly kind?: Entry['kind'] | undefined;
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
  readonly entries: readonly Entry[];
  /** Cursor of the page after; absent on the last. */
  readonly next?: string;
}

/**
 * Entries, newest first. A page costs the same however far back it lies.
 *
 * @throws Problem REQUEST_CURSOR
 */
export async function searchDecisions(tx: Transaction, query: DecisionQuery): Promise<DecisionPage> {
  const rows = await tx.all<EntryRow>(sql`
    select * from "_Decision" where ${sql.join([sql`1 = 1`, ...comparisons(query)], sql` and `)}
    order by "at" desc, "id" desc limit ${query.limit + 1}`);
  const entries = rows.slice(0, query.limit).map(toEntry);
  const last = entries.at(-1);
  return rows.length > query.limit && last !== undefined ? { entries, next: toCursor(last) } : { entries };
}

/** The entry of that id. */
export async function loadDecision(tx: Transaction, id: string): Promise<Entry | undefined> {
  const row = await tx.one<EntryRow>(sql`select * from "_Decision" where "id" = ${id}`);
  return row === undefined ? undefined : toEntry(row);
}

function* comparisons(query: DecisionQuery): Generator<RawBuilder<unknown>> {
  for (const column of ['kind', 'userId', 'role', 'resource', 'action', 'allowed'] as const) {
    if (query[column] !== undefined) yield sql`${sql.ref(column)} = ${query[column]}`;
  }
  if (query.from !== undefined) yield sql`"at" >= ${new Date(query.from).toISOString()}`;
  if (query.to !== undefined) yield sql`"at" < ${new Date(query.to).toISOString()}`;
  if (query.cursor !== undefined) {
    const { at, id } = readCursor(query.cursor);
    // The first half is what the index on "at" can use.
    yield sql`"at" <= ${at} and ("at" < ${at} or "id" < ${id})`;
  }
}

/** Not sealed: whoever may search the record may see all of it. */
function toCursor({ at, id }: Entry): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

const POSITION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) ([0-9a-f-]{36})$/;

function readCursor(cursor: string): { at: string; id: string } {
  const [, at, id] = POSITION.exec(Buffer.from(cursor.slice(0, 200), 'base64url').toString()) ?? [];
  if (at === undefined || id === undefined) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  return { at, id };
}

/** An entry as the columns hold it. */
interface EntryRow extends Record<Nullable, string | null> {
  readonly id: string;
  readonly at: string;
  readonly kind: Entry['kind'];
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

function toEntry(row: EntryRow): Entry {
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
