/** Loads the records of lists of references. */
import { toRelatedRecord } from '../../authz/context/index.ts';
import { itemName, type Path, type RelatedRecord, relatedPaths, type Some } from '../../conditions/index.ts';
import { getOrCreate } from '../../memoize.ts';
import type { Json } from '../../operators/index.ts';
import type { Definitions, Resource } from '../../resources/index.ts';
import { loadStampedRecords } from '../records.ts';
import { rowSizeOf } from '../row-size.ts';
import { type RecordSource, readsChanged } from './changed-record.ts';
import { createFoundMaps } from './loaded-records.ts';
import { RecordLookups } from './record-lookups.ts';
import { loadReferencedOfEach } from './referenced-records.ts';
import type { RecordRead } from './relation-reads.ts';

/** Records of lists that are loaded when a condition needs them. */
export interface ItemStore {
  /** Returns a record, or undefined if there is none; `unknown` if it is not loaded, and it is then loaded next. */
  find(some: Some, id: string): RelatedRecord | undefined | 'unknown';
  /** Returns the records that the evaluation has looked up, those that they reference, and the absence of one. */
  reads(): readonly RecordRead[];
  readonly lookups: RecordLookups<WantedItem, FoundItem>;
  /** Returns the values that conditions read by `itemName`; null for an item without a record. */
  facts(): ReadonlyMap<string, Json>;
}

/** Maximum records of lists whose values the audit log keeps for one decision. */
const MAX_FACTS = 100;

/** A record that is loaded for conditions; without a record, there is none. */
export interface FoundItem {
  readonly resource: string;
  readonly id: string;
  readonly record: RelatedRecord | undefined;
  readonly reads: readonly RecordRead[];
}

/** A record that is to be loaded for a condition. */
interface WantedItem {
  readonly some: Some;
  readonly id: string;
  /** A text that is equal for conditions whose records are loaded together. */
  readonly shape: string;
}

const foundItems = createFoundMaps<FoundItem>({ sizeOf: () => 1, dependsOn: ({ reads }, changed) => readsChanged(reads, changed) });

/** Creates an empty store. */
export function createItemStore(source: RecordSource): ItemStore {
  return new LoadingItems(source);
}

class LoadingItems implements ItemStore {
  readonly lookups: RecordLookups<WantedItem, FoundItem>;
  readonly #definitions: Definitions;
  /** The conditions that have looked up each record. */
  readonly #conditions = new Map<string, Set<Some>>();

  constructor(source: RecordSource) {
    this.#definitions = source.definitions;
    this.lookups = new RecordLookups(foundItems(source), (wanted) => loadWanted(source, wanted));
  }

  find(some: Some, id: string): RelatedRecord | undefined | 'unknown' {
    const shape = shapeOf(some, this.#definitions.get(some.resource));
    const key = `${shape} ${id}`;
    getOrCreate(this.#conditions, key, createSet).add(some);
    const known = this.lookups.find(key);
    if (known !== undefined) return known.record;
    this.lookups.want(key, { some, id, shape });
    return 'unknown';
  }

  reads(): readonly RecordRead[] {
    return this.lookups.used().flatMap(({ reads }) => reads);
  }

  facts(): ReadonlyMap<string, Json> {
    return toFacts(this.lookups.entries().map(([key, item]) => [item, this.#conditions.get(key) ?? []]));
  }
}

/** Returns a text that is equal for conditions that read the same long fields of the records of one resource, and the same fields through their references. */
function shapeOf(some: Some, resource: Resource | undefined): string {
  const isLong = ([field = '']: readonly string[]): boolean => resource !== undefined && rowSizeOf(resource).longFields.has(field);
  return JSON.stringify([some.resource, relatedPaths(some).filter((keys) => keys.length > 1 || isLong(keys))]);
}

const createSet = (): Set<Some> => new Set();

type Keyed<T> = readonly (readonly [key: string, T])[];

/** Loads the records of conditions, those of each shape together. */
async function loadWanted(source: RecordSource, wanted: Keyed<WantedItem>): Promise<Keyed<FoundItem>> {
  const byShape = Map.groupBy(wanted, ([, { shape }]) => shape);
  const loaded = await Promise.all([...byShape.values()].map((each) => loadItems(source, each)));
  return loaded.flat();
}

/** Loads records whose conditions have one shape. */
async function loadItems(source: RecordSource, wanted: Keyed<WantedItem>): Promise<Keyed<FoundItem>> {
  const { tx, definitions, changed } = source;
  const [[, first]] = wanted as readonly [Keyed<WantedItem>[number]];
  const resource = definitions.get(first.some.resource);
  if (resource === undefined)
    return wanted.map(([key, { some, id }]) => [key, { resource: some.resource, id, record: undefined, reads: [] }]);
  const fields = new Set(relatedPaths(first.some).map(([field = '']) => field));
  const { records, stamps } = await loadStampedRecords(tx, resource, { ids: wanted.map(([, { id }]) => id), fields, changed });
  const paths = relatedPaths(first.some).map((keys): Path => ({ group: 'resource', keys, text: `resource.${keys.join('.')}` }));
  const referencedOf = await loadReferencedOfEach(source, { paths, resource, records: [...records.values()] });
  const { name } = resource;
  return wanted.map(([key, { id }]) => {
    const reads: RecordRead[] = [{ resource, id, stamp: stamps.get(id) ?? null }];
    const record = records.get(id);
    if (record === undefined) return [key, { resource: name, id, record, reads }];
    const referenced = referencedOf(record, (read) => reads.push(read));
    return [key, { resource: name, id, record: toRelatedRecord({ definitions, resource, record, referenced }), reads }];
  });
}

/** Returns the values that all conditions read of the first records. */
function toFacts(items: Iterable<readonly [FoundItem, conditions: Iterable<Some>]>): ReadonlyMap<string, Json> {
  const facts = new Map<string, { id: string; values: Record<string, Json>; missing: string[] } | null>();
  for (const [{ resource, id, record }, conditions] of items) {
    const name = itemName(resource, id);
    if (facts.size === MAX_FACTS && !facts.has(name)) continue;
    if (record === undefined) {
      facts.set(name, null);
      continue;
    }
    const kept = facts.get(name) ?? { id, values: {}, missing: [] };
    facts.set(name, kept);
    for (const keys of [...conditions].flatMap(relatedPaths)) {
      const value = record.valueOf(keys);
      if (value !== undefined) kept.values[keys.join('.')] = value;
      else if (!kept.missing.includes(keys.join('.'))) kept.missing.push(keys.join('.'));
    }
  }
  return facts;
}
