import { List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { sendBatch } from '../../../api/record-batch.ts';
import { ConfirmModal } from '../../../components/ConfirmModal.tsx';
import { QueryState } from '../../../components/QueryState.tsx';
import { dataTexts } from '../../../texts/data.ts';
import type { DryRun } from '../dry-run.ts';
import { toConsequences, toRequests } from './bulk-change.ts';
import { type BulkDialogProps, WillRefuse } from './WillRefuse.tsx';

const texts = dataTexts.bulk;

/** Asks before several records are deleted, after a dry run that shows the records that go along and those that are refused. */
export function DeleteRecordsDialog({ resource, rows, perform, onClose }: BulkDialogProps) {
  const { definition } = resource;
  const count = rows.length;
  const isRestorable = definition.softDelete === true;
  return (
    <ConfirmModal
      isOpen
      isWide
      title={texts.deleteTitle(count)}
      action={dataTexts.delete.action}
      word={isRestorable ? undefined : texts.deleteWord(count)}
      perform={() => perform({ action: 'delete' })}
      onClose={onClose}
    >
      <Text size="sm">{isRestorable ? texts.restorable : texts.permanent}</Text>
      <Consequences resource={resource} rows={rows} />
    </ConfirmModal>
  );
}

function Consequences({ resource, rows }: Pick<BulkDialogProps, 'resource' | 'rows'>) {
  const { name } = resource.definition;
  const dryRun = useQuery({
    queryKey: ['dry run', name, rows.map(({ id, version }) => [id, version])],
    queryFn: async ({ signal }) => {
      const requests = toRequests(name, rows, { action: 'delete' }).map((request) => ({ ...request, dryRun: true as const }));
      return sendBatch<DryRun>(requests, signal);
    },
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <QueryState query={dryRun} lines={3}>
      {(results) => {
        const { deleted, cleared, refused } = toConsequences(rows, results);
        return (
          <>
            <List size="sm">
              {deleted.map(({ resource: reached, field, count }) => (
                <List.Item key={`d ${reached} ${field}`}>{texts.reached(count, reached, field)}</List.Item>
              ))}
              {cleared.map(({ resource: reached, field, count }) => (
                <List.Item key={`c ${reached} ${field}`}>{texts.cleared(count, reached, field)}</List.Item>
              ))}
            </List>
            <WillRefuse resource={resource} action="delete" refused={refused} />
          </>
        );
      }}
    </QueryState>
  );
}
