import type { Watch } from '../authz/policies/index.ts';
import type { ReadSet, WriteSet } from './read-set.ts';
import { createRelationSet, type RelationSet, type RelationSetBuilder } from './related/relation-set.ts';

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

const NO_USERS: ReadonlyMap<string, number> = new Map();
const NO_IDS: ReadonlySet<string> = new Set();

/** A class whose collections are created on first use, because each request on PostgreSQL has two, and most have few reads and no writes. */
class Builder implements ReadWriteSetBuilder {
  watch: Watch | undefined = undefined;
  #revision: string | undefined = undefined;
  #validUntil = Number.POSITIVE_INFINITY;
  #users: Map<string, number> | undefined = undefined;
  #sessions: Map<string, string> | undefined = undefined;
  /** Keys of the write set in order of insertion, each with the user concerned. The rows are locked until this unit of work commits. */
  #writes: Map<string, string | undefined> | undefined = undefined;
  #relations: RelationSetBuilder | undefined = undefined;

  addToReadSet({ watch, relations, ...read }: ReadSet): boolean {
    if (watch !== undefined) this.watch = watch;
    const isSame = relations === undefined || this.#relationSet.addReads(relations);
    return this.#addState(read) && isSame;
  }

  addToWriteSet({ records = [], endedSessionsOf = [], revision, users }: WriteSet): boolean {
    let isSame = this.#addState({ ...(revision !== undefined && { revision }), ...(users !== undefined && { users }) });
    if (revision !== undefined) this.#addWrite('revision', undefined);
    for (const { id } of users ?? []) this.#addWrite(`user ${id}`, id);
    for (const id of endedSessionsOf) this.#addWrite(`sessions ${id}`, id);
    for (const record of records) isSame = this.#relationSet.addWrite(record) && isSame;
    return isSame;
  }

  get mark(): WriteMark {
    return { state: this.#writes?.size ?? 0, records: this.#relations?.mark ?? 0 };
  }

  undoTo({ state, records }: WriteMark): void {
    for (const key of [...(this.#writes?.keys() ?? [])].slice(state)) this.#writes?.delete(key);
    this.#relations?.undoTo(records);
  }

  get needsBlocking(): boolean {
    return this.#relations?.needsBlocking ?? false;
  }

  /** Builds the sets, without reads that the unit of work has overwritten: other units of work cannot change them before it commits. */
  build(): ReadWriteSet {
    return {
      revision: this.#hasWritten('revision') ? undefined : this.#revision,
      validUntil: this.#validUntil,
      users: this.#readUsers(),
      sessions:
        this.#sessions === undefined
          ? []
          : [...this.#sessions].flatMap(([id, userId]) => (this.#hasWritten(`sessions ${userId}`) ? [] : [id])),
      advancesRevision: this.#hasWritten('revision'),
      changedUsers: this.#writes === undefined ? NO_IDS : new Set([...this.#writes.values()].filter((id) => id !== undefined)),
      relations: this.#relations?.build(),
    };
  }

  #readUsers(): ReadonlyMap<string, number> {
    if (this.#users === undefined || this.#writes === undefined) return this.#users ?? NO_USERS;
    return new Map([...this.#users].filter(([id]) => !this.#hasWritten(`user ${id}`)));
  }

  #addState({ revision, validUntil, users = [], sessions = [] }: Omit<ReadSet, 'watch' | 'relations'>): boolean {
    if (validUntil !== undefined) this.#validUntil = Math.min(validUntil, this.#validUntil);
    for (const { id, userId } of sessions) {
      this.#sessions ??= new Map();
      this.#sessions.set(id, userId);
    }
    let isSame = revision === undefined || this.#isSameRevision(revision);
    for (const { id, version } of users) isSame = this.#isSameUser(id, version) && isSame;
    return isSame;
  }

  #isSameRevision(stamp: string): boolean {
    if (this.#hasWritten('revision')) return true;
    this.#revision ??= stamp;
    return this.#revision === stamp;
  }

  #isSameUser(id: string, version: number): boolean {
    if (this.#hasWritten(`user ${id}`)) return true;
    this.#users ??= new Map();
    const known = this.#users.get(id) ?? version;
    this.#users.set(id, known);
    return known === version;
  }

  #addWrite(key: string, userId: string | undefined): void {
    this.#writes ??= new Map();
    this.#writes.set(key, userId);
  }

  #hasWritten(key: string): boolean {
    return this.#writes?.has(key) ?? false;
  }

  get #relationSet(): RelationSetBuilder {
    this.#relations ??= createRelationSet();
    return this.#relations;
  }
}
