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

/** The records to list: exactly those for which the condition is true. */
export interface Restriction {
  readonly where: Condition;
  /**
   * Returns the scope to evaluate the condition in memory on one record and the records that it references. Called only if SQL cannot
   * evaluate the whole condition.
   */
  scopeFor(record: StoredRecord, referenced: ReferencedRecords): Scope;
}

/** The query of a list. */
export interface ListQuery extends Restriction {
  /** A second condition with a scope of its own: that of a decision on another action. */
  readonly and?: Restriction | undefined;
  /** Which records to list; those that are not deleted if absent. */
  readonly existence?: Existence | undefined;
  /** The definitions of the referenced resources. */
  readonly definitions: Definitions;
  /** The sort keys; sorted by id if empty. */
  readonly sort: readonly ResolvedSortKey[];
  readonly limit: number;
  readonly offset?: number | undefined;
  /** `next` of the previous page. */
  readonly after?: CursorPosition | undefined;
  /** True to count all matching records. */
  readonly total?: boolean | undefined;
  /** Maximum records that are evaluated in memory for one page. */
  readonly scanLimit: number;
  /** Maximum milliseconds for evaluation in memory per transaction; 200 if absent. */
  readonly scanMilliseconds?: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly timeZone: string;
}

/** One page of a list. */
export interface Page {
  readonly records: readonly StoredRecord[];
  /** The position of the next page; absent at the end. */
  readonly next?: CursorPosition;
  /** Number of matching records; absent if not requested, or if conditions are evaluated in memory. */
  readonly total?: number;
  /** The limit that ended the page before it was full; more records may follow at `next`. */
  readonly truncated?: 'scanLimit' | 'scanMilliseconds';
}

/** Records per statement while conditions are evaluated in memory. */
const CHUNK = 500;
/** Default of `scanMilliseconds`: on SQLite, other requests wait while records are evaluated. */
const SCAN_MILLISECONDS = 200;
/** The milliseconds that each transaction has spent on evaluation in memory: the lists of a batch request share the limit. */
const spent = new WeakMap<Transaction, number>();

/** Lists records in order. A page costs the same at every depth, unless it is requested by `offset`. */
export async function listRecords(tx: Transaction, resource: Resource, query: ListQuery): Promise<Page> {
  const { definitions, existence, now, timeZone } = query;
  const where = all(restrictionsOf(query).map((each) => each.where));
  if (where.type === 'constant' && where.value !== true) return { records: [], ...(query.total && { total: 0 }) };
  const target = sqlTargetFor(resource, definitions, { dialect: tx.dialect, now, timeZone, existence });
  const compiled = compileCondition(where, target);
  const order = toOrder(resource, query.sort);
  const source: Source = { tx, resource, existence, tables: target.tables(), filter: compiled.where, order };
  if (!compiled.exact) return scanPage(source, query);
  const page = await loadPage(source, query);
  return query.total ? { ...page, total: await countAll(source) } : page;
}

function restrictionsOf(query: ListQuery): readonly Restriction[] {
  return query.and === undefined ? [query] : [query, query.and];
}

/** The rows that a page selects from. */
interface Source {
  readonly tx: Transaction;
  readonly resource: Resource;
  readonly existence: Existence | undefined;
  /** The table of the resource, and the joins of the filter. */
  readonly tables: Sql;
  readonly filter: Sql;
  readonly order: Order;
}

/** Selects a page whose condition is exact in SQL. Loads one record more than the limit to find out whether there is a next page. */
async function loadPage(source: Source, { limit, offset, after }: ListQuery): Promise<Page> {
  const records = await loadRows(source, { after, limit: limit + 1, offset: after?.skip ?? offset ?? 0 });
  const last = records[limit - 1];
  if (records.length <= limit || last === undefined) return { records };
  return { records: records.slice(0, limit), next: toPosition(last, source.order) };
}

/** Evaluates the condition in memory on each record that passes the SQL filter, within the time that is left. */
async function scanPage(source: Source, query: ListQuery): Promise<Page> {
  const began = performance.now() - (spent.get(source.tx) ?? 0);
  try {
    return await scanUntil(began + (query.scanMilliseconds ?? SCAN_MILLISECONDS), source, query);
  } finally {
    spent.set(source.tx, performance.now() - began);
  }
}

/** Scans records in chunks until the page is full, the records end, or a limit is reached. Scans at least one record, even after `end`. */
async function scanUntil(end: number, source: Source, query: ListQuery): Promise<Page> {
  const { limit, scanLimit, definitions } = query;
  const restrictions = restrictionsOf(query);
  const paths = restrictions.flatMap(({ where }) => conditionPaths(where));
  const records: StoredRecord[] = [];
  let position = query.after;
  let skip = query.after?.skip ?? query.offset ?? 0;
  for (let scanned = 0; scanned < scanLimit; ) {
    const size = Math.min(CHUNK, scanLimit - scanned);
    const chunk = await loadRows(source, { after: position, limit: size, offset: 0 });
    const referencedOf = await loadReferencedOfEach(source.tx, definitions, { paths, resource: source.resource, records: chunk });
    for (const record of chunk) {
      const referenced = referencedOf(record);
      if (restrictions.every(({ where, scopeFor }) => evaluate(where, scopeFor(record, referenced)) === true)) {
        if (skip > 0) skip--;
        else if (records.length < limit) records.push(record);
        else return position === undefined ? { records } : { records, next: position };
      }
      position = toPosition(record, source.order);
      if (performance.now() > end) return endEarly(records, { position, skip, truncated: 'scanMilliseconds' });
    }
    if (chunk.length < size) return { records };
    scanned += chunk.length;
  }
  return position === undefined ? { records } : endEarly(records, { position, skip, truncated: 'scanLimit' });
}

/** The position at which a page ended early. */
interface EarlyEnd extends Required<Pick<Page, 'truncated'>> {
  readonly position: CursorPosition;
  /** The remaining offset. */
  readonly skip: number;
}

function endEarly(records: readonly StoredRecord[], { position, skip, truncated }: EarlyEnd): Page {
  return { records, next: { ...position, ...(skip > 0 && { skip }) }, truncated };
}

interface RowRange {
  readonly after: CursorPosition | undefined;
  readonly limit: number;
  readonly offset: number;
}

/** Loads at most `limit` rows. After a cursor, reads the ranges of later rows in turn until there are enough; otherwise uses one statement. */
async function loadRows(source: Source, { after, limit, offset }: RowRange): Promise<readonly StoredRecord[]> {
  if (after === undefined) return loadRowsWhere(source, source.filter, { limit, offset });
  const { order, existence } = source;
  const ranges = await rangesAfter(source.tx, source.resource, { order, existence, position: after });
  // An offset must count across all ranges, so they are read with one statement.
  const queried = offset > 0 ? [sql`(${sql.join(ranges, sql` OR `)})`] : ranges;
  const records: StoredRecord[] = [];
  for (const range of queried) {
    const left = limit - records.length;
    if (left > 0) records.push(...(await loadRowsWhere(source, sql`(${source.filter}) AND ${range}`, { limit: left, offset })));
  }
  return records;
}

async function loadRowsWhere(
  { tx, resource, tables, order }: Source,
  where: Sql,
  { limit, offset }: Omit<RowRange, 'after'>,
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

/** Maximum records that are evaluated in memory for a search. */
const SEARCH_LIMIT = 100_000;

/** No definitions, because the filter of a search uses only fields of the record itself. */
const NO_REFERENCES: Definitions = new Map();

/** A search for the records that match a filter. */
export interface MatchQuery {
  /** A condition on the record alone. */
  readonly filter: Condition;
  /** Restricts the search to readable records; all if absent. */
  readonly readable?: Restriction | undefined;
  /** The definitions of the resources that `readable` references. */
  readonly definitions?: Definitions | undefined;
  /** IANA time zone; UTC if absent. */
  readonly timeZone?: string | undefined;
  readonly limit: number;
  /** Maximum milliseconds for evaluation in memory; as for a list if absent. */
  readonly scanMilliseconds?: number | undefined;
  /** True if the matches will be changed: locks them and verifies that they still match. */
  readonly toChange?: boolean | undefined;
}

/** Maximum repetitions of a search whose matches other transactions change before they are locked. */
const ATTEMPTS = 5;

/**
 * Finds the first records that match a filter, up to `limit`. The result decides whether a record is created or changed, so a search that
 * would take too long throws REQUEST_PARAMETER.
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
  const { filter, readable, definitions = NO_REFERENCES, timeZone = 'UTC', limit, scanMilliseconds } = query;
  const page = await listRecords(tx, resource, {
    where: filter,
    scopeFor: (record) => scopeOf(resource, record, { now: tx.now, timeZone }),
    and: readable,
    definitions,
    sort: [],
    limit,
    scanLimit: SEARCH_LIMIT,
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

/** Returns a scope that resolves only the fields of the record. */
function scopeOf(resource: Resource, record: StoredRecord, moment: Pick<Scope, 'now' | 'timeZone'>): Scope {
  return {
    ...moment,
    valueOf: ({ group, keys: [key, ...inner] }) => (group === 'resource' && inner.length === 0 ? ownValue(record, key ?? '') : undefined),
    kindOf: (path) => targetKindOf(resource, NO_REFERENCES, path),
  };
}
