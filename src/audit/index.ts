/**
 * The record: one entry for each decision and each admin change.
 *
 * Appends in the transaction of what the entry is about, searches, counts, and keeps what it takes to explain a past
 * decision. Never decides, never changes or removes an entry, never holds a value of a secret field.
 * Begin with `entry.ts`, then `append.ts`.
 */
export { type Activity, type Analytics, analytics, type ResourceActivity, readTimeframe } from './analytics.ts';
export { appendAll, appendEntry, appendOwnDeed, type Head, loadChainHeads } from './append-entries.ts';
export { type AuditEntry, createEntryId } from './audit-entry.ts';
export { type FactsFrame, factsOf, readsToExplain, scopeFromFacts } from './entry-facts.ts';
export { CONTENT, type Content, loadHistoryFacts, readHistoryFacts, toBeginningHash, toHash } from './hash-chain.ts';
export { type DecisionPage, type DecisionQuery, loadDecision, searchDecisions } from './search-entries.ts';
