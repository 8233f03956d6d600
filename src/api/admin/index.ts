/**
 * The shape that all endpoints under `/admin/api` share: their dependencies, the transaction of a request, versions (If-Match) and cursors.
 *
 * A handler runs in the transaction that has identified and admitted the caller; a change and its audit entry are one transaction.
 * Begin with `admin-endpoint.ts`.
 */
export {
  type AdminChange,
  type AdminDeps,
  type AdminEndpoint,
  type AdminRequest,
  adminEndpoint,
  handleAs,
  toRoute,
  validatePolicyVersion,
  validateRenewalVersion,
  versionHeaders,
} from './admin-endpoint.ts';
export {
  parseChangeCursor,
  parseIdCursor,
  parsePolicyCursor,
  toChangeCursor,
  toIdCursor,
  toPolicyCursor,
  wantsLines,
  withLines,
} from './admin-parsing.ts';
export { runDry } from './dry-run.ts';
export { loadLaterPage } from './later-pages.ts';
export type { BackupFile, SystemSource } from './system-status.ts';
