/**
 * A project on its disk: where its files and its database are, and what is done with both besides serving it. What is done to its
 * tables without a service, its database as a file and back, its record looked over, and files that change.
 *
 * It must never know a command, print, or answer a request. Begin with `place.ts`.
 */
export { openBackups } from './backups.ts';
export { openProjectDatabase } from './open-database.ts';
export { definitionFolder, readProject } from './place.ts';
export { type DecisionsToPrune, type PrunedDecisions, pruneOldDecisions } from './prune-decisions.ts';
export { openTables } from './tables.ts';
export { verifyDecisions } from './verify-decisions.ts';
export { watchDefinitions } from './watch.ts';
