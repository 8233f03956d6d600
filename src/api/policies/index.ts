/**
 * Policies: search, changes, history, rollback, validation, import and export, findings of the linter, and the commands of the CLI on policies.
 *
 * Every change takes a version (If-Match) and a reason, and writes a new version with its audit entry in one transaction.
 * Begin with `policy-endpoints.ts`.
 */
export { assignmentWarnings, findingEndpoints, WARNED } from './finding-endpoints.ts';
export { grantFullAccess } from './full-access.ts';
export { createPermissionPolicies, type PermissionPolicy } from './permissions-conversion.ts';
export {
  applyPoliciesFromCommand,
  applyPoliciesInDevelopment,
  type CommandApplication,
  type PolicyApplicationReport,
  type PolicyFileSet,
  type PolicyOfFile,
} from './policy-application.ts';
export {
  type CommandPolicies,
  exportPoliciesFromCommand,
  importPoliciesFromCommand,
  type RestoredAccess,
  restoreAdminPolicy,
} from './policy-commands.ts';
export { policyEndpoints } from './policy-endpoints.ts';
export {
  type CommandRollback,
  type ComparedChange,
  findPolicyId,
  type HistoryQuery,
  loadHistory,
  type RollbackReport,
  rollBackFromCommand,
} from './policy-history-commands.ts';
export { policyHistoryEndpoints } from './policy-history-endpoints.ts';
export {
  ASSIGNED_POLICY,
  ASSIGNMENT,
  POLICY_EXAMPLE,
  ROLE_POLICY,
  ROLE_POLICY_EXAMPLE,
  USER_POLICY,
  USER_POLICY_EXAMPLE,
  withKind,
} from './policy-responses.ts';
export { policyRollback } from './policy-rollback-endpoint.ts';
export { policySearchEndpoints } from './policy-search-endpoint.ts';
export { policyTransferEndpoints } from './policy-transfer-endpoints.ts';
export { policyValidationEndpoints } from './policy-validation-endpoint.ts';
export { requirePolicy } from './require-policy.ts';
export { createPolicyLinter } from './stored-policy-linter.ts';
