import type { ReferencePosition } from '../attempt.ts';

/** The connection whose commits the log follows. */
interface ReferenceLogDeps {
  readonly isInTransaction: () => boolean;
  /** Returns a value that changes when another process has written to the database. */
  readonly loadDataVersion: () => unknown;
}

/** Maximum records whose last reference is remembered. */
const MAX_RECORDS = 10_000;

/**
 * The records to which units of work have recently added references in lists, in memory. A deletion that has searched a snapshot for
 * references compares it with the time of the snapshot: a list has no index to search again while others wait.
 *
 * The position of a snapshot is read before the snapshot is taken. During a commit batch it is the position at the begin of the batch, so
 * each reference that the snapshot does not contain has a later position.
 */
export class ReferenceLog {
  readonly #deps: ReferenceLogDeps;
  /** The number of the last reference to each record, the oldest first. */
  readonly #last = new Map<string, number>();
  #noted = 0;
  /** `#noted` when the last commit batch began. */
  #atBegin = 0;
  /** The number of the last reference that was forgotten. */
  #forgotten = 0;

  constructor(deps: ReferenceLogDeps) {
    this.#deps = deps;
  }

  /** Notes that a commit batch begins. */
  begin(): void {
    this.#atBegin = this.#noted;
  }

  /** Returns the position after the last commit. */
  position(): ReferencePosition {
    return { noted: this.#deps.isInTransaction() ? this.#atBegin : this.#noted, dataVersion: this.#deps.loadDataVersion() };
  }

  /** Adds references to records. */
  add(table: string, ids: readonly string[]): void {
    for (const id of ids) {
      const key = toKey(table, id);
      // The order of a map is the order of insertion.
      this.#last.delete(key);
      this.#last.set(key, ++this.#noted);
    }
    for (const [key, number] of this.#last) {
      if (this.#last.size <= MAX_RECORDS) break;
      this.#last.delete(key);
      this.#forgotten = number;
    }
  }

  /** Returns whether no reference to one of the records can have been added since a position. */
  isUnchangedSince({ noted, dataVersion }: ReferencePosition, table: string, ids: readonly string[]): boolean {
    if (this.#forgotten > noted || this.#deps.loadDataVersion() !== dataVersion) return false;
    return ids.every((id) => (this.#last.get(toKey(table, id)) ?? 0) <= noted);
  }
}

function toKey(table: string, id: string): string {
  return `${table} ${id}`;
}
