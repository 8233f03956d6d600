/** Roles that a user may have in a project, and that policies can be assigned to. */
export const ASSIGNABLE_ROLES = ['anon', 'user', 'admin', 'moderator', 'viewer', 'editor'] as const;
export type AssignableRole = (typeof ASSIGNABLE_ROLES)[number];
