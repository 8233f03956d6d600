import { evaluate, type Path } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import type { StoredRecord } from '../../resources/index.ts';
import type { PageSize } from '../answer-size.ts';
import { type Budget, describeLimit } from '../budget.ts';
import { loadReferencedOfEach } from '../related/referenced-records.ts';
import { createRelatedStore } from '../related/related-records.ts';
import { nextRowsPerStatement, rowSizeOf, rowsPerStatement } from '../row-size.ts';
import { type CursorPosition, toPosition } from './cursor-pagination.ts';
import type { ListQuery, Page, ReachedRecords, Restriction } from './list-query.ts';
import { countRows, findWindow, hasWindows, type ListRows, loadRows, type Window } from './list-rows.ts';

/** The conditions to evaluate in memory, and the paths that they read. */
export interface InMemory {
  readonly restrictions: readonly Restriction[];
  readonly paths: readonly Path[];
  /** True if the conditions count related records. */
  readonly countsRelated: boolean;
}

/** Rows per statement while conditions are evaluated in memory. On PostgreSQL the driver parses them in one turn of the event loop. */
const CHUNK = 150;
/** Rows of the first window. It is read to its end, however long each of its rows takes. */
const FIRST_WINDOW = 8;
/** Milliseconds that a window should take: the statement that runs when the budget is used up cannot end early. */
const WINDOW_TIME = 50;
/** Milliseconds of evaluation in memory between two checks of the time. */
const SLICE_TIME = 2;
/** Estimated bytes of the records that are added between two readings of the time: measuring so many takes less than a millisecond. */
const SLICE_BYTES = 250_000;

/** A page that is being loaded. */
interface Scan {
  readonly source: ListRows;
  readonly query: Pick<ListQuery, 'definitions' | 'limit' | 'budget'>;
  readonly inMemory: InMemory | undefined;
  readonly size: PageSize;
  /** Bytes of the field names of a record. */
  readonly fieldBytes: number;
  readonly records: StoredRecord[];
  /** Rows of the next window; undefined if the list is read in one window. */
  window: number | undefined;
  /** Rows that the next statement may load. */
  rows: number;
  /** The position after which the scan continues, or the record at that position. */
  at: CursorPosition | StoredRecord | undefined;
  /** Matching records that are still to be skipped. */
  skip: number;
  /** The time of the last check of the time. */
  checked: number;
}

/**
 * Loads a page window by window: parts of the list with a limited number of rows, whether the filter matches them or not. So a page can end
 * early between two windows, and the next page continues there. In a short attempt, and if no index has the rows in the order of the list,
 * the whole list is one window. The first window is always read to its end, so that each page makes progress.
 */
export async function scanPage(source: ListRows, query: ListQuery, inMemory: InMemory | undefined): Promise<Page> {
  const { after, offset, budget } = query;
  const isWindowed = (source.tx.attempt === 'long' || budget.limits.windowRows !== undefined) && hasWindows(source);
  const scan: Scan = {
    source,
    query,
    inMemory,
    size: query.size ?? budget.answer.page(),
    fieldBytes: rowSizeOf(source.resource).fieldBytes,
    records: [],
    window: isWindowed ? (budget.limits.windowRows ?? FIRST_WINDOW) : undefined,
    rows: rowsPerStatement(source.resource, budget.answer.left),
    at: after,
    skip: after?.skip ?? offset ?? 0,
    checked: performance.now(),
  };
  if (inMemory !== undefined) source.tx.beginInMemory();
  for (;;) {
    const began = performance.now();
    const window = scan.window === undefined ? undefined : await nextWindow(scan, scan.window);
    const page = await scanWindow(scan, window);
    if (page !== undefined) return page;
    if (window?.upTo === undefined) return { records: scan.records };
    scan.at = window.upTo;
    if (budget.reached !== undefined) return endEarly(scan, budget.reached);
    scan.window = nextWindowRows(budget, window.rows, performance.now() - began);
    await checkTime(scan);
  }
}

/** Finds the next window of at most `rows` rows. */
async function nextWindow(scan: Scan, rows: number): Promise<Window> {
  const { source, query } = scan;
  const found = await findWindow(source, positionOf(scan), Math.max(1, Math.min(rows, query.budget.rowsLeft)));
  query.budget.addRows(found.rows);
  return found;
}

/** Returns the rows of the next window: as many as can be read in WINDOW_TIME and in the time that is left, at the speed of the last window. */
function nextWindowRows({ millisecondsLeft, limits }: Budget, rows: number, milliseconds: number): number {
  if (limits.windowRows !== undefined) return limits.windowRows;
  const factor = Math.min(WINDOW_TIME, millisecondsLeft) / Math.max(1, milliseconds);
  return Math.max(1, Math.floor(rows * Math.min(4, factor)));
}

/** Adds the matching records of a window to the page. Returns the page if it ends in the window. */
async function scanWindow(scan: Scan, window: Window | undefined): Promise<Page | undefined> {
  const { source, inMemory, query } = scan;
  const upTo = window?.upTo;
  if (window !== undefined && inMemory === undefined && scan.skip > 0) {
    const matching = await countRows(source, { after: positionOf(scan), upTo });
    if (matching <= scan.skip) {
      scan.skip -= matching;
      return undefined;
    }
  }
  for (;;) {
    const limit = statementRows(scan, window);
    const offset = inMemory === undefined ? scan.skip : 0;
    const rows = await loadRows(source, { after: positionOf(scan), upTo, limit, offset });
    scan.skip -= offset;
    const page = await (inMemory === undefined ? takeMatching(scan, rows, window) : takeEvaluated(scan, { rows, window, inMemory }));
    if (page !== undefined) return page;
    if (rows.length < limit) return undefined;
    if (limit === scan.rows) scan.rows = nextRowsPerStatement(source.resource, rows);
    const { reached } = query.budget;
    if (reached !== undefined && window === undefined) return endEarly(scan, reached);
    // The next statement would begin to measure work in memory again.
    await countTime(scan);
  }
}

/** Returns the rows that the next statement loads. A page has one record more than its limit to find out whether there is a next page. */
function statementRows({ inMemory, query, records, rows }: Scan, window: Window | undefined): number {
  if (inMemory === undefined) return Math.min(rows, query.limit + 1 - records.length);
  return Math.min(rows, CHUNK, window === undefined ? Math.max(1, query.budget.rowsLeft) : CHUNK);
}

/** Adds records that the statement has matched and skipped exactly. Returns the page if it ends with them. */
async function takeMatching(scan: Scan, rows: readonly StoredRecord[], window: Window | undefined): Promise<Page | undefined> {
  const { size } = scan;
  let checkedAt = size.estimated;
  if (window === undefined) scan.query.budget.addRows(rows.length);
  for (const record of rows) {
    const page = takeRecord(scan, record);
    if (page !== undefined) return page;
    scan.at = record;
    // Measuring a large record takes a part of a millisecond. The time is not read for each record, because most are small.
    if (size.estimated - checkedAt < SLICE_BYTES) continue;
    checkedAt = size.estimated;
    await checkTime(scan);
  }
  return undefined;
}

/** Adds a matching record. Returns the page if it ends before the record. */
function takeRecord(scan: Scan, record: StoredRecord): Page | undefined {
  const { records, query, size, fieldBytes } = scan;
  if (records.length === query.limit) return { records, ...nextOf(scan) };
  if (!size.add(record, fieldBytes)) return endForAnswer(scan);
  records.push(record);
  return undefined;
}

/** Rows to evaluate in memory. */
interface EvaluatedRows {
  readonly rows: readonly StoredRecord[];
  readonly window: Window | undefined;
  readonly inMemory: InMemory;
}

/** Adds the records that match in memory to the page. Returns the page if it ends with them. */
async function takeEvaluated(scan: Scan, { rows, window, inMemory }: EvaluatedRows): Promise<Page | undefined> {
  const { source, query } = scan;
  const { definitions, budget } = query;
  const { tx, resource } = source;
  const referencedOf = await loadReferencedOfEach({ tx, definitions }, { paths: inMemory.paths, resource, records: rows });
  const related = createRelatedStore(tx, definitions);
  await countTime(scan);
  for (const record of rows) {
    const run = (): boolean => isMatch(inMemory, record, { referenced: referencedOf(record), related });
    const matches = inMemory.countsRelated ? await related.evaluate(run) : run();
    if (matches && tx.validatesReads) {
      related.noteReads();
      referencedOf(record, (read) => tx.addToReadSet({ relations: { records: [read] } }));
    }
    if (matches && scan.skip > 0) scan.skip--;
    else if (matches) {
      const page = takeRecord(scan, record);
      if (page !== undefined) return page;
    }
    scan.at = record;
    if (window === undefined) budget.addRows(1);
    const reached = window === undefined ? budget.reached : budget.millisecondsLeft === 0 ? 'scanMilliseconds' : undefined;
    if (reached !== undefined) return endEarly(scan, reached);
    await checkTime(scan);
  }
  return undefined;
}

function isMatch({ restrictions }: InMemory, record: StoredRecord, reached: ReachedRecords): boolean {
  return restrictions.every(({ where, scopeFor }) => evaluate(where, scopeFor(record, reached)) === true);
}

/** Counts the time after a slice of work. */
async function checkTime(scan: Scan): Promise<void> {
  if (performance.now() - scan.checked >= SLICE_TIME) await countTime(scan);
}

/** Counts the time since the last statement or check, and lets other requests continue. The time in which they run does not count. */
async function countTime(scan: Scan): Promise<void> {
  await scan.query.budget.pause(() => scan.source.tx.checkTime());
  scan.checked = performance.now();
}

/** Ends a page whose next record does not fit in the answer. */
function endForAnswer(scan: Scan): Page {
  if (scan.records.length > 0) return endEarly(scan, 'answerBytes');
  const { limits } = scan.query.budget;
  throw new Problem('REQUEST_BUDGET', `the answer has reached the limit of ${describeLimit(limits, 'answerBytes')}`);
}

function endEarly(scan: Scan, truncated: NonNullable<Page['truncated']>): Page {
  return { records: scan.records, ...nextOf(scan), truncated };
}

/** Returns the position of the next page, with the rest of the offset. */
function nextOf(scan: Scan): Pick<Page, 'next'> {
  const position = positionOf(scan);
  if (position === undefined) return {};
  if (position.skip === undefined && scan.skip === 0) return { next: position };
  const { skip: _, ...at } = position;
  return { next: { ...at, ...(scan.skip > 0 && { skip: scan.skip }) } };
}

function positionOf({ at, source }: Pick<Scan, 'at' | 'source'>): CursorPosition | undefined {
  return at === undefined || !isRecord(at) ? at : toPosition(at, source.order);
}

function isRecord(at: CursorPosition | StoredRecord): at is StoredRecord {
  return 'version' in at;
}
