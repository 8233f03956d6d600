/** Compiles the bounds of a condition on related records to SQL. */
import { type Sql, sql } from '../sql.ts';
import type { Part, RelatedOfAllRows, RelatedTarget } from './compile-target.ts';
import type { Related, RelatedLink } from './condition.ts';

/** The compiled parts of a condition on related records. */
interface RelatedParts {
  readonly target: RelatedTarget;
  /** True to find the rows for which the condition is false, instead of those for which it is true. */
  readonly negated: boolean;
  /** True for exactly the related records. */
  readonly links: Part;
  /** Compiles `where`, or its negation. Each compiled condition is true for exactly the records for which it is true. */
  compileWhere(isNegated: boolean): Part;
}

/** A search for the related records of all rows, of a condition that is true for no row without any. */
export interface RelatedSearch {
  /** The FROM items of the related records for which `where` is true. If there are none, the condition is true for no row. */
  readonly rows: Sql;
  /** The FROM items of all related records. */
  readonly linked: Sql;
  /** Maximum related records with which `links` is exact. */
  readonly limit: number;
  /** Selects as "link", each once, the values of the linking field of the row for which the condition is true. */
  readonly links: Sql;
  /** The column of that field. */
  readonly column: Sql;
  /** The link to it. */
  readonly open: RelatedLink;
}

/** A compiled condition, and its search. */
type Compiled = Exclude<Part, 'anything'> & { readonly search?: RelatedSearch };

/**
 * Returns SQL that is true for exactly the rows for which the condition is true (or false, if negated). A row for which it is unknown gives
 * another result than true, whether it is negated or not: the polarity of each comparison is known, so the difference between false and unknown
 * does not matter. Returns undefined if SQL cannot express a part.
 */
export function compileCounts(related: Related, { target, negated, links, compileWhere }: RelatedParts): Compiled | undefined {
  const counts = countsOf(related, { negated, compileWhere });
  if (links === 'anything' || counts === undefined) return undefined;
  const { columns, isResult, height } = counts;
  const where = target.withoutOwn === undefined ? links.truth : sql`${links.truth} AND ${target.withoutOwn}`;
  const counted = sql<
    boolean | null
  >`(SELECT ${isResult} FROM (SELECT ${columns} FROM ${target.tables(where, related.limit + 1)}) AS "counted")`;
  const outer = outerValues(related, target);
  return {
    truth: outer.length === 0 ? counted : sql<boolean | null>`(${sql.join(outer, sql` AND `)} AND ${counted})`,
    height: Math.max(links.height, height),
  };
}

/**
 * Returns the same SQL as `compileCounts`, from one search of the related records of all rows: the field of the row is among the values of the
 * linking field for which the result differs from that without related records, or it is not.
 */
export function compileForAllRows(related: Related, rows: RelatedOfAllRows, parts: RelatedParts): Compiled | undefined {
  const { target, links, negated } = parts;
  if (!negated && related.atLeast === 1 && related.atMost === undefined) return compileAnyForAllRows(related, rows, parts);
  const counts = countsOf(related, parts);
  if (links === 'anything' || counts === undefined) return undefined;
  const { columns, isResult, height } = counts;
  const isUsual = (related.atLeast === undefined) !== negated;
  const group = isUsual ? sql`NOT (${isResult})` : isResult;
  const { inner, outer, open } = rows;
  const linked = rows.tables(sql`${links.truth} AND ${inner.sql} IS NOT NULL`);
  const values = sql`SELECT "link" FROM (SELECT ${inner.sql} AS "link", ${columns} FROM ${linked}) AS "counted"
    GROUP BY "link" HAVING ${group}`;
  const isGiven = target.dialect.isGivenBy(outer.sql, values);
  const heights = Math.max(links.height, height);
  if (isUsual) return { truth: sql<boolean | null>`(${outer.sql} IS NOT NULL AND NOT (${isGiven}))`, height: heights };
  return {
    truth: isGiven,
    height: heights,
    search: { rows: linked, linked, limit: related.limit, links: values, column: outer.sql, open },
  };
}

/**
 * The same for at least one record, without groups: SQLite takes a multiple of the time for a list of values that it has to group. The records of one
 * value are counted only if there may be several, and if all records together are more than the limit.
 */
function compileAnyForAllRows(
  { limit }: Related,
  { inner, outer, open, tables, isUnique }: RelatedOfAllRows,
  { target, links: searched, compileWhere }: RelatedParts,
): Compiled | undefined {
  const met = compileWhere(false);
  if (searched === 'anything' || met === 'anything') return undefined;
  const linked = sql`${searched.truth} AND ${inner.sql} IS NOT NULL`;
  const isAbsent = (where: Sql): Sql => sql`(SELECT 1 FROM ${tables(where)} LIMIT 1 OFFSET ${literal(limit)}) IS NULL`;
  // No resource has a name with a dot.
  const ofValue = sql`${searched.truth} AND ${inner.sql} = "found.records"."link"`;
  const isWithinLimit = isUnique ? sql`` : sql` WHERE ${isAbsent(linked)} OR ${isAbsent(ofValue)}`;
  const found = sql`(SELECT ${inner.sql} AS "link" FROM ${tables(linked)} WHERE ${met.truth}) AS "found.records"`;
  const links = sql`SELECT ${isUnique ? sql`` : sql`DISTINCT `}"link" FROM ${found}`;
  return {
    truth: target.dialect.isGivenBy(outer.sql, sql`SELECT "link" FROM ${found}${isWithinLimit}`),
    height: Math.max(searched.height, met.height),
    search: { rows: found, linked: tables(linked), limit, links, column: outer.sql, open },
  };
}

/** The columns to count for each related record, and the condition on their counts. */
interface Counts {
  readonly columns: Sql;
  readonly isResult: Sql;
  readonly height: number;
}

function countsOf(related: Related, { negated, compileWhere }: Pick<RelatedParts, 'negated' | 'compileWhere'>): Counts | undefined {
  const { atLeast, atMost, limit } = related;
  const met = needsMet(related, negated) ? compileWhere(false) : undefined;
  const unmet = needsUnmet(related, negated) ? compileWhere(true) : undefined;
  if (met === 'anything' || unmet === 'anything') return undefined;
  // Columns of a subquery, because an aggregate that reads only columns of the outer statement belongs to that statement.
  const columns = sql.join([
    ...(met === undefined ? [] : [sql`CASE WHEN ${met.truth} THEN 1 END AS "met"`]),
    ...(unmet === undefined ? [] : [sql`CASE WHEN (${unmet.truth}) IS NOT TRUE THEN 1 END AS "possible"`]),
  ]);
  const [countMet, countPossible] = [sql`count("met")`, sql`count("possible")`];
  const bounds = negated
    ? [
        ...(atLeast === undefined ? [] : [sql`${countPossible} < ${literal(atLeast)}`]),
        ...(atMost === undefined ? [] : [sql`${countMet} > ${literal(atMost)}`]),
      ]
    : [
        ...(atLeast === undefined ? [] : [sql`${countMet} >= ${literal(atLeast)}`]),
        ...(atMost === undefined ? [] : [sql`${countPossible} <= ${literal(atMost)}`]),
      ];
  const result = sql.join(bounds, negated ? sql` OR ` : sql` AND `);
  return {
    columns,
    isResult: sql`count(*) <= ${literal(limit)} AND (${result})`,
    height: Math.max(met?.height ?? 0, unmet?.height ?? 0),
  };
}

function needsMet({ atLeast, atMost }: Related, negated: boolean): boolean {
  return (negated ? atMost : atLeast) !== undefined;
}

function needsUnmet({ atLeast, atMost }: Related, negated: boolean): boolean {
  return (negated ? atLeast : atMost) !== undefined;
}

/** Returns conditions that are true if the record has the values that `on` reads from it. Without one of them, the result is unknown. */
function outerValues({ on }: Related, target: RelatedTarget): readonly Sql[] {
  return on.flatMap(({ operand }) => {
    const column = operand.type === 'reference' ? target.column(operand.path) : undefined;
    return column === undefined ? [] : [sql`${column.sql} IS NOT NULL`];
  });
}

/** Writes an integer of a validated condition into the text: a bound value could have another type than `count(*)`. */
function literal(value: number): Sql {
  return sql.raw(String(Math.trunc(value)));
}
