import type { ReferencedRecords } from '../authz/context/index.ts';
import { all, type Condition, compileCondition, conditionPaths, evaluate, type Scope } from '../conditions/index.ts';
import { Problem } from '../errors.ts';
import { ownValue } from '../operators/index.ts';
import type { ResolvedSortKey } from '../request/index.ts';
import { type Definitions, fromRow, type Resource, type Row, type StoredRecord } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { type CursorPosition, type Order, orderSql, rangesAfter, toOrder, toPosition } from './cursor-pagination.ts';
import { loadRecord } from './records.ts';
import { loadReferencedOfEach } from './referenced-records.ts';
import { sqlTargetFor, targetKindOf } from './sql-target.ts';
import { type Existence, selectionOf } from './table-names.ts';

/** Which records are listed: exactly those on which the condition is true. */
export interface Restriction {
  readonly where: Condition;
  /** What the condition is evaluated against, for one record and those it refers to; asked only where SQL cannot say all of it. */
  scopeFor(record: StoredRecord, referenced: ReferencedRecords): Scope;
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
  return { records: records.slice(0, limit), next: toPosition(last, source.order) };
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
      position = toPosition(record, source.order);
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
  const stretches = await rangesAfter(source.tx, source.resource, { order, existence, position: after });
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

/** Records looked at in memory, where SQL cannot say all of a filter. */
const SCAN = 100_000;

/** A filter names fields of the record itself, and follows no reference. */
const ITS_OWN_ALONE: Definitions = new Map();

/** A search for matches. */
export interface MatchQuery {
  /** Reads nothing but the record. */
  readonly filter: Condition;
  /** The records among which matches are looked for; all where absent. */
  readonly readable?: Restriction | undefined;
  /** Say where references lead that `readable` follows. */
  readonly definitions?: Definitions | undefined;
  /** IANA name; UTC where absent. */
  readonly timeZone?: string | undefined;
  readonly limit: number;
  /** Milliseconds that the transaction may spend on evaluating records in memory; as a list where absent. */
  readonly scanMilliseconds?: number | undefined;
  /** Whether the matches are to be changed: then they are held, and still match when this answers. */
  readonly toChange?: boolean | undefined;
}

/** Times that matches are looked for again, where others change what was found before it could be held. */
const ATTEMPTS = 5;

/**
 * The first records that a filter matches, up to `limit`. Whether there is a match decides what is created and changed,
 * so it is never guessed: where looking would take too long, REQUEST_PARAMETER.
 */
export async function findMatches(tx: Transaction, resource: Resource, query: MatchQuery): Promise<readonly StoredRecord[]> {
  let found = await findNow(tx, resource, query);
  if (query.toChange !== true) return found;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    for (const { id } of found) await loadRecord(tx, resource, { id, lock: 'noKeyUpdate' });
    const still = await findNow(tx, resource, query);
    if (still.length === found.length && still.every((record, index) => isSame(record, found[index]))) return still;
    found = still;
  }
  throw new Problem('STORAGE_BUSY', 'the records that the filter matches are being changed by others');
}

function isSame(record: StoredRecord, found: StoredRecord | undefined): boolean {
  return record.id === found?.id && record.version === found.version;
}

async function findNow(tx: Transaction, resource: Resource, query: MatchQuery): Promise<readonly StoredRecord[]> {
  const { filter, readable, definitions = ITS_OWN_ALONE, timeZone = 'UTC', limit, scanMilliseconds } = query;
  const page = await listRecords(tx, resource, {
    where: filter,
    scopeFor: (record) => scopeOf(resource, record, { now: tx.now, timeZone }),
    and: readable,
    definitions,
    sort: [],
    limit,
    scanLimit: SCAN,
    scanMilliseconds,
    now: tx.now,
    timeZone,
  });
  if (!page.truncated || page.records.length === limit) return page.records;
  throw new Problem(
    'REQUEST_PARAMETER',
    'the filter would have to be tried on too many records one by one; expected a field that the database can compare',
  );
}

/** The record and nothing else. */
function scopeOf(resource: Resource, record: StoredRecord, moment: Pick<Scope, 'now' | 'timeZone'>): Scope {
  return {
    ...moment,
    valueOf: ({ group, keys: [key, ...inner] }) => (group === 'resource' && inner.length === 0 ? ownValue(record, key ?? '') : undefined),
    kindOf: (path) => targetKindOf(resource, ITS_OWN_ALONE, path),
  };
}
