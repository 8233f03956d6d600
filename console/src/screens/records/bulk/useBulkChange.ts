import { useQueryClient } from '@tanstack/react-query';
import { sendBatch } from '../../../api/record-batch.ts';
import type { Row } from '../../../api/records.ts';
import { notifySuccess } from '../../../components/notifySuccess.ts';
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
    const outcome = toOutcome(change.action, rows, await sendBatch(toRequests(resource, rows, change)));
    await queryClient.invalidateQueries({ queryKey: ['records', resource] });
    if (outcome.refused.length === 0) notifySuccess(dataTexts.bulk.done[change.action](outcome.changed.length));
    onDone(outcome);
  };
}
