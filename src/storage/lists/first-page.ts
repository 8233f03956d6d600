import type { StoredRecord } from '../../resources/index.ts';
import { flattenSql, type Sql } from '../../sql.ts';
import { type CursorPosition, type Order, shortenPosition, toPosition } from './cursor-pagination.ts';

/** The last statements that loaded the first page of a list. Each kept condition has its own. */
export interface KeptPage {
  last?: KeptStatements;
}

/** The statements of a page, and the parts of the list on which they depend in addition to the condition. */
interface KeptStatements {
  readonly key: string;
  readonly marks: Sql | undefined;
  /** Reads all rows. Absent if it is too long, or was not rendered yet. */
  whole?: Sql | undefined;
  /** Absent if the page was not full, or if its sort values are too long. */
  end?: PageEnd | undefined;
  /** Number of pages that are read from all rows before an end is kept. */
  pagesFromAllRows: number;
}

/** The last record of a full page. */
interface PageEnd {
  readonly position: CursorPosition;
  /** Reads the rows up to this record. Absent if it is too long, or was not rendered yet. */
  statement?: Sql | undefined;
}

/** The rows of a list. The condition and the order determine `alternatives` and `byCount`, so only their presence matters. */
interface KeptRows {
  readonly keptPage?: KeptPage | undefined;
  readonly order: Order;
  readonly sortsIds?: boolean | undefined;
  readonly marks?: { readonly column: Sql } | undefined;
  readonly alternatives?: object | undefined;
  readonly byCount?: object | undefined;
}

/** A first page, and functions that render and execute its statement. */
export interface FirstPage {
  readonly limit: number;
  /** Renders the statement for all rows, or for those that meet a condition. */
  render(range?: Sql): Sql;
  load(statement: Sql): Promise<readonly StoredRecord[]>;
  /** Returns the condition for the rows up to a position; undefined if no single range contains them. */
  rangeTo(position: CursorPosition): Promise<Sql | undefined>;
}

/** Maximum characters of a statement that is kept. */
const MAX_KEPT = 8000;
/** After a page with too few records up to its end, this many pages are read from all rows. In a list that changes often, most pages would otherwise need two statements. */
const PAGES_FROM_ALL_ROWS = 16;

/**
 * Loads the first page of a list. Callers repeat their lists, and rendering a statement takes as long as a decision, so the statement is kept. A page of
 * alternatives first reads only the rows up to the record with which it ended before. Each alternative then reads its part of the page, instead of as many
 * rows as the page may contain. If that finds fewer records, the page is loaded from all rows.
 */
export function loadFirstPage(rows: KeptRows, page: FirstPage): Promise<readonly StoredRecord[]> {
  const { keptPage, alternatives } = rows;
  if (keptPage === undefined) return page.load(page.render());
  const kept = keptFor(keptPage, rows, page.limit);
  return alternatives !== undefined && hasRangeToEnd(rows.order) ? loadAlternatives(kept, rows.order, page) : loadWhole(kept, page);
}

/** Returns true if one range contains all rows before a position. In ascending order, rows without a value come first, and are a range of their own. */
function hasRangeToEnd(order: Order): boolean {
  return order.length === 1 || order.every(({ descending }) => descending);
}

/** Returns the statements of a list, which replace those of another one. */
function keptFor(keptPage: KeptPage, rows: KeptRows, limit: number): KeptStatements {
  const key = keyOf(rows, limit);
  const marks = rows.marks?.column;
  if (keptPage.last?.key !== key || keptPage.last.marks !== marks) keptPage.last = { key, marks, pagesFromAllRows: 0 };
  return keptPage.last;
}

function keyOf({ order, sortsIds, alternatives, byCount }: KeptRows, limit: number): string {
  const sorted = order.map(({ field, descending }) => `${field.name} ${descending}`);
  return [limit, sortsIds, alternatives !== undefined, byCount !== undefined, ...sorted].join(' ');
}

function loadWhole(kept: KeptStatements, page: FirstPage): Promise<readonly StoredRecord[]> {
  if (kept.whole !== undefined) return page.load(kept.whole);
  const statement = flattenSql(page.render());
  kept.whole = unlessLong(statement);
  return page.load(statement);
}

async function loadAlternatives(kept: KeptStatements, order: Order, page: FirstPage): Promise<readonly StoredRecord[]> {
  const { end } = kept;
  const statement = end && (end.statement ?? (await renderTo(end, page)));
  if (statement !== undefined) {
    const found = await page.load(statement);
    if (found.length === page.limit) return keepEnd(kept, found, order);
  }
  if (end !== undefined) kept.pagesFromAllRows = PAGES_FROM_ALL_ROWS;
  kept.end = undefined;
  const found = await loadWhole(kept, page);
  if (kept.pagesFromAllRows > 0) kept.pagesFromAllRows--;
  return found.length === page.limit && kept.pagesFromAllRows === 0 ? keepEnd(kept, found, order) : found;
}

/** Renders the statement that reads the rows up to the end of a page. */
async function renderTo(end: PageEnd, page: FirstPage): Promise<Sql | undefined> {
  const range = await page.rangeTo(end.position);
  if (range === undefined) return undefined;
  const statement = flattenSql(page.render(range));
  end.statement = unlessLong(statement);
  return statement;
}

/** Keeps the end of a page, unless it is the one that is kept. Returns the records of the page. */
function keepEnd(kept: KeptStatements, found: readonly StoredRecord[], order: Order): readonly StoredRecord[] {
  const last = found.at(-1);
  if (last === undefined) return found;
  const position = shortenPosition(toPosition(last, order));
  if (JSON.stringify(kept.end?.position) !== JSON.stringify(position)) kept.end = position.keys && { position };
  return found;
}

function unlessLong(statement: Sql): Sql | undefined {
  return statement.texts.join('').length <= MAX_KEPT ? statement : undefined;
}
