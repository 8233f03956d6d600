/** Loads the related records that conditions count. */
import type { RelatedRecords } from '../authz/context/index.ts';
import { relatedName, relatedPaths, WITHOUT_VALUE } from '../conditions/index.ts';
import { Problem } from '../errors.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import type { Definitions } from '../resources/index.ts';
import { createAncestorStore } from './ancestors.ts';
import type { Transaction } from './contract.ts';
import { createItemStore } from './item-records.ts';
import { type FoundRecords, keyOf, loadRelated, type Wanted } from './load-related.ts';
import { createFoundMaps } from './loaded-records.ts';
import type { RecordRead } from './relation-reads.ts';

/** Related records that are loaded when a condition needs them. */
export interface RelatedStore extends RelatedRecords {
  /**
   * Returns the values of the records loaded so far that conditions read, by `relatedName`: for each record its id, the values of the paths
   * after the alias, and the paths without a value. `tooMany` for more records than a condition counts, `unknown` for records that could not be
   * counted. For more than `MAX_FACTS` records, their number instead of their values. The decided record is not related to itself.
   */
  facts(decided: DecidedRecord): ReadonlyMap<string, Json | undefined>;
  /** Adds the records that the last evaluation has read to the read set. `isPartial` is true if they were found by some of the links of a condition. */
  noteReads(how?: { readonly isPartial: boolean }): void;
  /**
   * Evaluates conditions until the related records that they read are loaded: those of the first evaluation decide which records the next one reads.
   * If they read more than one decision may load, forgets them and returns the result of `inDatabase`. @throws Problem REQUEST_BUDGET without such a result
   */
  evaluate<T>(run: () => T, inDatabase?: () => Promise<T | undefined>): Promise<T>;
}

/** Maximum related records of one decision. */
const MAX_LOADED = 20_000;

/** Maximum records of one condition whose values the audit log keeps. */
const MAX_FACTS = 100;

/** The record of a decision; a new one has no id. */
interface DecidedRecord {
  readonly resource: string;
  readonly id?: string | undefined;
}

const foundRelated = createFoundMaps<CountedRecords>(({ records }) => (records === 'unknown' ? 1 : records.length));

/**
 * Creates an empty store. It belongs to one decision, or to the decisions on one list. It loads no record that an earlier store of the
 * unit of work has loaded, unless a record was written.
 */
export function createRelatedStore(tx: Transaction, definitions: Definitions): RelatedStore {
  const found = foundRelated(tx, definitions);
  const used = new Set<FoundRecords>();
  const wanted = new Map<string, Wanted>();
  const ancestors = createAncestorStore(tx, definitions);
  const items = createItemStore(tx, definitions);
  const byId = [ancestors, items];
  const stores = [found, ...byId];

  async function load([key, each]: readonly [string, Wanted]): Promise<void> {
    found.add(key, { ...each, ...(await loadRelated(tx, definitions, each)) });
  }

  const size = (): number => stores.reduce((sum, store) => sum + store.size, 0);
  function begin(): void {
    // A list evaluates its records one after the other.
    if (size() > MAX_LOADED) for (const store of stores) store.clear();
    wanted.clear();
    used.clear();
    for (const store of byId) store.beginReads();
  }

  return {
    ancestors: (name, id) => ancestors.find(name, id),
    item: (some, id) => items.find(some, id),
    find(related, values) {
      const key = keyOf(related, values);
      const known = found.get(key);
      if (known === undefined) wanted.set(key, { related, values });
      else used.add(known);
      return known?.records ?? 'unknown';
    },
    noteReads: (how) =>
      addReads(tx, { found: [...used], records: [...ancestors.reads(), ...items.reads()], isPartial: how?.isPartial ?? false }),
    facts: (decided) => new Map([...toFacts(found.entries(), decided), ...items.facts(), ...ancestors.facts()]),
    async evaluate(run, inDatabase) {
      begin();
      for (let result = run(); size() <= MAX_LOADED; result = run()) {
        if (wanted.size === 0 && !byId.some((store) => store.isIncomplete)) return result;
        // On PostgreSQL the statements are sent in one message.
        await Promise.all([...byId.map((store) => store.load()), ...[...wanted].map(load)]);
        await tx.checkTime();
        if (size() > MAX_LOADED) break;
        begin();
      }
      begin();
      return (await inDatabase?.()) ?? refuseTooMany();
    },
  };
}

function refuseTooMany(): never {
  throw new Problem('REQUEST_BUDGET', `the conditions read more than ${MAX_LOADED} related records, records of lists and ancestors`);
}

/** The reads of an evaluation. */
interface EvaluationReads {
  readonly found: readonly FoundRecords[];
  /** The ancestors, and the records of lists. */
  readonly records: readonly RecordRead[];
  readonly isPartial: boolean;
}

function addReads(tx: Transaction, { found, records: read, isPartial }: EvaluationReads): void {
  if (!tx.validatesReads || found.length + read.length === 0) return;
  const related = found.flatMap((each) => (each.read === undefined ? [] : { ...each.read, isPartial }));
  const records = [...found.flatMap(({ referenced }) => referenced), ...read];
  tx.addToReadSet({ relations: { related, records } });
}

/** The records that a condition has counted. */
interface CountedRecords extends Wanted, FoundRecords {}

function withoutDecided({ records, ...counted }: CountedRecords, { resource, id }: DecidedRecord): CountedRecords {
  const isOwn = records !== 'unknown' && counted.related.resource === resource;
  return { ...counted, records: isOwn ? records.filter((record) => record.id !== id) : records };
}

function toFacts(entries: readonly (readonly [string, CountedRecords])[], decided: DecidedRecord): ReadonlyMap<string, Json | undefined> {
  const counted = entries.map(([, each]) => withoutDecided(each, decided));
  const facts = new Map<string, Json | undefined>();
  for (const { related, values, records } of counted) {
    const name = relatedName(related, values);
    if (records === 'unknown') facts.set(name, records);
    else if (records.length > related.limit) facts.set(name, 'tooMany');
    else if (records.length > MAX_FACTS) facts.set(name, { notKept: true, counted: records.length });
    else if (!facts.has(name)) facts.set(name, mergeValues(counted, name));
  }
  return facts;
}

/** Returns the values that all conditions on the same records read. */
function mergeValues(counted: readonly CountedRecords[], name: string): readonly JsonObject[] {
  const byId = new Map<string, { readonly values: Record<string, Json>; readonly missing: Set<string> }>();
  for (const { related, values, records } of counted) {
    if (records === 'unknown' || relatedName(related, values) !== name) continue;
    for (const record of records) {
      const kept = byId.get(record.id) ?? { values: { id: record.id }, missing: new Set() };
      byId.set(record.id, kept);
      for (const keys of relatedPaths(related)) {
        const value = record.valueOf(keys);
        if (value === undefined) kept.missing.add(keys.join('.'));
        else kept.values[keys.join('.')] = value;
      }
    }
  }
  return [...byId.values()].map(({ values, missing }) => (missing.size === 0 ? values : { ...values, [WITHOUT_VALUE]: [...missing] }));
}
