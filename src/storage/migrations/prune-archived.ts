import type { Definitions } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Database, Log, Transaction } from '../contract.ts';
import { quoteName } from '../table-names.ts';
import { type AppliedState, type DefinitionRow, loadDefinitionRows, toAppliedState } from './applied-definitions.ts';
import { dropColumnSql, dropIndexSql } from './ddl.ts';
import { draftDeletedRecordDrops, dropSelection } from './deleted-records.ts';
import { performSteps } from './migrate.ts';
import { dialectOf } from './migration-dialects.ts';
import { recordMigration } from './migration-history.ts';
import { type CreateBackup, MIGRATION_LOCK, retryWhileBusy, withBackup } from './migration-lock.ts';
import { createStep, type DraftStep, hashPlan, type Plan, type Step, toStep } from './migration-plan.ts';
import { noLog } from './migration-progress.ts';
import { isSameType } from './plan-conversion.ts';
import type { ActualTable, TableDialect } from './table-state.ts';

/** Options of a prune of archived tables and columns. */
export interface PruneArchivedOptions {
  /** The number of days after which soft-deleted records are deleted too. Absent to delete none. */
  readonly deletedBefore?: number | undefined;
}

/**
 * Plans the permanent deletion of archived resources, fields and columns, and, with `deletedBefore`, of old soft-deleted records. Leaves
 * out what the definitions use again, also by a pending migration.
 */
export async function planPruneArchived(tx: Transaction, definitions: Definitions, options: PruneArchivedOptions = {}): Promise<Plan> {
  const drafts = await draftSteps(tx, definitions, options);
  await dropSelection(tx);
  return toPlan(drafts, definitions);
}

interface PerformOptions extends PruneArchivedOptions {
  /** The actor that the history names. */
  readonly actor: string;
  readonly log?: Log;
}

/** Performs the plan of `planPruneArchived` in one transaction, after a backup. Returns the steps, including those for kept records. */
export function pruneArchived(
  database: Database,
  definitions: Definitions,
  { actor, log = noLog, ...options }: PerformOptions,
): Promise<readonly Step[]> {
  return retryWhileBusy(
    () => withBackup(database, log, (tx, createBackup) => pruneIn(tx, definitions, { actor, log, createBackup, ...options })),
    log,
  );
}

interface TransactionPruneOptions extends PerformOptions {
  readonly log: Log;
  readonly createBackup: CreateBackup;
}

async function pruneIn(
  tx: Transaction,
  definitions: Definitions,
  { actor, log, createBackup, ...options }: TransactionPruneOptions,
): Promise<readonly Step[]> {
  const startedAt = performance.now();
  await tx.lock(MIGRATION_LOCK);
  const drafts = await draftSteps(tx, definitions, options);
  const { hash, steps } = toPlan(drafts, definitions);
  const done = steps.filter(({ kind }) => kind !== 'stay');
  if (done.length > 0) {
    const backup = createBackup(hash);
    await performSteps(tx, drafts, log);
    await recordMigration(tx, { actor, planHash: hash, steps: done, startedAt, backup });
  }
  await dropSelection(tx);
  return steps;
}

/** Drafts the drops of archived tables and columns first: their references then prevent no deletion of a record. */
async function draftSteps(
  tx: Transaction,
  definitions: Definitions,
  { deletedBefore }: PruneArchivedOptions,
): Promise<readonly DraftStep[]> {
  const drops = await draftPrune(tx, definitions);
  if (deletedBefore === undefined) return drops;
  return [...drops, ...(await draftDeletedRecordDrops(tx, new Date(tx.now - deletedBefore * DAY).toISOString(), drops))];
}

const DAY = 24 * 60 * 60_000;

function toPlan(drafts: readonly DraftStep[], definitions: Definitions): Plan {
  return { hash: hashPlan(drafts, definitions), steps: drafts.map(toStep), held: [] };
}

async function draftPrune(tx: Transaction, definitions: Definitions): Promise<readonly DraftStep[]> {
  const dialect = dialectOf(tx);
  if (!(await dialect.hasTable(tx, '_Definition'))) return [];
  const tables = new Map((await dialect.introspect(tx)).map((table) => [table.name, table]));
  const all = await loadDefinitionRows(tx);
  const applied = toAppliedState(all);
  const rows = all.filter((row) => row.archived && !isUsedAgain(row, definitions, applied));
  const archivedTables = rows.flatMap(({ id }) => (id.includes('.') ? [] : (tables.get(id) ?? [])));
  const steps: DraftStep[] = [];
  for (const { id } of rows) {
    const [name = '', column] = id.split('.');
    const table = tables.get(name);
    if (column !== undefined && table?.columns.has(column) === true && !archivedTables.includes(table))
      steps.push(await dropColumn(tx, table, column));
  }
  for (const [index, table] of archivedTables.entries()) {
    // Foreign keys are removed first: the tables may reference each other, and the database refuses to drop a referenced table.
    const before = index === 0 ? archivedTables.flatMap((each) => dropReferences(each, dialect)) : [];
    steps.push(await dropTable(tx, table, { rows, before }));
  }
  return steps;
}

/**
 * Returns whether the definitions use an archived resource, field or column, also after a pending migration: a definition has its name as name
 * or in `renamedFrom`, or the type of the field of an archived column changes.
 */
function isUsedAgain({ id }: DefinitionRow, definitions: Definitions, applied: AppliedState): boolean {
  const [name = '', column] = id.split('.');
  const resource = findByName(definitions, name);
  if (resource === undefined || column === undefined) return resource !== undefined;
  const field = [...(applied.columns.get(name) ?? [])].find(([, columns]) => columns.some((each) => each.column === column))?.[0];
  if (field === undefined) return findByName(resource.fields, column) !== undefined;
  // A conversion reads all archived columns of its field.
  const after = findByName(resource.fields, field);
  const before = applied.resources.get(name)?.resource?.fields.get(field) ?? applied.fields.get(name)?.get(field)?.field;
  return after !== undefined && (before === undefined || !isSameType(before, after));
}

/** Returns the definition with a name, or the one that is renamed from it. */
function findByName<Definition extends { readonly name: string; readonly renamedFrom?: string | undefined }>(
  all: ReadonlyMap<string, Definition>,
  name: string,
): Definition | undefined {
  return all.get(name) ?? [...all.values()].find(({ renamedFrom }) => renamedFrom === name);
}

async function dropColumn(tx: Transaction, { name, indexes }: ActualTable, column: string): Promise<DraftStep> {
  const counted = await tx.one<{ count: number }>(sql`SELECT count(${sql.ref(column)}) AS "count" FROM ${sql.table(name)}`);
  const rows = counted?.count ?? 0;
  const overColumn = [...indexes.values()].filter(({ reads }) => reads.has(column));
  const reason = `${name}.${column} is archived; ${rows} ${rows === 1 ? 'value is' : 'values are'} permanently deleted`;
  const texts = [...overColumn.map((index) => dropIndexSql(index.name)), dropColumnSql(name, column)];
  const definitionChanges = [{ delete: `${name}.${column}` }];
  return {
    ...createStep(name, { kind: 'dropColumn', risk: 'destructive', field: column, reason, texts, definitionChanges }),
    rows,
  };
}

interface TableDrop {
  /** The rows of `_Definition` for everything archived. */
  readonly rows: readonly DefinitionRow[];
  /** SQL to run before the table is dropped. */
  readonly before: readonly string[];
}

async function dropTable(tx: Transaction, { name }: ActualTable, { rows: archived, before }: TableDrop): Promise<DraftStep> {
  const counted = await tx.one<{ count: number }>(sql`SELECT count(*) AS "count" FROM ${sql.table(name)}`);
  const rows = counted?.count ?? 0;
  const reason = `${name} is archived; ${rows} ${rows === 1 ? 'record is' : 'records are'} permanently deleted`;
  const texts = [...before, `DROP TABLE ${quoteName(name)}`];
  const definitionChanges = archived.filter(({ id }) => id === name || id.startsWith(`${name}.`)).map(({ id }) => ({ delete: id }));
  return { ...createStep(name, { kind: 'dropTable', risk: 'destructive', reason, texts, definitionChanges }), rows };
}

function dropReferences(table: ActualTable, dialect: TableDialect): readonly string[] {
  const columns = [...table.columns.values()].filter(({ references }) => references !== undefined);
  return columns.map((column) => dialect.dropReferenceSql(table, column));
}
