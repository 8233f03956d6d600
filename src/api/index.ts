/**
 * The admin endpoints: policies, assignments, access tests, who can, advice, decisions, analytics, templates, storage.
 *
 * Each file is a table of endpoints; `endpoint.ts` is what all share: only an admin's token opens them, a change and its
 * entry are one transaction. They never touch a resource's records: those go through the pipeline, for admins too.
 * Begin with `endpoint.ts`, then `policies.ts`.
 */
export type { AdminParts } from './admin-endpoint.ts';
export { createAdminRoutes } from './admin-routes.ts';
export { withExplanationHints } from './explanation-hints.ts';
export { grantFullAccess } from './first-admin.ts';
export { createDescriptionRoute } from './openapi-endpoint.ts';
export {
  createPermissionPolicies,
  exportPoliciesFromShell,
  importPoliciesFromShell,
  type PermissionPolicy,
  type RestoredAccess,
  restoreAdminPolicy,
  type ShellPolicies,
} from './policy-operations.ts';
export { type ApiDeps, createApiRoutes } from './record-endpoints.ts';
export {
  createUserFromShell,
  promoteUserFromShell,
  type ShellPassword,
  type ShellPromotion,
  type ShellUser,
  setPasswordFromShell,
} from './user-operations.ts';
