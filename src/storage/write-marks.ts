/**
 * Write marks: rows of `_State`. On PostgreSQL, each commit that writes records of a resource that conditions read changes one. The commit of a
 * list compares them with those in the snapshot of its records and of its total. There is one for each resource and lock key, so that no two writers wait for each other's row:
 * writers of one key hold its lock.
 */
import { memoize } from '../memoize.ts';
import { flattenSql, type Sql, sql } from '../sql.ts';

/** Returns the id of the mark of a resource and a lock key. */
export function writeMarkId(resource: string, key: number): string {
  return `${prefixOf(resource)}${key}`;
}

const rendered = new WeakMap<ReadonlySet<string>, Sql>();

/** Renders a hash of the marks of resources: a list returns it with each record. SHA-256 would take a tenth of the server's time for a list. */
export function writeMarksSql(resources: ReadonlySet<string>): Sql {
  return memoize(rendered, resources, render);
}

function render(resources: ReadonlySet<string>): Sql {
  const ranges = [...resources].sort().map((name) => sql`"id" >= ${prefixOf(name)} AND "id" < ${`${prefixOf(name)}:`}`);
  // The order of the marks does not matter, so they are not sorted.
  const marks = sql`bit_xor(hashtextextended("id" || ' ' || "text", 0))`;
  return flattenSql(sql`(SELECT coalesce(${marks}, 0)::text FROM "_State" WHERE ${sql.join(ranges, sql` OR `)})`);
}

/** Returns the text with which the ids of a resource's marks begin. Digits follow it, so `:`, the character after `9`, ends the range. */
function prefixOf(resource: string): string {
  return `written ${resource} `;
}
