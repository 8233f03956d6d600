/** The screens of the navigation and of the command palette. */
import { shellTexts } from '../texts/shell.ts';
import type { AuditRights } from './useAuditRights.ts';

/** A screen in the navigation. */
export interface NavigationItem {
  /** The path below `/console`. */
  readonly to: string;
  readonly label: string;
  /** The users who may open the screen. */
  readonly for: 'admins' | 'auditors' | 'users';
}

/** Screens under one heading. */
export interface NavigationSection {
  readonly title: string | undefined;
  readonly items: readonly NavigationItem[];
}

const { sections, screens } = shellTexts;
const forAdmins = (to: string, label: string): NavigationItem => ({ to, label, for: 'admins' });

/** All screens, in the order of the navigation. */
export const NAVIGATION: readonly NavigationSection[] = [
  { title: undefined, items: [forAdmins('/', screens.overview)] },
  {
    title: sections.access,
    items: [
      forAdmins('/policies', screens.policies),
      forAdmins('/assignments', screens.assignments),
      forAdmins('/simulator', screens.simulator),
      forAdmins('/preview', screens.preview),
      forAdmins('/access', screens.access),
      forAdmins('/findings', screens.findings),
    ],
  },
  { title: sections.audit, items: [{ to: '/decisions', label: screens.decisions, for: 'auditors' }] },
  {
    title: sections.data,
    items: [{ to: '/data', label: screens.data, for: 'users' }, forAdmins('/users', screens.users), forAdmins('/roles', screens.roles)],
  },
  {
    title: sections.service,
    items: [forAdmins('/storage', screens.storage), forAdmins('/system', screens.system)],
  },
];

/** Returns the sections that a user with these rights may open. */
export function navigationFor({ isAdmin, mayRead }: Pick<AuditRights, 'isAdmin' | 'mayRead'>): readonly NavigationSection[] {
  const mayOpen = { admins: isAdmin, auditors: mayRead, users: true };
  return NAVIGATION.map(({ title, items }) => ({ title, items: items.filter((item) => mayOpen[item.for]) })).filter(
    ({ items }) => items.length > 0,
  );
}
