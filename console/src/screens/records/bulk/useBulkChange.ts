import { useQueryClient } from '@tanstack/react-query';
import { isLost, RequestError } from '../../../api/problem.ts';
import { sendBatch } from '../../../api/record-batch.ts';
import type { Row } from '../../../api/records.ts';
import { notifySuccess } from '../../../components/notify.ts';
import { dataTexts } from '../../../texts/data.ts';
import { type BulkChange, type BulkOutcome, toOutcome, toRequests } from './bulk-change.ts';

interface BulkChangeOptions {
  readonly resource: string;
  readonly rows: readonly Row[];
  onDone(outcome: BulkOutcome): void;
}

/** Returns a function that changes records with one batch, loads their lists again, and reports the outcome. */
export function useBulkChange({ resource, rows, onDone }: BulkChangeOptions): (change: BulkChange) => Promise<void> {
  const queryClient = useQueryClient();
  return async (change) => {
    const results = await sendBatch(toRequests(resource, rows, change))
      .catch((error: unknown) => {
        throw isLost(error) ? new RequestError({ ...error.problem, detail: dataTexts.bulk.lost }) : error;
      })
      // Also after an error: the records may have been changed, and the next attempt is about what the list then shows.
      .finally(() => queryClient.invalidateQueries({ queryKey: ['records', resource] }));
    const outcome = toOutcome(change.action, rows, results);
    if (outcome.refused.length === 0) notifySuccess(dataTexts.bulk.done[change.action](outcome.changed.length));
    onDone(outcome);
  };
}
