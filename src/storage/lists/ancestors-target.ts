/** Ancestors of records in SQL. */
import { type AncestorsTarget, MAX_LEVELS, type SqlTarget, type Within } from '../../conditions/index.ts';
import type { SqlColumn, SqlDialect, SqlTruth } from '../../operators/index.ts';
import type { Definitions, Resource } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { idList, quoteName, recordsOf } from '../table-names.ts';

/** The alias of the records of one level. It differs from every table, because names of resources contain no dots. */
const LEVEL = 'ancestor.next';

/** Creates the SQL target of a condition on ancestors; undefined if it must be evaluated in memory: a statement cannot compare checksums. */
export function createAncestorsTarget(within: Within, target: SqlTarget, definitions: Definitions): AncestorsTarget | undefined {
  const hierarchy = target.kindOf(within.path)?.hierarchy;
  const resource = definitions.get(hierarchy?.resource ?? '');
  const first = target.column(within.path);
  if (resource?.hierarchy === undefined || resource.checksum || first === undefined) return undefined;
  const parent = within.parent && hierarchy?.parent !== undefined ? target.column(within.parent) : undefined;
  if (within.parent !== undefined && parent === undefined) return undefined;
  const records = walkUp(resource, parent === undefined ? firstRecord(resource, first) : sql`SELECT ${first.sql}, ${parent.sql}, 1`);
  return { first, id: idOf(first), whereAny: (matches) => renderResult(records, matches) };
}

function idOf({ kind, encode }: SqlColumn): SqlColumn {
  return { sql: sql.raw('"ancestors"."id"'), kind, encode };
}

/** Selects the first record, by a reference to it. */
function firstRecord(resource: Resource, { sql: id }: SqlColumn): Sql {
  return sql`SELECT ${columnsOfLevel(resource)}, 1 FROM ${recordsOf(resource, { as: LEVEL })} WHERE ${levelColumn('id')} = ${id}`;
}

/** Returns the WITH clause of the records from the first one upwards, each once for each level. A cycle ends at the last level. */
function walkUp(resource: Resource, first: Sql): Sql {
  const next = sql`SELECT ${columnsOfLevel(resource)}, "ancestors"."level" + 1 FROM "ancestors"
    JOIN ${recordsOf(resource, { as: LEVEL })} ON ${levelColumn('id')} = "ancestors"."parent" WHERE "ancestors"."level" < ${sql.raw(String(MAX_LEVELS))}`;
  return sql`WITH RECURSIVE "ancestors"("id", "parent", "level") AS (${first} UNION ALL ${next})`;
}

function columnsOfLevel(resource: Resource): Sql {
  return sql.join([levelColumn('id'), levelColumn(resource.hierarchy ?? 'id')]);
}

function levelColumn(name: string): Sql {
  return sql.raw(`${quoteName(LEVEL)}.${quoteName(name)}`);
}

/**
 * Renders the result: true if a record matches, false if none does and one has no parent, otherwise NULL. The comparison is a column of a subquery,
 * because an aggregate that reads only columns of the outer statement would belong to that statement.
 */
function renderResult(records: Sql, matches: SqlTruth): SqlTruth {
  const compared = sql`SELECT CASE WHEN ${matches} THEN 1 END AS "met", CASE WHEN NOT (${matches}) THEN 1 END AS "unmet",
    CASE WHEN "parent" IS NULL THEN 1 END AS "root" FROM "ancestors"`;
  const result = sql`CASE WHEN count("met") > 0 THEN TRUE WHEN count("root") > 0 AND count("unmet") = count(*) THEN FALSE END`;
  return sql<boolean | null>`(${records} SELECT ${result} FROM (${compared}) AS "compared")`;
}

/** Selects the ids of the records for which one of `ids` is their own or that of an ancestor within the levels that conditions compare. */
export function selectDescendants(dialect: SqlDialect, resource: Resource, ids: readonly string[]): Sql {
  const records = recordsOf(resource, { as: LEVEL });
  const id = levelColumn('id');
  // A statement that does not begin with SELECT counts as a write.
  return sql`SELECT "id" FROM (WITH RECURSIVE "below"("id", "level") AS (
      SELECT ${id}, 1 FROM ${records} WHERE ${id} IN ${idList(dialect, ids)}
      UNION SELECT ${id}, "below"."level" + 1 FROM "below" JOIN ${records} ON ${levelColumn(resource.hierarchy ?? '')} = "below"."id"
      WHERE "below"."level" < ${sql.raw(String(MAX_LEVELS))})
    SELECT "id" FROM "below") AS "found"`;
}
