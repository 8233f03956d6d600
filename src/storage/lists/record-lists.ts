import { all, compileCondition, readsOtherRecords } from '../../conditions/index.ts';
import type { Resource } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { checkedRecordsOf } from '../checksums/checked-records.ts';
import type { Transaction } from '../contract.ts';
import { recordsOf } from '../table-names.ts';
import { writeMarksSql } from '../write-marks.ts';
import { compileList } from './compile-list.ts';
import { toOrder } from './cursor-pagination.ts';
import { alternativesOf, toRowAlternatives } from './list-alternatives.ts';
import type { CompiledList, ListQuery, Page, Restriction } from './list-query.ts';
import type { ListRows, RowsByCount, SnapshotMarks, SnapshotTotal } from './list-rows.ts';
import { scanPage } from './list-scan.ts';
import { addTotal } from './list-total.ts';
import { dependenciesOf, noteListed } from './listed-records.ts';
import { type ResourceTarget, sqlTargetFor } from './sql-target.ts';

/** Maximum related records of the caller for one search in the statement of a list on PostgreSQL. */
const MAX_SEARCHED = 1000;

function rowsByCount(
  { resource, query, records }: { readonly resource: Resource; readonly query: ListQuery; readonly records: Sql },
  list: Pick<CompiledList, 'condition' | 'target' | 'compiled'>,
): RowsByCount | undefined {
  const { searches } = list.compiled;
  if (searches.length === 0) return undefined;
  const { definitions, existence, now, timeZone } = query;
  // EXISTS could read the whole table: PostgreSQL may expect to find a record early.
  const any = (bound: Sql): Sql =>
    sql`(${sql.join(
      searches.map(({ rows }) => sql`(SELECT count(*) ${bound} FROM ${rows})`),
      sql` OR `,
    )})`;
  const compile = (target: ResourceTarget, options?: Parameters<typeof compileCondition>[2]): Pick<ListRows, 'tables' | 'filter'> => {
    const filter = compileCondition(list.condition, target, options).where;
    return { filter, tables: target.tables(records) };
  };
  return {
    isSearch: () => any(sql`BETWEEN 1 AND ${sql.lit(MAX_SEARCHED)}`),
    isByRow: () => any(sql`> ${sql.lit(MAX_SEARCHED)}`),
    byRow: () => compile(sqlTargetFor(resource, definitions, { dialect: list.target.dialect, existence, now, timeZone })),
    unrelated: () => compile(list.target, { withoutRelated: true }),
  };
}

/** The dependencies of a list that no commit validates. */
const NOTHING: ReadonlySet<string> = new Set();

/** Lists records in order. A page costs the same at every depth, unless it is requested by `offset`. */
export async function listRecords(tx: Transaction, resource: Resource, query: ListQuery): Promise<Page> {
  const { definitions, existence, now, timeZone, budget } = query;
  const restrictions = query.and === undefined ? [query] : [query, query.and];
  const where = all(restrictions.map((each) => each.where));
  if (where.type === 'constant' && where.value !== true) return { records: [], ...(query.total && { total: 0 }) };
  const list =
    query.compiled?.condition === where && query.compiled.existence === existence
      ? query.compiled
      : compileList(tx, resource, { condition: where, definitions, existence, now, timeZone, isOnce: query.isIndexed });
  const { compiled, paths } = list;
  const countsRelated = compiled.exact ? compiled.searchesForEachRow : readsOtherRecords(where);
  const dependsOn = tx.validatesReads ? dependenciesOf(list.reads, { restrictions, definitions }) : NOTHING;
  const records = query.isIndexed
    ? recordsOf(resource, { existence })
    : checkedRecordsOf(tx, resource, { existence, paths, countsRelated });
  const found: ListRows = {
    ...toFilter(list, { tx, resource, query, records }),
    marks: compiled.exact ? marksOf(tx, { restrictions, dependsOn }) : undefined,
    // Databases sort whole rows. The index that finds the ids often has all columns of the filter.
    sortsIds: compiled.exact && (compiled.findsByValues || restrictions.some(({ findsByValues }) => findsByValues)),
  };
  const rows: ListRows = { ...found, total: compiled.exact ? totalOf(found, query, dependsOn) : undefined };
  const inMemory = compiled.exact ? undefined : { restrictions, paths, countsRelated };
  return budget.search(async () => {
    const page = query.limit === 0 ? { records: [] } : await scanPage(rows, query, inMemory);
    if (inMemory !== undefined) return query.total ? { ...page, withoutTotal: 'inMemory' } : page;
    const counted = query.total
      ? await addTotal(rows, {
          query,
          page,
          dependsOn,
          loadedFrom: restrictions.flatMap(({ loadedFrom }) => loadedFrom ?? []),
        })
      : page;
    await noteListed(tx, resource, { query, restrictions, dependsOn, page: counted, marks: rows.marks?.first });
    return counted;
  });
}

/** Returns the rows that match a condition in the order of the list. */
function toFilter(
  { condition, target, compiled, key, keptPage }: CompiledList,
  { tx, resource, query, records }: FilteredRecords,
): ListRows {
  const { definitions, existence, now, timeZone, sort, isIndexed } = query;
  const order = toOrder(resource, sort);
  const alternatives = alternativesOf({ condition, compiled, key }, { tx, resource, order, definitions, existence, now, timeZone });
  const tables = target.tables(records);
  return {
    tx,
    resource,
    existence,
    tables,
    filter: compiled.where,
    keptPage: isIndexed ? undefined : keptPage,
    byCount:
      tx.dialect.name === 'postgres' && compiled.exact
        ? rowsByCount({ resource, query, records }, { condition, target, compiled })
        : undefined,
    alternatives: isIndexed ? undefined : toRowAlternatives(alternatives, { resource, order, records }),
    order,
  };
}

/**
 * Returns the total that the statement of a page selects on PostgreSQL, where each statement sees another state. Returns undefined for a long attempt, which reads
 * windows, for records with checksums, which may be loaded twice, and if write marks do not show all changes.
 */
function totalOf(
  { tx, resource, tables, filter, marks }: ListRows,
  query: ListQuery,
  dependsOn: ReadonlySet<string>,
): SnapshotTotal | undefined {
  const { total, limit, budget } = query;
  if (total !== true || tx.dialect.name !== 'postgres' || tx.attempt !== 'short' || budget.limits.windowRows !== undefined)
    return undefined;
  if (resource.checksum || (dependsOn.size > 0 && marks === undefined)) return undefined;
  return { query: sql`(SELECT count(*) FROM ${tables} WHERE ${filter})`, limit, counted: undefined, isSelected: false };
}

/** A list, and the FROM item of its records. */
interface FilteredRecords {
  readonly tx: Transaction;
  readonly resource: Resource;
  readonly query: ListQuery;
  readonly records: Sql;
}

/** Returns the write marks that the statement of a list selects; undefined if no commit validates it, or if they would not show all changes. */
function marksOf(
  tx: Transaction,
  { restrictions, dependsOn }: { readonly restrictions: readonly Restriction[]; readonly dependsOn: ReadonlySet<string> },
): SnapshotMarks | undefined {
  if (tx.dialect.name === 'sqlite' || dependsOn.size === 0) return undefined;
  // Values that were loaded before the statement have replaced a condition: they may have changed in between.
  if (restrictions.some(({ findsByValues }) => findsByValues)) return undefined;
  return { column: writeMarksSql(dependsOn), first: undefined };
}
