import type { Log, Transaction } from '../contract.ts';
import { convertValues } from './conversion.ts';
import { createBlockedStep, type DraftStep, type ResourceDraft } from './migration-plan.ts';

/**
 * The steps of a draft with what rows have to say of them: how many they concern, what would be lost, what is in the way.
 * Rows are asked only where nothing else is in the way.
 */
export async function evaluateDraft(tx: Transaction, draft: ResourceDraft, tell: Log): Promise<readonly DraftStep[]> {
  const { resource, steps, refusals, obstacles } = draft;
  if (refusals.length > 0) return [...steps, ...refusals.map((reason) => createBlockedStep(resource, { reason }))];
  const measured: DraftStep[] = [];
  for (const step of steps) measured.push(await measure(tx, step, tell));
  const counted: DraftStep[] = [];
  for (const step of measured) counted.push(...(await count(tx, step)));
  for (const { query, refuse, field } of obstacles) {
    const refusal = refuse(await tx.all(query));
    if (refusal !== undefined) counted.push(createBlockedStep(resource, { ...refusal, field }));
  }
  return counted;
}

/** Works out what becomes of the values: everything that is asked after this can ask for them. */
async function measure(tx: Transaction, step: DraftStep, tell: Log): Promise<DraftStep> {
  if (step.conversion === undefined) return step;
  const { rows, lost, ids } = await convertValues(tx, step.conversion, tell);
  if (lost === 0) {
    const reason = `${step.reason}; ${rows === 0 ? 'there are no values' : `all ${rows} values follow`}`;
    return { ...step, risk: rows === 0 ? 'safe' : 'needs-backfill', rows, reason };
  }
  const named = `${ids.join(', ')}${lost > ids.length ? ', …' : ''}`;
  const reason = `${step.reason}; ${lost} of ${rows} values cannot follow and would only be kept aside (records ${named})`;
  return { ...step, risk: 'lossy', rows: lost, ids, reason };
}

/** Leaves a step out that concerns no row. */
async function count(tx: Transaction, step: DraftStep): Promise<readonly DraftStep[]> {
  if (step.concerns === undefined) return [step];
  const row = await tx.one<{ count: number }>(step.concerns);
  return row === undefined || row.count === 0 ? [] : [{ ...step, rows: row.count }];
}
