/**
 * Keeping what is kept: the database, tables that follow definitions, records, policies.
 *
 * No statement reaches a table without a condition; names in SQL come from definitions alone, values are bound; nothing
 * is answered before it is durable. It must never decide (it is handed conditions) and never know who asks.
 * `sqlite/` and `postgres/` say only how they differ.
 *
 * Begin with `database.ts`, the contract; then `sqlite/group-commit.ts`, `evolution/evolve.ts` and `list.ts`.
 */
export {
  type Authored,
  type AuthoredChange,
  assignToRole,
  assignToUser,
  loadAssignment,
  loadRolePolicies,
  loadUserAssignments,
  loadUserPolicies,
  type RolePair,
  removeAssignment,
  removeAssignmentsOf,
  type UserPair,
  updateAssignment,
} from './assignment-records.ts';
export { type DropPlace, type Dropping, dropOldest, makePartitions, type Staying } from './audit-partitions.ts';
export {
  type AppendContext,
  type AppendStatements,
  type Backup,
  type Backups,
  type ChainLink,
  type ChainWriter,
  type Change,
  CLOCK_LEEWAY_SECONDS,
  type CommitMetrics,
  type CommitObserver,
  ConstraintError,
  type Database,
  type DatabaseMetrics,
  type Log,
  type Query,
  type ReadSet,
  type RowLock,
  type Statement,
  type Transaction,
  type TransactionOptions,
  type UserSession,
  type UserVersion,
  type WriteSet,
} from './contract.ts';
export { type CursorKey, type CursorPosition, openCursor, sealCursor } from './cursor-pagination.ts';
export { findMatches, type MatchQuery } from './matching-records.ts';
export { type DeletedRecords, listDeletedRecords } from './migrations/deleted-records.ts';
export { type MigrationResult, migrate, planMigration, planMigrationIn } from './migrations/migrate.ts';
export { hasChains, hasHistoryHashes, listMigrations, type MigrationRecord, recordRestore } from './migrations/migration-history.ts';
export { retryWhileBusy } from './migrations/migration-lock.ts';
export type { Plan, Risk, Step } from './migrations/migration-plan.ts';

export { loadOtherDefinitions } from './migrations/migration-status.ts';
export { validateProgramVersion } from './migrations/program-version.ts';
export { type PruneOptions, planPruneArchived, pruneArchived } from './migrations/prune-archived.ts';
export { type DatabasePlace, emptyFileOf, openDatabase, openForReading } from './open-database.ts';
export { applyPermissions, comparePermissions, type PermissionsComparison } from './permission-records.ts';
export { findUnknownUsers, type ImportedPolicies, importPolicies } from './policy-bulk-import.ts';
export { type HistoryHead, loadChanges, loadHistoryHead, loadPolicyStateAt, toVersionHash, VERSION_CONTENT } from './policy-history.ts';
export {
  type AssignedPolicy,
  type Author,
  createPolicy,
  deletePolicy,
  listPolicies,
  listRoleAssignments,
  listRolePolicies,
  listUserPolicies,
  loadActiveAssignments,
  loadPolicies,
  loadPolicy,
  loadPolicyPage,
  loadPolicyState,
  loadPolicyToChange,
  updatePolicy,
} from './policy-records.ts';
export {
  type CandidateQuery,
  type Candidates,
  type ListQuery,
  listRecords,
  loadCandidates,
  type Page,
  type Restriction,
} from './record-lists.ts';
export {
  deleteRecord,
  insertRecord,
  loadDeletedRecord,
  loadRecord,
  loadRecords,
  type RecordChange,
  restoreRecord,
  updateRecord,
} from './records.ts';
export {
  emptyReferences,
  findDangling,
  findDeletedTogether,
  findReferrers,
  findReferringAdmin,
  lockReferences,
  type RecordName,
  type RecordNames,
  type Referrer,
  referrersTo,
} from './reference-checks.ts';
export { loadReferenced, loadReferencedOfEach, type Referring } from './referenced-records.ts';
export { loadReferencing } from './referencing-records.ts';
export { advanceRevisionAbove, currentRevision, loadRevision, type Revision } from './revision.ts';
export { isSaidInSql } from './sql-target.ts';
export { type AutomaticBackupOptions, createBackups } from './sqlite/automatic-backups.ts';
export { openSqlite, type SqliteOptions } from './sqlite/database.ts';
export { countEntriesSince, type FileFacts, readBackup, readFacts } from './sqlite/read-backup.ts';
export { type Replacement, replaceContent, type Staged, stageBackup } from './sqlite/replace-content.ts';
export { type WrittenBackup, writeBackup } from './sqlite/write-backup.ts';
export { insertionInto, readingById, selectionOf } from './table-names.ts';
export { countUserValues } from './user-values.ts';
