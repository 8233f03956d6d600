import { Button, Group, Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { commonTexts } from '../texts/common.ts';
import { Dialog } from './Dialog.tsx';
import { ProblemAlert } from './ProblemAlert.tsx';
import { ReasonField } from './ReasonField.tsx';

/** Properties of a dialog with a form. */
interface FormModalProps {
  readonly title: string;
  /** The button that sends the form. */
  readonly action: string;
  /** False while a required field is empty. */
  readonly isComplete: boolean;
  readonly children: ReactNode;
  perform(reason: string | undefined): Promise<unknown>;
  onClose(): void;
}

/** A dialog with a form and a reason. It stays open, with its input, if the service refuses the change. */
export function FormModal({ title, action, isComplete, children, perform, onClose }: FormModalProps) {
  const [reason, setReason] = useState('');
  const { mutate, error, isPending } = useMutation({ mutationFn: () => perform(reason === '' ? undefined : reason), onSuccess: onClose });
  return (
    <Dialog opened isBusy={isPending} onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <Stack>
          {children}
          {error !== null && <ProblemAlert error={error} onRepeat={() => mutate()} />}
          <ReasonField value={reason} onChange={setReason} />
          <Group justify="flex-end">
            <Button variant="default" disabled={isPending} onClick={onClose}>
              {commonTexts.cancel}
            </Button>
            <Button type="submit" loading={isPending} disabled={!isComplete}>
              {action}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
