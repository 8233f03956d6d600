import type { Field } from '../../fields/index.ts';
import { typeOf } from '../../resources/index.ts';
import type { Sql } from '../../sql.ts';
import type { AppliedField, ArchivedColumn } from './applied-definitions.ts';
import { convertedValueSql, copyConvertedSql } from './conversion.ts';
import { addColumnSql, archivedColumnName, renameColumnSql } from './ddl.ts';
import { describeTypeChange } from './field-changes.ts';
import { type Conversion, createStep, type DefinitionChange, type DraftStep, type ReferenceTarget } from './migration-plan.ts';
import type { TableState } from './table-state.ts';

/** The plan of a conversion. */
export interface ConversionDraft {
  readonly steps: readonly DraftStep[];
  /** SQL for the converted value of a row. */
  readonly after: Sql;
  /** Columns that are archived or restored. */
  readonly columns: readonly string[];
}

/**
 * Returns whether a change of type needs a conversion. A change to a wider type needs one only if conversions have archived columns of the
 * field, so that their values can still be traced from one type to the next.
 */
export function hasToConvert(table: TableState, before: Field, after: Field): boolean {
  if (describeTypeChange(before, after) !== undefined) return true;
  return before.type !== after.type && archivedColumnsOf(table, before.name).length > 0;
}

/**
 * Plans a change of type. The present column is archived under a new name, `price$2`, and its converted values are copied into a new
 * column. If an archived column has the new type, it is restored instead, so that values that the types in between could not represent
 * are available again.
 */
export function planConversion(table: TableState, field: Field, from: AppliedField & { readonly column: string }): ConversionDraft {
  const { resource, dialect } = table;
  const columns = archivedColumnsOf(table, from.column);
  const same = columns.findLastIndex((archived) => isSameType(archived.field, field));
  const source = same < 0 ? columns.findLastIndex((archived) => isWider(archived.field, field)) : same;
  const conversion: Conversion = {
    table: table.currentName,
    resource,
    from: { column: from.column, field: from.field, ...targetOf(table, from.field) },
    after: field,
    restored: source < 0 ? undefined : source,
    archived: columns.map(({ column, field: before }) => ({ column, field: before, ...targetOf(table, before) })),
    columnType: dialect.columnTypes[typeOf(field).column],
    ...targetOf(table, field),
  };
  const restored = same < 0 ? undefined : columns[same];
  const renamed = renameArchivedColumns(table, { from: from.column, field: field.name, except: restored });
  const archived = archivedColumnName(field.name, renamed.next);
  const texts = [
    ...renamed.texts,
    renameColumnSql(resource, from.column, archived),
    restored === undefined ? addColumnSql(resource, field, dialect) : renameColumnSql(resource, restored.column, field.name),
    copyConvertedSql(conversion),
  ];
  const row = { hash: resource.hash, source: { name: resource.name, fields: { [field.name]: from.source } }, archived: true };
  const definitionChanges: DefinitionChange[] = [...renamed.definitionChanges, { save: { id: `${resource.name}.${archived}`, ...row } }];
  if (restored !== undefined) definitionChanges.unshift({ delete: `${resource.name}.${restored.column}` });
  const change = describeTypeChange(from.field, field) ?? `widens from ${from.field.type} to ${field.type}`;
  const reason = `${resource.name}.${from.column} ${change}`;
  const step = createStep(resource.name, { kind: 'convert', risk: 'needs-backfill', field: field.name, reason, texts, definitionChanges });
  return {
    steps: [{ ...step, conversion, ...(from.column !== field.name && { from: from.column }) }],
    after: convertedValueSql(conversion),
    columns: [from.column, ...(restored === undefined ? [] : [restored.column])],
  };
}

/** Returns the existing columns of a field that conversions archived, oldest first. */
function archivedColumnsOf({ archivedColumns, actual }: TableState, field: string): readonly ArchivedColumn[] {
  return (archivedColumns.get(field) ?? []).filter(({ column }) => actual.columns.has(column));
}

interface FieldRename {
  /** The former name of the field. */
  readonly from: string;
  /** The new name; equal to `from` if the field is not renamed. */
  readonly field: string;
  /** An archived column to leave out, because it is restored. */
  readonly except?: ArchivedColumn | undefined;
}

interface RenamedColumns {
  readonly texts: readonly string[];
  readonly definitionChanges: readonly DefinitionChange[];
  /** The number for the name of the next archived column. */
  readonly next: number;
}

/** Plans the renames of the archived columns of a renamed field; nothing if the name of the field stays. */
export function renameArchivedColumns(table: TableState, { from, field, except }: FieldRename): RenamedColumns {
  const { resource } = table;
  let next = nextColumnNumber(table, field);
  const texts: string[] = [];
  const definitionChanges: DefinitionChange[] = [];
  for (const archived of from === field ? [] : archivedColumnsOf(table, from)) {
    if (archived === except) continue;
    const column = archivedColumnName(field, next++);
    texts.push(renameColumnSql(resource, archived.column, column));
    const row = { hash: resource.hash, source: { name: resource.name, fields: { [field]: archived.source } }, archived: true };
    definitionChanges.push({ delete: `${resource.name}.${archived.column}` }, { save: { id: `${resource.name}.${column}`, ...row } });
  }
  return { texts, definitionChanges, next };
}

/** Returns the next free number of an archived column. Ignores case: SQLite cannot have both `Price$1` and `price$1`. */
function nextColumnNumber({ actual }: TableState, field: string): number {
  const taken = [...actual.columns.keys()].flatMap((column) => {
    const number = Number(column.slice(column.lastIndexOf('$') + 1));
    // On SQLite, earlier versions did not shorten long names.
    const names = [archivedColumnName(field, number), `${field}$${number}`];
    return names.some((name) => name.toLowerCase() === column.toLowerCase()) ? [number] : [];
  });
  return Math.max(0, ...taken) + 1;
}

/** Returns whether two fields store their values in the same form. */
export function isSameType(a: Field, b: Field): boolean {
  return a.type === b.type && describeTypeChange(a, b) === undefined;
}

/** Returns whether `field` can be widened to `wider`. Widening archives no column. */
function isWider(wider: Field, field: Field): boolean {
  return typeOf(field).widensTo.includes(wider.type);
}

function targetOf(table: TableState, field: Field): { readonly target?: ReferenceTarget } {
  const to = field.to ?? field.of?.to;
  return to === undefined ? {} : { target: { table: table.currentNameOf(to) } };
}
