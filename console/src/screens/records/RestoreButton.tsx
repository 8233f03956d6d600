import { Button, Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type Row, sendRecordRequest } from '../../api/records.ts';
import { notifySuccess } from '../../components/notifySuccess.ts';
import { ProblemAlert } from '../../components/ProblemAlert.tsx';
import { dataTexts } from '../../texts/data.ts';

const texts = dataTexts.restore;

/** Properties of the button. */
interface RestoreButtonProps {
  readonly resource: string;
  readonly row: Row;
  onRestored?(): void;
}

/** Restores a soft-deleted record, and the records that its deletion cascaded to. */
export function RestoreButton({ resource, row, onRestored }: RestoreButtonProps) {
  const queryClient = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => sendRecordRequest(`${encodeURIComponent(resource)}/restore`, { method: 'POST', body: { id: row.id } }),
    onSuccess: () => {
      notifySuccess(texts.done);
      void queryClient.invalidateQueries({ queryKey: ['records'] });
      onRestored?.();
    },
  });
  return (
    <Stack gap="xs">
      <Button size="xs" variant="default" loading={isPending} onClick={() => mutate()}>
        {texts.action}
      </Button>
      {error !== null && <ProblemAlert error={error} onRepeat={() => mutate()} />}
    </Stack>
  );
}
