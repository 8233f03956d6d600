import type { Resource } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import { toAppliedField } from './applied-definitions.ts';
import { addReferencesSql, createTableSql, partitionColumnOf, wantedIndexes } from './ddl.ts';
import { createStep, type DraftStep, type Precondition, type ResourceDraft } from './migration-plan.ts';
import { planField, toAutomaticField } from './plan-field.ts';
import { createIndexStep, planIndexes } from './plan-indexes.ts';
import { deletedPrecondition, type ValueAfter } from './preconditions.ts';
import { rowsBefore, type TableDialect, type TableState } from './table-state.ts';

/** Plans a resource that has no table. */
export function planNewTable(resource: Resource, dialect: TableDialect): ResourceDraft {
  const indexes = [...wantedIndexes(resource, dialect).values()].map((index) => createIndexStep(resource, index, dialect));
  const texts = createTableSql(resource, dialect);
  const last = addReferencesSql(resource, dialect);
  const { name, renamedFrom } = resource;
  const reason = renamedFrom === undefined ? `${name} is new` : `${name} is new: no records of ${renamedFrom} are there to take over`;
  const made = createStep(name, { kind: 'createTable', reason, texts });
  const create: DraftStep = { ...made, sql: [...texts, ...last], last: last.map((text) => sql.raw(text)) };
  return { resource: resource.name, steps: [create, ...indexes], refusals: [], obstacles: [] };
}

/** Plans a resource whose table is there. */
export function planTable(found: TableState): ResourceDraft {
  const partition = planPartitions(found);
  // Its indexes go, and are made anew over all partitions.
  const table = partition === undefined ? found : { ...found, actual: { ...found.actual, indexes: new Map() } };
  const { resource, applied, wasAside } = table;
  const fields = new Map([...resource.fields.values()].map((field) => [field.name, planField(table, field)]));
  const drafts = [...fields.values()];
  const moved = new Set(drafts.flatMap((draft) => draft.moved));
  const after: ValueAfter = (field) => fields.get(field)?.after ?? sql`NULL`;
  const indexes = planIndexes(table, { columns: moved, after });
  const soft = planSoftDelete(table, after);
  const steps = [...drafts.flatMap((draft) => draft.steps), ...soft.steps, ...indexes.steps, ...keepFieldsAside(table)];
  const back = wasAside || applied === undefined;
  if (partition !== undefined) steps.unshift(partition);
  if (back)
    steps.unshift(
      createStep(resource.name, { kind: 'bringBack', reason: `${resource.name} comes back with the records that were kept of it` }),
    );
  const changes = [...soft.changes, ...drafts.flatMap((draft) => draft.changes)];
  if (changes.length > 0 || (steps.length === 0 && applied?.hash !== resource.hash)) {
    steps.push(
      createStep(resource.name, { kind: 'redefine', reason: changes.join('; ') || 'the definition has changed; no table has to follow' }),
    );
  }
  return {
    resource: resource.name,
    steps,
    refusals: drafts.flatMap((draft) => draft.refusals),
    obstacles: [...drafts.flatMap((draft) => draft.obstacles), ...soft.obstacles, ...indexes.obstacles],
  };
}

/** A table that is whole, where the definition asks for partitions. */
function planPartitions({ resource, actual, dialect }: TableState): DraftStep | undefined {
  const by = partitionColumnOf(resource, dialect);
  if (dialect.partitions === undefined || by === undefined || actual.partitionBy === by) return undefined;
  const texts = dialect.partitions.convertSql(actual, by);
  return createStep(resource.name, {
    kind: 'convert',
    reason: `${resource.name} is kept in partitions by the days of ${by} from now on`,
    texts,
  });
}

/** Fields that were in force and are no longer defined: their columns stay. */
function keepFieldsAside(table: TableState): readonly DraftStep[] {
  const { resource, applied, actual } = table;
  const renamed = new Set(
    [...resource.fields.values()].map(({ name, renamedFrom }) => (actual.columns.has(name) ? undefined : renamedFrom)),
  );
  const gone = [...(applied?.fields.keys() ?? [])].filter((name) => !resource.fields.has(name) && !renamed.has(name));
  return gone.map((field) => {
    const kept = applied && (toAppliedField(applied, field) ?? toAutomaticField(table, field));
    const row = { id: `${resource.name}.${field}`, hash: applied?.hash ?? '', keptAside: true };
    return createStep(resource.name, {
      kind: 'keepAside',
      field,
      reason: `${resource.name}.${field} is no longer defined; its values are kept aside`,
      notes: kept === undefined ? [] : [{ keep: { ...row, source: { name: resource.name, fields: { [field]: kept.source } } } }],
    });
  });
}

/** What it asks of a table that deleted records are kept from now on, or no longer. */
export interface SoftDeleteDraft {
  readonly steps: readonly DraftStep[];
  readonly obstacles: readonly Precondition[];
  /** What is different, in words. */
  readonly changes: readonly string[];
}

const NONE: SoftDeleteDraft = Object.freeze({ steps: [], obstacles: [], changes: [] });

/**
 * Plans a change of `softDelete`. Its columns are fields like any other, and planned as such. What is left is what records have
 * to say: those that would be back without it, and those that would be hidden with it.
 */
export function planSoftDelete(table: TableState, after: ValueAfter): SoftDeleteDraft {
  const { resource, applied, actual } = table;
  const was = applied?.softDelete === true;
  if (was === resource.softDelete) return NONE;
  if (was) {
    const obstacles = actual.columns.has('deletedAt') ? [deletedPrecondition(table)] : [];
    return { steps: [], obstacles, changes: ['softDelete was true, is false: what is deleted from now on is gone for good'] };
  }
  const changes = ['softDelete was false, is true: what is deleted from now on is kept, and can be restored'];
  return { steps: [hideDeleted(table, after)], obstacles: [], changes };
}

/**
 * A project may have kept a `deletedAt` of its own. No value of it is lost, and yet the records that have one are in no answer
 * any more: whoever reads them would miss them all the same, so it asks first, as what loses something does.
 */
function hideDeleted(table: TableState, after: ValueAfter): DraftStep {
  const { name } = table.resource;
  const reason = `records that have a value in ${name}.deletedAt already count as deleted, and are hidden`;
  return {
    ...createStep(name, { kind: 'hide', risk: 'lossy', field: 'deletedAt', reason }),
    concerns: sql`SELECT count(*) AS "count" FROM ${rowsBefore(table)} WHERE ${after('deletedAt')} IS NOT NULL`,
  };
}
