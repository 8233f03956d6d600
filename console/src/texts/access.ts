import { sentence } from './sentence.ts';

/** Texts of the access matrix, "who can" and permissions. */
export const accessTexts = {
  title: 'Access matrix',
  description: 'What the policies in force allow each role, user and record.',
  tabs: { matrix: 'Roles', whoCan: 'Who can', permissions: 'A user’s permissions' },
  resource: 'Resource',
  action: 'Action',
  user: 'User',
  record: 'Record',
  recordHelp: 'Empty: any record.',
  role: 'Role',
  effects: { allow: 'allowed', deny: 'denied', conditional: 'conditional' },
  legend: '✓ allowed · ✕ denied · ? conditional. Choose a cell to see the reason and the rule.',
  matrixLabel: (resource: string) => sentence`Roles and actions on ${resource}`,
  permissionsLabel: (user: string) => sentence`Permissions of ${user}`,
  when: 'Allowed if',
  openRule: 'Open the rule',
  simulate: 'Open in the simulator',
  roles: 'Roles',
  users: 'Users',
  via: { user: 'own assignment', role: 'role' },
  noRole: 'No role is allowed.',
  noUser: 'No user is allowed.',
  ask: 'Choose a resource and an action.',
  askUser: 'Choose a user.',
} as const;
