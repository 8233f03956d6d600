/** The actions of the command palette. */
import { shellTexts } from '../texts/shell.ts';
import { navigationFor } from './navigation.ts';
import type { AuditRights } from './useAuditRights.ts';

/** An action of the palette that opens an address of the console. */
export interface PaletteLink {
  readonly to: string;
  /** The text that the list at the address is searched by. */
  readonly search?: string;
  readonly label: string;
  readonly description?: string | undefined;
}

/** Returns what identifies a link among those of the palette. */
export function keyOfLink({ to, search = '' }: PaletteLink): string {
  return `${to} ${search}`;
}

/** Actions under one heading. */
export interface PaletteGroup {
  readonly group: string;
  readonly links: readonly PaletteLink[];
}

const { screens, palette } = shellTexts;

/** Returns the screens and actions that a user with these rights may open, and the resources that the user may use. */
export function paletteGroups(rights: Pick<AuditRights, 'isAdmin' | 'mayRead'>, resources: readonly string[]): readonly PaletteGroup[] {
  const { isAdmin } = rights;
  const opened = navigationFor(rights).flatMap(({ title, items }) => items.map(({ to, label }) => ({ to, label, description: title })));
  const own = [...(isAdmin ? [{ to: '/first-steps', label: screens.firstSteps }] : []), { to: '/account', label: screens.account }];
  const records = resources.map((name) => ({ to: `/data/${encodeURIComponent(name)}`, label: name }));
  const groups = [
    { group: palette.screens, links: [...opened, ...own] },
    { group: palette.records, links: records },
    { group: palette.actions, links: isAdmin ? palette.adminActions : [] },
  ];
  return groups.filter(({ links }) => links.length > 0);
}
