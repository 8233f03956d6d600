/** Number of parts of the changes, a power of two. If all of 100,000 entries have changed, a part has about 100. */
const PARTS = 1024;
/** Number of characters at the end of a key that determine its part. The end of a UUIDv7 is random, its beginning is not. */
const HASHED = 8;

/** Changed entries; undefined for a key that was removed. */
type Changes<Value> = ReadonlyMap<string, Value | undefined>;

const NO_CHANGES: ReadonlyMap<string, never> = new Map<string, never>();

/**
 * A map by id that never changes. `with` returns a changed map, which shares the first entries and all parts of the changes without a new
 * change: the cost of a change does not depend on the number of entries. The order of the entries is arbitrary.
 */
export class PersistentMap<Value> {
  readonly size: number;
  readonly #first: ReadonlyMap<string, Value>;
  /** The changes since, by the hash of their keys; undefined if there are none. */
  readonly #parts: readonly Changes<Value>[] | undefined;

  private constructor(size: number, first: ReadonlyMap<string, Value>, parts?: readonly Changes<Value>[]) {
    this.size = size;
    this.#first = first;
    this.#parts = parts;
  }

  /** Creates a map without entries. */
  static empty<Value>(): PersistentMap<Value> {
    return new PersistentMap<Value>(0, NO_CHANGES);
  }

  /** Creates a map with these entries, which must not change afterwards. */
  static of<Value>(entries: ReadonlyMap<string, Value>): PersistentMap<Value> {
    return new PersistentMap(entries.size, entries);
  }

  get(key: string): Value | undefined {
    const part = this.#parts?.[partOf(key)];
    if (part === undefined || part.size === 0) return this.#first.get(key);
    return part.get(key) ?? (part.has(key) ? undefined : this.#first.get(key));
  }

  has(key: string): boolean {
    const part = this.#parts?.[partOf(key)];
    return part?.has(key) === true ? part.get(key) !== undefined : this.#first.has(key);
  }

  entries(): Iterable<readonly [string, Value]> {
    return this.#parts === undefined ? this.#first : this.#changedEntries(this.#parts);
  }

  *values(): Generator<Value> {
    for (const [, value] of this.entries()) yield value;
  }

  *#changedEntries(parts: readonly Changes<Value>[]): Generator<readonly [string, Value]> {
    for (const key of this.#first.keys()) {
      if (parts[partOf(key)]?.has(key) !== true) yield [key, this.#first.get(key) as Value];
    }
    for (const part of parts) for (const [key, value] of part) if (value !== undefined) yield [key, value];
  }

  /** Returns a map with these entries set, and without the entries whose value is undefined. */
  with(changes: Iterable<readonly [string, Value | undefined]>): PersistentMap<Value> {
    const parts = [...(this.#parts ?? new Array<Changes<Value>>(PARTS).fill(NO_CHANGES))];
    const copied = new Map<number, Map<string, Value | undefined>>();
    let { size } = this;
    for (const [key, value] of changes) {
      const at = partOf(key);
      const part = copied.get(at) ?? new Map(parts[at]);
      parts[at] = part;
      copied.set(at, part);
      const isFirst = this.#first.has(key);
      const isPresent = part.has(key) ? part.get(key) !== undefined : isFirst;
      size += Number(value !== undefined) - Number(isPresent);
      if (value === undefined && !isFirst) part.delete(key);
      else part.set(key, value);
    }
    return copied.size === 0 ? this : new PersistentMap(size, this.#first, parts);
  }

  /** Returns the keys whose values differ in another map. If both have the same first entries, the cost depends on the changes between them. */
  differingKeys(other: PersistentMap<Value>): ReadonlySet<string> {
    const keys = new Set<string>();
    const addDiffering = (candidates: Iterable<string>): void => {
      for (const key of candidates) if (this.get(key) !== other.get(key)) keys.add(key);
    };
    if (this.#first !== other.#first) {
      addDiffering(this.#first.keys());
      addDiffering(other.#first.keys());
    }
    for (let at = 0; at < PARTS; at++) {
      const [mine, others] = [this.#parts?.[at] ?? NO_CHANGES, other.#parts?.[at] ?? NO_CHANGES];
      if (mine === others) continue;
      addDiffering(mine.keys());
      addDiffering(others.keys());
    }
    return keys;
  }
}

/** Returns the index of the part of a key. */
function partOf(key: string): number {
  let hash = key.length;
  for (let at = Math.max(0, key.length - HASHED); at < key.length; at++) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0;
  return (hash ^ (hash >>> 16)) & (PARTS - 1);
}
