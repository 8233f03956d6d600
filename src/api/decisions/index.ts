/**
 * The audit log as an API: search, counts over time and by value, analytics, export, stream, and the explanation of an entry.
 *
 * Auditors see entries without facts and explanations, restricted in SQL by the conditions of their rules. No endpoint changes an entry.
 * Begin with `audit-endpoints.ts` and `decision-filters.ts`.
 */
export { auditEndpoints } from './audit-endpoints.ts';
export { ENTRY, ENTRY_EXAMPLE } from './audit-schemas.ts';
export {
  type EntryFilters,
  type EntryTail,
  type ExplainedEntry,
  explainFromCommand,
  exportEntriesFromCommand,
  hasEntriesAbout,
  loadLastEntries,
  loadNewEntries,
  parseEntryFilters,
  type ReadTransaction,
} from './decision-commands.ts';
export { decisionCountEndpoints } from './decision-count-endpoints.ts';
export { decisionExportEndpoints } from './decision-export-endpoint.ts';
export { BODY_FILTERS, moment, toEntryFilter, toTime } from './decision-filters.ts';
export { BY_ID, loadComparedUsers, loadUserLabels, USER_NAMES, WITH_USER_NAMES } from './decision-names.ts';
export { explainPast, loadPastDecisions, type PastDecisions, type PastRequest } from './decision-replay-past.ts';
export { decisionStreamEndpoints } from './decision-stream-endpoint.ts';
export { type EntryLabels, loadEntryLabels } from './entry-labels.ts';
export { withExplanationHints } from './explanation-hints.ts';
export { EXPLAINED, EXPLANATION_EXAMPLE, NAMED_POLICY, NAMED_RULE, RESIDUAL } from './explanation-schemas.ts';
