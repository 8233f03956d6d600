import { type Sql, sql } from '../../sql.ts';
import { TimeLimit } from '../attempt.ts';
import { columnOf, idList } from '../table-names.ts';
import { writeMarksSql } from '../write-marks.ts';
import type { CursorPosition } from './cursor-pagination.ts';
import { orderSql } from './cursor-pagination.ts';
import type { ListQuery, MarkedState, Page } from './list-query.ts';
import { anyOf, conditionsOf, idsByCount, type ListRows } from './list-rows.ts';
import { scanPage } from './list-scan.ts';

/** A page without its total. */
interface CountedList {
  readonly query: ListQuery;
  readonly page: Page;
  /** The names of the resources on whose records the access to the listed records depends. */
  readonly dependsOn: ReadonlySet<string>;
  /** The states from which values in the filter were loaded. */
  readonly loadedFrom: readonly MarkedState[];
}

/** Maximum counts of one list: each time the page differs, it is loaded again. */
const MAX_COUNTS = 3;
/** Number of stale attempts at a long unit of work after which its list leaves the total out. */
const MAX_STALE = 3;

/**
 * Counts the records of a list. Page and total are those of one state, and the commit validates that the access to the counted records has not changed. On
 * PostgreSQL, each statement sees another state. There, the statement of a page selects the total too; if it does not, the count returns the ids of the page in its own.
 */
export async function addTotal(source: ListRows, { query, page, dependsOn, loadedFrom }: CountedList): Promise<Page> {
  const { tx } = source;
  // A page that is the whole list needs no count.
  if (query.limit > 0 && page.next === undefined && query.after === undefined && !query.offset)
    return { ...page, total: page.records.length };
  if (query.budget.reached !== undefined) return { ...page, withoutTotal: 'budget' };
  const marked = tx.validatesReads && dependsOn.size > 0 ? dependsOn : undefined;
  // A short attempt blocks the writers in the end. They would wait for this one for seconds.
  if (marked !== undefined && tx.attempt === 'long' && tx.staleAttempts >= MAX_STALE) return { ...page, withoutTotal: 'changes' };
  let shown = page;
  for (let count = 1; ; count++) {
    const counted = (count === 1 ? countedWith(source, marked) : undefined) ?? (await countAll(source, query, marked));
    if (counted === undefined) return { ...shown, withoutTotal: 'budget' };
    const { total, ids, marks } = counted;
    if (ids === undefined || isPageOf(shown, ids)) {
      const state = marks ?? (marked && (await tx.loadWriteState(marked)));
      const own = marked !== undefined && state !== undefined ? [{ dependsOn: marked, marks: state }] : [];
      tx.addToReadSet({ relations: { totals: [...loadedFrom, ...own] } });
      return { ...shown, total };
    }
    if (count === MAX_COUNTS) return { ...shown, withoutTotal: 'changes' };
    shown = await loadPageOf(source, query, ids);
  }
}

/** Returns whether the ids begin with those of the page, and end with them if the list does. */
function isPageOf({ records, next }: Page, ids: readonly string[]): boolean {
  return records.every(({ id }, index) => id === ids[index]) && (next !== undefined || ids.length === records.length);
}

/** Loads the page with these ids: the count has found them in its state of the list. */
function loadPageOf(source: ListRows, query: ListQuery, ids: readonly string[]): Promise<Page> {
  const { tx, resource, filter } = source;
  const isOfPage = sql`${columnOf(resource, 'id')} IN ${idList(tx.dialect, ids)}`;
  const after = query.after && withoutSkip(query.after);
  return scanPage(
    {
      ...source,
      filter: sql`${isOfPage} AND (${filter})`,
      keptPage: undefined,
      byCount: undefined,
      alternatives: undefined,
      total: undefined,
      isOfPage: true,
    },
    { ...query, after, offset: undefined },
    undefined,
  );
}

function withoutSkip({ skip: _, ...position }: CursorPosition): CursorPosition {
  return position;
}

/**
 * The result of a count. On PostgreSQL, `ids` are those of the page and of the record after it, and `marks` are the write marks, all in the snapshot
 * of the count.
 */
interface Counted {
  readonly total: number;
  readonly ids?: readonly string[];
  readonly marks?: string | undefined;
}

/** Returns the total that the statement of the page has selected; undefined if it has not, or if its write marks do not show all changes. */
function countedWith({ total, marks }: ListRows, marked: ReadonlySet<string> | undefined): Counted | undefined {
  if (total?.counted === undefined || (marked !== undefined && marks?.first === undefined)) return undefined;
  return { total: total.counted, marks: marks?.first };
}

/** Counts all rows that the filter matches; returns undefined if the time limit of the request ends the count. */
async function countAll(source: ListRows, query: ListQuery, marked: ReadonlySet<string> | undefined): Promise<Counted | undefined> {
  const { tx, tables, filter } = source;
  const columns = [sql`count(*) AS "total"`];
  if (tx.dialect.name !== 'sqlite') {
    if (query.limit > 0) columns.push(sql`array_to_json(${await idsOfPage(source, query)})::text AS "ids"`);
    if (marked !== undefined) columns.push(sql`${writeMarksSql(marked)} AS "marks"`);
  }
  try {
    const row = await tx.savepoint(() =>
      tx.one<{ total: number; ids?: string; marks?: string }>(sql`SELECT ${sql.join(columns)} FROM ${tables} WHERE ${filter}`),
    );
    return { total: Number(row?.total ?? 0), marks: row?.marks, ...(row?.ids !== undefined && { ids: JSON.parse(row.ids) as string[] }) };
  } catch (error) {
    if (error instanceof TimeLimit) return undefined;
    throw error;
  }
}

/** Renders the array of the ids of the page, and of the record after it. */
async function idsOfPage(source: ListRows, { after, offset, limit }: ListQuery): Promise<Sql> {
  const { resource, order, byCount } = source;
  const ranges = (await conditionsOf(source, { after })).filter((range) => range !== undefined);
  const skipped = after?.skip ?? offset ?? 0;
  const select = ({ tables, filter }: Pick<ListRows, 'tables' | 'filter'>): Sql => {
    const where = ranges.length === 0 ? filter : sql`(${filter}) AND ${anyOf(ranges)}`;
    const sorted = orderSql(resource, order);
    return sql`SELECT ${columnOf(resource, 'id')} FROM ${tables} WHERE ${where} ORDER BY ${sorted} LIMIT ${limit + 1} OFFSET ${skipped}`;
  };
  return byCount === undefined ? sql`ARRAY(${select(source)})` : idsByCount(source, byCount, select);
}
