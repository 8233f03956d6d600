import type { Definitions } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Database, Log, Transaction } from '../contract.ts';
import { quoteName } from '../table-names.ts';
import { type DefinitionRow, loadDefinitionRows } from './applied-definitions.ts';
import { dropColumnSql, dropIndexSql } from './ddl.ts';
import { draftDeletedRecordDrops, dropSelection } from './deleted-records.ts';
import { dialectOf, MIGRATION_LOCK } from './migration-dialects.ts';
import { recordMigration } from './migration-history.ts';
import { type CreateBackup, retryWhileBusy, withBackup } from './migration-lock.ts';
import { createStep, type DraftStep, hashPlan, type Plan, type Step, toStep } from './migration-plan.ts';
import { noLog } from './migration-progress.ts';
import { performSteps } from './perform-steps.ts';
import type { ActualTable, TableDialect } from './table-state.ts';

/** What is dropped besides what is kept aside. */
export interface PruneOptions {
  /** Deleted records, where they have been that for so many days; none where absent. */
  readonly deletedBefore?: number | undefined;
}

/**
 * What is kept aside, as the steps that would drop it for good: fields and resources that are no longer defined, columns from
 * before a conversion. What the definitions ask for back is left out.
 */
export async function planPruneArchived(tx: Transaction, definitions: Definitions, options: PruneOptions = {}): Promise<Plan> {
  const drafts = [...(await draftPrune(tx, definitions)), ...(await draftDeleted(tx, options))];
  await dropSelection(tx);
  return toPlan(drafts, definitions);
}

/** For the record, and for whoever looks on. */
interface Pruning extends PruneOptions {
  readonly actor: string;
  readonly tell?: Log;
}

/** Drops what is kept aside, in one transaction and after a backup, and answers what that was, and what has to stay. */
export function pruneArchived(
  database: Database,
  definitions: Definitions,
  { actor, tell = noLog, ...options }: Pruning,
): Promise<readonly Step[]> {
  return retryWhileBusy(
    () => withBackup(database, tell, (tx, backUp) => pruneIn(tx, definitions, { actor, tell, backUp, ...options })),
    tell,
  );
}

interface PruningIn extends Pruning {
  readonly tell: Log;
  readonly backUp: CreateBackup;
}

async function pruneIn(
  tx: Transaction,
  definitions: Definitions,
  { actor, tell, backUp, ...options }: PruningIn,
): Promise<readonly Step[]> {
  const from = performance.now();
  await tx.lock(MIGRATION_LOCK);
  const drafts = [...(await draftPrune(tx, definitions)), ...(await draftDeleted(tx, options))];
  const { hash, steps } = toPlan(drafts, definitions);
  const done = steps.filter(({ kind }) => kind !== 'stay');
  if (done.length > 0) {
    const backup = backUp(hash);
    await performSteps(tx, drafts, tell);
    await recordMigration(tx, { actor, planHash: hash, steps: done, from, backup });
  }
  await dropSelection(tx);
  return steps;
}

async function draftDeleted(tx: Transaction, { deletedBefore }: PruneOptions): Promise<readonly DraftStep[]> {
  if (deletedBefore === undefined) return [];
  return draftDeletedRecordDrops(tx, new Date(tx.now - deletedBefore * DAY).toISOString());
}

const DAY = 24 * 60 * 60_000;

function toPlan(drafts: readonly DraftStep[], definitions: Definitions): Plan {
  const steps = drafts.map(toStep);
  return { hash: hashPlan(steps, definitions), steps, held: [] };
}

async function draftPrune(tx: Transaction, definitions: Definitions): Promise<readonly DraftStep[]> {
  const dialect = dialectOf(tx);
  if (!(await dialect.hasTable(tx, '_Definition'))) return [];
  const tables = new Map((await dialect.introspect(tx)).map((table) => [table.name, table]));
  const rows = (await loadDefinitionRows(tx)).filter((row) => row.keptAside && !isWanted(row, definitions));
  const gone = rows.flatMap(({ id }) => (id.includes('.') ? [] : (tables.get(id) ?? [])));
  const steps: DraftStep[] = [];
  for (const { id } of rows) {
    const [name = '', column] = id.split('.');
    const table = tables.get(name);
    if (column !== undefined && table?.columns.has(column) === true && !gone.includes(table))
      steps.push(await dropColumn(tx, table, column));
  }
  for (const [index, table] of gone.entries()) {
    // References among tables that all go would have the database refuse to drop the first of them.
    steps.push(await dropTable(tx, table, { rows, before: index === 0 ? gone.flatMap((each) => loosenReferences(each, dialect)) : [] }));
  }
  return steps;
}

/** Whether the definitions say again, under this name or as `renamedFrom`, what is kept aside. */
function isWanted({ id }: DefinitionRow, definitions: Definitions): boolean {
  const [name = '', column] = id.split('.');
  const all = [...definitions.values()];
  if (column === undefined) return all.some((resource) => resource.name === name || resource.renamedFrom === name);
  const fields = [...(definitions.get(name)?.fields.values() ?? [])];
  return fields.some((field) => field.name === column || field.renamedFrom === column);
}

async function dropColumn(tx: Transaction, { name, indexes }: ActualTable, column: string): Promise<DraftStep> {
  const counted = await tx.one<{ count: number }>(sql`SELECT count(${sql.ref(column)}) AS "count" FROM ${sql.table(name)}`);
  const rows = counted?.count ?? 0;
  const over = [...indexes.values()].filter((index) => index.columns.includes(column));
  const reason = `${name}.${column} is kept aside; ${rows} ${rows === 1 ? 'value is' : 'values are'} dropped for good`;
  const texts = [...over.map((index) => dropIndexSql(index.name)), dropColumnSql(name, column)];
  return {
    ...createStep(name, { kind: 'dropColumn', risk: 'destructive', field: column, reason, texts, notes: [{ drop: `${name}.${column}` }] }),
    rows,
  };
}

interface Dropping {
  /** What is on the record about what is kept aside. */
  readonly rows: readonly DefinitionRow[];
  /** SQL that comes first. */
  readonly before: readonly string[];
}

async function dropTable(tx: Transaction, { name }: ActualTable, { rows: kept, before }: Dropping): Promise<DraftStep> {
  const counted = await tx.one<{ count: number }>(sql`SELECT count(*) AS "count" FROM ${sql.table(name)}`);
  const rows = counted?.count ?? 0;
  const reason = `${name} is kept aside; ${rows} ${rows === 1 ? 'record is' : 'records are'} dropped for good`;
  const texts = [...before, `DROP TABLE ${quoteName(name)}`];
  const notes = kept.filter(({ id }) => id === name || id.startsWith(`${name}.`)).map(({ id }) => ({ drop: id }));
  return { ...createStep(name, { kind: 'dropTable', risk: 'destructive', reason, texts, notes }), rows };
}

function loosenReferences(table: ActualTable, dialect: TableDialect): readonly string[] {
  const references = [...table.columns.values()].filter(({ refers }) => refers !== undefined);
  return references.map((column) => dialect.loosen(table, column));
}
