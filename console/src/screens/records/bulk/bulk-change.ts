/** Changes of several records at once: the requests of the batch, and its outcome. */
import type { ProblemBody } from '../../../api/problem.ts';
import type { BatchedRequest, BatchResult } from '../../../api/record-batch.ts';
import type { Row } from '../../../api/records.ts';
import type { Field } from '../../../components/record-form/form-values.ts';
import { dataTexts } from '../../../texts/data.ts';
import { type DryRun, type ReachedRecords, sumReached } from '../dry-run.ts';

/** A change of each of the selected records. */
export type BulkChange =
  | { readonly action: 'delete' | 'restore' }
  | { readonly action: 'update'; readonly values: Readonly<Record<string, unknown>> };

/** A record that was not changed, and why. */
export interface RefusedRecord {
  readonly row: Row;
  readonly problem: Pick<ProblemBody, 'title' | 'detail' | 'code'>;
  /** The audit entry of the decision. */
  readonly decisionId?: string;
}

/** The results of a batch. */
export interface BulkOutcome {
  readonly action: BulkChange['action'];
  readonly changed: readonly Row[];
  readonly refused: readonly RefusedRecord[];
}

/** Returns the requests of a change, each for the version of the record that the list shows. */
export function toRequests(resource: string, rows: readonly Row[], change: BulkChange): readonly BatchedRequest[] {
  const data = change.action === 'update' ? { data: change.values } : {};
  return rows.map(({ id, version }) => ({
    resource,
    action: change.action,
    id,
    ...data,
    ...(version !== undefined && { ifMatch: version }),
  }));
}

/** Returns the outcome of a batch. A record without a result counts as refused. */
export function toOutcome(action: BulkChange['action'], rows: readonly Row[], results: readonly BatchResult[]): BulkOutcome {
  const changed: Row[] = [];
  const refused: RefusedRecord[] = [];
  for (const [index, row] of rows.entries()) {
    const result = results[index] ?? NO_RESULT;
    if (result.success) changed.push(row);
    else refused.push({ row, problem: result.error, ...(result.decisionId !== undefined && { decisionId: result.decisionId }) });
  }
  return { action, changed, refused };
}

const NO_RESULT: BatchResult = { success: false, error: { title: dataTexts.bulk.noResult, status: 0, code: 'UNKNOWN' } };

/** The effects of several deletions. */
interface Consequences {
  readonly deleted: readonly ReachedRecords[];
  readonly cleared: readonly ReachedRecords[];
  readonly refused: readonly RefusedRecord[];
}

/** Returns the effects of deletions by the results of their dry runs. One that would be refused reaches nothing. */
export function toConsequences(rows: readonly Row[], results: readonly BatchResult<DryRun>[]): Consequences {
  const known = results.map((result): BatchResult<DryRun> => {
    const problem = result.success ? result.data.problem : undefined;
    return problem === undefined ? result : { success: false, error: { status: 0, ...problem } };
  });
  const runs = known.flatMap((result) => (result.success ? [result.data] : []));
  return {
    deleted: sumReached(runs.map(({ deleted }) => deleted)),
    cleared: sumReached(runs.map(({ cleared }) => cleared)),
    refused: toOutcome('delete', rows, known).refused,
  };
}

/** Returns the fields that can have the same value in several records: not unique ones, and no passwords. */
export function commonFields(fields: readonly Field[]): readonly Field[] {
  return fields.filter(({ readOnly, immutable, unique, type }) => !readOnly && !immutable && !unique && type !== 'password');
}
