import type { ItemsTarget, Some, SqlTarget } from '../../conditions/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { createJoins } from '../related/reference-joins.ts';
import { quoteName, recordsOf } from '../table-names.ts';
import { createAncestorsTarget } from './ancestors-target.ts';
import { ownFieldsTarget } from './own-fields-target.ts';

/** The target of the statement or condition around a comparison through a list, and the number of lists around it. */
interface ItemsContext {
  readonly outer: SqlTarget;
  readonly definitions: Definitions;
  readonly depth?: number;
}

/**
 * Creates the SQL target of a comparison through a list: the fields of its records have columns, and other paths have those of the target around it.
 * Returns undefined if the comparison must be evaluated in memory: the list is in no column, or a statement cannot compare the checksums of the records.
 */
export function createItemsTarget(some: Some, { outer, definitions, depth = 0 }: ItemsContext): ItemsTarget | undefined {
  const resource = definitions.get(some.resource);
  const list = outer.column(some.path);
  if (resource === undefined || resource.checksum || list?.kind !== 'list' || list.itemKind !== 'text') return undefined;
  // They differ from every table, because names of resources contain no dots.
  const [table, items] = [`item.${depth}`, `id.${depth}`];
  const joins = createJoins(table);
  const target: ItemsTarget = {
    ...ownFieldsTarget({ outer, definitions, resource, as: some.as, joins }),
    ancestors: (within) => createAncestorsTarget(within, target, definitions),
    items: (inner) => createItemsTarget(inner, { outer: target, definitions, depth: depth + 1 }),
    tables(limit) {
      const [row, record] = [quoteName(items), quoteName(table)];
      const ids = sql`(SELECT value AS "id" FROM ${outer.dialect.listItems(orMissing(list.sql))} LIMIT ${sql.raw(String(limit))}) AS ${sql.raw(row)}`;
      const own = sql`LEFT JOIN ${recordsOf(resource, { as: table })} ON ${sql.raw(`${record}."id" = ${row}."id"`)}`;
      return sql.join([ids, own, ...joins.items], sql` `);
    },
  };
  return target;
}

/** Returns a list with one item that leads to no record in place of a missing list. */
function orMissing(list: Sql): Sql {
  return sql`coalesce(${list}, '[null]')`;
}
