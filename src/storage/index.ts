/**
 * Keeping what is kept: the database, tables that follow definitions, records, policies.
 *
 * No statement reaches a table without a condition; names in SQL come from definitions alone, values are bound; nothing
 * is answered before it is durable. It must never decide (it is handed conditions) and never know who asks.
 * `sqlite/` and `postgres/` say only how they differ.
 *
 * Begin with `database.ts`, the contract; then `sqlite/group-commit.ts`, `evolution/evolve.ts` and `list.ts`.
 */
export { type AssignedPolicy, listRoleAssignments, listRolePolicies, listUserPolicies } from './assigned-policies.ts';
export {
  type Authored,
  type AuthoredChange,
  assignToRole,
  assignToUser,
  loadAssignment,
  loadRolePolicies,
  loadUserPolicies,
  type RolePair,
  removeAssignment,
  removeAssignmentsOf,
  type UserPair,
  updateAssignment,
} from './assignments.ts';
export { type CandidateQuery, type Candidates, loadCandidates } from './candidates.ts';
export { CLOCK_LEEWAY_SECONDS } from './clock-leeway.ts';
export { type CursorKey, type CursorPosition, openCursor, sealCursor } from './cursor.ts';
export {
  type Appender,
  type Appending,
  type Asked,
  type Backup,
  type Backups,
  type Basis,
  type Change,
  type CommitFigures,
  type CommitWatch,
  ConstraintError,
  type Database,
  type DatabaseFigures,
  type Link,
  type Replaced,
  type RowLock,
  type Statement,
  type Transaction,
  type TransactionOptions,
  type UserSession,
  type UserVersion,
  type Writer,
} from './database.ts';
export { bumpEpochAbove, currentEpoch, type Epoch, loadEpoch } from './epoch.ts';
export {
  checkUnderstood,
  type DeletedRecords,
  type Evolution,
  type Evolved,
  evolve,
  hasChains,
  hasHistoryHashes,
  keepRestore,
  listDeletedRecords,
  listEvolutions,
  loadOtherDefinitions,
  type Plan,
  type PruneOptions,
  planFor,
  planIn,
  planPrune,
  prune,
  type Risk,
  type Step,
  type Tell,
  whenFree,
} from './evolution/index.ts';
export { loadGrants } from './grants.ts';
export { type HistoryHead, loadHistoryHead, toVersionHash, VERSION_CONTENT } from './history-hash.ts';
export { findUnknownUsers, type ImportedPolicies, importPolicies } from './import-policies.ts';
export { type ListQuery, listRecords, type Page, type Restriction } from './list.ts';
export { findMatches, type MatchQuery } from './matches.ts';
export { insertionInto, readingById, selectionOf } from './names.ts';
export { type DatabasePlace, emptyFileOf, openDatabase, openForReading } from './open.ts';
export { type DropPlace, type Dropping, dropOldest, makePartitions, type Staying } from './partitions.ts';
export { applyPermissions, comparePermissions, type PermissionsComparison } from './permissions.ts';
export {
  type Author,
  createPolicy,
  deletePolicy,
  listPolicies,
  loadPolicies,
  loadPolicy,
  loadPolicyState,
  loadPolicyToChange,
  updatePolicy,
} from './policies.ts';
export { loadChanges, loadPolicyStateAt } from './policy-history.ts';
export { loadActiveAssignments, loadPolicyPage } from './policy-pages.ts';
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
  checkReferences,
  emptyReferences,
  findDangling,
  findDeletedTogether,
  findReferrers,
  findReferringAdmin,
  type RecordName,
  type RecordNames,
  type Referrer,
  referrersTo,
} from './references.ts';
export { loadReferred, loadReferredOfEach, type Referring } from './referred.ts';
export { loadReferring } from './referring.ts';
export { isSaidInSql } from './said-in-sql.ts';
export { type Written, writeBackup } from './sqlite/backup.ts';
export { openSqlite, type SqliteOptions } from './sqlite/database.ts';
export { createBackups, type KeptBackups } from './sqlite/kept-backups.ts';
export { countEntriesSince, type FileFacts, readBackup, readFacts } from './sqlite/read-backup.ts';
export { type Replacement, replaceContent, type Staged, stageBackup } from './sqlite/replace.ts';
export { countUserValues } from './user-values.ts';
