import type { Watch } from '../authz/policies/index.ts';
import type { ReadSet, WriteSet } from './read-set.ts';
import { createRelationSet, type RelationSet } from './relation-set.ts';

/** The read set and the write set of one unit of work. Commit validation fails if the read set is no longer current. */
export interface ReadWriteSet {
  /** Stamp of the revision that was read; undefined if none was. */
  readonly revision: string | undefined;
  /** The time at which the first value that was read expires, in milliseconds since 1970; Infinity if none expires. */
  readonly validUntil: number;
  /** The version of each user that was read, by id. */
  readonly users: ReadonlyMap<string, number>;
  /** Ids of the sessions that were read. */
  readonly sessions: readonly string[];
  /** True if the unit of work creates a new revision. */
  readonly advancesRevision: boolean;
  /** Ids of the users whose record the unit of work changed or whose sessions it ended. */
  readonly changedUsers: ReadonlySet<string>;
  /** Absent if the unit of work has neither read nor written records that conditions of others read. */
  readonly relations?: RelationSet | undefined;
}

/** Builds the sets while a unit of work runs. */
export interface ReadWriteSetBuilder {
  /** Adds reads. Returns false if the unit of work has read another state: statements of one transaction may see different states. */
  addToReadSet(readSet: ReadSet): boolean;
  /** Adds writes. Returns false if the unit of work has read another version of the state than the one it replaces. */
  addToWriteSet(writeSet: WriteSet): boolean;
  /** The current size of the write set, for `undoTo`. */
  readonly mark: WriteMark;
  /** Removes the writes added since the mark. The reads stay, because audit entries of undone work are kept as well. */
  undoTo(mark: WriteMark): void;
  /** The records that the policies watch; undefined if the unit of work has not read the policies. */
  readonly watch: Watch | undefined;
  /** The same as `needsBlocking` of `RelationSetBuilder`. */
  readonly needsBlocking: boolean;
  build(): ReadWriteSet;
}

/** A size of the write set. */
export interface WriteMark {
  readonly state: number;
  readonly records: number;
}

/** Returns true if commit validation has nothing to check or lock. */
export function isEmptySet(sets: ReadWriteSet): boolean {
  const { revision, validUntil, users, sessions, advancesRevision, changedUsers, relations } = sets;
  const hasNoReads = revision === undefined && validUntil === Number.POSITIVE_INFINITY && users.size + sessions.length === 0;
  return hasNoReads && !advancesRevision && changedUsers.size === 0 && relations === undefined;
}

/** Creates a builder with empty sets. */
export function createReadWriteSet(): ReadWriteSetBuilder {
  const [state, relations] = [createStateSet(), createRelationSet()];
  let watch: Watch | undefined;
  return {
    addToReadSet(readSet) {
      watch = readSet.watch ?? watch;
      const isSame = readSet.relations === undefined || relations.addReads(readSet.relations);
      return state.addToReadSet(readSet) && isSame;
    },
    addToWriteSet({ records = [], ...replaced }) {
      let isSame = state.addToWriteSet(replaced);
      for (const record of records) isSame = relations.addWrite(record) && isSame;
      return isSame;
    },
    get mark() {
      return { state: state.mark, records: relations.mark };
    },
    undoTo(mark) {
      state.undoTo(mark.state);
      relations.undoTo(mark.records);
    },
    get watch() {
      return watch;
    },
    get needsBlocking() {
      return relations.needsBlocking;
    },
    build: () => ({ ...state.build(), relations: relations.build() }),
  };
}

/** The builder of the sets without relations. */
type StateSetBuilder = Omit<ReadWriteSetBuilder, 'mark' | 'undoTo' | 'watch' | 'needsBlocking'> & {
  readonly mark: number;
  undoTo(mark: number): void;
};

function createStateSet(): StateSetBuilder {
  const users = new Map<string, number>();
  const sessions = new Map<string, string>();
  let revision: string | undefined;
  let validUntil = Number.POSITIVE_INFINITY;
  /** Keys of the write set in order of insertion, each with the user concerned. The rows are locked until this unit of work commits. */
  const writes = new Map<string, string | undefined>();

  function isSameRevision(stamp: string): boolean {
    if (writes.has('revision')) return true;
    revision ??= stamp;
    return revision === stamp;
  }

  function isSameUser(id: string, version: number): boolean {
    if (writes.has(`user ${id}`)) return true;
    const known = users.get(id) ?? version;
    users.set(id, known);
    return known === version;
  }

  function addToReadSet(readSet: ReadSet): boolean {
    validUntil = Math.min(validUntil, readSet.validUntil ?? validUntil);
    for (const { id, userId } of readSet.sessions ?? []) sessions.set(id, userId);
    const sameUsers = (readSet.users ?? []).filter(({ id, version }) => isSameUser(id, version));
    return (readSet.revision === undefined || isSameRevision(readSet.revision)) && sameUsers.length === (readSet.users ?? []).length;
  }

  return {
    addToReadSet,
    addToWriteSet({ endedSessionsOf = [], ...replaced }) {
      const isSame = addToReadSet(replaced);
      if (replaced.revision !== undefined) writes.set('revision', undefined);
      for (const { id } of replaced.users ?? []) writes.set(`user ${id}`, id);
      for (const id of endedSessionsOf) writes.set(`sessions ${id}`, id);
      return isSame;
    },
    get mark() {
      return writes.size;
    },
    undoTo(mark) {
      for (const key of [...writes.keys()].slice(mark)) writes.delete(key);
    },
    build: () => toReadWriteSet({ revision, validUntil, users, sessions, writes }),
  };
}

interface Collected extends Pick<ReadWriteSet, 'revision' | 'validUntil' | 'users'> {
  readonly sessions: ReadonlyMap<string, string>;
  readonly writes: ReadonlyMap<string, string | undefined>;
}

/** Builds the sets, without reads that the unit of work has overwritten: other units of work cannot change them before it commits. */
function toReadWriteSet({ revision, validUntil, users, sessions, writes }: Collected): ReadWriteSet {
  return {
    revision: writes.has('revision') ? undefined : revision,
    validUntil,
    users: new Map([...users].filter(([id]) => !writes.has(`user ${id}`))),
    sessions: [...sessions].flatMap(([id, userId]) => (writes.has(`sessions ${userId}`) ? [] : [id])),
    advancesRevision: writes.has('revision'),
    changedUsers: new Set([...writes.values()].filter((id) => id !== undefined)),
  };
}
