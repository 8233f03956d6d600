import { Button, Group, Stack, TextInput } from '@mantine/core';
import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { commonTexts } from '../texts/common.ts';
import { isolate } from '../texts/sentence.ts';
import { Dialog } from './Dialog.tsx';
import { ProblemAlert } from './ProblemAlert.tsx';
import { ReasonField } from './ReasonField.tsx';

/** Properties of a confirmation. */
interface ConfirmModalProps {
  readonly isOpen: boolean;
  readonly title: string;
  /** The consequences. */
  readonly children?: ReactNode;
  /** The button that performs the change. */
  readonly action: string;
  /** A word that must be typed before a change that is hard to undo. */
  readonly word?: string | undefined;
  /** True if the change takes a reason. */
  readonly takesReason?: boolean;
  /** False while a field of the children has no valid value. */
  readonly isComplete?: boolean;
  /** False if the action deletes and revokes nothing: its button is then not red. Default: true. */
  readonly isDangerous?: boolean;
  /** True if the consequences are long. */
  readonly isWide?: boolean;
  perform(reason: string | undefined): Promise<unknown>;
  onClose(): void;
}

/** Queries that compare the stored state with the change. Once the change is sent, the service may refuse the comparison. */
const COMPARISONS = { predicate: ({ meta }: { readonly meta?: object | undefined }) => meta !== undefined && 'isComparison' in meta };

/** Asks before a change, names its consequences, and shows why it was refused. */
export function ConfirmModal(props: ConfirmModalProps) {
  const { isOpen, title, isWide = false, perform, onClose } = props;
  const queryClient = useQueryClient();
  const change = useMutation({
    mutationFn: async (reason: string | undefined) => {
      await queryClient.cancelQueries(COMPARISONS);
      return perform(reason);
    },
    onSuccess: onClose,
    onError: () => queryClient.refetchQueries({ ...COMPARISONS, type: 'active' }),
  });
  const close = (): void => {
    change.reset();
    onClose();
  };
  return (
    <Dialog opened={isOpen} isBusy={change.isPending} onClose={close} title={title} size={isWide ? 'lg' : 'md'}>
      {isOpen && <Confirmation {...props} change={change} onClose={close} />}
    </Dialog>
  );
}

interface ConfirmationProps extends ConfirmModalProps {
  readonly change: Pick<UseMutationResult<unknown, Error, string | undefined>, 'mutate' | 'error' | 'isPending'>;
}

function Confirmation({
  children,
  action,
  word,
  takesReason = false,
  isComplete = true,
  isDangerous = true,
  change: { mutate, error, isPending },
  onClose,
}: ConfirmationProps) {
  const [typed, setTyped] = useState('');
  const [reason, setReason] = useState('');
  const send = (): void => mutate(reason === '' ? undefined : reason);
  const isConfirmed = word === undefined || typed === word || typed === isolate(word);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <Stack>
        {children}
        {error !== null && <ProblemAlert error={error} onRepeat={send} />}
        {takesReason && <ReasonField value={reason} onChange={setReason} />}
        {word !== undefined && (
          <TextInput
            label={commonTexts.typeToConfirm(word)}
            value={typed}
            onChange={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" disabled={isPending} onClick={onClose}>
            {commonTexts.cancel}
          </Button>
          <Button type="submit" {...(isDangerous && { color: 'red' })} loading={isPending} disabled={!isComplete || !isConfirmed}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
