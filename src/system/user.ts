import type { JsonObject } from '../operators/index.ts';

/** Roles that users have unless a project's own `User` file adds others of the assignable ones. */
export const USER_ROLES = ['anon', 'user', 'admin'] as const;

/** Who can log in. Public: reached through the generic routes like any resource, and decided like any. */
export const USER: JsonObject = {
  name: 'User',
  description: 'A person or program that can log in.',
  fields: {
    name: { type: 'string', maxLength: 200, description: 'As shown to others.' },
    email: { type: 'email', required: true, unique: true, description: 'The name to log in with.' },
    password: { type: 'password', description: 'Without one, nobody can log in as the user.' },
    role: { type: 'enum', values: USER_ROLES, default: 'user', required: true, guarded: true, index: true },
    isActive: {
      type: 'boolean',
      default: true,
      required: true,
      guarded: true,
      description: 'Whether the user may log in and use the tokens given before.',
    },
  },
};
