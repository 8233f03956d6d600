import type { Definitions, Resource } from '../../resources/index.ts';
import type { Sql } from '../../sql.ts';
import { type AppliedState, type DefinitionRow, toAppliedState } from './applied-definitions.ts';
import { renameTableSql } from './ddl.ts';
import { createStep, type DraftStep, type ResourceDraft } from './migration-plan.ts';
import { planNewTable, planTable } from './plan-resource.ts';
import { findNameClash, findTableRenames, renameDefinitionRows, renameTables, type TableRenames } from './table-renames.ts';
import type { ActualTable, TableDialect } from './table-state.ts';

/** Everything a plan is made of. */
export interface PlanInput {
  /** Definitions as they were last applied, as they are on the record, … */
  readonly rows: readonly DefinitionRow[];
  /** … and read. */
  readonly applied: AppliedState;
  /** Tables as they are. */
  readonly actual: readonly ActualTable[];
  /** Definitions as they are to be. */
  readonly definitions: Definitions;
  readonly dialect: TableDialect;
  listItems(list: Sql): Sql;
}

/** A plan before rows have been asked. */
export interface MigrationDraft {
  /** One for each resource that asks for anything. */
  readonly drafts: readonly ResourceDraft[];
  readonly renames: TableRenames;
}

/** Plans what tables have to do to follow definitions. Pure: rows are asked later. */
export function draftMigration(parts: PlanInput): MigrationDraft {
  const renames = findTableRenames(parts.definitions, parts.actual);
  const actual = renameTables(parts.actual, renames);
  const planning: Planning = {
    ...parts,
    renames,
    actual,
    stored: storedNames(actual, renames),
    applied: renames.size === 0 ? parts.applied : toAppliedState(renameDefinitionRows(parts.rows, renames)),
  };
  const drafts = [...parts.definitions.values()].map((resource) => planResource(planning, resource));
  for (const [name, { keptAside }] of planning.applied.resources) {
    if (!keptAside && !parts.definitions.has(name)) drafts.push(planGone(planning, name));
  }
  return { renames, drafts: drafts.filter(({ steps, refusals }) => steps.length > 0 || refusals.length > 0) };
}

/** Tables and what was applied to them, as though renames of tables were done. */
interface Planning extends PlanInput {
  readonly renames: TableRenames;
  /** Name that a table is to have → name that it has. */
  readonly stored: ReadonlyMap<string, string>;
}

function planResource(planning: Planning, resource: Resource): ResourceDraft {
  const { applied, actual, dialect, stored, listItems } = planning;
  const table = actual.find(({ name }) => name.toLowerCase() === resource.name.toLowerCase());
  if (table === undefined) return planNewTable(resource, dialect);
  const refusal =
    describeSecondTable(planning, resource) ??
    describeLateRename(planning, resource) ??
    (table.name === resource.name ? undefined : describeTwin(resource, table.name));
  if (refusal !== undefined) return { resource: resource.name, steps: [], refusals: [refusal], obstacles: [] };
  const before = applied.resources.get(resource.name);
  const draft = planTable({
    resource,
    actual: table,
    stored: stored.get(resource.name) ?? resource.name,
    applied: before?.resource,
    wasAside: before?.keptAside === true,
    keptFields: applied.fields.get(resource.name) ?? new Map(),
    columnsAside: applied.columns.get(resource.name) ?? new Map(),
    dialect,
    storedName: (name) => stored.get(name),
    listItems,
  });
  const rename = planRename(planning, resource);
  return rename === undefined ? draft : { ...draft, steps: [rename, ...draft.steps] };
}

function storedNames(actual: readonly ActualTable[], renames: TableRenames): ReadonlyMap<string, string> {
  const before = new Map([...renames].map(([from, to]) => [to, from]));
  return new Map(actual.map(({ name }) => [name, before.get(name) ?? name]));
}

function planRename({ renames }: Planning, { name }: Resource): DraftStep | undefined {
  const from = [...renames].find(([, to]) => to === name)?.[0];
  if (from === undefined) return undefined;
  const reason = `${from} is called ${name} now and keeps its records`;
  return { ...createStep(name, { kind: 'renameTable', reason, texts: renameTableSql(from, name) }), from };
}

/** A rename that comes when records of that name are kept aside: taken for a return of those, the others would be out of force unseen. */
function describeSecondTable({ applied, actual, definitions }: Planning, { name, renamedFrom = '' }: Resource): string | undefined {
  const from = applied.resources.get(renamedFrom);
  if (from === undefined || from.keptAside || definitions.has(renamedFrom)) return undefined;
  const tables = actual.map((table) => table.name);
  const twin = findNameClash(tables, name, renamedFrom);
  // Renamed long ago, and in force since.
  if (twin === undefined || (twin === name && applied.resources.get(name)?.keptAside === false)) return undefined;
  return `${twin} has records of its own, which are kept aside, and ${renamedFrom} is to be called ${name}; take that back, drop those for good with storage prune and rename then, or choose another name`;
}

/** A name before that is said once the resource is in force under its new one: the records of the first would stay aside unseen. */
function describeLateRename({ applied, rows }: Planning, { name, renamedFrom = '' }: Resource): string | undefined {
  if (applied.resources.get(renamedFrom)?.keptAside !== true || applied.resources.get(name)?.keptAside !== false) return undefined;
  // As it is on the record: `applied` may be without it.
  if (rows.find(({ id }) => id === name)?.source['renamedFrom'] === renamedFrom) return undefined;
  const beside = `${name} is in force already, and ${renamedFrom}, from which it is to come, is kept aside`;
  return `${beside}; call it ${renamedFrom} again to have those records back, or leave renamedFrom out`;
}

function describeTwin({ name }: Resource, twin: string): string {
  return `${name} differs only in case from ${twin}, whose records are kept; say renamedFrom: ${twin} to take them over, or give it another name`;
}

/** A resource that is no longer defined: kept aside, unless another was to have its records and cannot. */
function planGone(planning: Planning, name: string): ResourceDraft {
  const taker = [...planning.definitions.values()].find(({ renamedFrom }) => renamedFrom === name);
  const refusal = taker && describeSecondTable(planning, taker);
  if (refusal !== undefined) return { resource: name, steps: [], refusals: [refusal], obstacles: [] };
  const step = createStep(name, { kind: 'keepAside', reason: `${name} is no longer defined; its records are kept aside` });
  return { resource: name, steps: [step], refusals: [], obstacles: [] };
}
