/** Loads the records of lists of references. */
import { toRelatedRecord } from '../authz/context/index.ts';
import { itemName, type Path, type RelatedRecord, relatedPaths, type Some } from '../conditions/index.ts';
import type { Json } from '../operators/index.ts';
import type { Definitions, Resource } from '../resources/index.ts';
import type { Transaction } from './contract.ts';
import { createFoundMaps, type FoundMap } from './loaded-records.ts';
import { loadStampedRecords } from './records.ts';
import { loadReferencedOfEach } from './referenced-records.ts';
import type { RecordRead } from './relation-reads.ts';
import { rowSizeOf } from './row-size.ts';

/** Records of lists that are loaded when a condition needs them. */
export interface ItemStore {
  /** Returns a record, or undefined if there is none; `unknown` if it is not loaded, and it is then loaded next. */
  find(some: Some, id: string): RelatedRecord | undefined | 'unknown';
  /** Returns the records that were looked up since `beginReads`, those that they reference, and the absence of one. */
  reads(): readonly RecordRead[];
  beginReads(): void;
  /** Returns true if records are to be loaded. */
  readonly isIncomplete: boolean;
  load(): Promise<void>;
  /** The number of loaded records. */
  readonly size: number;
  clear(): void;
  /** Returns the values that conditions read by `itemName`; null for an item without a record. */
  facts(): ReadonlyMap<string, Json>;
}

/** Maximum records of lists whose values the audit log keeps for one decision. */
const MAX_FACTS = 100;

/** A record that is loaded for a condition; without a record, there is none. */
export interface FoundItem {
  readonly some: Some;
  readonly id: string;
  readonly record: RelatedRecord | undefined;
  readonly reads: readonly RecordRead[];
}

/** The records of one condition that are to be loaded. */
interface WantedItems {
  readonly some: Some;
  readonly ids: Set<string>;
}

const foundItems = createFoundMaps<FoundItem>(() => 1);

/** Creates an empty store. */
export function createItemStore(tx: Transaction, definitions: Definitions): ItemStore {
  return new LoadingItems(tx, definitions);
}

/** A class, because each decision with related records creates one, and it has getters. */
class LoadingItems implements ItemStore {
  readonly #tx: Transaction;
  readonly #definitions: Definitions;
  readonly #found: FoundMap<FoundItem>;
  readonly #used = new Set<FoundItem>();
  readonly #wanted = new Map<string, WantedItems>();

  constructor(tx: Transaction, definitions: Definitions) {
    this.#tx = tx;
    this.#definitions = definitions;
    this.#found = foundItems(tx, definitions);
  }

  get isIncomplete(): boolean {
    return this.#wanted.size > 0;
  }

  get size(): number {
    return this.#found.size;
  }

  find(some: Some, id: string): RelatedRecord | undefined | 'unknown' {
    const shape = shapeOf(some, this.#definitions.get(some.resource));
    const known = this.#found.get(`${shape} ${id}`);
    if (known !== undefined) {
      this.#used.add(known);
      return known.record;
    }
    const { ids } = this.#wanted.get(shape) ?? { ids: new Set<string>() };
    this.#wanted.set(shape, { some, ids: ids.add(id) });
    return 'unknown';
  }

  reads(): readonly RecordRead[] {
    return [...this.#used].flatMap(({ reads }) => reads);
  }

  beginReads(): void {
    this.#used.clear();
  }

  async load(): Promise<void> {
    const each = [...this.#wanted];
    this.#wanted.clear();
    const loaded = await Promise.all(each.map(async ([shape, one]) => [shape, await loadItems(this.#tx, this.#definitions, one)] as const));
    for (const [shape, items] of loaded) for (const item of items) this.#found.add(`${shape} ${item.id}`, item);
  }

  clear(): void {
    this.#found.clear();
    this.#used.clear();
    this.#wanted.clear();
  }

  facts(): ReadonlyMap<string, Json> {
    return toFacts(this.#found.entries().map(([, item]) => item));
  }
}

/** Returns a text that is equal for conditions that read the same long fields of the records of one resource, and the same fields through their references. */
function shapeOf(some: Some, resource: Resource | undefined): string {
  const isLong = ([field = '']: readonly string[]): boolean => resource !== undefined && rowSizeOf(resource).longFields.has(field);
  return JSON.stringify([some.resource, relatedPaths(some).filter((keys) => keys.length > 1 || isLong(keys))]);
}

async function loadItems(tx: Transaction, definitions: Definitions, { some, ids }: WantedItems): Promise<readonly FoundItem[]> {
  const resource = definitions.get(some.resource);
  if (resource === undefined) return [...ids].map((id) => ({ some, id, record: undefined, reads: [] }));
  const fields = new Set(relatedPaths(some).map(([field = '']) => field));
  const { records, stamps } = await loadStampedRecords(tx, resource, { ids: [...ids], fields });
  const paths = relatedPaths(some).map((keys): Path => ({ group: 'resource', keys, text: `resource.${keys.join('.')}` }));
  const referencedOf = await loadReferencedOfEach(tx, definitions, { paths, resource, records: [...records.values()] });
  return [...ids].map((id): FoundItem => {
    const reads: RecordRead[] = [{ resource, id, stamp: stamps.get(id) ?? null }];
    const record = records.get(id);
    if (record === undefined) return { some, id, record, reads };
    const referenced = referencedOf(record, (read) => reads.push(read));
    return { some, id, record: toRelatedRecord({ definitions, resource, record, referenced }), reads };
  });
}

/** Returns the values that all conditions read of the first records. */
function toFacts(items: Iterable<FoundItem>): ReadonlyMap<string, Json> {
  const facts = new Map<string, { id: string; values: Record<string, Json>; missing: string[] } | null>();
  for (const { some, id, record } of items) {
    const name = itemName(some.resource, id);
    if (facts.size === MAX_FACTS && !facts.has(name)) continue;
    if (record === undefined) {
      facts.set(name, null);
      continue;
    }
    const kept = facts.get(name) ?? { id, values: {}, missing: [] };
    facts.set(name, kept);
    for (const keys of relatedPaths(some)) {
      const value = record.valueOf(keys);
      if (value !== undefined) kept.values[keys.join('.')] = value;
      else if (!kept.missing.includes(keys.join('.'))) kept.missing.push(keys.join('.'));
    }
  }
  return facts;
}
