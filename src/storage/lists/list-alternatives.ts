/**
 * Alternatives of a list, such as "own documents, or those of my organisations". With one filter, databases find the records of all alternatives and sort
 * them. An index has the records of each alternative in the order of the list, so a page reads only as many of each as it may contain.
 */
import { LRUCache } from 'lru-cache';
import { all, type Condition, compileCondition, type Path, type Related } from '../../conditions/index.ts';
import { memoize } from '../../memoize.ts';
import { type Definitions, hasIndexInOrder, hasIndexOn, indexesOf, type Resource } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { columnOf, quoteName } from '../table-names.ts';
import { type Order, orderSql } from './cursor-pagination.ts';
import type { CompiledList, ListQuery } from './list-query.ts';
import type { LimitedRows, RowAlternatives } from './list-rows.ts';
import { listTargetFor, type ResourceTarget } from './sql-target.ts';

/** A part of the records of a list. */
interface Alternative {
  readonly target: ResourceTarget;
  /** True for the rows of this alternative, if they also have one of the values of `byValue`. */
  readonly filter: Sql;
  /** Number of bound values. */
  readonly boundValues: number;
  /** Present if an index has only the rows with the same value of a field in the order of the list. */
  readonly byValue?: ByValue | undefined;
}

/** A field of the rows, and its values, which a search for related records finds. */
interface ByValue {
  readonly field: string;
  readonly column: Sql;
  /** Selects each value once, as "link". */
  readonly values: Sql;
  /** True if there are so few related records that `values` is exact, and may be joined. */
  readonly isFew: Sql;
}

/** A list, and the moment for which its condition is compiled. */
interface SplitList extends Pick<ListQuery, 'definitions' | 'existence' | 'now' | 'timeZone'> {
  readonly tx: Transaction;
  readonly resource: Resource;
  readonly order: Order;
}

/** Maximum alternatives: the database plans each of them. */
const MAX_ALTERNATIVES = 8;
/** Maximum values that all alternatives bind. Each contains those of the conditions beside them, and compiling a hundred takes a millisecond. */
const MAX_VALUES = 200;
/** Maximum related records of the caller: a page reads rows for each of them. */
const MAX_RELATED = 1000;
/** Operators with which an index finds the rows of some values, and of a range. */
const OF_VALUES = new Set(['eq', 'in']);
const OF_RANGE = new Set(['gt', 'gte', 'lt', 'lte', 'between', 'before', 'after']);

/** Maximum bytes of the alternatives that are kept for each set of definitions. */
const MAX_KEPT = 8_000_000;
/** Estimated bytes of an alternative, and of a bound value with the condition around it. */
const BYTES = { alternative: 1000, value: 700 };

const kept = new WeakMap<Definitions, LRUCache<string, readonly Alternative[]>>();
const createKept = (): LRUCache<string, readonly Alternative[]> => new LRUCache({ maxSize: MAX_KEPT, sizeCalculation: toBytes });

function toBytes(alternatives: readonly Alternative[], key: string): number {
  return alternatives.reduce((bytes, { boundValues }) => bytes + BYTES.alternative + BYTES.value * boundValues, 2 * key.length + 100);
}

/** Returns true if a condition may have alternatives. */
export function mayHaveAlternatives(condition: Condition): boolean {
  return condition.type === 'any' || (condition.type === 'all' && condition.of.some(({ type }) => type === 'any' || type === 'related'));
}

/**
 * Returns alternatives whose records together are those for which a condition is true. Returns none if one filter may be as fast, or if for one of the
 * alternatives no index has its records in the order of the list.
 */
export function alternativesOf(
  { condition, compiled, key }: Pick<CompiledList, 'condition' | 'compiled' | 'key'>,
  list: SplitList,
): readonly Alternative[] {
  if (condition.type !== 'related' && !mayHaveAlternatives(condition)) return [];
  // Unique indexes leave out deleted records.
  if (!compiled.exact || list.existence === 'deleted' || !hasIndexedOrder(list)) return [];
  const find = (): readonly Alternative[] => split({ condition, compiled }, list);
  if (key === undefined) return find();
  const known = memoize(kept, list.definitions, createKept);
  return memoize<string, readonly Alternative[]>(known, `${sortedFields(list).join(' ')} ${key}`, find);
}

/** Returns true if an index has records in the order of a list, if the fields before those of the order have known values. */
function hasIndexedOrder({ resource, order }: SplitList): boolean {
  const sorted = order.slice(0, -1).map(({ field }) => field.name);
  return (
    order.every(({ descending }) => descending === order[0]?.descending) &&
    indexesOf(resource).some(({ fields }) => sorted.every((name, index) => fields.at(index - sorted.length) === name))
  );
}

/** Splits a condition at the first of its parts that has alternatives. */
function split({ condition, compiled }: Pick<CompiledList, 'condition' | 'compiled'>, list: SplitList): readonly Alternative[] {
  const parts = condition.type === 'all' ? condition.of : [condition];
  for (const part of parts) {
    const choices = part.type === 'any' ? part.of : part.type === 'related' ? [part] : [];
    const others = parts.filter((other) => other !== part);
    if (choices.length > MAX_ALTERNATIVES || compiled.values * choices.length > MAX_VALUES) continue;
    if (others.some((other) => isSelective(other, list))) continue;
    const found = choices.flatMap((choice) => toAlternative(choice, others, list) ?? []);
    const isUseful = found.length > 1 || found[0]?.byValue !== undefined;
    if (isUseful && found.length === choices.length) return found;
  }
  return [];
}

/** Returns true if an index may find few rows by a condition. The database then chooses between this index and others. */
function isSelective(condition: Condition, { resource, order }: SplitList): boolean {
  if (condition.type === 'related') return true;
  if (condition.type !== 'comparison') return false;
  const [name] = ownField(condition.path);
  // An index in the order of the list also finds a range of its first key.
  const isFound = OF_VALUES.has(condition.operator) || (OF_RANGE.has(condition.operator) && name !== order[0]?.field.name);
  return isFound && name !== undefined && hasIndexOn(resource, [name]);
}

/** Returns undefined if no index has the rows of a choice in the order of the list. */
function toAlternative(choice: Condition, others: readonly Condition[], list: SplitList): Alternative | undefined {
  const own = choice.type === 'all' ? choice.of : [choice];
  const parts = [...others, ...own];
  const fields = new Set(parts.flatMap(comparedField));
  const isInOrder = (names: ReadonlySet<string>): boolean => hasIndexInOrder(list.resource, names, sortedFields(list));
  if (isInOrder(fields)) return compileParts(parts, list);
  for (const part of own) {
    const byValue = part.type === 'related' ? findByValue(part, list) : undefined;
    if (byValue === undefined || !isInOrder(new Set([...fields, byValue.field]))) continue;
    // SQLite reads the rows of one value of an IN after the other, and ends each when the page needs no more of them.
    if (list.tx.dialect.name === 'sqlite') return compileParts(parts, list);
    const withoutPart = parts.filter((other) => other !== part);
    return compileParts(withoutPart, list, byValue);
  }
  return undefined;
}

/** Returns the field of the row by which one search finds the related records of all rows. */
function findByValue(related: Related, { tx, resource, ...moment }: SplitList): ByValue | undefined {
  const { exact, searches } = compileCondition(related, listTargetFor(tx, resource, moment));
  const [search] = searches;
  if (!exact || search === undefined || search.open.operand.type !== 'reference') return undefined;
  const [field] = ownField(search.open.operand.path);
  const { column, links, linked, limit } = search;
  const isFew = sql`(SELECT 1 FROM ${linked} LIMIT 1 OFFSET ${sql.lit(Math.min(limit, MAX_RELATED))}) IS NULL`;
  return field === undefined ? undefined : { field, column, values: links, isFew };
}

function compileParts(parts: readonly Condition[], { tx, resource, ...moment }: SplitList, byValue?: ByValue): Alternative | undefined {
  const target = listTargetFor(tx, resource, moment);
  const { where, exact, values } = compileCondition(all(parts), target);
  return exact ? { target, filter: where, boundValues: values, byValue } : undefined;
}

/** Returns the field whose values a condition compares with a literal. */
function comparedField(condition: Condition): readonly string[] {
  const isEqual = condition.type === 'comparison' && condition.operator === 'eq' && condition.operand.type === 'literal';
  return isEqual ? ownField(condition.path) : [];
}

/** Returns the field of the record at a path; none for other paths. */
function ownField({ group, keys }: Path): readonly string[] {
  return group === 'resource' && keys.length === 1 ? keys : [];
}

/** Returns the fields of the order before the id. */
function sortedFields({ order }: SplitList): readonly string[] {
  return order.slice(0, -1).map(({ field }) => field.name);
}

/** The records of a list and their order. */
interface OrderedRecords extends Pick<SplitList, 'resource' | 'order'> {
  /** The FROM item of the records. */
  readonly records: Sql;
}

/** Returns the alternatives of the rows of a list; undefined if there are none. */
export function toRowAlternatives(alternatives: readonly Alternative[], from: OrderedRecords): RowAlternatives | undefined {
  if (alternatives.length === 0) return undefined;
  const conditions = alternatives.flatMap(({ byValue }) => byValue?.isFew ?? []);
  return {
    isConditional: conditions.length > 0,
    select: (range, page) => selectIds(alternatives, from, { ...page, range, conditions }),
  };
}

/** The FROM item of alternatives. It differs from every table, because names of resources contain no dots. */
const FOUND = { name: 'found.rows' };

/** A page to select. */
interface SelectedPage extends LimitedRows {
  readonly range: Sql | undefined;
  /** Conditions without which nothing is selected. */
  readonly conditions: readonly Sql[];
}

/** Selects the ids of a page in the order of the list. A record of several alternatives is selected once. */
function selectIds(
  alternatives: readonly Alternative[],
  { resource, order, records }: OrderedRecords,
  { range, conditions, limit, offset }: SelectedPage,
): Sql {
  const columns = sql.join(order.map(({ field }) => sql`${columnOf(resource, field.name)} AS ${sql.raw(quoteName(field.name))}`));
  const sorted = sql`ORDER BY ${orderSql(resource, order)}`;
  const name = sql.raw(quoteName(FOUND.name));
  const parts = alternatives.map(({ target, filter, byValue }) => {
    const isValue = byValue && sql`${byValue.column} = "found.values"."link"`;
    const where = joinAll([isValue, sql`(${filter})`, range]);
    const rows = sql`(SELECT ${columns} FROM ${target.tables(records)} WHERE ${where} ${sorted} LIMIT ${limit + offset}) AS ${name}`;
    return byValue === undefined
      ? sql`SELECT * FROM ${rows}`
      : sql`SELECT ${name}.* FROM (${byValue.values}) AS "found.values" CROSS JOIN LATERAL ${rows}`;
  });
  const where = conditions.length === 0 ? sql`` : sql` WHERE ${joinAll(conditions)}`;
  const skipped = offset === 0 ? sql`` : sql` OFFSET ${offset}`;
  const found = sql`FROM (${sql.join(parts, sql` UNION `)}) AS ${name}${where} ORDER BY ${orderSql(FOUND, order)}`;
  return sql`SELECT ${columnOf(FOUND, 'id')} ${found} LIMIT ${limit}${skipped}`;
}

function joinAll(conditions: readonly (Sql | undefined)[]): Sql {
  return sql.join(
    conditions.filter((condition) => condition !== undefined),
    sql` AND `,
  );
}
