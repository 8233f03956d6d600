import { createHash } from 'node:crypto';
import type { Field } from '../../fields/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { columnsOf, type Resource, type ResourceIndex, typeOf } from '../../resources/index.ts';
import { toLiteral } from '../../sql.ts';
import { type Existence, existenceSql, quoteName } from '../table-names.ts';
import type { TableDialect } from './table-state.ts';

/** An index that a definition asks for. */
export interface WantedIndex {
  readonly name: string;
  readonly unique: boolean;
  /** Fields as the definition lists them. */
  readonly fields: readonly string[];
  /** Fields and, where the index is not unique, `id`: so it can be walked in the order of lists. */
  readonly columns: readonly string[];
  /** Values that rows must have to stand in it. */
  readonly where?: JsonObject;
  /** Where deleted records are kept: those that stand in it. All of them where absent. */
  readonly of?: Existence;
}

/** Longest name that every database takes. */
const NAME = 63;

/** `CREATE TABLE`. Whether a value must be there and what stands for it is checked by code, and stands in no table. */
export function createTableSql(resource: Resource, dialect: TableDialect): readonly string[] {
  const by = partitionColumnOf(resource, dialect);
  const columns = columnsOf(resource).map(({ field }) =>
    field.name === 'id'
      ? `"id" ${dialect.columnTypes.text}${by === undefined ? ' PRIMARY KEY' : ''} NOT NULL`
      : columnSql(dialect.referencesLast ? withoutTarget(field) : field, dialect),
  );
  const start = `CREATE TABLE ${quoteName(resource.name)} (${columns.join(', ')}`;
  if (dialect.partitions === undefined || by === undefined) return [`${start})${dialect.tableOptions}`];
  // No key reaches across partitions but by the column that they go by.
  return [
    `${start}, PRIMARY KEY ("id", ${quoteName(by)}))${dialect.partitions.tableOptions(by)}`,
    dialect.partitions.restSql(resource.name),
  ];
}

/** The column by which a resource's table is kept in partitions; undefined where it is kept whole. */
export function partitionColumnOf({ partitionBy }: Resource, { partitions }: TableDialect): string | undefined {
  return partitions === undefined ? undefined : partitionBy;
}

/** `ALTER TABLE … ADD FOREIGN KEY`: the references of a new table, where they come last. */
export function addReferencesSql(resource: Resource, dialect: TableDialect): readonly string[] {
  if (!dialect.referencesLast) return [];
  return columnsOf(resource).flatMap(({ name, field }) =>
    field.to === undefined
      ? []
      : [`ALTER TABLE ${quoteName(resource.name)} ADD FOREIGN KEY (${quoteName(name)}) REFERENCES ${quoteName(field.to)} ("id")`],
  );
}

/** `ALTER TABLE … ADD COLUMN`. */
export function addColumnSql(resource: Resource, field: Field, dialect: TableDialect): string {
  return `ALTER TABLE ${quoteName(resource.name)} ADD COLUMN ${columnSql(field, dialect)}`;
}

/** `ALTER TABLE … RENAME COLUMN`. */
export function renameColumnSql(resource: Resource, from: string, to: string): string {
  return `ALTER TABLE ${quoteName(resource.name)} RENAME COLUMN ${quoteName(from)} TO ${quoteName(to)}`;
}

/** `CREATE INDEX`. */
export function createIndexSql(resource: Resource, index: WantedIndex, dialect: TableDialect): string {
  const columns = index.columns.map(dialect.indexPart).join(', ');
  const conditions = [
    ...(index.where === undefined ? [] : [whereSql(resource, index.where, dialect)]),
    ...(index.of === undefined ? [] : [existenceSql(index.of)]),
  ];
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return `CREATE ${index.unique ? 'UNIQUE ' : ''}INDEX ${quoteName(index.name)} ON ${quoteName(resource.name)} (${columns})${where}`;
}

/** The rows that stand in a partial index. DDL takes no bound values: each is written out, as its own column type has it. */
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

/** `DROP INDEX`. */
export function dropIndexSql(name: string): string {
  return `DROP INDEX ${quoteName(name)}`;
}

/**
 * A reference carries no ON DELETE: the database refuses, and destroys nothing by itself. What `onDelete` asks for is done by code,
 * where it is decided and recorded; what is kept aside has no definition in force that could ask for anything.
 */
function columnSql(field: Field, dialect: TableDialect): string {
  const column = `${quoteName(field.name)} ${dialect.columnTypes[typeOf(field).column]}`;
  return field.to === undefined ? column : `${column} REFERENCES ${quoteName(field.to)} ("id")`;
}

function withoutTarget({ to: _, ...field }: Field): Field {
  return field;
}

/**
 * Every index that a resource's table should have, by name. References have one too: a deletion asks who refers. Where deleted
 * records are kept, only the others are unique among each other, and those have an index of their own to be found by. In a table of
 * partitions, what is unique is so among the rows of one time.
 */
export function wantedIndexes(resource: Resource, dialect: TableDialect): ReadonlyMap<string, WantedIndex> {
  const asked: ResourceIndex[] = [...resource.indexes];
  for (const field of resource.fields.values()) {
    if (field.unique) asked.push({ fields: [field.name], unique: true });
    else if (field.index) asked.push({ fields: [field.name], unique: false });
  }
  const { softDelete } = resource;
  const holdsAll = ({ unique, where }: ResourceIndex): boolean => where === undefined && !(unique && softDelete);
  for (const field of resource.fields.values()) {
    if (field.to !== undefined && !asked.some((index) => holdsAll(index) && index.fields[0] === field.name))
      asked.push({ fields: [field.name], unique: false });
  }
  const by = partitionColumnOf(resource, dialect);
  const wanted = asked
    .map((index) => toWanted(resource, index, softDelete && index.unique ? 'notDeleted' : undefined))
    .map((index) =>
      index.unique && by !== undefined && !index.columns.includes(by) ? { ...index, columns: [...index.columns, by] } : index,
    );
  if (softDelete) wanted.push(toWanted(resource, { fields: ['deletedAt'], unique: false }, 'deleted'));
  return new Map(wanted.map((index) => [index.name, index]));
}

/** `ALTER TABLE … RENAME TO`; where only the case differs, through a name in between, without which SQLite sees two of the same. */
export function renameTableSql(from: string, to: string): readonly string[] {
  const rename = (before: string, after: string): string => `ALTER TABLE ${quoteName(before)} RENAME TO ${quoteName(after)}`;
  return from.toLowerCase() === to.toLowerCase() ? [rename(from, `${to}$`), rename(`${to}$`, to)] : [rename(from, to)];
}

/** `ALTER TABLE … DROP COLUMN`. */
export function dropColumnSql(table: string, column: string): string {
  return `ALTER TABLE ${quoteName(table)} DROP COLUMN ${quoteName(column)}`;
}

/** Whether an index is one of ours to drop: what a person made by hand stays. */
export function isManagedIndex(name: string): boolean {
  return /^(ix|ux)_.*\$/.test(name);
}

function toWanted(resource: Resource, { fields, unique, where }: ResourceIndex, of: Existence | undefined): WantedIndex {
  const rows = of === undefined ? where : { of, where: where ?? null };
  // `$` is in no name of a resource or field: two indexes never come to the same name.
  const name = `${unique ? 'ux' : 'ix'}_${[resource.name, ...fields].join('$')}${rows === undefined ? '' : `$${digest(JSON.stringify(rows))}`}`;
  const columns = unique || fields.includes('id') ? fields : [...fields, 'id'];
  return { name: shorten(name), unique, fields, columns, ...(where !== undefined && { where }), ...(of !== undefined && { of }) };
}

function shorten(name: string): string {
  return name.length <= NAME ? name : `${name.slice(0, NAME - 13)}$${digest(name)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
