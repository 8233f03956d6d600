/**
 * HTTP endpoints: records, and the admin API (policies, assignments, access tests, findings, audit log, migrations).
 *
 * Each file is a table of endpoints with their handlers. All admin endpoints share `admin-endpoint.ts`: they require an admin token, and a change
 * and its audit entry are one transaction. Admin endpoints never read or write records of a resource; those go through the pipeline.
 * Begin with `record-endpoints.ts`, or with `admin-endpoint.ts` and `policy-endpoints.ts`.
 */
export type { AdminDeps } from './admin-endpoint.ts';
export { createAdminRoutes } from './admin-routes.ts';
export { withExplanationHints } from './explanation-hints.ts';
export { createDescriptionRoute } from './openapi-endpoint.ts';
export {
  createPermissionPolicies,
  exportPoliciesFromShell,
  grantFullAccess,
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
