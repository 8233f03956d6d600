import { Problem } from '../errors.ts';
import type { ColumnType, Field, FieldType } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { targetName } from './automatic-fields.ts';
import type { Definitions, Resource, StoredRecord } from './resource.ts';
import { typeOf } from './validate-shape.ts';

/** The column of a field. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly field: Field;
  readonly fieldType: FieldType;
}

/** Column values by field name. */
export type Row = Readonly<Record<string, unknown>>;
/** A column value. */
export type RowValue = string | number | bigint | null;

const columns = new WeakMap<Resource, readonly Column[]>();

/** Returns the columns of a resource's table, in the order of its fields. */
export function columnsOf(resource: Resource): readonly Column[] {
  const known = columns.get(resource);
  if (known !== undefined) return known;
  // The list is not frozen, because iterating over a frozen array is ten times slower.
  const built = [...resource.fields.values()].map((field): Column => {
    const fieldType = typeOf(field);
    return Object.freeze({ name: field.name, type: fieldType.column, field, fieldType });
  });
  columns.set(resource, built);
  return built;
}

/** Converts values to column values. Values must be canonical. Throws an Error if a value does not fit its column. */
export function toRow(resource: Resource, values: JsonObject): Record<string, RowValue> {
  const row: Record<string, RowValue> = {};
  for (const { name, field, fieldType } of columnsOf(resource)) {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) continue;
    const stored = value === null ? null : fieldType.toColumn(value, field);
    if (stored === undefined) throw new Error(`${resource.name}.${name} cannot hold its value as ${fieldType.name}`);
    row[name] = stored;
  }
  return row;
}

/** Converts a row to a record. A field whose column is null is absent. @throws Problem STORAGE_DAMAGED if a column cannot be parsed */
export function fromRow(resource: Resource, row: Row): StoredRecord {
  const record: Record<string, Json> = {};
  let column = '';
  try {
    for (const { name, field, fieldType } of columnsOf(resource)) {
      const stored = row[name];
      column = name;
      if (stored !== null && stored !== undefined) record[name] = fieldType.fromColumn(stored, field);
    }
  } catch (error) {
    throw unreadable(resource, { id: row['id'], column, error });
  }
  return record as StoredRecord;
}

/** The column that cannot be parsed. */
interface UnreadableColumn {
  readonly id: unknown;
  readonly column: string;
  readonly error: unknown;
}

/** Creates the problem of a record that cannot be read. The id is only logged: a list of the caller may not show this record. */
function unreadable({ name }: Resource, { id, column, error }: UnreadableColumn): Problem {
  const cause = new Problem('STORAGE_DAMAGED', `row ${id} of ${name} is damaged: its column "${column}" cannot be parsed`, {
    cause: error,
  });
  return new Problem('STORAGE_DAMAGED', `a record of ${name} is damaged: a column cannot be parsed`, { cause });
}

/**
 * Projects a record for a response: every field that is not secret, in the order of the definition, with null for a missing value. With
 * `chosen`, only these fields and the id.
 */
export function showRecord(resource: Resource, record: StoredRecord, chosen?: ReadonlySet<string>): JsonObject {
  const shown: Record<string, Json> = {};
  for (const { name, field } of columnsOf(resource)) {
    if (!field.writeOnly && (chosen === undefined || name === 'id' || chosen.has(name))) shown[name] = record[name] ?? null;
  }
  return shown;
}

/** A reference that a path follows. */
export interface FollowedField {
  readonly field: Field;
  /** The resource of the record that the reference leads to. */
  readonly target: Resource;
}

/** The field that a path leads to. */
export interface FieldAt {
  readonly field: Field;
  /** The resource of the field. */
  readonly of: Resource;
  /** The references that the path follows, in order; empty for a field of the record itself. */
  readonly via: readonly FollowedField[];
  /** The rest of the path, within the value of the field. */
  readonly inner: readonly string[];
}

/**
 * Resolves a path from a record of `resource`: to one of its fields, or through references to a field of another record. Returns undefined
 * if there is no such field. Finds secret fields too.
 */
export function fieldAt(definitions: Definitions, resource: Resource, keys: readonly string[]): FieldAt | undefined {
  if (keys.length === 1) {
    const field = resource.fields.get(keys[0] as string);
    return field && { field, of: resource, via: [], inner: [] };
  }
  const via: FollowedField[] = [];
  let of = resource;
  for (const [index, key] of keys.entries()) {
    const field = of.fields.get(key);
    const to = field && targetName(field);
    if (field === undefined || to === undefined || index === keys.length - 1)
      return field && { field, of, via, inner: keys.slice(index + 1) };
    const target = definitions.get(to);
    if (target === undefined) return undefined;
    via.push({ field, target });
    of = target;
  }
  return undefined;
}
