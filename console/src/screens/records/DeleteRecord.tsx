import { Alert, List, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type Row, sendRecordRequest } from '../../api/records.ts';
import { ConfirmModal } from '../../components/ConfirmModal.tsx';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { notifySuccess } from '../../components/notifySuccess.ts';
import { QueryState } from '../../components/QueryState.tsx';
import { dataTexts } from '../../texts/data.ts';

const texts = dataTexts.delete;

interface Reached {
  readonly resource: string;
  readonly field: string;
  readonly count: number;
}

interface DryRun {
  readonly permanent: boolean;
  readonly deleted: readonly Reached[];
  readonly cleared: readonly Reached[];
  readonly refused: readonly (Reached & { readonly reason?: string; readonly code: string })[];
  readonly problem?: { readonly detail: string };
}

/** Properties of the deletion of a record. */
interface DeleteRecordProps {
  readonly resource: string;
  readonly row: Row;
  /** The reason why the caller may not delete the record. */
  readonly denied: string | undefined;
}

/** Deletes a record, after a dry run that shows the records that would be deleted, changed and refused. */
export function DeleteRecord({ resource, row, denied }: DeleteRecordProps) {
  const [isOpen, dialog] = useDisclosure(false);
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const path = `${encodeURIComponent(resource)}/${encodeURIComponent(row.id)}`;
  const remove = async (): Promise<void> => {
    await sendRecordRequest(path, { method: 'DELETE', version: row.version });
    notifySuccess(texts.done);
    queryClient.removeQueries({ queryKey: ['records', resource, 'record', row.id] });
    await queryClient.invalidateQueries({ queryKey: ['records', resource, 'list'] });
    await navigate({ to: '/data/$resource', params: { resource } });
  };
  return (
    <>
      <GuardedButton color="red" variant="light" refusal={denied} onClick={dialog.open}>
        {texts.action}
      </GuardedButton>
      <ConfirmModal isOpen={isOpen} title={texts.title} action={texts.action} perform={remove} onClose={dialog.close}>
        <Consequences path={path} />
      </ConfirmModal>
    </>
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
          {problem && <Alert color="red">{problem.detail}</Alert>}
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
                {texts.refused(each.count, each.resource, each.reason ?? each.code)}
              </List.Item>
            ))}
          </List>
        </>
      )}
    </QueryState>
  );
}
