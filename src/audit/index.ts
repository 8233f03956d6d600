/**
 * The record: one entry for each decision and each admin change.
 *
 * Appends in the transaction of what the entry is about, searches, counts, and keeps what it takes to explain a past
 * decision. Never decides, never changes or removes an entry, never holds a value of a secret field.
 * Begin with `entry.ts`, then `append.ts`.
 */
export { type Activity, type Analytics, analytics, type ResourceActivity, readTimeframe } from './analytics.ts';
export { appendAll, appendEntry, appendOwnDeed } from './append.ts';
export { CONTENT, type Content, toBeginningHash, toHash } from './chain.ts';
export { createEntryId, type Entry } from './entry.ts';
export { type FactsFrame, factsOf, readsToExplain, scopeFromFacts } from './facts.ts';
export { type Head, loadHeads } from './heads.ts';
export { loadHistoryFacts, readHistoryFacts } from './history-facts.ts';
export { type DecisionPage, type DecisionQuery, loadDecision, searchDecisions } from './search.ts';
