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
  return new Builder();
}

/** A class, because each attempt creates one. */
class Builder implements ReadWriteSetBuilder {
  readonly #state = new StateSet();
  readonly #relations = createRelationSet();
  watch: Watch | undefined;

  addToReadSet(readSet: ReadSet): boolean {
    this.watch = readSet.watch ?? this.watch;
    const isSame = readSet.relations === undefined || this.#relations.addReads(readSet.relations);
    return this.#state.addToReadSet(readSet) && isSame;
  }

  addToWriteSet({ records = [], ...replaced }: WriteSet): boolean {
    let isSame = this.#state.addToWriteSet(replaced);
    for (const record of records) isSame = this.#relations.addWrite(record) && isSame;
    return isSame;
  }

  get mark(): WriteMark {
    return { state: this.#state.mark, records: this.#relations.mark };
  }

  undoTo(mark: WriteMark): void {
    this.#state.undoTo(mark.state);
    this.#relations.undoTo(mark.records);
  }

  get needsBlocking(): boolean {
    return this.#relations.needsBlocking;
  }

  build(): ReadWriteSet {
    return { ...this.#state.build(), relations: this.#relations.build() };
  }
}

/** The sets without relations. */
class StateSet {
  readonly #users = new Map<string, number>();
  readonly #sessions = new Map<string, string>();
  #revision: string | undefined;
  #validUntil = Number.POSITIVE_INFINITY;
  /** Keys of the write set in order of insertion, each with the user concerned. The rows are locked until this unit of work commits. */
  readonly #writes = new Map<string, string | undefined>();

  addToReadSet(readSet: ReadSet): boolean {
    this.#validUntil = Math.min(this.#validUntil, readSet.validUntil ?? this.#validUntil);
    for (const { id, userId } of readSet.sessions ?? []) this.#sessions.set(id, userId);
    const sameUsers = (readSet.users ?? []).filter(({ id, version }) => this.#isSameUser(id, version));
    return (readSet.revision === undefined || this.#isSameRevision(readSet.revision)) && sameUsers.length === (readSet.users ?? []).length;
  }

  addToWriteSet({ endedSessionsOf = [], ...replaced }: Omit<WriteSet, 'records'>): boolean {
    const isSame = this.addToReadSet(replaced);
    if (replaced.revision !== undefined) this.#writes.set('revision', undefined);
    for (const { id } of replaced.users ?? []) this.#writes.set(`user ${id}`, id);
    for (const id of endedSessionsOf) this.#writes.set(`sessions ${id}`, id);
    return isSame;
  }

  get mark(): number {
    return this.#writes.size;
  }

  undoTo(mark: number): void {
    for (const key of [...this.#writes.keys()].slice(mark)) this.#writes.delete(key);
  }

  build(): ReadWriteSet {
    return toReadWriteSet({
      revision: this.#revision,
      validUntil: this.#validUntil,
      users: this.#users,
      sessions: this.#sessions,
      writes: this.#writes,
    });
  }

  #isSameRevision(stamp: string): boolean {
    if (this.#writes.has('revision')) return true;
    this.#revision ??= stamp;
    return this.#revision === stamp;
  }

  #isSameUser(id: string, version: number): boolean {
    if (this.#writes.has(`user ${id}`)) return true;
    const known = this.#users.get(id) ?? version;
    this.#users.set(id, known);
    return known === version;
  }
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
