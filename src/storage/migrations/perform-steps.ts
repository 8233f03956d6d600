import type { Log, Transaction } from '../contract.ts';
import { archiveResource, deleteDefinitionRow, saveDefinitionRow } from './applied-definitions.ts';
import type { DraftStep } from './migration-plan.ts';
import { runStep } from './migration-progress.ts';
import { saveTableRename } from './table-renames.ts';

/** Does steps in their order. Then it says so on the record, which describes tables as they are once all of them are done. */
export async function performSteps(tx: Transaction, steps: readonly DraftStep[], tell: Log): Promise<void> {
  for (const step of steps) await runStep(tx, step, tell);
  for (const { last = [] } of steps) for (const statement of last) await tx.run(statement);
  for (const step of steps) await note(tx, step);
}

/** Keeps on the record what a step put aside, brought back, renamed or dropped. */
async function note(tx: Transaction, { resource, kind, field, from, notes = [] }: DraftStep): Promise<void> {
  if (kind === 'renameTable' && from !== undefined) await saveTableRename(tx, from, resource);
  if (kind === 'keepAside' && field === undefined) await archiveResource(tx, resource);
  for (const each of notes) {
    if ('keep' in each) await saveDefinitionRow(tx, each.keep);
    else await deleteDefinitionRow(tx, each.drop);
  }
}
