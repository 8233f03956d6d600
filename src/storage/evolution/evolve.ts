import { SetupError } from '../../errors.ts';
import type { Definitions } from '../../resource/index.ts';
import type { Database, Transaction } from '../database.ts';
import { bumpEpoch } from '../epoch.ts';
import { sqliteTables } from '../sqlite/tables.ts';
import { type Applied, keepApplied, keepStep, loadApplied } from './applied.ts';
import { settleInForce } from './in-force.ts';
import type { Draft, DraftStep, Plan, Refusal, Step } from './plan.ts';
import { planEvolution } from './plan-evolution.ts';
import type { TableDialect } from './tables.ts';

/** What came of an evolution. */
export interface Evolved {
  /** The definitions in force: those given, save that a refused one stays as it was applied or stays out. */
  readonly definitions: Definitions;
  /** What was done, and what was refused. */
  readonly plan: Plan;
}

/** Where whoever answers requests keeps the definitions in force. */
export interface InForceKeeper {
  readonly definitions: Definitions;
  replaceDefinitions(definitions: Definitions): void;
}

const TABLES: Readonly<Partial<Record<string, TableDialect>>> = Object.freeze({ sqlite: sqliteTables });

/**
 * Lets tables follow definitions, all in one transaction: a process killed in the midst of it leaves them as they were.
 * Does only what loses nothing; a second run finds nothing to do. Any change begins a new epoch.
 *
 * Definitions come into force inside the transaction: a request that queued behind it, in the same commit, finds the tables
 * and the definitions changed together. Where the commit fails, neither has changed.
 *
 * @throws SetupError where one of the service's own tables cannot follow.
 */
export async function evolve(database: Database, definitions: Definitions, keeper?: InForceKeeper): Promise<Evolved> {
  const before = keeper?.definitions;
  try {
    return await database.transaction(async (tx) => {
      const evolved = await evolveIn(tx, definitions);
      keeper?.replaceDefinitions(evolved.definitions);
      return evolved;
    });
  } catch (error) {
    // Nobody has been answered by them: those behind in the commit failed with it, and the next commit has not begun.
    if (before !== undefined) keeper?.replaceDefinitions(before);
    throw error;
  }
}

async function evolveIn(tx: Transaction, definitions: Definitions): Promise<Evolved> {
  const { applied, ...settled } = await settle(tx, definitions);
  const { steps } = settled.plan;
  checkOwnTables(settled.plan, settled.definitions);
  for (const { statement } of steps) if (statement !== undefined) await tx.run(statement);
  for (const step of steps) await keepStep(tx, step, applied.resources.get(step.resource)?.resource);
  for (const name of new Set(steps.map(({ resource }) => resource))) {
    const resource = settled.definitions.get(name);
    if (resource !== undefined) await keepApplied(tx, resource);
  }
  if (steps.length > 0) await bumpEpoch(tx);
  return settled;
}

/** What would have to be done for tables to follow the definitions; does none of it. */
export async function planFor(database: Database, definitions: Definitions): Promise<Plan> {
  return (await database.transaction((tx) => settle(tx, definitions))).plan;
}

/** Makes the plan and asks the rows what stands in its way. */
async function settle(tx: Transaction, wanted: Definitions): Promise<Evolved & { readonly applied: Applied }> {
  const dialect = TABLES[tx.dialect.name];
  if (dialect === undefined) throw new Error(`no tables are known for ${tx.dialect.name}`);
  const actual = await dialect.introspect(tx);
  const applied = await loadApplied(tx, actual);
  const drafts = planEvolution({ applied, actual, definitions: wanted, dialect, listItems: tx.dialect.listItems });
  const refusals: Refusal[] = [];
  for (const draft of drafts) refusals.push(...(await askObstacles(tx, draft)));
  const { definitions, refused } = settleInForce(wanted, applied.resources, new Set(refusals.map(({ resource }) => resource)));
  for (const [resource, reason] of refused) refusals.push({ resource, reason });
  const stopped = new Set(refusals.map(({ resource }) => resource));
  const steps: Step[] = [];
  for (const draft of drafts) if (!stopped.has(draft.resource)) steps.push(...(await dropIdle(tx, draft.steps)));
  return { definitions, plan: { steps, refusals }, applied };
}

/** What definitions, tables and rows have against a draft. Rows are asked only where nothing else is in the way. */
async function askObstacles(tx: Transaction, { resource, refusals, obstacles }: Draft): Promise<readonly Refusal[]> {
  const reasons = [...refusals];
  for (const { query, refuse } of refusals.length > 0 ? [] : obstacles) {
    const reason = refuse(await tx.all(query));
    if (reason !== undefined) reasons.push(reason);
  }
  return reasons.map((reason) => ({ resource, reason }));
}

/** Leaves out steps that concern no row. */
async function dropIdle(tx: Transaction, steps: readonly DraftStep[]): Promise<readonly Step[]> {
  const kept: Step[] = [];
  for (const { concerns, ...step } of steps) {
    const row = concerns === undefined ? undefined : await tx.one<{ count: number }>(concerns);
    if (row === undefined || row.count > 0) kept.push(step);
  }
  return kept;
}

/** The program itself relies on its own tables being as it knows them. */
function checkOwnTables({ refusals }: Plan, definitions: Definitions): void {
  const own = refusals.filter(({ resource }) => resource.startsWith('_') || (resource === 'User' && !definitions.has('User')));
  if (own.length > 0)
    throw new SetupError(
      'the database does not fit this version',
      own.map(({ reason }) => reason),
    );
}
