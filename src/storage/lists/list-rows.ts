import { Problem } from '../../errors.ts';
import type { Field } from '../../fields/index.ts';
import { fromRow, indexesOf, type Resource, type ResourceIndex, type Row, type StoredRecord } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { checkedRecordsOf } from '../checksums/checked-records.ts';
import { loadedSelectionOf, loadIntactRows } from '../checksums/intact-records.ts';
import type { Transaction } from '../contract.ts';
import { columnOf, type Existence, quoteName, tableOf } from '../table-names.ts';
import { type CursorPosition, type Order, orderSql, toPosition } from './cursor-pagination.ts';
import { rangesOf } from './cursor-ranges.ts';
import { type KeptPage, loadFirstPage } from './first-page.ts';

/** The rows that a list selects from. */
export interface ListRows {
  readonly tx: Transaction;
  readonly resource: Resource;
  readonly existence: Existence | undefined;
  /** The table of the resource with a deadline check, and the joins of the filter. */
  readonly tables: Sql;
  readonly filter: Sql;
  /** The kept statements of the first page; absent if none are kept. */
  readonly keptPage?: KeptPage | undefined;
  /** Present if the statement finds the related records of all rows. */
  readonly byCount?: RowsByCount | undefined;
  readonly order: Order;
  /** The write marks of the resources on whose records the access to the rows depends; absent if they do not show that nothing has changed. */
  readonly marks?: SnapshotMarks | undefined;
  /** The total that the first statement selects; absent if it is counted by itself, or not requested. */
  readonly total?: SnapshotTotal | undefined;
  /** True to sort the ids of the matching rows, and to load only the rows of the page. */
  readonly sortsIds?: boolean | undefined;
  /** The alternatives of the filter; absent if it has none. */
  readonly alternatives?: RowAlternatives | undefined;
  /** True if the filter names the ids of one page. */
  readonly isOfPage?: boolean | undefined;
}

/** The write marks in the snapshot of the first statement that returns rows. */
export interface SnapshotMarks {
  readonly column: Sql;
  first: string | undefined;
}

/** The number of all rows in the snapshot of the statement that returns a page. */
export interface SnapshotTotal {
  readonly query: Sql;
  /** Maximum records of the page. The statement counts only if it returns more rows; otherwise, another one may load the rest of the page. */
  readonly limit: number;
  counted: number | undefined;
  /** True after the first statement. Later ones see other states and select no total. */
  isSelected: boolean;
}

/** A filter, and the FROM items that it reads. */
type FilteredTables = Pick<ListRows, 'tables' | 'filter'>;

/**
 * The rows by the number of the caller's related records. PostgreSQL plans a search for those of all rows as if there were ten: without any it could read
 * the whole table in the order of the list, and with thousands it could sort most of the table.
 */
export interface RowsByCount {
  /** Returns a condition that is true if the search for all rows is fast. */
  isSearch(): Sql;
  /** Returns a condition that is true if the related records of each row should be searched. */
  isByRow(): Sql;
  /** Returns the same rows as the search. */
  byRow(): FilteredTables;
  /** Returns the rows without related records. All of them are rows of the search. */
  unrelated(): FilteredTables;
}

/** The alternatives of a filter. */
export interface RowAlternatives {
  /** Selects the ids of a page, of all rows or of those that meet `range`. */
  select(range: Sql | undefined, page: LimitedRows): Sql;
  /** True if `select` selects nothing when the caller has many related records. */
  readonly isConditional: boolean;
}

/** Maximum records to skip in alternatives: each of them reads as many. */
const MAX_OFFSET = 1000;

/** A part of the rows in their order. */
export interface RowRange {
  readonly after: CursorPosition | undefined;
  readonly upTo?: CursorPosition | undefined;
}

/** A part of the rows, and how many of them to load. */
export interface RowPage extends RowRange {
  readonly limit: number;
  readonly offset: number;
}

/** Loads at most `limit` rows of a part. Reads its ranges in turn until there are enough rows. */
export async function loadRows(source: ListRows, page: RowPage): Promise<readonly StoredRecord[]> {
  const { limit, offset } = page;
  if (page.after === undefined && page.upTo === undefined) return loadWhere(source, undefined, page);
  const conditions = await conditionsOf(source, page);
  // An offset must count across all ranges, so they are read with one statement.
  const queried = offset > 0 && conditions.length > 1 ? [anyOf(conditions)] : conditions;
  const records: StoredRecord[] = [];
  for (const condition of queried) {
    const left = limit - records.length;
    if (left > 0) records.push(...(await loadWhere(source, condition, { limit: left, offset })));
  }
  return records;
}

async function loadWhere(source: ListRows, condition: Sql | undefined, page: LimitedRows): Promise<readonly StoredRecord[]> {
  const { byCount } = source;
  const found = await (condition === undefined && page.offset === 0
    ? loadFirst(source, page)
    : loadSelected(source, selectRows(source, condition, page)));
  if (found.length > 0 || !isConditional(source, page)) return found;
  if (byCount === undefined) return loadSelected(source, selectFiltered(source, condition, page));
  // The first statement reads no row if the number of related records is another one. It may have changed since.
  const ids = idsByCount(source, byCount, (rows) => selectIds({ ...source, ...rows }, condition, page));
  return loadSelected(source, selectByIds(source, sql`${columnOf(source.resource, 'id')} = ANY (${ids})`));
}

function loadFirst(source: ListRows, page: LimitedRows): Promise<readonly StoredRecord[]> {
  return loadFirstPage(source, {
    limit: page.limit,
    render: (range) => selectRows(source, range, page),
    load: (statement) => loadSelected(source, statement),
    async rangeTo(position) {
      const ranges = await conditionsOf(source, { after: undefined, upTo: position }).catch(noRangesIfRefused);
      return ranges.length === 1 ? ranges[0] : undefined;
    },
  });
}

/** Returns no ranges if the position was refused: one of its stored values is not of the type of its field. Throws every other error. */
function noRangesIfRefused(error: unknown): readonly [] {
  if (error instanceof Problem && error.code === 'REQUEST_CURSOR') return [];
  throw error;
}

/** Renders the first statement for a part of the rows. */
function selectRows(source: ListRows, condition: Sql | undefined, page: LimitedRows): Sql {
  const { filter, byCount, alternatives } = source;
  if (alternatives !== undefined && readsAlternatives(source, page))
    return selectByIds(source, isAmong(source, alternatives.select(condition, page)));
  return selectFiltered(
    byCount === undefined ? source : { ...source, filter: sql`${byCount.isSearch()} AND (${filter})` },
    condition,
    page,
  );
}

function readsAlternatives({ alternatives }: ListRows, { offset }: LimitedRows): boolean {
  return alternatives !== undefined && offset <= MAX_OFFSET;
}

/** Returns true if the first statement reads no row when the caller has many related records, or none. */
function isConditional(source: ListRows, page: LimitedRows): boolean {
  const { alternatives, byCount } = source;
  return readsAlternatives(source, page) ? alternatives?.isConditional === true : byCount !== undefined;
}

/** Renders the array of the ids that a query selects from the rows of a list, with the search that is fast for the number of related records. */
export function idsByCount(rows: FilteredTables, byCount: RowsByCount, select: (rows: FilteredTables) => Sql): Sql {
  const [search, byRow, unrelated] = [rows, byCount.byRow(), byCount.unrelated()].map((each) => sql`ARRAY(${select(each)})`);
  return sql`CASE WHEN ${byCount.isSearch()} THEN ${search} WHEN ${byCount.isByRow()} THEN ${byRow} ELSE ${unrelated} END`;
}

/** A part of the rows, from its first row. */
export type LimitedRows = Pick<RowPage, 'limit' | 'offset'>;

function selectFiltered(source: ListRows, condition: Sql | undefined, page: LimitedRows): Sql {
  return source.sortsIds
    ? selectByIds(source, isAmong(source, selectIds(source, condition, page)))
    : sql`SELECT ${selectionOf(source)} ${fromFiltered(source, condition, page)}`;
}

function selectIds(source: ListRows, condition: Sql | undefined, page: LimitedRows): Sql {
  return sql`SELECT ${columnOf(source.resource, 'id')} ${fromFiltered(source, condition, page)}`;
}

function fromFiltered({ resource, tables, order, filter }: ListRows, condition: Sql | undefined, { limit, offset }: LimitedRows): Sql {
  const where = condition === undefined ? filter : sql`(${filter}) AND ${condition}`;
  const skipped = offset === 0 ? sql`` : sql` OFFSET ${offset}`;
  return sql`FROM ${tables} WHERE ${where} ORDER BY ${orderSql(resource, order)} LIMIT ${limit}${skipped}`;
}

function isAmong({ tx, resource }: ListRows, ids: Sql): Sql {
  return tx.dialect.isGivenBy(columnOf(resource, 'id'), ids);
}

/** Renders the SELECT of the rows of a page by a condition on their ids. */
function selectByIds(source: ListRows, isSelected: Sql): Sql {
  const { resource, order } = source;
  return sql`SELECT ${selectionOf(source)} FROM ${tableOf(resource)} WHERE ${isSelected} ORDER BY ${orderSql(resource, order)}`;
}

function selectionOf({ resource, marks }: ListRows): Sql {
  const columns = [loadedSelectionOf(resource)];
  if (marks !== undefined) columns.push(sql`${marks.column} AS "$marks"`);
  return sql.join(columns);
}

/** The FROM item of a page. It differs from every table, because names of resources contain no dots. */
const PAGE = { name: 'found.page' };

/** Adds the total to a statement, as `$total`. */
function withTotal(statement: Sql, { query, limit }: SnapshotTotal, order: Order): Sql {
  const page = sql.raw(quoteName(PAGE.name));
  const total = sql`CASE WHEN (SELECT count(*) FROM ${page}) > ${limit} THEN ${query} END AS "$total"`;
  // A text that begins with WITH counts as a write.
  return sql`SELECT * FROM (WITH ${page} AS (${statement}) SELECT *, ${total} FROM ${page}) AS ${page} ORDER BY ${orderSql(PAGE, order)}`;
}

async function loadSelected({ tx, resource, order, marks, total }: ListRows, statement: Sql): Promise<readonly StoredRecord[]> {
  const isFirst = total?.isSelected === false;
  const { records, first } = await loadIntactRows(tx, resource, isFirst ? withTotal(statement, total, order) : statement);
  // If the marks of the first statement are the same at commit, those of later statements were the same too.
  if (marks !== undefined && first !== undefined) marks.first ??= first['$marks'] as string;
  if (total !== undefined) {
    total.isSelected = true;
    const counted = isFirst ? first?.['$total'] : undefined;
    if (typeof counted === 'string' || typeof counted === 'number') total.counted = Number(counted);
  }
  return records;
}

/** Counts the rows of a part that the filter matches. */
export async function countRows(source: ListRows, range: RowRange): Promise<number> {
  const { tx, tables, filter } = source;
  const conditions = (await conditionsOf(source, range)).filter((condition) => condition !== undefined);
  const where = conditions.length === 0 ? filter : sql`(${filter}) AND ${anyOf(conditions)}`;
  const row = await tx.one<{ total: number }>(sql`SELECT count(*) AS "total" FROM ${tables} WHERE ${where}`);
  return Number(row?.total ?? 0);
}

/** Returns the conditions that select a part of the list: a row is in it if one of them is true. */
export function conditionsOf(
  { tx, resource, order, existence }: ListRows,
  { after, upTo }: RowRange,
): Promise<readonly (Sql | undefined)[]> {
  return rangesOf(tx, resource, { order, existence, after, upTo });
}

/** Combines ranges. */
export function anyOf(conditions: readonly (Sql | undefined)[]): Sql {
  return sql`(${sql.join(conditions, sql` OR `)})`;
}

/** The end of a window, and its number of rows. */
export interface Window {
  /** The position of the last row; absent if the window ends with the list. */
  readonly upTo?: CursorPosition;
  readonly rows: number;
}

/** Returns whether the rows can be read window by window: an index has them in the order of the first sort key. */
export function hasWindows({ resource, order, existence, isOfPage }: ListRows): boolean {
  const [first] = order;
  return first !== undefined && !isOfPage && hasSortIndex(resource, first.field, existence);
}

/** Returns true if an index has the records in the order of a field. Unique indexes leave out deleted records. */
export function hasSortIndex(resource: Resource, { name }: Field, existence: ListRows['existence']): boolean {
  const ofDeleted = existence === 'deleted';
  if (name === 'deletedAt') return ofDeleted;
  const hasOrder = ({ fields, unique, where }: ResourceIndex): boolean =>
    fields[0] === name && where === undefined && !(unique && ofDeleted);
  return name === 'id' || indexesOf(resource).some(hasOrder);
}

/**
 * Finds the end of the next `rows` rows after a position, whether or not the filter matches them, so that a search that ends early knows
 * where to continue. Reads the keys only, mostly from an index.
 */
export async function findWindow(source: ListRows, after: CursorPosition | undefined, rows: number): Promise<Window> {
  const { tx, resource, order } = source;
  let counted = 0;
  for (const condition of await conditionsOf(source, { after })) {
    const keys = keysSql(source, condition);
    const end = await tx.one<Row>(sql`${keys} LIMIT 1 OFFSET ${rows - 1}`);
    if (end !== undefined) return { upTo: toPosition(fromRow(resource, end), order), rows: counted + rows };
    const found = await tx.one<{ rows: number }>(sql`SELECT count(*) AS "rows" FROM (${keys} LIMIT ${rows}) AS "window"`);
    counted += Number(found?.rows ?? 0);
  }
  return { rows: counted };
}

/** Renders the SELECT of the sort keys of the rows in their order. */
function keysSql({ tx, resource, order, existence }: ListRows, condition: Sql | undefined): Sql {
  const columns = sql.join(order.map(({ field }) => columnOf(resource, field.name)));
  // Sorted by id, a window of records also contains the deleted ones, and a window of deleted records the others: to skip them here could take any time.
  const rows =
    order[0]?.field.name === 'id'
      ? sql`(SELECT * FROM ${tableOf(resource)} WHERE ${tx.dialect.deadlineCheck(tableOf(resource))}) AS ${sql.raw(quoteName(resource.name))}`
      : checkedRecordsOf(tx, resource, { existence });
  const where = condition === undefined ? sql`` : sql` WHERE ${condition}`;
  return sql`SELECT ${columns} FROM ${rows}${where} ORDER BY ${orderSql(resource, order)}`;
}
