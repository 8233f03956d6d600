/** Begin here: `migrate` selects the steps of a plan, writes a backup, performs them and brings the definitions into force. */
import { SetupError } from '../../errors.ts';
import type { Definitions } from '../../resources/index.ts';
import type { Database, Log, Transaction } from '../contract.ts';
import { advanceRevision } from '../policies/revision.ts';
import { archiveResource, deleteDefinitionRow, saveDefinitionRow } from './applied-definitions.ts';
import { dialectOf } from './migration-dialects.ts';
import { recordMigration } from './migration-history.ts';
import { type CreateBackup, MIGRATION_LOCK, requiresBackup, retryWhileBusy, withBackup } from './migration-lock.ts';
import { type DraftStep, hashPlan, type Plan, type Step, toStep } from './migration-plan.ts';
import { noLog, runStep } from './migration-progress.ts';
import { isUpToDate, saveDefinitionsInForce } from './migration-status.ts';
import { rewritePolicies } from './rewrite-rules.ts';
import { withChecksums } from './seal-migrated.ts';
import { selectSteps } from './select-steps.ts';
import { saveTableRename } from './table-renames.ts';

/** The result of a migration. */
export interface MigrationResult {
  /** The definitions in force. A held resource keeps its last applied definition, or is left out if it has none. */
  readonly definitions: Definitions;
  readonly plan: Plan;
  /** The performed steps. */
  readonly done: readonly Step[];
  /** The plan of the next migration with the same definitions. Its hash allows the steps of held resources. */
  readonly remaining: Plan;
}

/** Holds the definitions that requests use. */
export interface DefinitionsHolder {
  readonly definitions: Definitions;
  replaceDefinitions(definitions: Definitions): void;
}

/** Options of a migration. */
export interface MigrateOptions {
  readonly holder?: DefinitionsHolder;
  /** The actor in the history: `start`, `dev`, `cli`, or the id of a user. */
  readonly actor?: string;
  /** The hash of the plan that was confirmed. Lossy and destructive steps are performed only with it. */
  readonly allow?: string;
  /** Compares the tables even if the definitions have not changed since the last migration. */
  readonly thorough?: boolean;
  /**
   * `refuse` throws instead of migrating a resource of the project whose definition has changed. It still creates the tables of a new database,
   * and migrates system tables. Default: `perform`.
   */
  readonly pending?: 'perform' | 'refuse';
  /** Receives progress, and the path of the backup. */
  readonly log?: Log | undefined;
}

/**
 * Migrates the tables to the definitions, in one transaction. Performs the steps that lose nothing and the confirmed steps; a second run
 * performs nothing. A migration that performs a step begins a new revision. If a step writes or loses values, a backup is written first,
 * under the same lock; if the backup cannot be written, nothing is changed.
 *
 * The definitions come into force inside the transaction: a request later in the same commit sees the tables and the definitions change
 * together. If the commit fails, neither has changed.
 *
 * @throws SetupError if a table of the system cannot be migrated, the plan differs from the confirmed one, no backup can be written, or a
 * pending migration is refused.
 */
export async function migrate(database: Database, definitions: Definitions, options: MigrateOptions = {}): Promise<MigrationResult> {
  const { holder, log = noLog } = options;
  const before = holder?.definitions;
  try {
    return await retryWhileBusy(
      () =>
        withBackup(database, log, async (tx, createBackup) => {
          const result = await migrateIn(tx, definitions, { ...options, log, createBackup });
          holder?.replaceDefinitions(result.definitions);
          return result;
        }),
      log,
    );
  } catch (error) {
    // Nothing used the new definitions: the whole commit failed, and no later one has begun.
    if (before !== undefined) holder?.replaceDefinitions(before);
    throw error;
  }
}

/** Returns the plan for the definitions, within a transaction. Performs nothing. */
export async function planMigrationIn(tx: Transaction, definitions: Definitions): Promise<Plan> {
  const { plan, dropScratchTables } = await selectSteps(tx, definitions);
  await dropScratchTables();
  return plan;
}

/** Returns the plan for the definitions, in a transaction of its own. Performs nothing. */
export function planMigration(database: Database, definitions: Definitions, log: Log = noLog): Promise<Plan> {
  return retryWhileBusy(() => database.transaction((tx) => planMigrationIn(tx, definitions), { unlimited: true }), log);
}

interface TransactionMigrateOptions extends Omit<MigrateOptions, 'log'> {
  readonly log: Log;
  readonly createBackup: CreateBackup;
}

async function migrateIn(tx: Transaction, wanted: Definitions, options: TransactionMigrateOptions): Promise<MigrationResult> {
  const { actor = 'start', allow, thorough, log, createBackup } = options;
  const startedAt = performance.now();
  await dialectOf(tx).prepare(tx);
  const isForced = allow !== undefined || thorough === true;
  if (!isForced && (await isUpToDate(tx, wanted))) return nothingToDo(wanted);
  await tx.lock(MIGRATION_LOCK);
  // Another process may have migrated while this one waited for the lock.
  if (!isForced && (await isUpToDate(tx, wanted))) return nothingToDo(wanted);
  if (options.pending === 'refuse') await validateNothingPending(tx, wanted, log);
  const selected = await selectSteps(tx, wanted, { allow, log, locksTables: true });
  validateSystemTables(selected.plan, selected.definitions);
  const backup = selected.steps.some(requiresBackup) ? createBackup(selected.plan.hash) : undefined;
  await withChecksums(tx, selected, () => performSteps(tx, selected.steps, log));
  await selected.dropScratchTables();
  const done = selected.steps.map(toStep);
  if (done.length > 0) {
    const revision = await advanceRevision(tx);
    await rewritePolicies(tx, { renames: selected.renames, before: selected.before, revision });
  }
  await saveDefinitionsInForce(tx, selected.definitions);
  if (done.length > 0) await recordMigration(tx, { actor, planHash: selected.plan.hash, steps: done, startedAt, backup });
  const { definitions, plan } = selected;
  if (plan.held.length === 0) return { definitions, plan, done, remaining: emptyPlan(wanted) };
  return { definitions, plan, done, remaining: done.length > 0 ? await planMigrationIn(tx, wanted) : plan };
}

function nothingToDo(wanted: Definitions): MigrationResult {
  const plan = emptyPlan(wanted);
  return { definitions: wanted, plan, done: [], remaining: plan };
}

function emptyPlan(wanted: Definitions): Plan {
  return { hash: hashPlan([], wanted), steps: [], held: [] };
}

/**
 * Throws if a system table cannot be migrated, because the program cannot run with the former table. Names of system tables begin with an
 * underscore.
 */
function validateSystemTables({ steps, held }: Plan, definitions: Definitions): void {
  const own = held.filter((name) => name.startsWith('_') || (name === 'User' && !definitions.has('User')));
  if (own.length === 0) return;
  const reasons = steps.filter(({ resource, risk }) => own.includes(resource) && risk === 'blocked').map(({ reason }) => reason);
  throw new SetupError('cannot migrate the database to this version', reasons);
}

/** The number of pending steps that a refusal names. */
const NAMED_STEPS = 5;

/**
 * Throws if a start would migrate a resource of the project. Plans without locks on the tables, so that a refused command makes no request wait.
 */
async function validateNothingPending(tx: Transaction, wanted: Definitions, log: Log): Promise<void> {
  const { steps, before, dropScratchTables } = await selectSteps(tx, wanted, { log });
  await dropScratchTables();
  const isChanged = (name: string): boolean => !name.startsWith('_') && before.get(name)?.hash !== wanted.get(name)?.hash;
  const pending = before.size === 0 ? [] : steps.filter(({ resource }) => isChanged(resource));
  if (pending.length === 0) return;
  const named = pending.slice(0, NAMED_STEPS).map(({ resource, reason }) => `${resource}: ${reason}`);
  throw new SetupError('the definitions of the project are not those of the database; nothing was changed', [
    ...named,
    ...(pending.length > named.length ? [`and ${pending.length - named.length} more`] : []),
    'to print the migration, run bailiwick storage plan; to migrate, run bailiwick storage apply or start the service;',
    'if these are the definitions of another project, correct --project',
  ]);
}

/** Performs the steps in order, then their deferred statements, then updates the rows of `_Definition` that describe the tables. */
export async function performSteps(tx: Transaction, steps: readonly DraftStep[], log: Log): Promise<void> {
  const created = new Set(steps.filter(({ kind }) => kind === 'createTable').map(({ resource }) => resource));
  let sent: Promise<unknown>[] = [];
  for (const step of steps) {
    // A new table has no records to count. Its statements are sent without waiting for each result: a new database has about fifty.
    if (created.has(step.resource)) sent.push(...step.statements.map((statement) => tx.run(statement)));
    else {
      await Promise.all(sent);
      sent = [];
      await runStep(tx, step, log);
    }
  }
  await Promise.all(sent);
  await Promise.all(steps.flatMap(({ deferred = [] }) => deferred.map((statement) => tx.run(statement))));
  for (const step of steps) await saveDefinitionChanges(tx, step);
}

async function saveDefinitionChanges(tx: Transaction, { resource, kind, field, from, definitionChanges = [] }: DraftStep): Promise<void> {
  if (kind === 'renameTable' && from !== undefined) await saveTableRename(tx, from, resource);
  if (kind === 'keepAside' && field === undefined) await archiveResource(tx, resource);
  for (const change of definitionChanges) {
    if ('save' in change) await saveDefinitionRow(tx, change.save);
    else await deleteDefinitionRow(tx, change.delete);
  }
}
