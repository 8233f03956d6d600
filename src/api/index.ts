/**
 * The HTTP endpoints, in one folder per subject. Each file is a table of endpoints with their schemas and handlers.
 *
 * Requests to records go through the pipeline (`records/`). All admin endpoints run in `admin/run-endpoint.ts`: they require an admin or an
 * auditor, and a change and its audit entry are one transaction. Admin endpoints never read or write records of a resource.
 * Begin with `records/record-routes.ts`, or with `admin/admin-endpoint.ts` and `policies/policy-endpoints.ts`.
 */

export { type SimulationContext, simulateAccess, toPrincipal, toRuleAction } from './access/index.ts';
export {
  type CommandPassword,
  type CommandPromotion,
  type CommandUser,
  createAuthRoutes,
  createUserFromCommand,
  promoteUserFromCommand,
  setPasswordFromCommand,
} from './accounts/index.ts';
export type { AdminDeps, BackupFile, SystemSource } from './admin/index.ts';
export { createAdminRoutes } from './admin-routes.ts';
export { assignFromCommand, type CommandAssignment, type CommandUnassignment, unassignFromCommand } from './assignments/index.ts';
export {
  type EntryFilters,
  type EntryLabels,
  type EntryTail,
  type ExplainedEntry,
  explainFromCommand,
  exportEntriesFromCommand,
  hasEntriesAbout,
  loadEntryLabels,
  loadLastEntries,
  loadNewEntries,
  parseEntryFilters,
  type ReadTransaction,
  withExplanationHints,
} from './decisions/index.ts';
export { createOpenApiRoute, loadApiDocument } from './openapi-endpoint.ts';
export {
  applyPoliciesFromCommand,
  applyPoliciesInDevelopment,
  type CommandApplication,
  type CommandPolicies,
  type CommandRollback,
  type ComparedChange,
  createPermissionPolicies,
  createPolicyLinter,
  exportPoliciesFromCommand,
  findPolicyId,
  grantFullAccess,
  type HistoryQuery,
  importPoliciesFromCommand,
  loadHistory,
  type PermissionPolicy,
  type PolicyApplicationReport,
  type PolicyFileSet,
  type PolicyOfFile,
  type RestoredAccess,
  type RollbackReport,
  restoreAdminPolicy,
  rollBackFromCommand,
} from './policies/index.ts';
export { prepareRequests, prepareRequestsLater } from './prepare-requests.ts';
export { type ComparedPolicies, comparePolicies, type PolicyComparison, type ReplayTally } from './preview/index.ts';
export { type ApiDeps, createApiRoutes } from './records/index.ts';
export { createDecisionStreams, type StreamMetrics, type StreamsOptions } from './streams/index.ts';
