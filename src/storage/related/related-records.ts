/** Loads the related records that conditions count. */
import type { RelatedRecords } from '../../authz/context/index.ts';
import { type Related, relatedName, relatedPaths, type Some, WITHOUT_VALUE } from '../../conditions/index.ts';
import { Problem } from '../../errors.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import { type AncestorStore, createAncestorStore } from './ancestors.ts';
import { type ChangedRecord, type RecordSource, readsChanged } from './changed-record.ts';
import { createItemStore, type ItemStore } from './item-records.ts';
import { type FoundRecords, keyOf, loadRelated, type Wanted } from './load-related.ts';
import { createFoundMaps } from './loaded-records.ts';
import { RecordLookups } from './record-lookups.ts';
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
   * If they load or compare more than one decision may, forgets the records and returns the result of `inDatabase`.
   * @throws Problem REQUEST_BUDGET without such a result
   */
  evaluate<T>(run: () => T, inDatabase?: () => Promise<T | undefined>): Promise<T>;
}

/**
 * Maximum related records of one decision, counted when they are loaded, and again each time they are compared: a condition inside another one compares its
 * records for each record of the other one, and all of that in one turn of the event loop.
 */
export const MAX_RELATED = 20_000;

/** Maximum records of one condition whose values the audit log keeps. */
const MAX_FACTS = 100;

/** The record of a decision; a new one has no id. */
interface DecidedRecord {
  readonly resource: string;
  readonly id?: string | undefined;
}

const foundRelated = createFoundMaps<CountedRecords>({
  sizeOf: ({ records }) => (records === 'unknown' ? 1 : records.length),
  // The changed record itself is not related to itself.
  dependsOn: ({ referenced }, changed) => readsChanged(referenced, changed),
});

/** Options of a store. */
interface StoreOptions {
  /** Maximum records that one evaluation compares. Default: `MAX_RELATED`. */
  readonly maxCompared?: number | undefined;
  /** The changed record that is decided, if any. It is read wherever a condition leads back to it. */
  readonly changed?: ChangedRecord | undefined;
}

/**
 * Creates an empty store. It belongs to one decision, or to the decisions on one list. It loads no record that an earlier store of the
 * unit of work has loaded, unless a record was written, or the loaded records depend on the changed record.
 */
export function createRelatedStore(tx: Transaction, definitions: Definitions, options: StoreOptions = {}): RelatedStore {
  const { maxCompared = MAX_RELATED, changed } = options;
  return new LoadingRecords({ tx, definitions, changed }, maxCompared);
}

class LoadingRecords implements RelatedStore {
  readonly #tx: Transaction;
  readonly #maxCompared: number;
  readonly #counted: RecordLookups<Wanted, CountedRecords>;
  readonly #ancestors: AncestorStore;
  readonly #items: ItemStore;
  readonly #lookups: readonly Pick<RecordLookups<unknown, unknown>, 'begin' | 'isIncomplete' | 'load' | 'size' | 'clear'>[];
  /** Records that the present evaluation has compared. */
  #compared = 0;

  constructor(source: RecordSource, maxCompared: number) {
    this.#tx = source.tx;
    this.#maxCompared = maxCompared;
    this.#counted = new RecordLookups(foundRelated(source), (wanted) => loadWanted(source, wanted));
    this.#ancestors = createAncestorStore(source);
    this.#items = createItemStore(source);
    this.#lookups = [this.#ancestors.lookups, this.#items.lookups, this.#counted];
  }

  ancestors(name: string, id: string): ReturnType<RelatedStore['ancestors']> {
    return this.#ancestors.find(name, id);
  }

  item(some: Some, id: string): ReturnType<RelatedStore['item']> {
    return this.#mayCompare(1) ? this.#items.find(some, id) : 'unknown';
  }

  find(related: Related, values: readonly Json[]): ReturnType<RelatedStore['find']> {
    // A search without records costs as much as one record.
    if (!this.#mayCompare(1)) return 'unknown';
    const key = keyOf(related, values);
    const known = this.#counted.find(key);
    if (known === undefined) this.#counted.want(key, { related, values });
    const records = known?.records ?? 'unknown';
    return records === 'unknown' || this.#mayCompare(records.length) ? records : 'unknown';
  }

  noteReads(how?: { readonly isPartial: boolean }): void {
    const records = [...this.#ancestors.reads(), ...this.#items.reads()];
    addReads(this.#tx, { found: this.#counted.used(), records, isPartial: how?.isPartial ?? false });
  }

  facts(decided: DecidedRecord): ReadonlyMap<string, Json | undefined> {
    return new Map([...toFacts(this.#counted.entries(), decided), ...this.#items.facts(), ...this.#ancestors.facts()]);
  }

  async evaluate<T>(run: () => T, inDatabase?: () => Promise<T | undefined>): Promise<T> {
    this.#begin();
    for (let result = run(); this.#mayCompare(0) && !this.#isFull; result = run()) {
      if (!this.#lookups.some(({ isIncomplete }) => isIncomplete)) return result;
      // On PostgreSQL the statements are sent in one message.
      await Promise.all(this.#lookups.map((each) => each.load()));
      await this.#tx.checkTime();
      if (this.#isFull) break;
      this.#begin();
    }
    this.#forget();
    this.#begin();
    return (await inDatabase?.()) ?? refuseTooMany();
  }

  get #isFull(): boolean {
    return this.#lookups.reduce((sum, { size }) => sum + size, 0) > MAX_RELATED;
  }

  /** Counts records that are compared next. Returns false above the limit: the evaluation must then end soon, and its result is not used. */
  #mayCompare(records: number): boolean {
    this.#compared += records;
    return this.#compared <= this.#maxCompared;
  }

  #begin(): void {
    this.#compared = 0;
    // A list evaluates its records one after the other.
    if (this.#isFull) this.#forget();
    for (const each of this.#lookups) each.begin();
  }

  #forget(): void {
    for (const each of this.#lookups) each.clear();
  }
}

/** Loads related records, with one statement for each condition and values. */
function loadWanted(
  source: RecordSource,
  wanted: readonly (readonly [string, Wanted])[],
): Promise<readonly (readonly [string, CountedRecords])[]> {
  return Promise.all(wanted.map(async ([key, each]) => [key, { ...each, ...(await loadRelated(source, each)) }] as const));
}

function refuseTooMany(): never {
  throw new Problem(
    'REQUEST_BUDGET',
    `the conditions read more than ${MAX_RELATED} related records, records of lists and ancestors; each counts as often as it is compared`,
  );
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
