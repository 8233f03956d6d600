import {
  conditionPaths,
  type Related,
  type RelatedOfAllRows,
  type RelatedTarget,
  readsOtherRecords,
  type SqlTarget,
} from '../../conditions/index.ts';
import type { SqlDialect } from '../../operators/index.ts';
import { type Definitions, hasIndexOn, type Resource } from '../../resources/index.ts';
import { renderSql, type Sql, sql } from '../../sql.ts';
import { createJoins } from '../related/reference-joins.ts';
import { quoteName, recordsOf, tableOf } from '../table-names.ts';
import { createAncestorsTarget } from './ancestors-target.ts';
import { createItemsTarget } from './items-target.ts';
import { ownFieldsTarget } from './own-fields-target.ts';

/** The target of the statement or condition that contains this one, and the resource of the decided record. */
interface RelatedContext {
  readonly outer: SqlTarget;
  readonly definitions: Definitions;
  readonly decided: Resource;
  /** The same as that of `SqlTargetOptions`. */
  readonly searchesForAllRows?: boolean | undefined;
}

/**
 * Creates the SQL target of a condition on related records: the fields of its alias have columns, and other paths have those of the target around
 * it. Returns undefined if the condition must be evaluated in memory: a statement cannot compare checksums.
 */
export function createRelatedTarget(related: Related, context: RelatedContext): RelatedTarget | undefined {
  const { outer, definitions, decided } = context;
  const resource = definitions.get(related.resource);
  if (resource === undefined || resource.checksum) return undefined;
  // It differs from every table, because names of resources contain no dots.
  const table = `related.${related.as}`;
  const joins = createJoins(table);
  const target: RelatedTarget = {
    ...ownFieldsTarget({ outer, definitions, resource, as: related.as, joins }),
    ancestors: (within) => createAncestorsTarget(within, target, definitions),
    items: (some) => createItemsTarget(some, { outer: target, definitions }),
    related: (inner) => createRelatedTarget(inner, { outer: target, definitions, decided }),
    tables(where, limit) {
      const rows = sql`(SELECT * FROM ${recordsOf(resource, { as: table })} WHERE ${where} LIMIT ${sql.raw(String(limit))}) AS ${sql.raw(quoteName(table))}`;
      return sql.join([rows, ...joins.items], sql` `);
    },
    withoutOwn: resource.name === decided.name ? sql.raw(`${quoteName(table)}."id" <> ${quoteName(decided.name)}."id"`) : undefined,
  };
  const ofAllRows = findForAllRows(related, { ...context, resource, target });
  if (ofAllRows === undefined) return target;
  const records = checkedRecords(resource, table, context);
  const tables = (where: Sql): Sql =>
    sql.join([sql`(SELECT * FROM ${records} WHERE ${where}) AS ${sql.raw(quoteName(table))}`, ...joins.items], sql` `);
  return { ...target, ofAllRows: { ...ofAllRows, tables } };
}

/** The FROM item of the last condition on records of a resource. */
const checked = new WeakMap<Resource, { readonly dialect: SqlDialect; readonly table: string; readonly records: Sql }>();

/** Returns the FROM item of the records with the deadline check, as one text: a statement has it up to three times. */
function checkedRecords(resource: Resource, table: string, { outer: { dialect } }: RelatedContext): Sql {
  const known = checked.get(resource);
  if (known?.dialect === dialect && known.table === table) return known.records;
  const checking = recordsOf(resource, { as: table, check: dialect.deadlineCheck(tableOf(resource)) });
  const records = sql.raw(renderSql(checking, dialect.placeholder).sql);
  checked.set(resource, { dialect, table, records });
  return records;
}

/** The related resource, and the target of its fields. */
interface RelatedColumns extends RelatedContext {
  readonly resource: Resource;
  readonly target: RelatedTarget;
}

/** Returns the links of the related records of all rows; undefined if the related records of each row must be searched. */
function findForAllRows(
  { on, where }: Related,
  { outer, decided, searchesForAllRows, resource, target }: RelatedColumns,
): Omit<RelatedOfAllRows, 'tables'> | undefined {
  const [open, ...others] = on.filter(({ operand }) => operand.type === 'reference');
  const known = on.filter((link) => link !== open).map(({ path }) => path.keys[1] ?? '');
  const isFound = others.length === 0 && known.length > 0 && hasIndexOn(resource, known);
  if (searchesForAllRows !== true || decided.name === resource.name || !isFound || open?.operand.type !== 'reference') return undefined;
  if (readsOtherRecords(where) || conditionPaths(where).some(({ group }) => group === 'resource')) return undefined;
  const paths = [open.operand.path, open.path];
  if (open.operand.path.group !== 'resource' || paths.some((path) => target.kindOf(path)?.kind !== 'text')) return undefined;
  const [outerColumn, inner] = [outer.column(open.operand.path), target.column(open.path)];
  return outerColumn && inner && { open, outer: outerColumn, inner, isUnique: isUniqueBy(resource, [...known, open.path.keys[1] ?? '']) };
}

/** Returns true if no two records that are not deleted have the same values of the fields. */
function isUniqueBy({ fields, indexes }: Resource, names: readonly string[]): boolean {
  return (
    names.some((name) => name === 'id' || fields.get(name)?.unique === true) ||
    indexes.some(({ fields: of, unique, where }) => unique && where === undefined && of.every((name) => names.includes(name)))
  );
}
