import { SetupError } from '../../errors.ts';
import type { Definitions } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Database, Log, Transaction } from '../contract.ts';
import { storeVersion } from '../policy-history.ts';
import { loadPolicy } from '../policy-records.ts';
import { advanceRevision } from '../revision.ts';
import { dialectOf, MIGRATION_LOCK } from './migration-dialects.ts';
import { recordMigration } from './migration-history.ts';
import { type CreateBackup, requiresBackup, retryWhileBusy, withBackup } from './migration-lock.ts';
import { hashPlan, type Plan, type Step, toStep } from './migration-plan.ts';
import { noLog } from './migration-progress.ts';
import { isUpToDate, saveDefinitionsInForce } from './migration-status.ts';
import { performSteps } from './perform-steps.ts';
import { loadRules, type Renames, rewriteRule } from './renamed-paths.ts';
import { selectSteps } from './select-steps.ts';

/** What came of an evolution. */
export interface MigrationResult {
  /** The definitions in force: those given, save that a held one stays as it was applied or stays out. */
  readonly definitions: Definitions;
  readonly plan: Plan;
  /** What of the plan was done. */
  readonly done: readonly Step[];
}

/** Where whoever answers requests keeps the definitions in force. */
export interface DefinitionsHolder {
  readonly definitions: Definitions;
  replaceDefinitions(definitions: Definitions): void;
}

/** How an evolution goes on. */
export interface MigrateOptions {
  readonly keeper?: DefinitionsHolder;
  /** For the record: `start`, `dev`, `cli`, or the id of a user. */
  readonly actor?: string;
  /** The hash of the plan whose steps may be done though something is lost. */
  readonly allow?: string;
  /** Looks at the tables even where definitions have not changed since they were last looked at. */
  readonly thorough?: boolean;
  /** Told what takes long, and which backup was made, as it happens. */
  readonly tell?: Log | undefined;
}

/**
 * Lets tables follow definitions, all in one transaction: a process killed in the midst of it leaves them as they were.
 * Does only what loses nothing, and what was allowed; a second run finds nothing to do. Any change begins a new epoch.
 * Before values are written or lost, a backup is made under the same lock; where it cannot be, nothing is done.
 *
 * Definitions come into force inside the transaction: a request that queued behind it, in the same commit, finds the tables
 * and the definitions changed together. Where the commit fails, neither has changed.
 *
 * @throws SetupError where one of the service's own tables cannot follow, the plan is no longer the one that was allowed, or no backup
 * can be made.
 */
export async function migrate(database: Database, definitions: Definitions, options: MigrateOptions = {}): Promise<MigrationResult> {
  const { keeper, tell = noLog } = options;
  const before = keeper?.definitions;
  try {
    return await retryWhileBusy(
      () =>
        withBackup(database, tell, async (tx, backUp) => {
          const evolved = await evolveIn(tx, definitions, { ...options, tell, backUp });
          keeper?.replaceDefinitions(evolved.definitions);
          return evolved;
        }),
      tell,
    );
  } catch (error) {
    // Nobody has been answered by them: those behind in the commit failed with it, and the next commit has not begun.
    if (before !== undefined) keeper?.replaceDefinitions(before);
    throw error;
  }
}

/** What would have to be done for tables to follow the definitions; does none of it. */
export async function planMigrationIn(tx: Transaction, definitions: Definitions): Promise<Plan> {
  const { plan, dropScratchTables } = await selectSteps(tx, definitions);
  await dropScratchTables();
  return plan;
}

/** The same, in a transaction of its own. */
export function planMigration(database: Database, definitions: Definitions, tell: Log = noLog): Promise<Plan> {
  return retryWhileBusy(() => database.transaction((tx) => planMigrationIn(tx, definitions), { longRunning: true }), tell);
}

interface Evolving extends Omit<MigrateOptions, 'tell'> {
  readonly tell: Log;
  readonly backUp: CreateBackup;
}

async function evolveIn(tx: Transaction, wanted: Definitions, options: Evolving): Promise<MigrationResult> {
  const { actor = 'start', allow, thorough, tell, backUp } = options;
  const from = performance.now();
  await dialectOf(tx).prepare(tx);
  const asks = allow !== undefined || thorough === true;
  if (!asks && (await isUpToDate(tx, wanted))) return nothingToDo(wanted);
  await tx.lock(MIGRATION_LOCK);
  // Whoever held it has perhaps done all of it.
  if (!asks && (await isUpToDate(tx, wanted))) return nothingToDo(wanted);
  const settled = await selectSteps(tx, wanted, { allow, tell, isDone: true });
  checkOwnTables(settled.plan, settled.definitions);
  const backup = settled.work.some(requiresBackup) ? backUp(settled.plan.hash) : undefined;
  await performSteps(tx, settled.work, tell);
  await settled.dropScratchTables();
  const done = settled.work.map(toStep);
  if (done.length > 0) {
    const epoch = await advanceRevision(tx);
    await rewritePolicies(tx, { renames: settled.renames, before: settled.before, epoch });
  }
  await saveDefinitionsInForce(tx, settled.definitions);
  if (done.length > 0) await recordMigration(tx, { actor, planHash: settled.plan.hash, steps: done, from, backup });
  return { definitions: settled.definitions, plan: settled.plan, done };
}

function nothingToDo(wanted: Definitions): MigrationResult {
  return { definitions: wanted, plan: { hash: hashPlan([], wanted), steps: [], held: [] }, done: [] };
}

/** The program itself relies on its own tables being as it knows them. */
function checkOwnTables({ steps, held }: Plan, definitions: Definitions): void {
  const own = held.filter((name) => name.startsWith('_') || (name === 'User' && !definitions.has('User')));
  if (own.length === 0) return;
  const reasons = steps.filter(({ resource, risk }) => own.includes(resource) && risk === 'blocked').map(({ reason }) => reason);
  throw new SetupError('the database does not fit this version', reasons);
}

/** Who is named as the author of what an evolution changes in policies. */
const EVOLUTION = 'evolution';

/** What policies are carried along with. */
export interface PolicyRewrite {
  readonly renames: Renames;
  /** The definitions before. */
  readonly before: Definitions;
  /** The epoch that the evolution begins. */
  readonly epoch: number;
}

/** Says what is renamed anew in every rule that names it, and keeps a version of every policy that this changes. */
export async function rewritePolicies(tx: Transaction, { renames, before, epoch }: PolicyRewrite): Promise<void> {
  const changed = new Set<string>();
  for (const rule of await loadRules(tx)) {
    const carried = rewriteRule(rule, renames, before);
    if (!carried.changed) continue;
    changed.add(rule.policyId);
    const conditions = JSON.stringify(carried.conditions);
    await tx.run(sql`UPDATE "_PolicyRule" SET "resource" = ${carried.resource}, "conditions" = ${conditions} WHERE "id" = ${rule.ruleId}`);
  }
  for (const id of changed) {
    await tx.run(sql`UPDATE "_Policy" SET "updatedAt" = ${new Date(tx.now).toISOString()}, "version" = ${epoch} WHERE "id" = ${id}`);
    await storeVersion(tx, { kind: 'policy', id, value: await loadPolicy(tx, id), revision: epoch, by: EVOLUTION });
  }
}
