/** The other records that conditions read, of one kind: those that are loaded, and those that are loaded before the conditions are evaluated again. */
import type { FoundMap } from './loaded-records.ts';

/** Loads what is wanted, by key, and returns what was found by the same keys. */
type LoadWanted<Wanted, Found> = (wanted: readonly (readonly [string, Wanted])[]) => Promise<Iterable<readonly [string, Found]>>;

/** A class, because each decision with related records creates three, and it has getters. */
export class RecordLookups<Wanted, Found> {
  readonly #found: FoundMap<Found>;
  readonly #loadWanted: LoadWanted<Wanted, Found>;
  readonly #used = new Set<Found>();
  readonly #wanted = new Map<string, Wanted>();

  constructor(found: FoundMap<Found>, loadWanted: LoadWanted<Wanted, Found>) {
    this.#found = found;
    this.#loadWanted = loadWanted;
  }

  /** Begins an evaluation, which has looked up nothing. */
  begin(): void {
    this.#used.clear();
    this.#wanted.clear();
  }

  /** Returns what is loaded under a key; undefined if nothing is. */
  find(key: string): Found | undefined {
    const known = this.#found.get(key);
    if (known !== undefined) this.#used.add(known);
    return known;
  }

  /** Notes what the next `load` loads under a key. */
  want(key: string, wanted: Wanted): void {
    this.#wanted.set(key, wanted);
  }

  /** Returns what the evaluation has found. */
  used(): readonly Found[] {
    return [...this.#used];
  }

  /** True if the evaluation has looked up records that are not loaded. */
  get isIncomplete(): boolean {
    return this.#wanted.size > 0;
  }

  async load(): Promise<void> {
    if (this.#wanted.size === 0) return;
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    for (const [key, found] of await this.#loadWanted(wanted)) this.#found.add(key, found);
  }

  /** The number of loaded records. */
  get size(): number {
    return this.#found.size;
  }

  entries(): readonly (readonly [string, Found])[] {
    return this.#found.entries();
  }

  /** Forgets the loaded records. */
  clear(): void {
    this.#found.clear();
  }
}
