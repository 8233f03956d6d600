/** The screens of the navigation and of the command palette. */
import { shellTexts } from '../texts/shell.ts';

/** A screen in the navigation. */
export interface NavigationItem {
  /** The path below `/console`. */
  readonly to: string;
  readonly label: string;
  /** True if only admins may open the screen. */
  readonly isForAdmins: boolean;
}

/** Screens under one heading. */
export interface NavigationSection {
  readonly title: string | undefined;
  readonly items: readonly NavigationItem[];
}

const { sections, screens } = shellTexts;
const forAdmins = (to: string, label: string): NavigationItem => ({ to, label, isForAdmins: true });

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
  { title: sections.audit, items: [forAdmins('/decisions', screens.decisions)] },
  {
    title: sections.data,
    items: [{ to: '/data', label: screens.data, isForAdmins: false }, forAdmins('/users', screens.users)],
  },
  {
    title: sections.service,
    items: [forAdmins('/storage', screens.storage), forAdmins('/system', screens.system)],
  },
];

/** Returns the sections that a user with this role may open. */
export function navigationFor(role: string): readonly NavigationSection[] {
  return NAVIGATION.map(({ title, items }) => ({
    title,
    items: items.filter(({ isForAdmins }) => role === 'admin' || !isForAdmins),
  })).filter(({ items }) => items.length > 0);
}
