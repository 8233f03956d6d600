import { isDeletionField, type Resource } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import { toAppliedField } from './applied-definitions.ts';
import {
  addReferencesSql,
  createIndexSql,
  createTableSql,
  dropIndexSql,
  isManagedIndex,
  partitionColumnOf,
  type WantedIndex,
  wantedIndexes,
} from './ddl.ts';
import { createStep, type DraftStep, type Precondition, type ResourceDraft } from './migration-plan.ts';
import { planField, toAutomaticField } from './plan-field.ts';
import { deletedPrecondition, indexSizePrecondition, uniquePrecondition, type ValueAfter } from './preconditions.ts';
import { type ActualIndex, type TableDialect, type TableState, tableBefore } from './table-state.ts';

/** Plans a resource without a table. */
export function planNewTable(resource: Resource, dialect: TableDialect): ResourceDraft {
  const indexes = [...wantedIndexes(resource, dialect).values()].map((index) => createIndexStep(resource, index, dialect));
  const texts = createTableSql(resource, dialect);
  const references = addReferencesSql(resource, dialect);
  const { name, renamedFrom } = resource;
  const reason = renamedFrom === undefined ? `${name} is new` : `${name} is new: there is no table ${renamedFrom} to rename`;
  const step = createStep(name, { kind: 'createTable', reason, texts });
  const create: DraftStep = { ...step, sql: [...texts, ...references], deferred: references.map((text) => sql.raw(text)) };
  return { resource: resource.name, steps: [create, ...indexes], refusals: [], preconditions: [] };
}

/** Plans a resource with an existing table: partitions, fields, soft deletes and indexes, then the archiving of removed fields. */
export function planTable(found: TableState): ResourceDraft {
  const partition = planPartitions(found);
  // The conversion to partitions drops the indexes, so all of them are planned again.
  const table = partition === undefined ? found : { ...found, actual: { ...found.actual, indexes: new Map() } };
  const { resource, applied } = table;
  const fields = new Map([...resource.fields.values()].map((field) => [field.name, planField(table, field)]));
  const drafts = [...fields.values()];
  const moved = new Set(drafts.flatMap((draft) => draft.moved));
  const after: ValueAfter = (field) => fields.get(field)?.after ?? sql`NULL`;
  const filled = new Set(drafts.flatMap(({ steps }) => steps.flatMap(({ kind, field }) => (kind === 'backfill' && field ? [field] : []))));
  const indexes = planIndexes(table, { moved, filled, after });
  const soft = planSoftDelete(table, after);
  // Indexes are dropped first, because a default may occur several times and not fit a former unique index.
  const steps = [...indexes.drops, ...drafts.flatMap((draft) => draft.steps), ...soft.steps, ...indexes.creations, ...archiveFields(table)];
  if (partition !== undefined) steps.unshift(partition);
  if (table.wasArchived || applied === undefined) steps.unshift(createTableRestore(table));
  const changes = [...soft.changes, ...drafts.flatMap((draft) => draft.changes)];
  if (changes.length > 0 || (steps.length === 0 && applied?.hash !== resource.hash)) {
    const reason = changes.join('; ') || 'the definition has changed; its table stays the same';
    steps.push(createStep(resource.name, { kind: 'redefine', reason }));
  }
  return {
    resource: resource.name,
    steps,
    refusals: drafts.flatMap((draft) => draft.refusals),
    preconditions: [...drafts.flatMap((draft) => draft.preconditions), ...soft.preconditions, ...indexes.preconditions],
  };
}

/** Plans the conversion of an existing table to partitions, if the definition has `partitionBy`. */
function planPartitions({ resource, actual, dialect }: TableState): DraftStep | undefined {
  const by = partitionColumnOf(resource, dialect);
  if (dialect.partitions === undefined || by === undefined || actual.partitionBy === by) return undefined;
  const texts = dialect.partitions.convertSql(actual, by);
  return createStep(resource.name, { kind: 'convert', reason: `${resource.name} is partitioned by the day of ${by}`, texts });
}

/** Creates the step that brings a table into force that was archived, or that no applied definition describes. */
function createTableRestore({ resource: { name }, wasArchived }: TableState): DraftStep {
  const reason = wasArchived
    ? `${name} is defined again; its archived records are restored`
    : `${name} uses the existing table and its records`;
  return createStep(name, { kind: 'bringBack', reason });
}

/** Creates the steps that archive the fields that were in force and are no longer defined. */
function archiveFields(table: TableState): readonly DraftStep[] {
  const { resource, applied, actual } = table;
  const renamed = new Set(
    [...resource.fields.values()].map(({ name, renamedFrom }) => (actual.columns.has(name) ? undefined : renamedFrom)),
  );
  const removed = [...(applied?.fields.keys() ?? [])].filter((name) => !resource.fields.has(name) && !renamed.has(name));
  return removed.map((field) => {
    const former = applied && (toAppliedField(applied, field) ?? toAutomaticField(table, field));
    const row = { id: `${resource.name}.${field}`, hash: applied?.hash ?? '', archived: true };
    return createStep(resource.name, {
      kind: 'keepAside',
      field,
      reason: `${resource.name}.${field} is no longer defined; its column is archived${describeSuccessor(table, field)}`,
      definitionChanges:
        former === undefined ? [] : [{ save: { ...row, source: { name: resource.name, fields: { [field]: former.source } } } }],
    });
  });
}

/** Returns a hint if a new field may be the removed field under another name: without `renamedFrom`, its values stay behind in the archive. */
function describeSuccessor({ resource, applied, actual }: TableState, removed: string): string {
  const type = applied?.fields.get(removed)?.type;
  const added = [...resource.fields.values()].filter(({ name }) => !actual.columns.has(name) && !isDeletionField(resource, name));
  const [only, ...others] = added.filter((field) => field.type === type && field.renamedFrom === undefined);
  if (only === undefined || others.length > 0) return '';
  return ` (if ${only.name} is its new name, rename it with renamedFrom: ${removed}, which keeps the values)`;
}

interface SoftDeleteDraft {
  readonly steps: readonly DraftStep[];
  readonly preconditions: readonly Precondition[];
  readonly changes: readonly string[];
}

/**
 * Plans a change of `softDelete`; its columns are planned like other fields. To turn it off, no soft-deleted record may exist, because it
 * would be visible again. If it is turned on, records with a value in an earlier field `deletedAt` are hidden.
 */
function planSoftDelete(table: TableState, after: ValueAfter): SoftDeleteDraft {
  const { resource, applied, actual } = table;
  const was = applied?.softDelete === true;
  if (was === resource.softDelete) return { steps: [], preconditions: [], changes: [] };
  if (was) {
    const preconditions = actual.columns.has('deletedAt') ? [deletedPrecondition(table)] : [];
    return { steps: [], preconditions, changes: ['softDelete was true, is false: deleted records can no longer be restored'] };
  }
  const changes = ['softDelete was false, is true: deleted records are kept and can be restored'];
  return { steps: [hideDeleted(table, after)], preconditions: [], changes };
}

/**
 * Creates the step for a resource that had a `deletedAt` field before it had soft deletes. The values of the field are kept, but records
 * with a value disappear from responses, so the step is lossy and needs confirmation.
 */
function hideDeleted(table: TableState, after: ValueAfter): DraftStep {
  const { name } = table.resource;
  const reason = `records with a value in ${name}.deletedAt count as soft-deleted and are hidden`;
  return {
    ...createStep(name, { kind: 'hide', risk: 'lossy', field: 'deletedAt', reason }),
    affected: sql`SELECT count(*) AS "count" FROM ${tableBefore(table)} WHERE ${after('deletedAt')} IS NOT NULL`,
  };
}

interface IndexDraft {
  readonly drops: readonly DraftStep[];
  readonly creations: readonly DraftStep[];
  readonly preconditions: readonly Precondition[];
}

interface IndexContext {
  /** Columns that are archived or restored. Their indexes are recreated, because an index follows a renamed column. */
  readonly moved: ReadonlySet<string>;
  /** Fields whose default is written into records without a value. */
  readonly filled: ReadonlySet<string>;
  readonly after: ValueAfter;
}

/** Plans the creation of missing indexes, and drops managed indexes that are not defined, have changed or are on a moved column. */
function planIndexes(table: TableState, { moved, filled, after }: IndexContext): IndexDraft {
  const { resource, actual, dialect } = table;
  const wanted = wantedIndexes(resource, dialect);
  const stays = (index: ActualIndex): boolean =>
    isSameIndex(index, wanted.get(index.name)) && ![...index.reads].some((name) => moved.has(name));
  const dropped = [...actual.indexes.values()].filter((index) => isManagedIndex(index.name) && !stays(index));
  const droppedNames = new Set(dropped.map(({ name }) => name));
  const created = [...wanted.values()].filter(({ name }) => !actual.indexes.has(name) || droppedNames.has(name));
  const isFilled = ({ fields, where = {} }: WantedIndex): boolean => [...fields, ...Object.keys(where)].some((name) => filled.has(name));
  const compared = [...wanted.values()].filter((index) => index.unique && (created.includes(index) || isFilled(index)));
  return {
    drops: dropped.map((index) => dropIndexStep(resource, index)),
    creations: created.map((index) => createIndexStep(resource, index, dialect)),
    preconditions: [
      ...compared.map((index) => uniquePrecondition(table, index, after)),
      ...created.flatMap((index) => indexSizePrecondition(table, index, after) ?? []),
    ],
  };
}

function createIndexStep(resource: Resource, index: WantedIndex, dialect: TableDialect): DraftStep {
  const values = Object.entries(index.where ?? {}).map(([name, value]) => `${name} is ${JSON.stringify(value)}`);
  const where = values.length === 0 ? '' : ` where ${values.join(' and ')}`;
  const what = index.unique ? 'is unique' : 'is indexed';
  const of =
    index.of === undefined ? '' : index.of === 'deleted' ? ' for soft-deleted records' : ' among records that are not soft-deleted';
  return createStep(resource.name, {
    kind: 'createIndex',
    reason: `${resource.name} (${index.fields.join(', ')}) ${what}${of}${where}`,
    texts: [createIndexSql(resource, index, dialect)],
  });
}

function dropIndexStep(resource: Resource, { name, columns }: ActualIndex): DraftStep {
  return createStep(resource.name, {
    kind: 'dropIndex',
    reason: `the index on ${resource.name} (${columns.join(', ')}) is no longer defined`,
    texts: [dropIndexSql(name)],
  });
}

/**
 * Returns whether an index has the wanted form. The values of its condition are not compared: the name of a partial index contains a hash
 * of them. Its columns are compared, because a condition follows a column that is renamed.
 */
function isSameIndex(actual: ActualIndex, wanted: WantedIndex | undefined): boolean {
  if (wanted === undefined || actual.unique !== wanted.unique) return false;
  const isPartial = wanted.where !== undefined || wanted.of !== undefined;
  const readsAll = Object.keys(wanted.where ?? {}).every((name) => actual.reads.has(name));
  return actual.partial === isPartial && actual.columns.join() === wanted.columns.join() && readsAll;
}
