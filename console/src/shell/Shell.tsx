import { ActionIcon, Anchor, AppShell, Burger, Group, Kbd, Text, UnstyledButton } from '@mantine/core';
import { useCounter, useDisclosure } from '@mantine/hooks';
import { Outlet, useRouterState } from '@tanstack/react-router';
import { useEffect } from 'react';
import { createPart, LazyPart } from '../components/LazyPart.tsx';
import { shellTexts } from '../texts/shell.ts';
import { Navigation } from './Navigation.tsx';
import { OfflineBanner } from './OfflineBanner.tsx';
import { SessionGate } from './SessionGate.tsx';
import classes from './Shell.module.css';
import { UserMenu } from './UserMenu.tsx';
import { useKeptGuard } from './useKeptGuard.ts';
import { useKeys } from './useKeys.ts';

interface DialogProps {
  /** Number of times that the dialog was opened. */
  readonly requests: number;
}

const palette = createPart<DialogProps>(async () => (await import('./CommandPalette.tsx')).CommandPalette);
const keyboardHelp = createPart<DialogProps>(async () => (await import('./KeyboardHelp.tsx')).KeyboardHelp);

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
  const [palettes, { increment: openPalette }] = useCounter(0);
  const [helps, { increment: openHelp }] = useCounter(0);
  const path = useRouterState({ select: (state) => state.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the menu closes when another screen opens
  useEffect(() => menu.close(), [path]);
  useKeptGuard();
  useKeys({ onPalette: openPalette, onHelp: openHelp });
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
        <Header isMenuOpen={isMenuOpen} onMenu={menu.toggle} onPalette={openPalette} onHelp={openHelp} />
      </AppShell.Header>
      <AppShell.Navbar
        p="xs"
        aria-label={shellTexts.navigation}
        className={isMenuOpen ? classes['navigation'] : `${classes['navigation']} ${classes['closed']}`}
      >
        <Navigation />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1} className={classes['main']}>
        {palettes > 0 && <LazyPart part={palette} props={{ requests: palettes }} lines={0} />}
        {helps > 0 && <LazyPart part={keyboardHelp} props={{ requests: helps }} lines={0} />}
        <OfflineBanner />
        <Outlet />
      </AppShell.Main>
    </AppShell>
  );
}

interface HeaderProps {
  readonly isMenuOpen: boolean;
  onMenu(): void;
  onPalette(): void;
  onHelp(): void;
}

function Header({ isMenuOpen, onMenu, onPalette, onHelp }: HeaderProps) {
  return (
    <Group h="100%" px="md" justify="space-between" wrap="nowrap">
      <Group gap="sm" wrap="nowrap" className={classes['product'] ?? ''}>
        <Burger opened={isMenuOpen} onClick={onMenu} hiddenFrom="sm" size="sm" aria-label={shellTexts.menu} aria-expanded={isMenuOpen} />
        <img src="/console/favicon.svg" alt="" width={22} height={22} />
        <Text fw={700}>{shellTexts.product}</Text>
      </Group>
      <Group gap="xs" wrap="nowrap" className={classes['tools'] ?? ''}>
        <UnstyledButton onClick={onPalette} className={classes['search']} visibleFrom="sm">
          <Text size="sm" span>
            {shellTexts.palette.label}
          </Text>
          <Kbd size="xs">Ctrl K</Kbd>
        </UnstyledButton>
        <ActionIcon variant="default" size="lg" aria-label={shellTexts.palette.label} onClick={onPalette} hiddenFrom="sm">
          <SearchSign />
        </ActionIcon>
        <ActionIcon variant="default" size="lg" aria-label={shellTexts.help.title} onClick={onHelp}>
          ?
        </ActionIcon>
        <UserMenu />
      </Group>
    </Group>
  );
}

/** A magnifying glass. */
function SearchSign() {
  return (
    <svg viewBox="0 0 16 16" width={16} height={16} fill="none" stroke="currentColor" strokeWidth={1.8} aria-hidden="true">
      <circle cx="7" cy="7" r="4.5" />
      <path d="m10.5 10.5 4 4" strokeLinecap="round" />
    </svg>
  );
}
