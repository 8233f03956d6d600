import type { Field } from '../../fields/index.ts';
import { typeOf } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { quoteName } from '../table-names.ts';
import { type AppliedField, toAppliedField } from './applied-definitions.ts';
import { addColumnSql, renameColumnSql } from './ddl.ts';
import { describeChanges, findIncompatibilities } from './field-changes.ts';
import { createStep, type DraftStep, type Precondition } from './migration-plan.ts';
import { hasToConvert, planConversion, renameArchivedColumns } from './plan-conversion.ts';
import { defaultPrecondition, requiredPrecondition, valuesPrecondition } from './preconditions.ts';
import { findNameClash } from './table-renames.ts';
import { columnBefore, rowsBefore, type TableDialect, type TableState } from './table-state.ts';

/** What one field of a definition asks of its table. */
export interface FieldDraft {
  readonly steps: readonly DraftStep[];
  readonly refusals: readonly string[];
  readonly obstacles: readonly Precondition[];
  /** The value that a row will have, as SQL that can be asked before any step is done. */
  readonly after: Sql;
  /** What is different about it without its column being touched, in words. */
  readonly changes: readonly string[];
  /** Columns that are put aside or come back. */
  readonly moved: readonly string[];
}

const NONE: FieldDraft = Object.freeze({ steps: [], refusals: [], obstacles: [], after: sql`NULL`, changes: [], moved: [] });

/** Plans one field of a table that exists: its column is there, was there under another name, or is new. */
export function planField(table: TableState, field: Field): FieldDraft {
  const from = sourceOf(table, field);
  const refusal = refuseSecondColumn(table, field, from) ?? refuseLateRename(table, field);
  if (refusal !== undefined) return { ...NONE, refusals: [refusal] };
  const draft = from === undefined ? planNew(table, field) : planExisting(table, field, from);
  const obstacles = [...draft.obstacles];
  const isSure = table.applied?.fields.get(field.name)?.required === true && !draft.steps.some(({ kind }) => kind === 'convert');
  if (field.required && !isSure) obstacles.push(requiredPrecondition(table, field, draft.after));
  if (field.to !== undefined && draft.steps.some(({ kind }) => kind === 'backfill'))
    obstacles.push(defaultPrecondition(table, field, draft.after));
  return { ...draft, obstacles };
}

/** The name of the column that holds the field's values now; undefined where none does. */
function sourceOf({ actual, resource }: TableState, field: Field): string | undefined {
  if (actual.columns.has(field.name)) return field.name;
  const { renamedFrom } = field;
  return renamedFrom !== undefined && actual.columns.has(renamedFrom) && !resource.fields.has(renamedFrom) ? renamedFrom : undefined;
}

/** A rename that comes when values of that name are kept aside: taken for a return of those, the others would be out of force unseen. */
function refuseSecondColumn(
  { resource, applied, actual }: TableState,
  { name, renamedFrom }: Field,
  from: string | undefined,
): string | undefined {
  if (renamedFrom === undefined || resource.fields.has(renamedFrom)) return undefined;
  const twin = findNameClash(actual.columns.keys(), name, renamedFrom);
  const isBeside = twin === name ? applied?.fields.has(renamedFrom) === true && !applied.fields.has(name) : from === renamedFrom;
  if (twin === undefined || !isBeside) return undefined;
  return `${resource.name}.${twin} has values of its own, which are kept aside, and ${renamedFrom} is to be called ${name}; take that back, drop those for good with storage prune and rename then, or choose another name`;
}

/** A name before that is said once the field is in force under its new one: the values of the first would stay aside unseen. */
function refuseLateRename({ resource, applied, keptFields }: TableState, { name, renamedFrom }: Field): string | undefined {
  const standing = applied?.fields.get(name);
  if (renamedFrom === undefined || standing === undefined || standing.renamedFrom === renamedFrom) return undefined;
  if (!keptFields.has(renamedFrom) || resource.fields.has(renamedFrom)) return undefined;
  const beside = `${resource.name}.${name} is in force already, and ${resource.name}.${renamedFrom}, from which it is to come, is kept aside`;
  return `${beside}; call it ${renamedFrom} again to have those values back, or leave renamedFrom out`;
}

function planNew({ resource, actual, dialect, ...table }: TableState, field: Field): FieldDraft {
  const name = `${resource.name}.${field.name}`;
  const twin = findNameClash(actual.columns.keys(), field.name);
  if (twin !== undefined) {
    const reason = `${name} differs only in case from ${twin}, whose values are kept; say renamedFrom: ${twin} to take them over`;
    return { ...NONE, refusals: [reason] };
  }
  const value = defaultOf(field);
  const add = createStep(resource.name, {
    kind: 'addColumn',
    field: field.name,
    // One that is misspelt would leave the values it was to take over aside, and a new field without any.
    reason: field.renamedFrom === undefined ? `${name} is new` : `${name} is new: no values of ${field.renamedFrom} are there to take over`,
    texts: [addColumnSql(resource, field, dialect)],
  });
  const rows = rowsBefore({ resource, actual, dialect, ...table });
  const steps =
    value === undefined
      ? [add]
      : [
          add,
          backfill(resource.name, {
            field,
            value: castValue(value, field, dialect),
            concerns: sql`SELECT count(*) AS "count" FROM ${rows}`,
          }),
        ];
  return { ...NONE, steps, after: value === undefined ? sql`NULL` : castValue(value, field, dialect) };
}

function planExisting(table: TableState, field: Field, from: string): FieldDraft {
  const { resource, applied } = table;
  const inForce = applied && toAppliedField(applied, from);
  const before = inForce ?? toAutomaticField(table, from) ?? table.keptFields.get(from);
  const isBack = applied?.fields.has(from) !== true;
  const refusals = findIncompatibilities(table, field, { from, before: before?.field });
  const converts = before !== undefined && refusals.length === 0 && hasToConvert(table, before.field, field);
  const moved = converts ? planConversion(table, field, { ...before, column: from }) : moveColumn(table, field, from);
  const steps: DraftStep[] = [...moved.steps];
  if (isBack) {
    const reason = `${resource.name}.${field.name} comes back with the values that were kept of it`;
    steps.unshift(
      createStep(resource.name, { kind: 'bringBack', field: field.name, reason, notes: [{ drop: `${resource.name}.${from}` }] }),
    );
  }
  const wasRequired = applied?.fields.get(from)?.required === true && !converts;
  const value = field.required && !wasRequired ? defaultOf(field) : undefined;
  if (value !== undefined) {
    const concerns = sql`SELECT count(*) AS "count" FROM ${rowsBefore(table)} WHERE ${moved.after} IS NULL`;
    steps.push(backfill(resource.name, { field, value: castValue(value, field, table.dialect), concerns }));
  }
  return {
    steps,
    refusals,
    obstacles: !converts && losesValues(before?.field, field) ? [valuesPrecondition(table, field, columnBefore(table, from))] : [],
    after: value === undefined ? moved.after : sql`coalesce(${moved.after}, ${castValue(value, field, table.dialect)})`,
    changes: before === undefined ? [] : describeChanges(before.field, field),
    moved: moved.columns,
  };
}

/** The fields that every record has by itself stand in no definition as written. */
export function toAutomaticField({ applied }: Pick<TableState, 'applied'>, name: string): AppliedField | undefined {
  const field = applied?.fields.get(name);
  return field && { field, source: { type: field.type } };
}

interface MovedColumn {
  readonly steps: readonly DraftStep[];
  readonly after: Sql;
  readonly columns: readonly string[];
}

/** The column as it is, under the field's name. What was put aside of it by conversions goes along. */
function moveColumn(table: TableState, field: Field, from: string): MovedColumn {
  const { resource } = table;
  const after = columnBefore(table, from);
  if (from === field.name) return { steps: [], after, columns: [] };
  const carried = renameArchivedColumns(table, { from, field: field.name });
  const texts = [renameColumnSql(resource, from, field.name), ...carried.texts];
  const reason = `${resource.name}.${from} is called ${field.name} now and keeps its values`;
  const step = createStep(resource.name, { kind: 'renameColumn', field: field.name, reason, texts, notes: carried.notes });
  return { steps: [{ ...step, from }], after, columns: [] };
}

/** Whether a value that was listed no longer is, or nobody knows what was. */
function losesValues(before: Field | undefined, field: Field): boolean {
  const allowed = (field.of ?? field).values;
  const known = (before?.of ?? before)?.values;
  return allowed !== undefined && known?.every((value) => allowed.includes(value)) !== true;
}

interface Backfill {
  readonly field: Field;
  /** As the column holds it. */
  readonly value: Sql;
  readonly concerns: Sql;
}

/** Gives the default to rows without a value; left out where there are none. */
function backfill(resource: string, { field, value, concerns }: Backfill): DraftStep {
  const [table, column] = [resource, field.name].map(quoteName) as [string, string];
  return {
    resource,
    kind: 'backfill',
    risk: 'needs-backfill',
    field: field.name,
    reason: `records without ${resource}.${field.name} get its default ${JSON.stringify(field.default)}`,
    sql: [`UPDATE ${table} SET ${column} = ? WHERE ${column} IS NULL`],
    statements: [sql`UPDATE ${sql.raw(table)} SET ${sql.raw(column)} = ${value} WHERE ${sql.raw(column)} IS NULL`],
    concerns,
  };
}

/** A value of a type of its own, whatever stands around it. */
function castValue(value: unknown, field: Field, { castTypes }: TableDialect): Sql {
  return sql`CAST(${value} AS ${sql.raw(castTypes[typeOf(field).column])})`;
}

/** A field's default as its column holds it. */
function defaultOf(field: Field): unknown {
  if (field.default === undefined) return undefined;
  const type = typeOf(field);
  return type.toColumn(type.toCanonical?.(field.default, field) ?? field.default, field);
}
