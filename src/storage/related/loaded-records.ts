/** The other records that the decisions of one unit of work have loaded, so that decisions that read the same ones load them once. */
import type { Definitions } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import type { ChangedRecord, RecordSource } from './changed-record.ts';

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

/** One kind of records. */
interface FoundKind<T> {
  /** Counts the records of an entry. */
  sizeOf(found: T): number;
  /** Returns true if an entry depends on the record that a decision would change: decisions on another state of it must not use such an entry. */
  dependsOn(found: T, changed: ChangedRecord): boolean;
}

/** Creates the maps of one kind of records. */
export function createFoundMaps<T>(kind: FoundKind<T>): (source: RecordSource) => FoundMap<T> {
  const sharedOf = createSharedMaps<T>();
  return ({ tx, definitions, changed }) => {
    const state = stateOf(tx, definitions);
    return new SharingMap(tx, { state, shared: sharedOf(state), kind, changed });
  };
}

/** The state of a unit of work, and the records of one kind that its stores have loaded. Those that depend on a changed record are not shared. */
interface SharedRecords<T> {
  readonly state: ReadState;
  readonly shared: Map<string, T>;
  readonly kind: FoundKind<T>;
  readonly changed: ChangedRecord | undefined;
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
    const own = this.#own.get(key);
    if (own !== undefined) return own;
    const earlier = this.#of.shared.get(key);
    return earlier === undefined || this.#isOfChange(earlier) ? undefined : this.#keep(key, earlier);
  }

  add(key: string, found: T): void {
    const { state, shared, kind } = this.#of;
    this.#keep(key, found);
    if (this.#isOfChange(found)) return;
    shared.set(key, found);
    state.size += kind.sizeOf(found);
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
    this.#size += this.#of.kind.sizeOf(found);
    return found;
  }

  #isOfChange(found: T): boolean {
    const { changed, kind } = this.#of;
    return changed !== undefined && kind.dependsOn(found, changed);
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
