/**
 * Write marks: rows of `_State` that change with each commit on PostgreSQL that writes records which conditions read. The commit of a total compares them
 * with those in the snapshot of the count. There is one for each resource and lock key, so that no two writers wait for each other's row: writers
 * of one key hold its lock.
 */
import { type Sql, sql } from '../sql.ts';

/** Returns the id of the mark of a resource and a lock key. */
export function writeMarkId(resource: string, key: number): string {
  return `${prefixOf(resource)}${key}`;
}

/** Renders the marks of resources as one value. */
export function writeMarksSql(resources: ReadonlySet<string>): Sql {
  const ranges = [...resources].sort().map((name) => sql`"id" >= ${prefixOf(name)} AND "id" < ${`${prefixOf(name)}:`}`);
  return sql`(SELECT coalesce(string_agg("id" || ' ' || "text", ',' ORDER BY "id"), '') FROM "_State" WHERE ${sql.join(ranges, sql` OR `)})`;
}

/** Digits follow the prefix; the end of its range is the character after them. */
function prefixOf(resource: string): string {
  return `written ${resource} `;
}
