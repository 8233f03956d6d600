/**
 * A project on its disk: where its files and its database are, and what is done with both besides serving it. What is done to its
 * tables without a service, its database as a file and back, its record looked over, and files that change.
 *
 * It must never know a command, print, or answer a request. Begin with `place.ts`.
 */
export { openBackups } from './project-backups.ts';
export { openProjectDatabase } from './project-database.ts';
export { definitionFolder, readProject } from './project-paths.ts';
export { openTables } from './project-tables.ts';
export { type DecisionsToPrune, type PrunedDecisions, pruneOldDecisions } from './prune-decisions.ts';
export { verifyDecisions } from './verify-decisions.ts';
export { watchDefinitions } from './watch-definitions.ts';
