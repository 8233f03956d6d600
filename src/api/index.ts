/**
 * HTTP endpoints: records, and the admin API (policies, assignments, access tests, findings, audit log, migrations).
 *
 * Each file is a table of endpoints with their handlers. All admin endpoints share `admin-endpoint.ts`: they require an admin token, and a change
 * and its audit entry are one transaction. Admin endpoints never read or write records of a resource; those go through the pipeline.
 * Begin with `record-endpoints.ts`, or with `admin-endpoint.ts` and `policy-endpoints.ts`.
 */
export type { AdminDeps } from './admin-endpoint.ts';
export { createAdminRoutes } from './admin-routes.ts';
export { createAuthRoutes } from './auth-endpoints.ts';
export { createDecisionStreams, type StreamMetrics } from './decision-streams.ts';
export { withExplanationHints } from './explanation-hints.ts';
export { createOpenApiRoute } from './openapi-endpoint.ts';
export {
  type CommandPolicies,
  createPermissionPolicies,
  exportPoliciesFromCommand,
  grantFullAccess,
  importPoliciesFromCommand,
  type PermissionPolicy,
  type RestoredAccess,
  restoreAdminPolicy,
} from './policy-operations.ts';
export { type ApiDeps, createApiRoutes } from './record-endpoints.ts';
export type { BackupFile, SystemSource } from './system-status.ts';
export {
  type CommandPassword,
  type CommandPromotion,
  type CommandUser,
  createUserFromCommand,
  promoteUserFromCommand,
  setPasswordFromCommand,
} from './user-operations.ts';
