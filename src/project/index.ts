/**
 * A project on disk: its definition files and its database, and the operations on both that need no running service.
 *
 * Locates and opens the database, plans and applies migrations, writes and restores backups, verifies and prunes the audit log, and
 * watches its folders. It must never know a CLI command, print, or answer a request.
 * Begin with `project-database.ts`.
 */
export { type CreatedProject, createProject, type NewProject, type ProjectTemplates } from './create-project.ts';
export { createDiskSpace, type DiskSpace, type DiskSpaceOptions } from './disk-space.ts';
export { type MigratableProject, migrateTables } from './migrate-tables.ts';
export {
  type DecisionsToPrune,
  type PrunedDecisions,
  pruneOldDecisions,
  type VerifiedDecisions,
  verifyDecisions,
} from './project-audit-log.ts';
export { openBackups, type ProjectBackups, type Restore } from './project-backups.ts';
export { openAuditLog, openProjectDatabase } from './project-database.ts';
export { hasPolicyFolder, loadDefinitions, policyFolder, readProject } from './project-definitions.ts';
export { loadProjectStatus, type ProjectStatus } from './project-status.ts';
export { openTables, type Tables } from './project-tables.ts';
export { createSystemSource, type SystemSourceDeps } from './system-source.ts';
export { resealData, type VerifiedData, verifyData } from './verify-data.ts';
export { reloadFolder, type WatchedFolder, watchFolders } from './watch-folders.ts';
