import { sentence } from './sentence.ts';

/** Texts of the screen of roles. */
export const rolesTexts = {
  title: 'Roles',
  description: 'The roles of the project, and the policies that are assigned to them.',
  columns: { role: 'Role', policies: 'Policies', more: 'Show' },
  notes: {
    admin: 'Opens all screens. Access to records comes from its policies, as for every role.',
    anon: 'Requests without a token.',
    user: 'The role of a new user.',
  },
  none: 'No policy is assigned.',
  priority: (priority: number) => sentence`priority ${priority}`,
  users: 'its users',
  assignments: 'its assignments',
  decisions: 'its decisions',
} as const;
