import { NavLink, SegmentedControl, Text, useMantineColorScheme } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { signOut } from '../api/session.ts';
import { Dialog } from '../components/Dialog.tsx';
import { LeaveDialog } from '../components/LeaveDialog.tsx';
import { ProblemAlert } from '../components/ProblemAlert.tsx';
import { hasUnsavedChanges } from '../components/unsaved-changes.ts';
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
  const [isAsked, setAsked] = useState(false);
  const { mutate, error, reset } = useMutation({ mutationFn: signOut });
  const start = (): void => {
    onStart();
    if (hasUnsavedChanges()) setAsked(true);
    else mutate();
  };
  const leave = (): void => {
    setAsked(false);
    mutate();
  };
  return (
    <>
      <NavLink component="button" label={shellTexts.signOut} onClick={start} />
      <LeaveDialog isOpen={isAsked} onStay={() => setAsked(false)} onLeave={leave} />
      <Dialog opened={error !== null} onClose={reset} title={shellTexts.signOut}>
        <ProblemAlert error={error} onRepeat={() => mutate()} />
      </Dialog>
    </>
  );
}
