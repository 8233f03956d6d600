/** The other records that the decisions of one unit of work have loaded, so that decisions that read the same ones load them once. */
import type { Definitions } from '../resources/index.ts';
import type { Transaction } from './contract.ts';

/** Records that one store has found, by key. */
export interface FoundMap<T> {
  /** Returns records that this store, or an earlier store of the unit of work, has loaded. */
  get(key: string): T | undefined;
  /** Adds records that were loaded. */
  add(key: string, found: T): void;
  entries(): readonly (readonly [string, T])[];
  /** The number of records. */
  readonly size: number;
  clear(): void;
}

/** Creates the maps of one kind of records. `sizeOf` counts the records of an entry. */
export function createFoundMaps<T>(sizeOf: (found: T) => number): (tx: Transaction, definitions: Definitions) => FoundMap<T> {
  const sharedOf = createSharedMaps<T>();
  return (tx, definitions) => {
    const state = stateOf(tx, definitions);
    return new SharingMap(tx, { state, shared: sharedOf(state), sizeOf });
  };
}

/** The state of a unit of work, and the records of one kind that its stores have loaded. */
interface SharedRecords<T> {
  readonly state: ReadState;
  readonly shared: Map<string, T>;
  sizeOf(found: T): number;
}

/** A class, because each decision with related records creates three: object literals with getters are slow, and the garbage collector copies them repeatedly. */
class SharingMap<T> implements FoundMap<T> {
  readonly #tx: Transaction;
  readonly #of: SharedRecords<T>;
  readonly #own = new Map<string, T>();
  #size = 0;

  constructor(tx: Transaction, of: SharedRecords<T>) {
    this.#tx = tx;
    this.#of = of;
  }

  get size(): number {
    return this.#size;
  }

  get(key: string): T | undefined {
    const earlier = this.#of.shared.get(key);
    return this.#own.get(key) ?? (earlier && this.#keep(key, earlier));
  }

  add(key: string, found: T): void {
    const { state, shared, sizeOf } = this.#of;
    shared.set(key, this.#keep(key, found));
    state.size += sizeOf(found);
    // After a write, the transaction has no such state, and must not get one.
    if (state.size > MAX_KEPT && states.get(this.#tx) === state) states.delete(this.#tx);
  }

  entries(): readonly (readonly [string, T])[] {
    return [...this.#own];
  }

  clear(): void {
    this.#own.clear();
    this.#size = 0;
  }

  #keep(key: string, found: T): T {
    this.#own.set(key, found);
    this.#size += this.#of.sizeOf(found);
    return found;
  }
}

/** Maximum records that are kept for a unit of work. */
const MAX_KEPT = 20_000;

/** The state in which a unit of work reads the database until it writes, and the number of records loaded from it. */
interface ReadState {
  readonly definitions: Definitions;
  size: number;
}

/** States by transaction; undefined after the first write. */
const states = new WeakMap<Transaction, ReadState | undefined>();

/** Returns the state of a unit of work. After its first write, each store has a state of its own: a savepoint may undo the write. */
function stateOf(tx: Transaction, definitions: Definitions): ReadState {
  const known = states.get(tx);
  if (known?.definitions === definitions) return known;
  const state = { definitions, size: 0 };
  if (known !== undefined || !states.has(tx)) states.set(tx, state);
  return state;
}

/** Forgets the records of a unit of work that writes a record. */
export function forgetLoadedRecords(tx: Transaction): void {
  states.set(tx, undefined);
}

function createSharedMaps<T>(): (state: ReadState) => Map<string, T> {
  const maps = new WeakMap<ReadState, Map<string, T>>();
  return (state) => {
    const known = maps.get(state) ?? new Map<string, T>();
    maps.set(state, known);
    return known;
  };
}
