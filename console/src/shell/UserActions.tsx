import { NavLink, SegmentedControl, Text, useMantineColorScheme } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { signOut } from '../api/session.ts';
import { hasKeptChanges } from '../api/tab-storage.ts';
import { Dialog } from '../components/Dialog.tsx';
import { LeaveDialog } from '../components/LeaveDialog.tsx';
import { ProblemAlert } from '../components/ProblemAlert.tsx';
import { type LeaveTexts, unsavedQuestion } from '../components/unsaved-changes.ts';
import { commonTexts } from '../texts/common.ts';
import { sentence } from '../texts/sentence.ts';
import { shellTexts } from '../texts/shell.ts';
import { useCaller } from './useSession.ts';

type Scheme = 'light' | 'dark' | 'auto';

/** Properties of the actions. */
export interface UserActionsProps {
  /** Closes the menu. */
  onAction(): void;
}

/** The content of the menu of the signed-in user: colour scheme, own account, sign out. */
export function UserActions({ onAction }: UserActionsProps) {
  const { email, role } = useCaller();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { theme } = shellTexts;
  return (
    <>
      <Text size="xs" c="dimmed" mb="xs">
        {sentence`${email} · ${role}`}
      </Text>
      <SegmentedControl
        fullWidth
        size="xs"
        aria-label={theme.label}
        value={colorScheme}
        onChange={(scheme) => setColorScheme(scheme as Scheme)}
        data={(['light', 'dark', 'auto'] as const).map((value) => ({ value, label: theme[value] }))}
      />
      <NavLink component={Link} to="/account" label={shellTexts.account} mt="xs" onClick={onAction} />
      <SignOut onStart={onAction} />
    </>
  );
}

/** Signs out, after a question if unsaved changes would be lost. */
function SignOut({ onStart }: { onStart(): void }) {
  const { id: userId } = useCaller();
  // Stays while the dialog closes, so that its words do not change.
  const [question, setQuestion] = useState<LeaveTexts>(commonTexts.unsaved);
  const [isAsked, { open: ask, close }] = useDisclosure(false);
  const { mutate, error, reset } = useMutation({ mutationFn: signOut });
  const start = (): void => {
    onStart();
    const asked = unsavedQuestion() ?? (hasKeptChanges(userId) ? commonTexts.unsaved : undefined);
    if (asked === undefined) mutate();
    else {
      setQuestion(asked);
      ask();
    }
  };
  const leave = (): void => {
    close();
    mutate();
  };
  return (
    <>
      <NavLink component="button" label={shellTexts.signOut} onClick={start} />
      <LeaveDialog isOpen={isAsked} texts={question} onStay={close} onLeave={leave} />
      <Dialog opened={error !== null} onClose={reset} title={shellTexts.signOut}>
        <ProblemAlert error={error} onRepeat={() => mutate()} />
      </Dialog>
    </>
  );
}
