import { type RawBuilder, sql } from 'kysely';
import type { SqlDialect } from '../operators/index.ts';
import { columnsOf, type Resource } from '../resource/index.ts';

/** A name of a table, column or index, quoted. Names come from checked definitions, never from a request. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A resource's table. */
export function tableOf(resource: Resource): RawBuilder<unknown> {
  return sql.raw(quoteName(resource.name));
}

/** A column with its table in front: inside `json_each` there are other columns named `id`, `type`, `key` and `value`. */
export function columnOf(resource: Resource, field: string): RawBuilder<unknown> {
  return sql.raw(`${quoteName(resource.name)}.${quoteName(field)}`);
}

const selections = new WeakMap<Resource, RawBuilder<unknown>>();

/** The columns that a record is read from. Secrets are not among them: what is never read is never shown. */
export function selectionOf(resource: Resource): RawBuilder<unknown> {
  const known = selections.get(resource);
  if (known !== undefined) return known;
  const shown = columnsOf(resource).filter(({ field }) => !field.writeOnly);
  const selection = sql.raw(shown.map(({ name }) => `${quoteName(resource.name)}.${quoteName(name)}`).join(', '));
  selections.set(resource, selection);
  return selection;
}

/** The text that inserts a row, its values to be bound in the order of the columns. */
export function insertionInto(dialect: SqlDialect, table: string, columns: readonly string[]): string {
  const places = columns.map((_, index) => dialect.placeholder(index + 1));
  return `INSERT INTO ${quoteName(table)} (${columns.map(quoteName).join(', ')}) VALUES (${places.join(', ')})`;
}
