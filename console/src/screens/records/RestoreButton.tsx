import { Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { effectOf, useOwnResource } from '../../api/own-resources.ts';
import { type Row, sendRecordRequest } from '../../api/records.ts';
import { GuardedButton } from '../../components/GuardedButton.tsx';
import { notifySuccess } from '../../components/notify.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { useScreenWatch } from '../../components/useScreenWatch.ts';
import { dataTexts } from '../../texts/data.ts';

const texts = dataTexts.restore;

/** Properties of the button. */
interface RestoreButtonProps {
  readonly resource: string;
  readonly row: Row;
  /** Called if the same screen is still open. */
  onRestored?(): void;
}

/** Restores a soft-deleted record, and the records that its deletion cascaded to. */
export function RestoreButton({ resource, row, onRestored }: RestoreButtonProps) {
  const queryClient = useQueryClient();
  const { data: own } = useOwnResource(resource);
  // A rule that allows to delete a record allows to restore it.
  const isDenied = own !== undefined && (own === null || effectOf(own, 'delete') === 'deny');
  const watch = useScreenWatch();
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => {
      const isScreenOpen = watch();
      await sendRecordRequest(`${encodeURIComponent(resource)}/restore`, { method: 'POST', body: { id: row.id } });
      notifySuccess(texts.done);
      void queryClient.invalidateQueries({ queryKey: ['records'] });
      if (isScreenOpen()) onRestored?.();
    },
  });
  return (
    <Stack gap="xs">
      <GuardedButton
        size="xs"
        variant="default"
        refusal={isDenied ? dataTexts.refused('delete') : undefined}
        loading={isPending}
        onClick={() => mutate()}
      >
        {texts.action}
      </GuardedButton>
      {error !== null && <ProblemAlert error={error} onRepeat={() => mutate()} />}
    </Stack>
  );
}
