/**
 * Retention of the audit log: deletes entries that are older than a given number of days.
 *
 * Deletes only from the beginning of a chain, and signs each cut before it deletes, so that verification can tell pruned entries from
 * missing ones. This folder never deletes an entry that is younger than requested, and never blocks requests for long.
 *
 * Begin with `prune-entries.ts`; `retention-schedule.ts` runs it every hour.
 */
export { type Pruned, type PruneOptions, planPruning, pruneEntries } from './prune-entries.ts';
export { createRetention, firstKeptDay, type Retention, type RetentionDeps } from './retention-schedule.ts';
