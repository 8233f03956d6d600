import type { Field } from '../../fields/index.ts';
import { typeOf } from '../../resources/index.ts';
import type { Sql } from '../../sql.ts';
import type { AppliedField, ArchivedColumn } from './applied-definitions.ts';
import { type Conversion, convertedValueSql, copyConvertedSql, type ReferenceTarget } from './conversion.ts';
import { addColumnSql, renameColumnSql } from './ddl.ts';
import { describeTypeChange } from './field-changes.ts';
import { createStep, type DefinitionChange, type DraftStep } from './migration-plan.ts';
import type { TableState } from './table-state.ts';

/** A change of type that stored values follow through code. */
export interface ConversionDraft {
  readonly steps: readonly DraftStep[];
  /** The value that a row will have, once it is worked out. */
  readonly after: Sql;
  /** Columns that are put aside or come back. */
  readonly columns: readonly string[];
}

/**
 * Whether values have to be converted for a change of type. A wider type needs no conversion by itself; once columns were put
 * aside, it is one all the same: what came of what stays told from one type to the next.
 */
export function hasToConvert(table: TableState, before: Field, after: Field): boolean {
  if (describeTypeChange(before, after) !== undefined) return true;
  return before.type !== after.type && asidesOf(table, before.name).length > 0;
}

/**
 * Plans a change of type: the column as it is is put aside under a name of its own, `price$2`, and what converts of it is copied
 * into a new one. Where a column of that type was put aside before, it comes back in the place of a new one, so that what
 * the types in between could not hold is there again.
 */
export function planConversion(table: TableState, field: Field, from: AppliedField & { readonly column: string }): ConversionDraft {
  const { resource, dialect } = table;
  const asides = asidesOf(table, from.column);
  const same = asides.findLastIndex((aside) => isSameForm(aside.field, field));
  const back = same < 0 ? asides.findLastIndex((aside) => isWider(aside.field, field)) : same;
  const columnType = dialect.columnTypes[typeOf(field).column];
  const conversion: Conversion = {
    table: table.stored,
    resource,
    from: { column: from.column, field: from.field, ...targetOf(table, from.field) },
    after: field,
    returnsTo: back < 0 ? undefined : back,
    aside: asides.map(({ column, field: before }) => ({ column, field: before, ...targetOf(table, before) })),
    columnType,
    ...targetOf(table, field),
  };
  const restored = same < 0 ? undefined : asides[same];
  const carried = renameArchivedColumns(table, { from: from.column, field: field.name, except: restored });
  const aside = `${field.name}$${carried.next}`;
  const texts = [
    ...carried.texts,
    renameColumnSql(resource, from.column, aside),
    restored === undefined ? addColumnSql(resource, field, dialect) : renameColumnSql(resource, restored.column, field.name),
    copyConvertedSql(conversion),
  ];
  const kept = { hash: resource.hash, source: { name: resource.name, fields: { [field.name]: from.source } }, keptAside: true };
  const notes: DefinitionChange[] = [...carried.notes, { keep: { id: `${resource.name}.${aside}`, ...kept } }];
  if (restored !== undefined) notes.unshift({ drop: `${resource.name}.${restored.column}` });
  const change = describeTypeChange(from.field, field) ?? `widens from ${from.field.type} to ${field.type}`;
  const reason = `${resource.name}.${from.column} ${change}`;
  const step = createStep(resource.name, { kind: 'convert', risk: 'needs-backfill', field: field.name, reason, texts, notes });
  return {
    steps: [{ ...step, conversion, ...(from.column !== field.name && { from: from.column }) }],
    after: convertedValueSql(conversion),
    columns: [from.column, ...(restored === undefined ? [] : [restored.column])],
  };
}

/** What conversions put aside of a field, the oldest first. */
function asidesOf({ columnsAside, actual }: TableState, field: string): readonly ArchivedColumn[] {
  return (columnsAside.get(field) ?? []).filter(({ column }) => actual.columns.has(column));
}

interface Carrying {
  /** The field's name before, … */
  readonly from: string;
  /** … and after: the same where it is not renamed. */
  readonly field: string;
  /** One that goes elsewhere. */
  readonly except?: ArchivedColumn | undefined;
}

interface Carried {
  readonly texts: readonly string[];
  readonly notes: readonly DefinitionChange[];
  /** The number of the next column that is put aside. */
  readonly next: number;
}

/** What was put aside of a field goes along when it is renamed. */
export function renameArchivedColumns(table: TableState, { from, field, except }: Carrying): Carried {
  const { resource } = table;
  let next = nextAside(table, field);
  const texts: string[] = [];
  const notes: DefinitionChange[] = [];
  for (const aside of from === field ? [] : asidesOf(table, from)) {
    if (aside === except) continue;
    const column = `${field}$${next++}`;
    texts.push(renameColumnSql(resource, aside.column, column));
    const kept = { hash: resource.hash, source: { name: resource.name, fields: { [field]: aside.source } }, keptAside: true };
    notes.push({ drop: `${resource.name}.${aside.column}` }, { keep: { id: `${resource.name}.${column}`, ...kept } });
  }
  return { texts, notes, next };
}

/** By the columns there are: `Price$1` leaves no place for `price$1`. */
function nextAside({ actual }: TableState, field: string): number {
  const taken = [...actual.columns.keys()].flatMap((column) => {
    const [of = '', number] = column.split('$');
    return number !== undefined && of.toLowerCase() === field.toLowerCase() ? [Number(number)] : [];
  });
  return Math.max(0, ...taken) + 1;
}

/** Whether values of the two are written alike. */
function isSameForm(a: Field, b: Field): boolean {
  return a.type === b.type && describeTypeChange(a, b) === undefined;
}

/** Whether the one could have become the other without a conversion, and so without anything being put aside. */
function isWider(wider: Field, field: Field): boolean {
  return typeOf(field).widensTo.includes(wider.type);
}

function targetOf(table: TableState, field: Field): { readonly target?: ReferenceTarget } {
  const to = field.to ?? field.of?.to;
  return to === undefined ? {} : { target: { table: table.storedName(to) } };
}
