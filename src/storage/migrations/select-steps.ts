import { SetupError } from '../../errors.ts';
import type { Definitions } from '../../resources/index.ts';
import type { Log, Transaction } from '../contract.ts';
import { appliedDefinitions, loadDefinitionRows, toAppliedState } from './applied-definitions.ts';
import { dropScratchTable } from './conversion.ts';
import { resolveDefinitionsInForce } from './definitions-in-force.ts';
import { dialectOf } from './migration-dialects.ts';
import {
  type Conversion,
  createBlockedStep,
  type DraftStep,
  hashPlan,
  NEEDS_CONFIRMATION,
  type Plan,
  type ResourceDraft,
  toStep,
} from './migration-plan.ts';
import { noLog } from './migration-progress.ts';
import { draftMigration } from './plan-migration.ts';
import { checkPreconditions } from './preconditions.ts';
import { refuseNewerVersion } from './program-version.ts';
import { addRuleWarnings, loadRules, type Renames } from './rewrite-rules.ts';
import type { TableRenames } from './table-renames.ts';
import type { ActualTable } from './table-state.ts';

/** A migration plan, and the selected steps of the plan. */
export interface SelectedSteps {
  readonly plan: Plan;
  /** The steps to perform, in order. */
  readonly steps: readonly DraftStep[];
  /** The definitions in force after the steps. A held resource keeps its last applied definition, or is left out if it has none. */
  readonly definitions: Definitions;
  /** The definitions in force before the steps. */
  readonly before: Definitions;
  /** The renames among the steps. */
  readonly renames: Renames;
  /** Drops the temporary tables of the conversions. Must be called after the steps. */
  dropScratchTables(): Promise<void>;
}

interface SelectOptions {
  /** The hash of the plan whose lossy steps are confirmed. */
  readonly allow?: string | undefined;
  readonly log?: Log;
  /** True to lock the tables until the transaction ends, so that the preconditions still hold when the steps run. */
  readonly locksTables?: boolean;
}

/**
 * Creates the plan, checks its preconditions against the stored rows, and selects the steps of every resource that has no blocked step
 * and no unconfirmed lossy step.
 *
 * @throws SetupError if a newer version of the program has migrated the database, or if `allow` is the hash of another plan, and the current plan has a step that needs confirmation.
 */
export async function selectSteps(
  tx: Transaction,
  wanted: Definitions,
  { allow, log = noLog, locksTables = false }: SelectOptions = {},
): Promise<SelectedSteps> {
  const dialect = dialectOf(tx);
  const isNew = !(await dialect.hasTable(tx, '_Definition'));
  const rows = isNew ? [] : await loadDefinitionRows(tx);
  const applied = toAppliedState(rows);
  refuseNewerVersion(applied.resources, wanted);
  const before = appliedDefinitions(applied.resources);
  const actual = await dialect.introspect(tx);
  const { drafts, renames } = draftMigration({ rows, applied, actual, definitions: wanted, dialect, listItems: tx.dialect.listItems });
  if (locksTables) await dialect.lockTables(tx, tablesOf(drafts, { renames, actual }));
  const rules = isNew ? [] : await loadRules(tx);
  const checked: DraftStep[] = [];
  for (const draft of drafts) checked.push(...(await checkPreconditions(tx, draft, log)));
  const steps = sortSteps(addRuleWarnings(checked, { rules, tables: renames, before, wanted }));
  const hash = hashPlan(steps, wanted);
  if (allow !== undefined && allow !== hash && steps.some(({ risk }) => NEEDS_CONFIRMATION.has(risk))) throw planChanged(hash);
  const refused = steps
    .filter(({ risk }) => risk === 'blocked' || (NEEDS_CONFIRMATION.has(risk) && allow !== hash))
    .map(({ resource }) => resource);
  const inForce = resolveDefinitionsInForce(wanted, { applied: applied.resources, renames }, new Set(refused));
  const blocked = [...inForce.refused].map(([resource, reason]) => createBlockedStep(resource, { reason }));
  const held = new Set([...refused, ...inForce.refused.keys()]);
  const selected = steps.filter(({ resource }) => !held.has(resource));
  return {
    plan: { hash, steps: [...steps, ...blocked].map(toStep), held: [...held] },
    steps: selected,
    definitions: inForce.definitions,
    before,
    renames: renamesOf(selected),
    dropScratchTables: () => dropAllScratchTables(tx, checked),
  };
}

/** Returns the existing tables that have a draft, by their names before any step. */
function tablesOf(
  drafts: readonly ResourceDraft[],
  { renames, actual }: { renames: TableRenames; actual: readonly ActualTable[] },
): readonly string[] {
  const names = new Set(drafts.map(({ resource }) => resource));
  return actual.map(({ name }) => name).filter((name) => names.has(renames.get(name) ?? name));
}

/** Returns the steps with renames of tables first and new tables second, because other steps reference these tables. */
function sortSteps(steps: readonly DraftStep[]): readonly DraftStep[] {
  const rank = ({ kind }: DraftStep): number => (kind === 'renameTable' ? 0 : kind === 'createTable' ? 1 : 2);
  return steps.toSorted((a, b) => rank(a) - rank(b));
}

function planChanged(hash: string): SetupError {
  return new SetupError('the plan is not the one that --allow confirms; nothing was done', [
    `the present plan has the hash ${hash}: check it with storage plan, then pass this hash`,
  ]);
}

function renamesOf(steps: readonly DraftStep[]): Renames {
  const tables = new Map<string, string>();
  const fields = new Map<string, Map<string, string>>();
  for (const { resource, field, from } of steps) {
    if (from === undefined) continue;
    if (field === undefined) tables.set(from, resource);
    else fields.set(resource, (fields.get(resource) ?? new Map<string, string>()).set(from, field));
  }
  return { tables, fields };
}

async function dropAllScratchTables(tx: Transaction, steps: readonly DraftStep[]): Promise<void> {
  const conversions = steps.map(({ conversion }) => conversion).filter((conversion): conversion is Conversion => conversion !== undefined);
  for (const conversion of conversions) await dropScratchTable(tx, conversion);
}
