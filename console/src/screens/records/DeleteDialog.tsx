import { Alert, List, Text } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type Row, sendRecordRequest } from '../../api/records.ts';
import { ConfirmModal } from '../../components/ConfirmModal.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { QueryState } from '../../components/QueryState.tsx';
import { useScreenWatch } from '../../components/useScreenWatch.ts';
import { dataTexts } from '../../texts/data.ts';
import { isolateNames } from '../../texts/sentence.ts';
import type { DryRun } from './dry-run.ts';

const texts = dataTexts.delete;

/** Properties of the question. */
export interface DeleteDialogProps {
  readonly resource: string;
  readonly row: Row;
  readonly isOpen: boolean;
  onClose(): void;
}

/** Asks before a record is deleted, after a dry run that shows the records that would be deleted, changed and refused. */
export function DeleteDialog({ resource, row, isOpen, onClose }: DeleteDialogProps) {
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const path = `${encodeURIComponent(resource)}/${encodeURIComponent(row.id)}`;
  const watch = useScreenWatch();
  const remove = async (): Promise<void> => {
    const isScreenOpen = watch();
    try {
      await sendRecordRequest(path, { method: 'DELETE', version: row.version });
    } catch (error) {
      // Another user may have changed the record: the next attempt is about what the screen then shows.
      await queryClient.invalidateQueries({ queryKey: ['records', resource] });
      throw error;
    }
    notifySuccess(texts.done);
    queryClient.removeQueries({ queryKey: ['records', resource, 'record', row.id] });
    await queryClient.invalidateQueries({ queryKey: ['records', resource, 'list'] });
    if (isScreenOpen()) await navigate({ to: '/data/$resource', params: { resource }, ignoreBlocker: true });
  };
  return (
    <ConfirmModal isOpen={isOpen} title={texts.title} action={texts.action} perform={remove} onClose={onClose}>
      <Consequences path={path} />
    </ConfirmModal>
  );
}

function Consequences({ path }: { readonly path: string }) {
  const dryRun = useQuery({
    queryKey: ['dry run', path],
    queryFn: async ({ signal }) =>
      (await sendRecordRequest<{ readonly data: DryRun }>(path, { method: 'DELETE', query: { dryRun: true }, signal })).data,
    staleTime: 0,
    gcTime: 0,
  });
  return (
    <QueryState query={dryRun} lines={3}>
      {({ permanent, deleted, cleared, refused, problem }) => (
        <>
          {problem && <Alert color="red">{isolateNames(problem.detail ?? problem.title)}</Alert>}
          <Text size="sm">{permanent ? texts.permanent : texts.restorable}</Text>
          <List size="sm">
            {deleted.map((each) => (
              <List.Item key={`d ${each.resource} ${each.field}`}>{texts.also(each.count, each.resource, each.field)}</List.Item>
            ))}
            {cleared.map((each) => (
              <List.Item key={`c ${each.resource} ${each.field}`}>{texts.cleared(each.count, each.resource, each.field)}</List.Item>
            ))}
            {refused.map((each) => (
              <List.Item key={`r ${each.resource} ${each.field}`}>
                {texts.refused(each.count, each.resource, isolateNames(each.reason ?? each.code))}
              </List.Item>
            ))}
          </List>
        </>
      )}
    </QueryState>
  );
}
