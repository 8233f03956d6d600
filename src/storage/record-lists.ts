import type { ReferencedRecords } from '../authz/context/index.ts';
import { all, type Condition, compileCondition, conditionPaths, evaluate, type Scope } from '../conditions/index.ts';
import type { ResolvedSortKey } from '../request/index.ts';
import { type Definitions, fromRow, type Resource, type Row, type StoredRecord } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { type CursorPosition, type Order, orderSql, positionOf, stretchesBehind, toOrder } from './cursor-pagination.ts';
import { loadReferencedOfEach } from './referenced-records.ts';
import { sqlTargetFor } from './sql-target.ts';
import { type Existence, recordsOf, selectionOf } from './table-names.ts';

/** Which records are listed: exactly those on which the condition is true. */
export interface Restriction {
  readonly where: Condition;
  /** What the condition is evaluated against, for one record and those it refers to; asked only where SQL cannot say all of it. */
  scopeFor(record: StoredRecord, referred: ReferencedRecords): Scope;
}

/** What a list is asked for. */
export interface ListQuery extends Restriction {
  /** What has to hold besides, in a scope of its own: the condition of a decision on another action. */
  readonly and?: Restriction | undefined;
  /** Those that are deleted, in place of those that there are. */
  readonly existence?: Existence | undefined;
  /** Say where references lead that the condition follows. */
  readonly definitions: Definitions;
  /** Empty is by id. */
  readonly sort: readonly ResolvedSortKey[];
  readonly limit: number;
  readonly offset?: number | undefined;
  /** `next` of the page before. */
  readonly after?: CursorPosition | undefined;
  /** Whether to count all that match. */
  readonly total?: boolean | undefined;
  /** Records that may be evaluated in memory for one page. */
  readonly scanLimit: number;
  /** Milliseconds that a transaction may spend on it; 200 where absent. */
  readonly scanMilliseconds?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string;
}

/** One page of a list. */
export interface Page {
  readonly records: readonly StoredRecord[];
  /** Where the list goes on; absent at its end. */
  readonly next?: CursorPosition;
  /** How many match; absent where it was not asked for, or cannot be known without looking at each in memory. */
  readonly total?: number;
  /** The bound at which the page ended before it was full: more records may follow at `next`. */
  readonly truncated?: 'scanLimit' | 'scanMilliseconds';
}

/** Records fetched at once while conditions are evaluated in memory. */
const CHUNK = 500;
/** On SQLite, other requests wait while records are evaluated. */
const SCAN_MILLISECONDS = 200;
/** The milliseconds that each transaction has spent so far: a batch may list many times. */
const spent = new WeakMap<Transaction, number>();

/** Lists records in order. Costs the same however far back the page lies, unless it is asked for by `offset`. */
export async function listRecords(tx: Transaction, resource: Resource, query: ListQuery): Promise<Page> {
  const { definitions, existence, now, timeZone } = query;
  const where = all(restrictionsOf(query).map((each) => each.where));
  if (where.type === 'constant' && where.value !== true) return { records: [], ...(query.total && { total: 0 }) };
  const target = sqlTargetFor(resource, definitions, { dialect: tx.dialect, now, timeZone, existence });
  const compiled = compileCondition(where, target);
  const order = toOrder(resource, query.sort);
  const source: Source = { tx, resource, existence, tables: target.tables(), filter: compiled.where, order };
  if (!compiled.exact) return scanPage(source, query);
  const page = await selectPage(source, query);
  return query.total ? { ...page, total: await countAll(source) } : page;
}

function restrictionsOf(query: ListQuery): readonly Restriction[] {
  return query.and === undefined ? [query] : [query, query.and];
}

/** The rows that a page is taken from. */
interface Source {
  readonly tx: Transaction;
  readonly resource: Resource;
  readonly existence: Existence | undefined;
  /** The resource's own, and what the filter joins to it. */
  readonly tables: Sql;
  readonly filter: Sql;
  readonly order: Order;
}

/** Where SQL says all of the condition: one record more than asked for tells whether there is a next page. */
async function selectPage(source: Source, { limit, offset, after }: ListQuery): Promise<Page> {
  const records = await fetch(source, { after, limit: limit + 1, offset: after?.skip ?? offset ?? 0 });
  const last = records[limit - 1];
  if (records.length <= limit || last === undefined) return { records };
  return { records: records.slice(0, limit), next: positionOf(last, source.order) };
}

/** Where it does not: each record that SQL lets through is looked at, within the time that is left for it. */
async function scanPage(source: Source, query: ListQuery): Promise<Page> {
  const began = performance.now() - (spent.get(source.tx) ?? 0);
  try {
    return await scanUntil(began + (query.scanMilliseconds ?? SCAN_MILLISECONDS), source, query);
  } finally {
    spent.set(source.tx, performance.now() - began);
  }
}

/** Chunk by chunk, at least one record. */
async function scanUntil(end: number, source: Source, query: ListQuery): Promise<Page> {
  const { limit, scanLimit, definitions } = query;
  const restrictions = restrictionsOf(query);
  const paths = restrictions.flatMap(({ where }) => conditionPaths(where));
  const records: StoredRecord[] = [];
  let position = query.after;
  let skip = query.after?.skip ?? query.offset ?? 0;
  for (let scanned = 0; scanned < scanLimit; ) {
    const size = Math.min(CHUNK, scanLimit - scanned);
    const chunk = await fetch(source, { after: position, limit: size, offset: 0 });
    const referredOf = await loadReferencedOfEach(source.tx, definitions, { paths, resource: source.resource, records: chunk });
    for (const record of chunk) {
      const referred = referredOf(record);
      if (restrictions.every(({ where, scopeFor }) => evaluate(where, scopeFor(record, referred)) === true)) {
        if (skip > 0) skip--;
        else if (records.length < limit) records.push(record);
        else return position === undefined ? { records } : { records, next: position };
      }
      position = positionOf(record, source.order);
      if (performance.now() > end) return cut(records, { position, skip, truncated: 'scanMilliseconds' });
    }
    if (chunk.length < size) return { records };
    scanned += chunk.length;
  }
  return position === undefined ? { records } : cut(records, { position, skip, truncated: 'scanLimit' });
}

/** The position at which a page ended early. */
interface Cut extends Required<Pick<Page, 'truncated'>> {
  readonly position: CursorPosition;
  /** The remaining offset. */
  readonly skip: number;
}

function cut(records: readonly StoredRecord[], { position, skip, truncated }: Cut): Page {
  return { records, next: { ...position, ...(skip > 0 && { skip }) }, truncated };
}

interface Window {
  readonly after: CursorPosition | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Stretch by stretch of the order, until there are enough. */
async function fetch(source: Source, { after, limit, offset }: Window): Promise<readonly StoredRecord[]> {
  if (after === undefined) return fetchWhere(source, source.filter, { limit, offset });
  const { order, existence } = source;
  const stretches = await stretchesBehind(source.tx, source.resource, { order, existence, position: after });
  // What one stretch passes over, the next cannot know: with an offset they are asked as one.
  const asked = offset > 0 ? [sql`(${sql.join(stretches, sql` OR `)})`] : stretches;
  const records: StoredRecord[] = [];
  for (const stretch of asked) {
    const left = limit - records.length;
    if (left > 0) records.push(...(await fetchWhere(source, sql`(${source.filter}) AND ${stretch}`, { limit: left, offset })));
  }
  return records;
}

async function fetchWhere(
  { tx, resource, tables, order }: Source,
  where: Sql,
  { limit, offset }: Omit<Window, 'after'>,
): Promise<readonly StoredRecord[]> {
  const skipped = offset === 0 ? sql`` : sql` OFFSET ${offset}`;
  const rows = await tx.all<Row>(
    sql`SELECT ${selectionOf(resource)} FROM ${tables} WHERE ${where} ORDER BY ${orderSql(resource, order)} LIMIT ${limit}${skipped}`,
  );
  return rows.map((row) => fromRow(resource, row));
}

async function countAll({ tx, tables, filter }: Source): Promise<number> {
  const row = await tx.one<{ total: number }>(sql`SELECT count(*) AS "total" FROM ${tables} WHERE ${filter}`);
  return Number(row?.total ?? 0);
}

/** Which users are looked for. */
export interface CandidateQuery {
  /** Those of these roles, whatever is assigned to them. */
  readonly roles: readonly string[];
  /** The id behind which to begin. */
  readonly after?: string | undefined;
  /** Users that are looked at, at most. */
  readonly stretch: number;
}

/** Some of the users, in the order of their ids. */
export interface Candidates {
  readonly users: readonly StoredRecord[];
  /** The last id that was looked at; absent where there is none behind it. */
  readonly last?: string;
}

/**
 * The active users of some roles, and those of any role that have a policy of their own, of a stretch of all users. It costs
 * what the stretch costs, whoever is in it: without the inner limit, a rare role would mean to look through everyone.
 */
export async function loadCandidates(tx: Transaction, user: Resource, query: CandidateQuery): Promise<Candidates> {
  const { roles, after = '', stretch } = query;
  const table = recordsOf(user);
  const bound = sql`WHERE "id" > ${after} ORDER BY "id" LIMIT ${stretch}`;
  const ends = await tx.one<{ last: string | null; count: number }>(
    sql`SELECT max("id") AS "last", count(*) AS "count" FROM (SELECT "id" FROM ${table} ${bound}) AS "stretch"`,
  );
  const ofRole = roles.length === 0 ? sql`FALSE` : sql`"role" IN (${sql.join(roles)})`;
  const rows = await tx.all<Row>(sql`
    SELECT * FROM (SELECT ${selectionOf(user)} FROM ${table} ${bound}) AS "stretch"
    WHERE "isActive" = TRUE AND (${ofRole} OR EXISTS (SELECT 1 FROM "_UserPolicy" WHERE "userId" = "stretch"."id"))
    ORDER BY "id"`);
  const users = rows.map((row) => fromRow(user, row));
  const isEnd = ends === undefined || ends.last === null || Number(ends.count) < stretch;
  return isEnd ? { users } : { users, last: String(ends.last) };
}
