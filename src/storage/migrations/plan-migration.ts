import type { Definitions, Resource } from '../../resources/index.ts';
import type { Sql } from '../../sql.ts';
import { type AppliedState, type DefinitionRow, toAppliedState } from './applied-definitions.ts';
import { renameTableSql } from './ddl.ts';
import { createStep, type DraftStep, type ResourceDraft } from './migration-plan.ts';
import { planNewTable, planTable } from './plan-table.ts';
import { findNameClash, findTableRenames, renameDefinitionRows, renameTables, type TableRenames } from './table-renames.ts';
import type { ActualTable, TableDialect } from './table-state.ts';

/** The input of a plan. */
export interface PlanInput {
  /** The rows of `_Definition`, as stored and parsed. */
  readonly rows: readonly DefinitionRow[];
  readonly applied: AppliedState;
  /** The existing tables. */
  readonly actual: readonly ActualTable[];
  /** The definitions to migrate to. */
  readonly definitions: Definitions;
  readonly dialect: TableDialect;
  listItems(list: Sql): Sql;
}

/** A plan whose preconditions have not been checked. */
export interface MigrationDraft {
  /** The drafts of the resources that have a step or a refusal. */
  readonly drafts: readonly ResourceDraft[];
  readonly renames: TableRenames;
}

/** Plans the steps that migrate the tables to the definitions. Reads no row. */
export function draftMigration(input: PlanInput): MigrationDraft {
  const renames = findTableRenames(input.definitions, input.actual);
  const actual = renameTables(input.actual, renames);
  const renamed: RenamedInput = {
    ...input,
    renames,
    actual,
    currentNames: currentNamesOf(actual, renames),
    applied: renames.size === 0 ? input.applied : toAppliedState(renameDefinitionRows(input.rows, renames)),
  };
  const drafts = [...input.definitions.values()].map((resource) => planResource(renamed, resource));
  for (const [name, { archived }] of renamed.applied.resources) {
    if (!archived && !input.definitions.has(name)) drafts.push(planRemoved(renamed, name));
  }
  return { renames, drafts: drafts.filter(({ steps, refusals }) => steps.length > 0 || refusals.length > 0) };
}

/** The input with tables and applied definitions under their new names. */
interface RenamedInput extends PlanInput {
  readonly renames: TableRenames;
  /** The names of tables before any step, by new name. */
  readonly currentNames: ReadonlyMap<string, string>;
}

function planResource(input: RenamedInput, resource: Resource): ResourceDraft {
  const { applied, actual, dialect, currentNames, listItems } = input;
  const table = actual.find(({ name }) => name.toLowerCase() === resource.name.toLowerCase());
  if (table === undefined) return planNewTable(resource, dialect);
  const refusal =
    describeNameTaken(input, resource) ??
    describeLateRename(input, resource) ??
    (table.name === resource.name ? undefined : describeCaseClash(resource, table.name));
  if (refusal !== undefined) return { resource: resource.name, steps: [], refusals: [refusal], preconditions: [] };
  const before = applied.resources.get(resource.name);
  const draft = planTable({
    resource,
    actual: table,
    currentName: currentNames.get(resource.name) ?? resource.name,
    applied: before?.resource,
    wasArchived: before?.archived === true,
    archivedFields: applied.fields.get(resource.name) ?? new Map(),
    archivedColumns: applied.columns.get(resource.name) ?? new Map(),
    dialect,
    currentNameOf: (name) => currentNames.get(name),
    listItems,
  });
  const rename = planRename(input, resource);
  return rename === undefined ? draft : { ...draft, steps: [rename, ...draft.steps] };
}

function currentNamesOf(actual: readonly ActualTable[], renames: TableRenames): ReadonlyMap<string, string> {
  const before = new Map([...renames].map(([from, to]) => [to, from]));
  return new Map(actual.map(({ name }) => [name, before.get(name) ?? name]));
}

function planRename({ renames }: RenamedInput, { name }: Resource): DraftStep | undefined {
  const from = [...renames].find(([, to]) => to === name)?.[0];
  if (from === undefined) return undefined;
  const reason = `${from} is renamed to ${name} and keeps its records`;
  return { ...createStep(name, { kind: 'renameTable', reason, texts: renameTableSql(from, name) }), from };
}

/** Describes a rename to the name of an existing table. Performed, it would restore an archived table and archive the renamed table. */
function describeNameTaken({ applied, actual, definitions }: RenamedInput, { name, renamedFrom = '' }: Resource): string | undefined {
  const from = applied.resources.get(renamedFrom);
  if (from === undefined || from.archived || definitions.has(renamedFrom)) return undefined;
  const tables = actual.map((table) => table.name);
  const taken = findNameClash(tables, name, renamedFrom);
  // If the resource of that name is in force, the rename was performed before.
  if (taken === undefined || (taken === name && applied.resources.get(name)?.archived === false)) return undefined;
  const what = `${renamedFrom} cannot be renamed to ${name}, because the table ${taken} exists and has records of its own`;
  return `${what}; choose another name, or undo the rename, permanently delete the archived table with storage prune, and rename again`;
}

/** Describes a `renamedFrom` that is added after the resource is in force under its new name: the former records would stay archived. */
function describeLateRename({ applied, rows }: RenamedInput, { name, renamedFrom = '' }: Resource): string | undefined {
  if (applied.resources.get(renamedFrom)?.archived !== true || applied.resources.get(name)?.archived !== false) return undefined;
  // Reads the stored row, because `renamedFrom` is removed from `applied` if there are renames.
  if (rows.find(({ id }) => id === name)?.source['renamedFrom'] === renamedFrom) return undefined;
  const what = `${name} is already in force, so it cannot be renamed from ${renamedFrom}, which is archived`;
  return `${what}; name the resource ${renamedFrom} again to restore those records, or remove renamedFrom`;
}

function describeCaseClash({ name }: Resource, taken: string): string {
  return `${name} differs only in case from the existing table ${taken}; add renamedFrom: ${taken} to use its records, or choose another name`;
}

/** Plans to archive a resource that is no longer defined. Refuses if another resource is renamed from it and its new name is taken. */
function planRemoved(input: RenamedInput, name: string): ResourceDraft {
  const successor = [...input.definitions.values()].find(({ renamedFrom }) => renamedFrom === name);
  const refusal = successor && describeNameTaken(input, successor);
  if (refusal !== undefined) return { resource: name, steps: [], refusals: [refusal], preconditions: [] };
  const step = createStep(name, { kind: 'keepAside', reason: `${name} is no longer defined; its table is archived` });
  return { resource: name, steps: [step], refusals: [], preconditions: [] };
}
