import type { Field } from '../../fields/index.ts';
import { typeOf } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { quoteName } from '../table-names.ts';
import { type AppliedField, toAppliedField } from './applied-definitions.ts';
import { addColumnSql, renameColumnSql } from './ddl.ts';
import { describeChanges, findIncompatibilities } from './field-changes.ts';
import { createStep, type DraftStep, type Precondition } from './migration-plan.ts';
import { hasToConvert, planConversion, renameArchivedColumns } from './plan-conversion.ts';
import { defaultPrecondition, hierarchyPrecondition, requiredPrecondition, valuesPrecondition } from './preconditions.ts';
import { findNameClash } from './table-renames.ts';
import { columnBefore, type TableDialect, type TableState, tableBefore } from './table-state.ts';

/** The plan of one field. */
export interface FieldDraft {
  readonly steps: readonly DraftStep[];
  readonly refusals: readonly string[];
  readonly preconditions: readonly Precondition[];
  /** SQL for the value of a row after the migration. The SQL can be queried before any step. */
  readonly after: Sql;
  /** Descriptions of changes that leave the column as it is. */
  readonly changes: readonly string[];
  /** Columns that are archived or restored. */
  readonly moved: readonly string[];
}

const NONE: FieldDraft = Object.freeze({ steps: [], refusals: [], preconditions: [], after: sql`NULL`, changes: [], moved: [] });

/** Plans one field of an existing table. The column of the field exists, exists under a former name, or is new. */
export function planField(table: TableState, field: Field): FieldDraft {
  const from = sourceOf(table, field);
  const refusal = describeNameTaken(table, field, from) ?? describeLateRename(table, field);
  if (refusal !== undefined) return { ...NONE, refusals: [refusal] };
  const draft = from === undefined ? planNewColumn(table, field) : planExistingColumn(table, field, from);
  const preconditions = [...draft.preconditions];
  const wasRequired = table.applied?.fields.get(field.name)?.required === true && !draft.steps.some(({ kind }) => kind === 'convert');
  if (field.required && !wasRequired) preconditions.push(requiredPrecondition(table, field, draft.after));
  const wasHierarchy = table.applied?.fields.get(field.name)?.hierarchy === true && !draft.steps.some(({ kind }) => kind === 'convert');
  if (field.hierarchy === true && !wasHierarchy) preconditions.push(hierarchyPrecondition(table, field, draft.after));
  if (field.to !== undefined && draft.steps.some(({ kind }) => kind === 'backfill'))
    preconditions.push(defaultPrecondition(table, field, draft.after));
  return { ...draft, preconditions };
}

/** Returns the name of the column that has the values of a field; undefined if there is none. */
function sourceOf({ actual, resource }: TableState, field: Field): string | undefined {
  if (actual.columns.has(field.name)) return field.name;
  const { renamedFrom } = field;
  return renamedFrom !== undefined && actual.columns.has(renamedFrom) && !resource.fields.has(renamedFrom) ? renamedFrom : undefined;
}

/** Describes a rename to the name of an existing column. Performed, it would restore an archived column and archive the renamed column. */
function describeNameTaken(
  { resource, applied, actual }: TableState,
  { name, renamedFrom }: Field,
  from: string | undefined,
): string | undefined {
  if (renamedFrom === undefined || resource.fields.has(renamedFrom)) return undefined;
  const taken = findNameClash(actual.columns.keys(), name, renamedFrom);
  const isPending = taken === name ? applied?.fields.has(renamedFrom) === true && !applied.fields.has(name) : from === renamedFrom;
  if (taken === undefined || !isPending) return undefined;
  const what = `${resource.name}.${renamedFrom} cannot be renamed to ${name}, because the column ${taken} exists and has values of its own`;
  return `${what}; choose another name, or undo the rename, permanently delete the archived column with storage prune, and rename again`;
}

/** Describes a `renamedFrom` that is added after the field is in force under its new name: the former values would stay archived. */
function describeLateRename({ resource, applied, archivedFields }: TableState, { name, renamedFrom }: Field): string | undefined {
  const inForce = applied?.fields.get(name);
  if (renamedFrom === undefined || inForce === undefined || inForce.renamedFrom === renamedFrom) return undefined;
  if (!archivedFields.has(renamedFrom) || resource.fields.has(renamedFrom)) return undefined;
  const what = `${resource.name}.${name} is already in force, so it cannot be renamed from ${renamedFrom}, which is archived`;
  return `${what}; name the field ${renamedFrom} again to restore those values, or remove renamedFrom`;
}

function planNewColumn(table: TableState, field: Field): FieldDraft {
  const { resource, actual, dialect } = table;
  const name = `${resource.name}.${field.name}`;
  const clash = findNameClash(actual.columns.keys(), field.name);
  if (clash !== undefined) {
    const reason = `${name} differs only in case from the existing column ${clash}; add renamedFrom: ${clash} to use its values`;
    return { ...NONE, refusals: [reason] };
  }
  const add = createStep(resource.name, {
    kind: 'addColumn',
    field: field.name,
    // The name in renamedFrom may be misspelt.
    reason: field.renamedFrom === undefined ? `${name} is new` : `${name} is new: there is no column ${field.renamedFrom} to rename`,
    texts: [addColumnSql(resource, field, dialect)],
  });
  const stored = defaultOf(field);
  if (stored === undefined) return { ...NONE, steps: [add], after: sql`NULL` };
  const value = castValue(stored, field, dialect);
  const affected = sql`SELECT count(*) AS "count" FROM ${tableBefore(table)}`;
  return { ...NONE, steps: [add, createBackfill(resource.name, { field, value, affected })], after: value };
}

function planExistingColumn(table: TableState, field: Field, from: string): FieldDraft {
  const { resource, applied } = table;
  const inForce = applied && toAppliedField(applied, from);
  const before = inForce ?? toAutomaticField(table, from) ?? table.archivedFields.get(from);
  const isRestored = applied?.fields.has(from) !== true;
  const refusals = findIncompatibilities(table, field, { from, before: before?.field });
  const converts = before !== undefined && refusals.length === 0 && hasToConvert(table, before.field, field);
  const moved = converts ? planConversion(table, field, { ...before, column: from }) : planColumnRename(table, field, from);
  const steps: DraftStep[] = [...moved.steps];
  if (isRestored) steps.unshift(createRestore(table, field, from));
  const wasRequired = applied?.fields.get(from)?.required === true && !converts;
  const value = field.required && !wasRequired ? defaultOf(field) : undefined;
  if (value !== undefined) {
    const affected = sql`SELECT count(*) AS "count" FROM ${tableBefore(table)} WHERE ${moved.after} IS NULL`;
    steps.push(createBackfill(resource.name, { field, value: castValue(value, field, table.dialect), affected }));
  }
  return {
    steps,
    refusals,
    preconditions: !converts && removesValues(before?.field, field) ? [valuesPrecondition(table, field, columnBefore(table, from))] : [],
    after: value === undefined ? moved.after : sql`coalesce(${moved.after}, ${castValue(value, field, table.dialect)})`,
    changes: before === undefined ? [] : describeChanges(before.field, field),
    moved: moved.columns,
  };
}

/** Returns an applied field without a definition as written, such as `id`, which every record has. */
export function toAutomaticField({ applied }: Pick<TableState, 'applied'>, name: string): AppliedField | undefined {
  const field = applied?.fields.get(name);
  return field && { field, source: { type: field.type } };
}

/** Creates the step that brings a column into force that was archived or created by hand. */
function createRestore({ resource, archivedFields }: TableState, field: Field, from: string): DraftStep {
  const name = `${resource.name}.${field.name}`;
  const reason = archivedFields.has(from)
    ? `${name} is defined again; its archived values are restored`
    : `${name} uses the existing column ${from} and its values`;
  return createStep(resource.name, {
    kind: 'bringBack',
    field: field.name,
    reason,
    definitionChanges: [{ delete: `${resource.name}.${from}` }],
  });
}

interface MovedColumn {
  readonly steps: readonly DraftStep[];
  readonly after: Sql;
  readonly columns: readonly string[];
}

/** Plans the rename of a column and of the columns that conversions archived of its field; nothing if the name stays. */
function planColumnRename(table: TableState, field: Field, from: string): MovedColumn {
  const { resource } = table;
  const after = columnBefore(table, from);
  if (from === field.name) return { steps: [], after, columns: [] };
  const archived = renameArchivedColumns(table, { from, field: field.name });
  const texts = [renameColumnSql(resource, from, field.name), ...archived.texts];
  const reason = `${resource.name}.${from} is renamed to ${field.name} and keeps its values`;
  const { definitionChanges } = archived;
  const step = createStep(resource.name, { kind: 'renameColumn', field: field.name, reason, texts, definitionChanges });
  return { steps: [{ ...step, from }], after, columns: [] };
}

/** Returns whether `values` of a field no longer lists a former value, or the former values are unknown. */
function removesValues(before: Field | undefined, field: Field): boolean {
  const allowed = (field.of ?? field).values;
  const known = (before?.of ?? before)?.values;
  return allowed !== undefined && known?.every((value) => allowed.includes(value)) !== true;
}

interface Backfill {
  readonly field: Field;
  /** The default in the type of the column. */
  readonly value: Sql;
  readonly affected: Sql;
}

/** Creates the step that writes the default into rows without a value. */
function createBackfill(resource: string, { field, value, affected }: Backfill): DraftStep {
  const [table, column] = [resource, field.name].map(quoteName) as [string, string];
  return {
    resource,
    kind: 'backfill',
    risk: 'needs-backfill',
    field: field.name,
    reason: `records without ${resource}.${field.name} get its default ${JSON.stringify(field.default)}`,
    sql: [`UPDATE ${table} SET ${column} = ? WHERE ${column} IS NULL`],
    statements: [sql`UPDATE ${sql.raw(table)} SET ${sql.raw(column)} = ${value} WHERE ${sql.raw(column)} IS NULL`],
    affected,
  };
}

/** Returns a bound value in a CAST, because PostgreSQL cannot infer the type of a bound value in every place. */
function castValue(value: unknown, field: Field, { castTypes }: TableDialect): Sql {
  return sql`CAST(${value} AS ${sql.raw(castTypes[typeOf(field).column])})`;
}

/** Returns the default of a field in the form of its column. */
function defaultOf(field: Field): unknown {
  if (field.default === undefined) return undefined;
  const type = typeOf(field);
  return type.toColumn(type.toCanonical?.(field.default, field) ?? field.default, field);
}
