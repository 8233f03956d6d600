import { NavLink, Paper, SegmentedControl, Text, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useRef } from 'react';
import { signOut } from '../api/session.ts';
import { sentence } from '../texts/sentence.ts';
import { shellTexts } from '../texts/shell.ts';
import classes from './Shell.module.css';
import { useCaller } from './useSession.ts';

type Scheme = 'light' | 'dark' | 'auto';

const MENU = 'user-menu';

/** The menu of the signed-in user: colour scheme, own account, sign out. It is a popover of the browser, which closes it and returns the focus. */
export function UserMenu() {
  const { email, name, role } = useCaller();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const menu = useRef<HTMLDivElement>(null);
  const { theme } = shellTexts;
  return (
    <>
      <UnstyledButton className={classes['search']} popoverTarget={MENU}>
        <Text size="sm" span truncate maw={160}>
          {name ?? email}
        </Text>
      </UnstyledButton>
      <Paper ref={menu} id={MENU} popover="auto" withBorder shadow="md" className={classes['menu'] ?? ''}>
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
        <NavLink component={Link} to="/account" label={shellTexts.account} mt="xs" onClick={() => menu.current?.hidePopover()} />
        <NavLink component="button" label={shellTexts.signOut} onClick={() => void signOut()} />
      </Paper>
    </>
  );
}
