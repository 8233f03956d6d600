import type { Field } from '../../fields/index.ts';
import type { Json } from '../../operators/index.ts';
import { typeOf } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { quoteName } from '../table-names.ts';
import type { WantedIndex } from './ddl.ts';
import type { Precondition } from './migration-plan.ts';
import { rowsBefore, type TableState } from './table-state.ts';

/** Values that are shown of what is in the way. */
const SHOWN = 5;

/** The value that a row will have of a field, as SQL that can be asked before any step is done. */
export type ValueAfter = (field: string) => Sql;

/** A required field without a value in some row. Asked where that was not sure before. */
export function requiredPrecondition(table: TableState, field: Field, after: Sql): Precondition {
  const name = `${table.resource.name}.${field.name}`;
  return {
    field: field.name,
    query: sql`SELECT count(*) AS "count" FROM ${rowsBefore(table)} WHERE ${after} IS NULL`,
    refuse([row]) {
      const rows = Number(row?.['count'] ?? 0);
      if (rows === 0) return undefined;
      const without = `${rows} ${rows === 1 ? 'record has' : 'records have'} no value for it`;
      return { rows, reason: `${name} is required, and ${without}; give it a default, or make it required once every record has one` };
    },
  };
}

/** A reference whose default is the id of no record: rows that were given it would refer to nothing. */
export function defaultPrecondition(table: TableState, field: Field, after: Sql): Precondition {
  const { to = '' } = field;
  const stored = table.storedName(to);
  const ids = stored === undefined ? sql`(SELECT NULL WHERE FALSE)` : sql`(SELECT "id" FROM ${sql.raw(quoteName(stored))})`;
  const reason = `${table.resource.name}.${field.name} has the default ${JSON.stringify(field.default)}, and no ${to} has this id`;
  return {
    field: field.name,
    query: sql`SELECT 1 AS "found" FROM ${rowsBefore(table)} WHERE ${after} NOT IN ${ids} LIMIT 1`,
    refuse: (rows) => (rows.length === 0 ? undefined : { reason }),
  };
}

/** Values of an enum that rows have and the definition no longer lists; of a list, its first such item. */
export function valuesPrecondition(table: TableState, field: Field, column: Sql): Precondition {
  const list = JSON.stringify((field.of ?? field).values ?? []);
  const unlisted = sql`NOT IN (SELECT value FROM ${table.listItems(sql`${list}`)})`;
  const found =
    field.of === undefined
      ? sql`CASE WHEN ${column} ${unlisted} THEN ${column} END`
      : sql`(SELECT value FROM ${table.listItems(column)} WHERE value ${unlisted} LIMIT 1)`;
  const query = sql`
    SELECT f."found" AS "value", count(*) AS "count" FROM (SELECT ${found} AS "found" FROM ${rowsBefore(table)}) AS f
    WHERE f."found" IS NOT NULL GROUP BY f."found" ORDER BY "count" DESC, "value" LIMIT ${SHOWN}`;
  const name = `${table.resource.name}.${field.name}`;
  return {
    field: field.name,
    query,
    refuse(rows) {
      if (rows.length === 0) return undefined;
      const used = field.writeOnly ? 'values' : rows.map((row) => `${JSON.stringify(row['value'] as Json)} (${countOf(row)})`).join(', ');
      return { reason: `${name} no longer lists ${used}, which records have; keep listing them, or change those records first` };
    },
  };
}

/** Deleted records of a resource that is no longer to keep any: they would be back, and nobody asked for that. */
export function deletedPrecondition(table: TableState): Precondition {
  const { name } = table.resource;
  return {
    query: sql`SELECT "id", count(*) OVER () AS "count" FROM ${rowsBefore(table)} WHERE "deletedAt" IS NOT NULL ORDER BY "id" LIMIT ${SHOWN}`,
    refuse(found) {
      const [row] = found;
      if (row === undefined) return undefined;
      const rows = countOf(row);
      const what = `${rows} deleted ${name} ${rows === 1 ? 'record' : 'records'} would come back to life without softDelete`;
      return {
        rows,
        ids: found.map(({ id }) => String(id)),
        reason: `${what}; restore them, or drop them for good with storage prune --deleted-before 0, first`,
      };
    },
  };
}

/** Records that would share what is to be unique. One without a value shares it with nobody. */
export function uniquePrecondition(
  table: TableState,
  { fields, where, of }: Pick<WantedIndex, 'fields' | 'where' | 'of'>,
  after: ValueAfter,
): Precondition {
  const { resource } = table;
  const values = fields.map(after);
  const selected = sql.join(values.map((value, index) => sql`${value} AS ${sql.raw(`"v${index}"`)}`));
  const living = of === undefined ? [] : [sql`${after('deletedAt')} IS NULL`];
  const conditions = [...values.map((value) => sql`${value} IS NOT NULL`), ...wheres(table, where ?? {}, after), ...living];
  const grouping = sql.raw(values.map((_, index) => index + 1).join(', '));
  const query = sql`SELECT ${selected}, count(*) AS "count" FROM ${rowsBefore(table)} WHERE ${sql.join(conditions, sql` AND `)}
    GROUP BY ${grouping} HAVING count(*) > 1 ORDER BY "count" DESC, ${grouping} LIMIT ${SHOWN}`;
  return {
    query,
    refuse(rows) {
      if (rows.length === 0) return undefined;
      const shared = rows.map((row) => `${values.map((_, index) => show(row[`v${index}`])).join(', ')} (${countOf(row)})`);
      const what = `${resource.name} (${fields.join(', ')}) is to be unique, and several records have ${shared.join('; ')}`;
      return { reason: `${what}; change those records first` };
    },
  };
}

function wheres({ resource }: TableState, where: Readonly<Record<string, Json>>, after: ValueAfter): readonly Sql[] {
  return Object.entries(where).map(([name, value]) => {
    const field = resource.fields.get(name);
    return sql`${after(name)} = ${field === undefined ? null : typeOf(field).toColumn(value, field)}`;
  });
}

function countOf(row: Readonly<Record<string, unknown>>): number {
  return Number(row['count']);
}

function show(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value).slice(0, 80);
}
