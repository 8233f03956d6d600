import { ActionIcon, Anchor, AppShell, Burger, Group, Kbd, ScrollArea, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { spotlight } from '@mantine/spotlight';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { shellTexts } from '../texts/shell.ts';
import { CommandPalette } from './CommandPalette.tsx';
import { KeyboardHelp } from './KeyboardHelp.tsx';
import { Navigation } from './Navigation.tsx';
import { SessionGate } from './SessionGate.tsx';
import classes from './Shell.module.css';
import { UserMenu } from './UserMenu.tsx';

/** The frame around all screens of a session: header, navigation, palette and the screen itself. */
export function Shell() {
  return (
    <SessionGate>
      <Frame />
    </SessionGate>
  );
}

function Frame() {
  const [isMenuOpen, menu] = useDisclosure(false);
  const [isHelpOpen, help] = useDisclosure(false);
  const path = useRouterState({ select: (state) => state.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when another screen opens
  useEffect(() => menu.close(), [path]);
  useHotkeys([
    ['shift+?', help.open],
    ['/', focusSearch],
  ]);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 220, breakpoint: 'sm', collapsed: { mobile: !isMenuOpen } }}
      padding={{ base: 'sm', sm: 'lg' }}
    >
      <Anchor href="#content" className={classes['skip']}>
        {shellTexts.skip}
      </Anchor>
      <AppShell.Header>
        <Header isMenuOpen={isMenuOpen} onMenu={menu.toggle} onHelp={help.open} />
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label={shellTexts.navigation} {...(!isMenuOpen && { className: classes['closed'] })}>
        <ScrollArea>
          <Navigation />
        </ScrollArea>
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} className={classes['main']}>
        <Outlet />
      </AppShell.Main>
      <CommandPalette />
      <KeyboardHelp isOpen={isHelpOpen} onClose={help.close} />
    </AppShell>
  );
}

interface HeaderProps {
  readonly isMenuOpen: boolean;
  onMenu(): void;
  onHelp(): void;
}

function Header({ isMenuOpen, onMenu, onHelp }: HeaderProps) {
  return (
    <Group h="100%" px="md" justify="space-between" wrap="nowrap">
      <Group gap="sm" wrap="nowrap">
        <Burger opened={isMenuOpen} onClick={onMenu} hiddenFrom="sm" size="sm" aria-label={shellTexts.menu} aria-expanded={isMenuOpen} />
        <img src="/console/favicon.svg" alt="" width={22} height={22} />
        <Text fw={700}>{shellTexts.product}</Text>
      </Group>
      <Group gap="xs" wrap="nowrap">
        <UnstyledButton onClick={spotlight.open} className={classes['search']} visibleFrom="sm">
          <Text size="sm" span>
            {shellTexts.palette}
          </Text>
          <Kbd size="xs">Ctrl K</Kbd>
        </UnstyledButton>
        <ActionIcon variant="default" aria-label={shellTexts.help.title} onClick={onHelp} visibleFrom="sm">
          ?
        </ActionIcon>
        <UserMenu />
      </Group>
    </Group>
  );
}

function focusSearch(): void {
  document.querySelector<HTMLInputElement>('[data-search]')?.focus();
}
