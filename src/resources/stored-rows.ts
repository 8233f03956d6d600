import type { ColumnType, Field, FieldType } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import type { Definitions, Resource, StoredRecord } from './resource.ts';
import { typeOf } from './validate-shape.ts';

/** The column that holds a field's values. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly field: Field;
  readonly fieldType: FieldType;
}

/** Column values by field name. */
export type Row = Readonly<Record<string, unknown>>;
/** What one column takes. */
export type RowValue = string | number | bigint | null;

const columns = new WeakMap<Resource, readonly Column[]>();

/** The columns of a resource's table, in the order of its fields. */
export function columnsOf(resource: Resource): readonly Column[] {
  const known = columns.get(resource);
  if (known !== undefined) return known;
  // The list itself is not frozen: to walk a frozen one takes ten times as long, and it is walked for every record.
  const built = [...resource.fields.values()].map((field): Column => {
    const fieldType = typeOf(field);
    return Object.freeze({ name: field.name, type: fieldType.column, field, fieldType });
  });
  columns.set(resource, built);
  return built;
}

/** Column values for the fields that `values` has; null for null. Values must be canonical: one that fits no column is a defect of ours. */
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

/** A record from what its row holds. A column without a value is a field that is absent. */
export function fromRow(resource: Resource, row: Row): StoredRecord {
  const record: Record<string, Json> = {};
  for (const { name, field, fieldType } of columnsOf(resource)) {
    const stored = row[name];
    if (stored !== null && stored !== undefined) record[name] = fieldType.fromColumn(stored, field);
  }
  return record as StoredRecord;
}

/**
 * A record as a caller sees it: every field that is not secret, in the order of the definition, null where there is no value.
 * Where `chosen` names fields, those and the id.
 */
export function showRecord(resource: Resource, record: StoredRecord, chosen?: ReadonlySet<string>): JsonObject {
  const shown: Record<string, Json> = {};
  for (const { name, field } of columnsOf(resource)) {
    if (!field.writeOnly && (chosen === undefined || name === 'id' || chosen.has(name))) shown[name] = record[name] ?? null;
  }
  return shown;
}

/** The field that keys into a record lead to. */
export interface FieldAt {
  readonly field: Field;
  /** Whose field it is. */
  readonly of: Resource;
  /** The reference by which it was reached: the field is one of the record referred to. */
  readonly via?: Field;
  /** Keys into the field's own value. */
  readonly inner: readonly string[];
}

/**
 * Where `keys` lead from a record of `resource`: to a field of its own, or through a reference to a field of the record
 * referred to, one step away and no further. Undefined where there is no such field. What is secret is found too.
 */
export function fieldAt(definitions: Definitions, resource: Resource, [key = '', ...inner]: readonly string[]): FieldAt | undefined {
  const field = resource.fields.get(key);
  const [next] = inner;
  if (field === undefined || next === undefined || field.to === undefined) return field && { field, of: resource, inner };
  const target = definitions.get(field.to);
  const reached = target?.fields.get(next);
  return target && reached && { field: reached, of: target, via: field, inner: inner.slice(1) };
}
