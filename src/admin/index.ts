/**
 * The admin endpoints: policies, assignments, access tests, who can, advice, decisions, analytics, templates, storage.
 *
 * Each file is a table of endpoints; `endpoint.ts` is what all share: only an admin's token opens them, a change and its
 * entry are one transaction. They never touch a resource's records: those go through the pipeline, for admins too.
 * Begin with `endpoint.ts`, then `policies.ts`.
 */
export { type AdminParts, admitAdmin } from './endpoint.ts';
export { grantFullAccess } from './first-admin.ts';
export { createPermissionPolicies, type PermissionPolicy } from './permissions.ts';
export { type RestoredAccess, restoreAdminPolicy } from './restore-access.ts';
export { exportPoliciesFromShell, importPoliciesFromShell, type ShellPolicies } from './shell-policies.ts';
export {
  createUserFromShell,
  promoteUserFromShell,
  type ShellPassword,
  type ShellPromotion,
  type ShellUser,
  setPasswordFromShell,
} from './shell-users.ts';
export { createAdminRoutes } from './admin-routes.ts';
