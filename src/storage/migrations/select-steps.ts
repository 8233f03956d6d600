import { SetupError } from '../../errors.ts';
import type { Definitions } from '../../resources/index.ts';
import type { Log, Transaction } from '../contract.ts';
import { appliedDefinitions, loadDefinitionRows, toAppliedState } from './applied-definitions.ts';
import { evaluateDraft } from './check-preconditions.ts';
import { type Conversion, dropScratchTable } from './conversion.ts';
import { resolveDefinitionsInForce } from './definitions-in-force.ts';
import { dialectOf } from './migration-dialects.ts';
import {
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
import { loadRules, type Renames } from './renamed-paths.ts';
import { addRuleWarnings } from './rule-warnings.ts';
import type { TableRenames } from './table-renames.ts';
import type { ActualTable } from './table-state.ts';

/** A plan, and what of it is to be done. */
export interface SelectedSteps {
  readonly plan: Plan;
  /** The steps to do, in their order. */
  readonly work: readonly DraftStep[];
  /** The definitions in force once they are done: those wanted, save that a held one stays as it was applied or stays out. */
  readonly definitions: Definitions;
  /** The definitions in force until then. */
  readonly before: Definitions;
  /** What the work renames. */
  readonly renames: Renames;
  /** Drops what was worked out for the plan; whoever does the work calls it after. */
  dropScratchTables(): Promise<void>;
}

/** What is allowed, and who is told of what takes long. */
interface SettleOptions {
  readonly allow?: string | undefined;
  readonly tell?: Log;
  /** Whether the work is done next: then what rows say must still be so. */
  readonly isDone?: boolean;
}

/**
 * Makes the plan, asks the rows what stands in its way, and leaves out what is neither safe nor allowed.
 *
 * @throws SetupError where `allow` is the hash of another plan, and there is something to allow.
 */
export async function selectSteps(
  tx: Transaction,
  wanted: Definitions,
  { allow, tell = noLog, isDone = false }: SettleOptions = {},
): Promise<SelectedSteps> {
  const dialect = dialectOf(tx);
  const isNew = !(await dialect.hasTable(tx, '_Definition'));
  const rows = isNew ? [] : await loadDefinitionRows(tx);
  const applied = toAppliedState(rows);
  const before = appliedDefinitions(applied.resources);
  const actual = await dialect.introspect(tx);
  const { drafts, renames } = draftMigration({ rows, applied, actual, definitions: wanted, dialect, listItems: tx.dialect.listItems });
  if (isDone) await dialect.hold(tx, concerned(drafts, { renames, actual }));
  const rules = isNew ? [] : await loadRules(tx);
  const asked: DraftStep[] = [];
  for (const draft of drafts) asked.push(...(await evaluateDraft(tx, draft, tell)));
  const steps = inOrder(addRuleWarnings(asked, { rules, tables: renames, before, wanted }));
  const hash = hashPlan(steps, wanted);
  if (allow !== undefined && allow !== hash && steps.some(({ risk }) => NEEDS_CONFIRMATION.has(risk))) throw staleAllowance(hash);
  const refused = steps
    .filter(({ risk }) => risk === 'blocked' || (NEEDS_CONFIRMATION.has(risk) && allow !== hash))
    .map(({ resource }) => resource);
  const inForce = resolveDefinitionsInForce(wanted, { applied: applied.resources, renames }, new Set(refused));
  const stays = [...inForce.refused].map(([resource, reason]) => createBlockedStep(resource, { reason }));
  const held = new Set([...refused, ...inForce.refused.keys()]);
  const work = steps.filter(({ resource }) => !held.has(resource));
  return {
    plan: { hash, steps: [...steps, ...stays].map(toStep), held: [...held] },
    work,
    definitions: inForce.definitions,
    before,
    renames: renamesOf(work),
    dropScratchTables: () => dropAllScratchTables(tx, asked),
  };
}

/** Tables that are there, and drafts are about: under the names that they have before any step. */
function concerned(
  drafts: readonly ResourceDraft[],
  { renames, actual }: { renames: TableRenames; actual: readonly ActualTable[] },
): readonly string[] {
  const names = new Set(drafts.map(({ resource }) => resource));
  return actual.map(({ name }) => name).filter((name) => names.has(renames.get(name) ?? name));
}

/** Tables have their names, and are there, before anything refers to them. */
function inOrder(steps: readonly DraftStep[]): readonly DraftStep[] {
  const place = ({ kind }: DraftStep): number => (kind === 'renameTable' ? 0 : kind === 'createTable' ? 1 : 2);
  return steps.toSorted((a, b) => place(a) - place(b));
}

function staleAllowance(hash: string): SetupError {
  return new SetupError('the plan is no longer the one that was allowed; nothing was done', [
    `what would be done now has the hash ${hash}: look at it with storage plan, and allow that`,
  ]);
}

function renamesOf(work: readonly DraftStep[]): Renames {
  const tables = new Map<string, string>();
  const fields = new Map<string, Map<string, string>>();
  for (const { resource, field, from } of work) {
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
