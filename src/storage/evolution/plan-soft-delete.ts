import { sql } from '../../sql/index.ts';
import { type After, deletedObstacle } from './obstacles.ts';
import { type DraftStep, type Obstacle, toStep } from './plan.ts';
import { rowsOf, type Table } from './tables.ts';

/** What it asks of a table that deleted records are kept from now on, or no longer. */
export interface SoftDeleteDraft {
  readonly steps: readonly DraftStep[];
  readonly obstacles: readonly Obstacle[];
  /** What is different, in words. */
  readonly changes: readonly string[];
}

const NONE: SoftDeleteDraft = Object.freeze({ steps: [], obstacles: [], changes: [] });

/**
 * Plans a change of `softDelete`. Its columns are fields like any other, and planned as such. What is left is what records have
 * to say: those that would be back without it, and those that would be hidden with it.
 */
export function planSoftDelete(table: Table, after: After): SoftDeleteDraft {
  const { resource, applied, actual } = table;
  const was = applied?.softDelete === true;
  if (was === resource.softDelete) return NONE;
  if (was) {
    const obstacles = actual.columns.has('deletedAt') ? [deletedObstacle(table)] : [];
    return { steps: [], obstacles, changes: ['softDelete was true, is false: what is deleted from now on is gone for good'] };
  }
  const changes = ['softDelete was false, is true: what is deleted from now on is kept, and can be restored'];
  return { steps: [hideDeleted(table, after)], obstacles: [], changes };
}

/**
 * A project may have kept a `deletedAt` of its own. No value of it is lost, and yet the records that have one are in no answer
 * any more: whoever reads them would miss them all the same, so it asks first, as what loses something does.
 */
function hideDeleted(table: Table, after: After): DraftStep {
  const { name } = table.resource;
  const reason = `records that have a value in ${name}.deletedAt already count as deleted, and are hidden`;
  return {
    ...toStep(name, { kind: 'hide', risk: 'lossy', field: 'deletedAt', reason }),
    concerns: sql`SELECT count(*) AS "count" FROM ${rowsOf(table)} WHERE ${after('deletedAt')} IS NOT NULL`,
  };
}
