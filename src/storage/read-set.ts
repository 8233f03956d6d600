/** The state that a unit of work declares to have read or replaced, so that its commit can be validated. */
import type { Watch, WatchedFields } from '../authz/policies/index.ts';
import type { RecordWrite, RelationReads } from './related/relation-reads.ts';

/** The version of a user record that was read; 0 if there is no record. */
export interface UserVersion {
  readonly id: string;
  readonly version: number;
}

/** A login session and its user. */
export interface UserSession {
  readonly id: string;
  readonly userId: string;
}

/** State that a unit of work has read and that must be unchanged when it commits. */
export interface ReadSet {
  /** Stamp of the revision that was read. */
  readonly revision?: string;
  /** The records that the policies of this revision read in addition to those that they decide. */
  readonly watch?: Watch;
  /** The time at which state that was read expires, in milliseconds since 1970 by the clock of the database. */
  readonly validUntil?: number;
  readonly users?: readonly UserVersion[];
  /** Sessions that had not ended when they were read. */
  readonly sessions?: readonly UserSession[];
  /** Records that decisions have read in addition to those that they decide. */
  readonly relations?: RelationReads;
}

/** The old versions of state that a unit of work has replaced. Other units of work that have read an old version run again. */
export interface WriteSet {
  /** Stamp of the revision before the new one. */
  readonly revision?: string;
  /** Users whose record was changed or deleted. */
  readonly users?: readonly UserVersion[];
  /** Users some of whose sessions have ended. */
  readonly endedSessionsOf?: readonly string[];
  /** Records of resources that are watched. */
  readonly records?: readonly RecordWrite[];
}

/** The part of a transaction that collects its read set and its write set. */
export interface ReadTracking {
  /** True if the read set is validated at commit; false if nothing that the unit of work reads can change before. */
  readonly validatesReads: boolean;
  /** True if a unit of work may read without locks what its writes depend on, and write with `updateRow` and `insertRow`. */
  readonly canBeOptimistic: boolean;
  /**
   * Adds to the read set, which is validated at commit: if the read set is stale by then, nothing is committed and the unit of work runs
   * again. Throws if the read set is known to be stale already. A rollback to a savepoint keeps the read set.
   */
  addToReadSet(readSet: ReadSet): void;
  /**
   * Adds to the write set: every other unit of work that has read the old state and commits later runs again. The unit of work that calls
   * it also runs again if its own read set disagrees with the replaced version. A rollback to a savepoint removes the addition.
   */
  addToWriteSet(writeSet: WriteSet): void;
  /** True if the unit of work has perhaps changed users, or ended sessions. */
  readonly hasChangedUsers: boolean;
  /**
   * Returns what conditions of others read of the records of a resource, if writes of these records must be added to the write set; `unknown`
   * if the unit of work has not read the policies.
   */
  watched(resource: string): WatchedFields | 'unknown' | undefined;
}
