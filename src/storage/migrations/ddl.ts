import { createHash } from 'node:crypto';
import type { Field } from '../../fields/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { columnsOf, indexesOf, type Resource, type ResourceIndex, typeOf } from '../../resources/index.ts';
import { toLiteral } from '../../sql.ts';
import { type Existence, existenceSql, quoteName } from '../table-names.ts';
import type { TableDialect } from './table-state.ts';

/** An index that a definition requires. */
export interface WantedIndex {
  readonly name: string;
  readonly unique: boolean;
  /** The fields, in the order of the definition. */
  readonly fields: readonly string[];
  /** The columns: those of the fields, then `id` if the index is not unique, because every sort order of a list ends with `id`. */
  readonly columns: readonly string[];
  /** The field values that a row must have to be in a partial index. */
  readonly where?: JsonObject;
  /** The indexed records of a resource with soft deletes: soft-deleted or not. Absent if all records are indexed. */
  readonly of?: Existence;
}

/** The maximum length of a name in PostgreSQL, in bytes. PostgreSQL cuts longer names. */
const MAX_NAME_LENGTH = 63;

/**
 * Returns `CREATE TABLE`, and the default partition of a partitioned table. Fields have no NOT NULL and no DEFAULT; code validates both.
 */
export function createTableSql(resource: Resource, dialect: TableDialect): readonly string[] {
  const by = partitionColumnOf(resource, dialect);
  const columns = columnsOf(resource).map(({ field }) =>
    field.name === 'id'
      ? `"id" ${dialect.columnTypes.text}${by === undefined ? ' PRIMARY KEY' : ''} NOT NULL`
      : columnSql(dialect.referencesLast ? withoutTarget(field) : field, dialect),
  );
  const start = `CREATE TABLE ${quoteName(resource.name)} (${columns.join(', ')}`;
  if (dialect.partitions === undefined || by === undefined) return [`${start})${dialect.tableOptions}`];
  // PostgreSQL requires the partition column in every unique key of a partitioned table.
  return [
    `${start}, PRIMARY KEY ("id", ${quoteName(by)}))${dialect.partitions.tableOptions(by)}`,
    dialect.partitions.restSql(resource.name),
  ];
}

/** Returns the column that the table of a resource is partitioned by; undefined if it is not partitioned. */
export function partitionColumnOf({ partitionBy }: Resource, { partitions }: TableDialect): string | undefined {
  return partitions === undefined ? undefined : partitionBy;
}

/** Returns `ALTER TABLE … ADD FOREIGN KEY` for the references of a new table; nothing if `CREATE TABLE` contains them. */
export function addReferencesSql(resource: Resource, dialect: TableDialect): readonly string[] {
  if (!dialect.referencesLast) return [];
  return columnsOf(resource).flatMap(({ name, field }) =>
    field.to === undefined
      ? []
      : [`ALTER TABLE ${quoteName(resource.name)} ADD FOREIGN KEY (${quoteName(name)}) REFERENCES ${quoteName(field.to)} ("id")`],
  );
}

/** Returns `ALTER TABLE … ADD COLUMN`. */
export function addColumnSql(resource: Resource, field: Field, dialect: TableDialect): string {
  return `ALTER TABLE ${quoteName(resource.name)} ADD COLUMN ${columnSql(field, dialect)}`;
}

/** Returns `ALTER TABLE … RENAME COLUMN`. */
export function renameColumnSql(resource: Resource, from: string, to: string): string {
  return `ALTER TABLE ${quoteName(resource.name)} RENAME COLUMN ${quoteName(from)} TO ${quoteName(to)}`;
}

/** Returns `CREATE INDEX`. */
export function createIndexSql(resource: Resource, index: WantedIndex, dialect: TableDialect): string {
  const columns = index.columns.map(dialect.indexPart).join(', ');
  const conditions = [
    ...(index.where === undefined ? [] : [whereSql(resource, index.where, dialect)]),
    ...(index.of === undefined ? [] : [existenceSql(index.of)]),
  ];
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return `CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX ${quoteName(index.name)} ON ${quoteName(resource.name)} (${columns})${where}`;
}

/** Returns the condition of a partial index. DDL takes no bound values, so each value is a literal of its column type. */
function whereSql(resource: Resource, where: JsonObject, dialect: TableDialect): string {
  return Object.entries(where)
    .map(([name, value]) => {
      const field = resource.fields.get(name);
      if (typeof value === 'boolean' && field !== undefined) return `${quoteName(name)} = ${dialect.booleanText(value)}`;
      const stored = field && typeOf(field).toColumn(value, field);
      if (stored === undefined || stored === null) throw new Error(`${resource.name}.${name} cannot hold the value of a partial index`);
      return `${quoteName(name)} = ${toLiteral(stored)}`;
    })
    .join(' AND ');
}

/** Returns `DROP INDEX`. */
export function dropIndexSql(name: string): string {
  return `DROP INDEX ${quoteName(name)}`;
}

/**
 * Returns a column in DDL. References have no ON DELETE, so the database refuses to delete a referenced row. Code performs `onDelete`:
 * every deletion needs a decision and an audit entry. Archived columns have no definition in force, so they always restrict.
 */
function columnSql(field: Field, dialect: TableDialect): string {
  const column = `${quoteName(field.name)} ${dialect.columnTypes[typeOf(field).column]}`;
  return field.to === undefined ? column : `${column} REFERENCES ${quoteName(field.to)} ("id")`;
}

function withoutTarget({ to: _, ...field }: Field): Field {
  return field;
}

/**
 * Returns every index that the table of a resource needs, by name. With soft deletes, unique indexes leave out soft-deleted records, and an index on
 * `deletedAt` contains them. In a partitioned table, a unique index includes the partition column.
 */
export function wantedIndexes(resource: Resource, dialect: TableDialect): ReadonlyMap<string, WantedIndex> {
  const { softDelete } = resource;
  const by = partitionColumnOf(resource, dialect);
  const wanted = indexesOf(resource)
    .map((index) => toWanted(resource, index, softDelete && index.unique ? 'notDeleted' : undefined))
    .map((index) =>
      index.unique && by !== undefined && !index.columns.includes(by) ? { ...index, columns: [...index.columns, by] } : index,
    );
  if (softDelete) wanted.push(toWanted(resource, { fields: ['deletedAt'], unique: false }, 'deleted'));
  return new Map(wanted.map((index) => [index.name, index]));
}

/** Returns `ALTER TABLE … RENAME TO`. If only the case differs, renames twice: SQLite takes the two names for the same table. */
export function renameTableSql(from: string, to: string): readonly string[] {
  const rename = (before: string, after: string): string => `ALTER TABLE ${quoteName(before)} RENAME TO ${quoteName(after)}`;
  const between = shortenName(`${to}$`);
  return from.toLowerCase() === to.toLowerCase() ? [rename(from, between), rename(between, to)] : [rename(from, to)];
}

/** Returns `ALTER TABLE … DROP COLUMN`. */
export function dropColumnSql(table: string, column: string): string {
  return `ALTER TABLE ${quoteName(table)} DROP COLUMN ${quoteName(column)}`;
}

/** Returns whether migrations manage the index of a name. Indexes that were created by hand are never dropped. */
export function isManagedIndex(name: string): boolean {
  return /^(ix|ux)_.*\$/.test(name);
}

/**
 * Returns the name of the column that a conversion archives: `price$2`. If it is too long for PostgreSQL, a hash of the field's name replaces
 * the end of that name: `firstPartOfTheName$0123456789ab$2`.
 */
export function archivedColumnName(field: string, number: number): string {
  const name = `${field}$${number}`;
  if (name.length <= MAX_NAME_LENGTH) return name;
  const end = `$${digest(field)}$${number}`;
  return `${field.slice(0, MAX_NAME_LENGTH - end.length)}${end}`;
}

/** Returns a name that PostgreSQL does not cut. A name that is too long ends with a hash, so that two names stay different. */
export function shortenName(name: string): string {
  return name.length <= MAX_NAME_LENGTH ? name : `${name.slice(0, MAX_NAME_LENGTH - 13)}$${digest(name)}`;
}

function toWanted(resource: Resource, { fields, unique, where }: ResourceIndex, of: Existence | undefined): WantedIndex {
  // The names of existing indexes contain a hash of these texts: with another text, migrations would recreate the indexes.
  const rows = of === undefined ? where : { of: of === 'deleted' ? 'deleted' : 'living', where: where ?? null };
  // Names of resources and fields contain no `$`, so two indexes never get the same name.
  const name = `${unique ? 'ux' : 'ix'}_${[resource.name, ...fields].join('$')}${rows === undefined ? '' : `$${digest(JSON.stringify(rows))}`}`;
  const columns = unique || fields.includes('id') ? fields : [...fields, 'id'];
  return { name: shortenName(name), unique, fields, columns, ...(where !== undefined && { where }), ...(of !== undefined && { of }) };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
