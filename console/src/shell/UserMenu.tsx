import { Menu, SegmentedControl, Text, UnstyledButton, useMantineColorScheme } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { signOut } from '../api/session.ts';
import { shellTexts } from '../texts/shell.ts';
import classes from './Shell.module.css';
import { useCaller } from './useSession.ts';

type Scheme = 'light' | 'dark' | 'auto';

/** The menu of the signed-in user: colour scheme, own account, sign out. */
export function UserMenu() {
  const { email, name, role } = useCaller();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { theme } = shellTexts;
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <UnstyledButton className={classes['search']}>
          <Text size="sm" span truncate maw={160}>
            {name ?? email}
          </Text>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {email} · {role}
        </Menu.Label>
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label={theme.label}
          value={colorScheme}
          onChange={(scheme) => setColorScheme(scheme as Scheme)}
          data={(['light', 'dark', 'auto'] as const).map((value) => ({ value, label: theme[value] }))}
        />
        <Menu.Item component={Link} to="/account">
          {shellTexts.account}
        </Menu.Item>
        <Menu.Item onClick={() => void signOut()}>{shellTexts.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
