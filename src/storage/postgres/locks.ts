/** SQL of row locks, and of named locks, which are advisory locks that a transaction holds until its end. */
import { type Sql, sql } from '../../sql.ts';
import type { RowLock } from '../contract.ts';

/** The clauses that lock the rows of a SELECT. */
export const ROW_LOCKS: Readonly<Record<RowLock, Sql>> = Object.freeze({
  noKeyUpdate: sql` FOR NO KEY UPDATE`,
  update: sql` FOR UPDATE`,
  share: sql` FOR SHARE`,
  keyShare: sql` FOR KEY SHARE`,
});

/** Maps a lock name to the 64-bit key of an advisory lock; the key differs per schema. */
export function toLockKey(name: string | Sql): Sql {
  return sql`hashtextextended(coalesce(current_schema(), '') || ' ' || ${name}, 0)`;
}

/** Renders the statement that takes named locks in the given order. */
export function takeInOrder(names: readonly string[]): Sql {
  const key = toLockKey(sql`"name"`);
  return sql`SELECT pg_advisory_xact_lock(${key}) FROM unnest(${names}::text[]) WITH ORDINALITY AS "names"("name", "place") ORDER BY "place"`;
}
