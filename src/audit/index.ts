/**
 * The audit log: one entry for each decision and each admin change.
 *
 * Appends entries in the transaction of the request, searches and counts them, and stores the values that conditions read, so that a past
 * decision can be explained. This folder never decides, never changes or removes an entry, and never stores the value of a secret field.
 *
 * Begin with `audit-entry.ts`, then `append-entries.ts`. `hash-chain.ts` links the entries, and `repeated-denials.ts` counts denials that have
 * no entry of their own. `integrity/` verifies the links, and `retention/` deletes old entries.
 */
export { type Activity, type Analytics, loadAnalytics, parseTimeframe, type ResourceActivity } from './analytics.ts';
export { type ActivitySeries, loadSeries } from './analytics-series.ts';
export { type AuditRow, appendAuditEntries, appendEntry, appendSystemEntry } from './append-entries.ts';
export {
  ADMIN_CHANGE_RESOURCES,
  ADMIN_RESOURCE,
  AUTH_RESOURCE,
  type AuditEntry,
  createEntryId,
  OTHER_SUBJECTS,
  type RepeatFacts,
} from './audit-entry.ts';
export { type ChainHead, loadChainHeads } from './chain-heads.ts';
export { closeDenialWindows, createWindowClosing, toClosingInterval, type WindowClosingDeps } from './close-denial-windows.ts';
export { type CountedRange, countDenials, countEntries, countValues, FACET_FIELDS } from './count-entries.ts';
export { type FactsFrame, factsOf, readsToExplain, scopeFromFacts } from './entry-facts.ts';
export { type EntryFilter, EXCLUDABLE_MEMBERS, type ExcludedValues, matchesFilter } from './entry-filter.ts';
export { dependsOnTimeZone, loadTimeZones } from './entry-time-zones.ts';
export type { EntryOrder } from './entry-windows.ts';
export { CONTENT, type Content, loadHistoryFacts, parseHistoryFacts, toBeginningHash, toHash } from './hash-chain.ts';
export { type CountableDenial, createDenialWindows, type DenialWindows, EVALUATION, isCountable } from './repeated-denials.ts';
export { compareReplays, hasSameRules, type Replay, type ReplayChange, replayEntry, withRecordedOutcome } from './replay-decision.ts';
export {
  createReplayFrame,
  createReplayScope,
  isCutOff,
  type ReplayFrame,
  type ReplayKnowledge,
  type ReplayScope,
  recordedPaths,
} from './replay-facts.ts';
export { type EntryPage, type EntryQuery, loadEntry, searchEntries } from './search-entries.ts';
export { findMatchingEntries, loadTail, loadTailEnd, type TailEntry, type TailPage } from './tail-entries.ts';
export { MAX_POSITION_TEXT, parsePositionText, type TailPosition, toPositionText } from './tail-position.ts';
