/**
 * The shape that all endpoints under `/admin/api` share: their dependencies, the transaction of a request, versions (If-Match) and cursors.
 *
 * A handler runs in the transaction that has identified and admitted the caller; a change and its audit entry are one transaction.
 * Begin with `admin-endpoint.ts` and `run-endpoint.ts`.
 */
export { type AdminChange, type AdminDeps, type AdminEndpoint, type AdminRequest, adminEndpoint } from './admin-endpoint.ts';
export {
  parseChangeCursor,
  parseIdCursor,
  parsePolicyCursor,
  parsePolicyImportBody,
  toChangeCursor,
  toIdCursor,
  toPolicyCursor,
  wantsLines,
  withLines,
} from './admin-parsing.ts';
export { runDry } from './dry-run.ts';
export { runAsAdmin } from './endpoint-command.ts';
export { toRoute } from './endpoint-route.ts';
export { loadLaterPage } from './later-pages.ts';
export { validatePolicyVersion, validateRenewalVersion, versionHeaders } from './policy-version.ts';
export type { BackupFile, SystemSource } from './system-status.ts';
