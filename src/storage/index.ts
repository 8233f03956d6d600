/**
 * Storage: the database contract, records and lists, users, and policies with their history. `audit/` has the statements on audit entries.
 * `lists/` has lists and their SQL, `related/` the other records that decisions and writes read, `policies/` policies, assignments and their
 * history, `checksums/` the comparison of rows with their checksums. `migrations/` changes tables, `sqlite/` and `postgres/` contain what differs
 * between the databases.
 *
 * Rules: no statement reaches a table without a condition; names in SQL come from definitions only, values are bound; nothing is
 * acknowledged before it is durable. Storage never decides: it gets conditions. Of the caller it receives only the attributes with which
 * references begin, and a name for the queues.
 *
 * Start with `contract.ts`, then `records.ts`, `lists/record-lists.ts` and `sqlite/commit-batching.ts`.
 */

export { toAnonymousCaller } from './anonymous-share.ts';
export { type AnswerSize, createAnswerSize, type PageSize } from './answer-size.ts';
export { type Attempt, type BatchLimits, TimeLimit } from './attempt.ts';
export { createPartitions, type DropOptions, type DropPosition, dropOldest, type RetainedRows } from './audit-partitions.ts';
export { type Budget, type BudgetLimits, createBudget, describeLimit } from './budget.ts';
export { checkDatabase, type DatabaseCheck } from './check-database.ts';
export { describeDamage } from './checksums/damaged-rows.ts';
export { loadingById, unlessDamaged } from './checksums/intact-records.ts';
export {
  checkedReadingById,
  checkedSelectionOf,
  hasChecksums,
  hasSameContent,
  refuseDamagedRecord,
  requireIntactRecord,
} from './checksums/record-checksums.ts';
export { type VerifiedRows, verifyRows } from './checksums/verify-rows.ts';
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
  type FirstRows,
  type Log,
  type Query,
  type RowLock,
  type Statement,
  type Transaction,
  type TransactionOptions,
} from './contract.ts';
export { loadDatabaseVersion } from './database-version.ts';
export { readingEarlierTables } from './earlier-tables.ts';
export { withTime } from './fixed-time.ts';
export type { CursorPosition } from './lists/cursor-pagination.ts';
export { type CursorKeys, type CursorScope, openCursor, sealCursor } from './lists/cursor-text.ts';
export { loadDescendantsOfList } from './lists/descendant-list.ts';
export { findMatches, type MatchQuery } from './lists/find-matches.ts';
export type { ListQuery, Page, Restriction } from './lists/list-query.ts';
export { hasSortIndex } from './lists/list-rows.ts';
export { resourcesReachedBy } from './lists/listed-records.ts';
export { prepareList } from './lists/prepare-list.ts';
export { listRecords } from './lists/record-lists.ts';
export { matchRecord, type RecordMatch } from './lists/record-match.ts';
export { loadRelatedOfList } from './lists/related-list.ts';
export { exactFilter, isExactInSql } from './lists/sql-target.ts';
export { loadAppliedDefinitions } from './migrations/applied-definitions.ts';
export { type DeletedRecords, listDeletedRecords } from './migrations/deleted-records.ts';
export { type MigrateOptions, type MigrationResult, migrate, planMigration, planMigrationIn } from './migrations/migrate.ts';
export { listMigrations, loadDefinitionsRevision, type MigrationRecord, recordRestore } from './migrations/migration-history.ts';
export { retryWhileBusy } from './migrations/migration-lock.ts';
export type { Plan, Risk, Step } from './migrations/migration-plan.ts';
export {
  hasChains,
  hasHistoryHashes,
  loadDefinitionsHash,
  loadOtherDefinitions,
} from './migrations/migration-status.ts';
export { validateProgramVersion } from './migrations/program-version.ts';
export { type PruneArchivedOptions, planPruneArchived, pruneArchived } from './migrations/prune-archived.ts';
export { type DatabaseAddress, emptyFileOf, openDatabase, openForReading } from './open-database.ts';
export { type BatchChange, type BatchResult, type BatchState, changeAssignments, loadBatchState } from './policies/assignment-batch.ts';
export {
  type AssignmentFilter,
  type AssignmentPosition,
  isOrderedByExpiry,
  loadAssignmentPage,
} from './policies/assignment-lists.ts';
export {
  type Authored,
  type AuthoredChange,
  assignToRole,
  assignToUser,
  findAssignment,
  isInForce,
  loadAssignment,
  loadRolePolicies,
  loadUserPolicies,
  type RolePair,
  removeAssignment,
  removeAssignmentsOf,
  toAssignmentKey,
  type UserPair,
  updateAssignment,
} from './policies/assignment-records.ts';
export { findUnknownUsers } from './policies/existing-users.ts';
export { isManagedAssignment, MANAGED_ASSIGNMENT } from './policies/managed-policies.ts';
export { applyPermissions, comparePermissions, type PermissionsComparison } from './policies/permission-comparison.ts';
export { findPoliciesOfUsers, loadPoliciesInForce, type PolicyInForce } from './policies/policies-in-force.ts';
export { type ImportedAssignment, type ImportedPolicies, importPolicies } from './policies/policy-bulk-import.ts';
export { type AppliedPolicies, applyPolicyFiles, type OrphanAction, type PolicyApplication } from './policies/policy-file-changes.ts';
export {
  type ChangesSince,
  type HistoryHead,
  loadChanges,
  loadHistoryHead,
  loadHistoryHeadAt,
  loadPolicyStateAt,
  loadUserPoliciesAt,
  toVersionHash,
  VERSION_CONTENT,
} from './policies/policy-history.ts';
export {
  type ActiveRule,
  type AssignedPolicy,
  listPolicyNames,
  listRoleAssignments,
  listRolePolicies,
  loadActiveAssignments,
  loadActiveRules,
  loadAssignedPage,
  loadPolicyNames,
  loadRolePoliciesOf,
  loadRuleNames,
} from './policies/policy-lists.ts';
export {
  type Author,
  changedPolicy,
  createPolicy,
  deletePolicy,
  listPolicies,
  loadPolicies,
  loadPoliciesById,
  loadPoliciesByName,
  loadPolicy,
  loadPolicyToChange,
  newPolicy,
  updatePolicy,
} from './policies/policy-records.ts';
export { type AssignmentRollback, ROLLBACK_ASSIGNMENTS, rollBackPolicy } from './policies/policy-rollback.ts';
export { loadCheckedPolicies } from './policies/policy-rows.ts';
export {
  type Assignee,
  findPolicyIds,
  loadFittingPolicies,
  loadPolicyPage,
  loadPolicySummaries,
  POLICY_ORDERS,
  type PolicyOrder,
  type PolicyPosition,
  type PolicySummary,
} from './policies/policy-search.ts';
export {
  type LoadedAssignments,
  loadPoliciesOfRoles,
  loadPolicyState,
  loadRoleAssignments,
  loadUserAssignments,
} from './policies/policy-state.ts';
export {
  type ChangePosition,
  loadAssignmentsAt,
  loadPolicyChanges,
  loadPolicyVersion,
  type StoredChange,
} from './policies/policy-versions.ts';
export { resealRows } from './policies/reseal-rows.ts';
export {
  advanceRevisionAbove,
  CURRENT_REVISION,
  currentRevision,
  isInHistory,
  loadRevision,
  type Revision,
  toRevision,
} from './policies/revision.ts';
export type { ReadSet, UserSession, UserVersion, WriteSet } from './read-set.ts';
export {
  deleteRecord,
  insertAfterLookups,
  insertRecord,
  loadDeletedRecord,
  loadRecord,
  loadRecords,
  loadUndamagedRecords,
  type RecordChange,
  restoreRecord,
  updateRecord,
} from './records.ts';
export { type ChangedRecord, toChangedRecord } from './related/changed-record.ts';
export { validateMove } from './related/hierarchy-checks.ts';
export { type FoundForInsertion, lookupsForInsertions, type SubmittedRecord } from './related/insertion-lookups.ts';
export { findDanglingReferences, lockReferences, type RecordId } from './related/reference-checks.ts';
export {
  clearReferences,
  findDeletedTogether,
  findReferencesToClear,
  findReferencingAdmin,
  findReferencingIds,
  type ReferencesToClear,
  type ReferencingField,
  referencingFieldsTo,
} from './related/reference-searches.ts';
export { loadReferenced, loadReferencedOfEach, type OnRead, type ReferenceQuery, readSetOf } from './related/referenced-records.ts';
export { loadReferencing } from './related/referencing-records.ts';
export { createRelatedStore, MAX_RELATED, type RelatedStore } from './related/related-records.ts';
export { rowsPerStatement } from './row-size.ts';
export {
  deleteView,
  deleteViewsOf,
  savedViewsOf,
  type ViewKey,
  versionToChange,
  writeView,
} from './saved-views.ts';
export { type AutomaticBackupOptions, createBackups } from './sqlite/automatic-backups.ts';
export { openSqlite, type SqliteOptions } from './sqlite/database.ts';
export { countEntriesSince, type FileFacts, readBackup, readFacts } from './sqlite/read-backup.ts';
export { type Replacement, replaceContent, type Staged, stageBackup } from './sqlite/replace-content.ts';
export { withBackupFile } from './sqlite/verify-backup.ts';
export { type WrittenBackup, writeBackup } from './sqlite/write-backup.ts';
export { countUsersAndPolicies } from './stored-counts.ts';
export { insertionInto } from './table-names.ts';
export { loadUserByEmail } from './user-by-email.ts';
export { countUserAssignments, loadUserPage, type UserPageQuery } from './user-lists.ts';
export { type CandidateQuery, type Candidates, countUserValues, loadCandidates, loadUserNames } from './user-queries.ts';
