/**
 * How long the record is kept: what is older than it need be goes, by the day, and what is left is still told from a record that
 * somebody cut.
 *
 * Removes nothing but whole beginnings of chains, each signed before it goes, and no entry that is younger than was asked for. Never
 * holds up a request for long. Begin with `prune.ts`.
 */
export { type Pruned, planRetention, pruneDecisions, type RetentionPlan } from './prune-entries.ts';
export { createRetention, lastDay, type Retention } from './retention-schedule.ts';
