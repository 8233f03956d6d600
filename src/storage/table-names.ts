import { memoize } from '../memoize.ts';
import type { SqlDialect, StoredType } from '../operators/index.ts';
import { columnsOf, type Resource } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';

/** A name of a table, column or index, quoted. Names come from checked definitions, never from a request. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Which records of a resource are meant: those that there are, or those that are deleted and kept. */
export type Existence = 'living' | 'deleted';

/** Whose records are read, as what the statement calls them. */
interface RecordSource {
  readonly existence?: Existence | undefined;
  /** The resource's own name where absent. */
  readonly as?: string;
}

/**
 * The records of a resource, for a statement to read FROM: those that are deleted are not among them, whatever the statement
 * asks. Here alone, so that no reader can forget it. Databases take the inner SELECT apart: it costs what its condition costs.
 */
export function recordsOf(resource: Resource, reading?: RecordSource): Sql {
  return sql.raw(recordsText(resource, reading));
}

function recordsText(resource: Resource, { existence = 'living', as = resource.name }: RecordSource = {}): string {
  const [table, alias] = [quoteName(resource.name), quoteName(as)];
  if (resource.softDelete) return `(SELECT * FROM ${table} WHERE ${isNotDeleted(existence)}) AS ${alias}`;
  // Whoever deletes for good has nothing that is deleted.
  if (existence === 'deleted') return `(SELECT * FROM ${table} WHERE FALSE) AS ${alias}`;
  return as === resource.name ? table : `${table} AS ${alias}`;
}

/** Of a resource that keeps deleted records, SQL that is true on those of one kind. */
export function isNotDeleted(existence: Existence): string {
  return existence === 'living' ? '"deletedAt" IS NULL' : '"deletedAt" IS NOT NULL';
}

/** A resource's table with all of its rows, deleted ones too: for writing. Reading goes by `recordsOf`. */
export function tableOf(resource: Resource): Sql {
  return sql.raw(quoteName(resource.name));
}

/** A column with its table in front: inside `json_each` there are other columns named `id`, `type`, `key` and `value`. */
export function columnOf(resource: Resource, field: string): Sql {
  return sql.raw(`${quoteName(resource.name)}.${quoteName(field)}`);
}

/** What stands behind `IN` for ids: one bound value, however many they are. */
export function idList(dialect: SqlDialect, ids: readonly string[]): Sql {
  return ids.length === 1 ? sql`(${ids[0]})` : sql`(SELECT value FROM ${dialect.listItems(sql`${JSON.stringify(ids)}`)})`;
}

const selections = new WeakMap<Resource, Sql>();

/** The columns that a record is read from. Secrets are not among them: what is never read is never shown. */
export function selectionOf(resource: Resource): Sql {
  return memoize(selections, resource, () => sql.raw(selectionText(resource)));
}

function selectionText(resource: Resource): string {
  const shown = columnsOf(resource).filter(({ field }) => !field.writeOnly);
  return shown.map(({ name }) => `${quoteName(resource.name)}.${quoteName(name)}`).join(', ');
}

const readings = new WeakMap<SqlDialect, WeakMap<Resource, string>>();

/**
 * The text that reads a record by its id, the first value, without secrets; what else has to hold is said behind it. Put together once for
 * each resource: nearly every request asks so.
 */
export function readingById(dialect: SqlDialect, resource: Resource): string {
  const texts = memoize(readings, dialect, () => new WeakMap<Resource, string>());
  return memoize(
    texts,
    resource,
    () => `SELECT ${selectionText(resource)} FROM ${recordsText(resource)} WHERE "id" = ${dialect.placeholder(1)}`,
  );
}

/** What the text of an insertion goes by. */
export interface Insertion {
  /** A column that says its type has values of that type alone, whatever it was when the statement was prepared. */
  readonly columns: readonly { readonly name: string; readonly type?: StoredType }[];
  /** One where absent. */
  readonly rows?: number;
}

/** The text that inserts rows, their values to be bound row by row in the order of the columns. */
export function insertionInto(dialect: SqlDialect, table: string, { columns, rows = 1 }: Insertion): string {
  const row = (at: number): string =>
    `(${columns.map(({ type }, index) => dialect.placeholder(at * columns.length + index + 1, type)).join(', ')})`;
  const values = Array.from({ length: rows }, (_, at) => row(at)).join(', ');
  return `INSERT INTO ${quoteName(table)} (${columns.map(({ name }) => quoteName(name)).join(', ')}) VALUES ${values}`;
}
