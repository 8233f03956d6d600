/** Compiles a comparison through a list of references to SQL. */
import { sql } from '../sql.ts';
import type { ItemsTarget, Part } from './compile-target.ts';
import type { Some } from './condition.ts';

/** The compiled parts of a comparison through a list. */
interface ItemsParts {
  readonly target: ItemsTarget;
  /** True to find the rows for which the comparison is false, instead of those for which it is true. */
  readonly negated: boolean;
  /** The compiled `where`, or its negation. It is true for exactly the records for which it is true. */
  readonly where: Part;
}

/**
 * Returns SQL that is true for exactly the rows for which the comparison is true (or false, if negated): it is true for some item, or false for
 * each. Returns undefined if SQL cannot express `where`.
 */
export function compileItems({ limit }: Some, { target, negated, where }: ItemsParts): Exclude<Part, 'anything'> | undefined {
  if (where === 'anything') return undefined;
  // A column of a subquery, because an aggregate that reads only columns of the outer statement belongs to that statement.
  const compared = sql`SELECT CASE WHEN ${where.truth} THEN 1 END AS "met" FROM ${target.tables(limit + 1)}`;
  const result = negated ? sql`count("met") = count(*)` : sql`count("met") > 0`;
  const truth = sql<boolean | null>`(SELECT count(*) <= ${sql.raw(String(Math.trunc(limit)))} AND ${result} FROM (${compared}) AS "items")`;
  return { truth, height: where.height };
}
