import { relatedKindOf } from '../authz/context/index.ts';
import type { Path, Related, RelatedTarget, SqlTarget } from '../conditions/index.ts';
import { type Definitions, fieldAt, type Resource } from '../resources/index.ts';
import { sql } from '../sql.ts';
import { createAncestorsTarget } from './ancestors-target.ts';
import { createItemsTarget } from './items-target.ts';
import { createJoins, findColumn } from './reference-joins.ts';
import { quoteName, recordsOf } from './table-names.ts';

/** The target of the statement or condition that contains this one, and the resource of the decided record. */
interface RelatedContext {
  readonly outer: SqlTarget;
  readonly definitions: Definitions;
  readonly decided: Resource;
}

/**
 * Creates the SQL target of a condition on related records: the fields of its alias have columns, and other paths have those of the target around
 * it. Returns undefined if the condition must be evaluated in memory: a statement cannot compare checksums.
 */
export function createRelatedTarget(related: Related, { outer, definitions, decided }: RelatedContext): RelatedTarget | undefined {
  const resource = definitions.get(related.resource);
  if (resource === undefined || resource.checksum) return undefined;
  // It differs from every table, because names of resources contain no dots.
  const table = `related.${related.as}`;
  const joins = createJoins(table);
  const isOwn = ({ group, keys }: Path): boolean => group === 'related' && keys[0] === related.as;
  const find = ({ keys }: Path): ReturnType<typeof findColumn> => findColumn(fieldAt(definitions, resource, keys.slice(1)), joins);
  const target: RelatedTarget = {
    dialect: outer.dialect,
    now: outer.now,
    timeZone: outer.timeZone,
    kindOf: (path) => (isOwn(path) ? relatedKindOf(definitions, resource.name, path.keys.slice(1)) : outer.kindOf(path)),
    column(path) {
      if (!isOwn(path)) return outer.column(path);
      const found = find(path);
      return found?.inner.length === 0 ? found.subject : undefined;
    },
    json(path) {
      if (!isOwn(path)) return outer.json?.(path);
      const { subject, inner } = find(path) ?? {};
      return subject?.kind === 'json' && inner !== undefined ? { document: subject.sql, keys: inner } : undefined;
    },
    ancestors: (within) => createAncestorsTarget(within, target, definitions),
    items: (some) => createItemsTarget(some, { outer: target, definitions }),
    related: (inner) => createRelatedTarget(inner, { outer: target, definitions, decided }),
    tables(where, limit) {
      const rows = sql`(SELECT * FROM ${recordsOf(resource, { as: table })} WHERE ${where} LIMIT ${sql.raw(String(limit))}) AS ${sql.raw(quoteName(table))}`;
      return sql.join([rows, ...joins.items], sql` `);
    },
    withoutOwn: resource.name === decided.name ? sql.raw(`${quoteName(table)}."id" <> ${quoteName(decided.name)}."id"`) : undefined,
  };
  return target;
}
