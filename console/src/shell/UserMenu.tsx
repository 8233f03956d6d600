import { Paper, Text, UnstyledButton } from '@mantine/core';
import { type ToggleEvent, useRef, useState } from 'react';
import { createPart, LazyPart } from '../components/LazyPart.tsx';
import classes from './Shell.module.css';
import type { UserActionsProps } from './UserActions.tsx';
import { useCaller } from './useSession.ts';

const MENU = 'user-menu';

// Loaded when the menu first opens, because every screen has it.
const actions = createPart<UserActionsProps>(async () => (await import('./UserActions.tsx')).UserActions);

/** The menu of the signed-in user. It is a popover of the browser, which closes it and returns the focus. */
export function UserMenu() {
  const { email, name } = useCaller();
  const menu = useRef<HTMLDivElement>(null);
  const [wasOpened, setWasOpened] = useState(false);
  return (
    <>
      <UnstyledButton className={classes['search']} popoverTarget={MENU}>
        <Text size="sm" span truncate maw={160}>
          {name ?? email}
        </Text>
      </UnstyledButton>
      <Paper
        ref={menu}
        id={MENU}
        popover="auto"
        withBorder
        shadow="md"
        className={classes['menu'] ?? ''}
        onBeforeToggle={({ newState }: ToggleEvent) => newState === 'open' && setWasOpened(true)}
      >
        {wasOpened && <LazyPart part={actions} props={{ onAction: () => menu.current?.hidePopover() }} lines={4} />}
      </Paper>
    </>
  );
}
