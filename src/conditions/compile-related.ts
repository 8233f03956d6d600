/** Compiles the bounds of a condition on related records to SQL. */
import { type Sql, sql } from '../sql.ts';
import type { Part, RelatedTarget } from './compile-target.ts';
import type { Related } from './condition.ts';

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

type Compiled = Exclude<Part, 'anything'>;

/**
 * Returns SQL that is true for exactly the rows for which the condition is true (or false, if negated). A row for which it is unknown gives
 * another result than true, whether it is negated or not: the polarity of each comparison is known, so the difference between false and unknown
 * does not matter. Returns undefined if SQL cannot express a part.
 */
export function compileCounts(related: Related, { target, negated, links, compileWhere }: RelatedParts): Compiled | undefined {
  const { atLeast, atMost, limit } = related;
  const met = needsMet(related, negated) ? compileWhere(false) : undefined;
  const unmet = needsUnmet(related, negated) ? compileWhere(true) : undefined;
  if (links === 'anything' || met === 'anything' || unmet === 'anything') return undefined;
  // Columns of a subquery, because an aggregate that reads only columns of the outer statement belongs to that statement.
  const columns = sql`CASE WHEN ${met?.truth ?? sql`FALSE`} THEN 1 END AS "met", CASE WHEN (${unmet?.truth ?? sql`TRUE`}) IS NOT TRUE THEN 1 END AS "possible"`;
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
  const where = target.withoutOwn === undefined ? links.truth : sql`${links.truth} AND ${target.withoutOwn}`;
  const counted = sql<
    boolean | null
  >`(SELECT count(*) <= ${literal(limit)} AND (${result}) FROM (SELECT ${columns} FROM ${target.tables(where, limit + 1)}) AS "counted")`;
  const outer = outerValues(related, target);
  return {
    truth: outer.length === 0 ? counted : sql<boolean | null>`(${sql.join(outer, sql` AND `)} AND ${counted})`,
    height: Math.max(links.height, met?.height ?? 0, unmet?.height ?? 0),
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
