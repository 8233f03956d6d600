import { memoize } from '../memoize.ts';
import type { SqlDialect, StoredType } from '../operators/index.ts';
import { columnsOf, type Resource } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { RecordIds } from './row-writes.ts';

/** Quotes the name of a table, column or index. Names come from validated definitions, never from a request. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Which records of a resource a query reads: those that are not deleted, or the soft-deleted ones. */
export type Existence = 'notDeleted' | 'deleted';

/** The records to read, and their alias in the statement. */
interface RecordSource {
  readonly existence?: Existence | undefined;
  /** The name of the resource if absent. */
  readonly as?: string;
  /** The deadline check of the transaction on the table of the resource: for a statement that can visit many rows. */
  readonly check?: Sql | undefined;
}

/**
 * Returns the FROM item for the records of a resource. It contains the condition on soft deletion, so that no query can forget the
 * condition. Databases flatten the inner SELECT, so it costs no more than its condition.
 */
export function recordsOf(resource: Resource, reading: RecordSource = {}): Sql {
  const { check, existence = 'notDeleted', as = resource.name } = reading;
  if (check === undefined) return sql.raw(recordsText(resource, reading));
  // The check comes first, because SQLite evaluates the terms of a WHERE in order.
  const exists = resource.softDelete ? existenceSql(existence) : existence === 'deleted' ? 'FALSE' : undefined;
  const rest = sql.raw(`${exists === undefined ? '' : ` AND ${exists}`}) AS ${quoteName(as)}`);
  return sql`(SELECT * FROM ${tableOf(resource)} WHERE ${check}${rest}`;
}

/** Renders the FROM item of `recordsOf` without a check. */
export function recordsText(resource: Resource, { existence = 'notDeleted', as = resource.name }: RecordSource = {}): string {
  const [table, alias] = [quoteName(resource.name), quoteName(as)];
  if (resource.softDelete) return `(SELECT * FROM ${table} WHERE ${existenceSql(existence)}) AS ${alias}`;
  // A resource without soft delete has no deleted records.
  if (existence === 'deleted') return `(SELECT * FROM ${table} WHERE FALSE) AS ${alias}`;
  return as === resource.name ? table : `${table} AS ${alias}`;
}

/** Renders the condition for the soft-deleted records, or for those that are not deleted, of a resource with soft delete. */
export function existenceSql(existence: Existence): string {
  return existence === 'notDeleted' ? '"deletedAt" IS NULL' : '"deletedAt" IS NOT NULL';
}

/**
 * Returns the table of a resource with all rows, soft-deleted ones too: for writes, and for reads of rows whose ids a search has found or that
 * are checked for deletion afterwards. Searches use `recordsOf`.
 */
export function tableOf(resource: Resource): Sql {
  return sql.raw(quoteName(resource.name));
}

/** Renders a column qualified with its table, because `json_each` has columns named `id`, `type`, `key` and `value`. */
export function columnOf({ name }: Pick<Resource, 'name'>, field: string): Sql {
  return sql.raw(`${quoteName(name)}.${quoteName(field)}`);
}

/** Returns true if a record can have the id. The claims of a token may contain NUL and unpaired surrogates, which PostgreSQL refuses. */
export function isPossibleId(id: string): boolean {
  return id.isWellFormed() && !id.includes('\0');
}

/** Renders the right-hand side of `IN` for ids: one bound value, however many they are. Leaves out those that no record can have. */
export function idList(dialect: SqlDialect, given: readonly string[]): Sql {
  const ids = given.every(isPossibleId) ? given : given.filter(isPossibleId);
  return ids.length === 1 ? sql`(${ids[0]})` : sql`(SELECT value FROM ${dialect.listItems(sql`${JSON.stringify(ids)}`)})`;
}

/** Renders the SELECT of the ids of those records that exist and are not soft-deleted. */
export function existingIds(dialect: SqlDialect, { resource, ids }: RecordIds): Sql {
  return sql`SELECT "id" FROM ${recordsOf(resource)} WHERE "id" IN ${idList(dialect, ids)}`;
}

const selections = new WeakMap<Resource, Map<string, Sql>>();

/** Returns the columns of a record without write-only fields, which are never read, and without the given columns. Cached: few sets of columns are left out. */
export function selectionOf(resource: Resource, without: readonly string[] = []): Sql {
  const known = memoize(selections, resource, createSelections);
  return memoize(known, without.length === 0 ? '' : without.join(' '), () => sql.raw(selectionText(resource, without)));
}

function createSelections(): Map<string, Sql> {
  return new Map();
}

function selectionText(resource: Resource, without: readonly string[] = []): string {
  const readable = columnsOf(resource).filter(({ name, field }) => !field.writeOnly && !without.includes(name));
  return readable.map(({ name }) => `${quoteName(resource.name)}.${quoteName(name)}`).join(', ');
}

/** Returns the columns of some fields of a record, without write-only fields. */
export function selectionOfFields(resource: Resource, names: ReadonlySet<string>): Sql {
  const unread = columnsOf(resource).flatMap(({ name }) => (names.has(name) ? [] : [name]));
  return sql.raw(selectionText(resource, unread));
}

const readings = new WeakMap<SqlDialect, WeakMap<Resource, string>>();

/**
 * Returns the text that selects a record by its id, which is the first value, without secret fields; the caller may append conditions.
 * Cached for each resource, because nearly every request uses it.
 */
export function readingById(dialect: SqlDialect, resource: Resource): string {
  const texts = memoize(readings, dialect, () => new WeakMap<Resource, string>());
  return memoize(texts, resource, () => readingText(dialect, resource, selectionText(resource)));
}

/** Returns the text that selects columns of a record by its id, which is the first value. */
export function readingText(dialect: SqlDialect, resource: Resource, selection: string): string {
  return `SELECT ${selection} FROM ${recordsText(resource)} WHERE "id" = ${dialect.placeholder(1)}`;
}

/** The columns and the number of rows of an INSERT. */
export interface Insertion {
  /** A column with a type casts its values to it, so that a prepared statement never inserts values of an older column type. */
  readonly columns: readonly { readonly name: string; readonly type?: StoredType }[];
  /** 1 if absent. */
  readonly rows?: number;
}

/** Renders an INSERT; the values are bound row by row in the order of the columns. */
export function insertionInto(dialect: SqlDialect, table: string, { columns, rows = 1 }: Insertion): string {
  const row = (at: number): string =>
    `(${columns.map(({ type }, index) => dialect.placeholder(at * columns.length + index + 1, type)).join(', ')})`;
  const values = Array.from({ length: rows }, (_, at) => row(at)).join(', ');
  return `INSERT INTO ${quoteName(table)} (${columns.map(({ name }) => quoteName(name)).join(', ')}) VALUES ${values}`;
}
