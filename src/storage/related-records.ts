/** Loads the related records that conditions count. */
import { type RelatedRecords, toRelatedRecord } from '../authz/context/index.ts';
import {
  all,
  type Condition,
  compileCondition,
  type Path,
  type Related,
  type RelatedRecord,
  relatedName,
  relatedPaths,
  WITHOUT_VALUE,
} from '../conditions/index.ts';
import { Problem } from '../errors.ts';
import type { ColumnType } from '../fields/index.ts';
import { memoize } from '../memoize.ts';
import { type Json, type JsonObject, toStored } from '../operators/index.ts';
import { columnsOf, type Definitions, type Resource, type Row } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import { createAncestorStore } from './ancestors.ts';
import type { Transaction } from './contract.ts';
import { loadedSelectionOf, unlessDamaged } from './intact-records.ts';
import { createItemStore } from './item-records.ts';
import { checkedRecordsOf } from './list-rows.ts';
import { loadReferencedOfEach } from './referenced-records.ts';
import { type LinkRead, type RecordRead, type RelatedRead, stampOf } from './relation-reads.ts';
import { type ResourceTarget, sqlTargetFor } from './sql-target.ts';
import { columnOf, selectionOfFields } from './table-names.ts';

/** Related records that are loaded when a condition needs them. */
export interface RelatedStore extends RelatedRecords {
  /**
   * Returns the values of the records loaded so far that conditions read, by `relatedName`: for each record its id, the values of the paths
   * after the alias, and the paths without a value. `tooMany` for more records than a condition counts, `unknown` for records that could not be
   * counted; undefined for more than `MAX_FACTS` records. The decided record is not related to itself.
   */
  facts(decided: DecidedRecord): ReadonlyMap<string, Json | undefined>;
  /** Adds the records that the last evaluation has read to the read set. `isPartial` is true if they were found by some of the links of a condition. */
  noteReads(how?: { readonly isPartial: boolean }): void;
  /** Evaluates conditions until the related records that they read are loaded: those of the first evaluation decide which records the next one reads. */
  evaluate<T>(run: () => T): Promise<T>;
}

/** Maximum related records of one decision. */
const MAX_LOADED = 20_000;

/** Maximum records of one condition whose values the audit log keeps. */
const MAX_FACTS = 100;

/** The records that a condition counts. */
interface Wanted {
  readonly related: Related;
  readonly values: readonly Json[];
}

/** The record of a decision; a new one has no id. */
interface DecidedRecord {
  readonly resource: string;
  readonly id?: string | undefined;
}

/** Creates an empty store. It belongs to one decision, or to the decisions on one list. */
export function createRelatedStore(tx: Transaction, definitions: Definitions): RelatedStore {
  const found = new Map<string, FoundRecords>();
  const used = new Set<FoundRecords>();
  const wanted = new Map<string, Wanted>();
  const counted: CountedRecords[] = [];
  const ancestors = createAncestorStore(tx, definitions);
  const items = createItemStore(tx, definitions);
  const byId = [ancestors, items];
  let loaded = 0;

  async function load([key, each]: readonly [string, Wanted]): Promise<number> {
    const loading = await loadRelated(tx, definitions, each);
    found.set(key, loading);
    counted.push({ ...each, records: loading.records });
    return loading.records.length;
  }

  return {
    ancestors: ancestors.find,
    item: items.find,
    find(related, values) {
      const key = keyOf(related, values);
      const known = found.get(key);
      if (known === undefined) wanted.set(key, { related, values });
      else used.add(known);
      return known?.records ?? 'unknown';
    },
    noteReads: (how) =>
      addReads(tx, { found: [...used], records: [...ancestors.reads(), ...items.reads()], isPartial: how?.isPartial ?? false }),
    facts: (decided) => new Map([...toFacts(counted.map((each) => withoutDecided(each, decided))), ...items.facts(), ...ancestors.facts()]),
    async evaluate(run) {
      // A list evaluates its records one after the other.
      if (loaded > MAX_LOADED) {
        for (const store of [found, ...byId]) store.clear();
        [counted.length, loaded] = [0, 0];
      }
      for (;;) {
        wanted.clear();
        used.clear();
        for (const store of byId) store.beginReads();
        const result = run();
        if (wanted.size === 0 && !byId.some((store) => store.isIncomplete)) return result;
        // On PostgreSQL the statements are sent in one message.
        for (const count of await Promise.all([...byId.map((store) => store.load()), ...[...wanted].map(load)])) loaded += count;
        await tx.checkTime();
        refuseTooMany(loaded);
      }
    },
  };
}

function refuseTooMany(loaded: number): void {
  if (loaded <= MAX_LOADED) return;
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
  const related = found.flatMap((each) => (each.related === undefined ? [] : { ...each.related, isPartial }));
  const records = [...found.flatMap(({ referenced }) => referenced), ...read];
  tx.addToReadSet({ relations: { related, records } });
}

/** The records that a condition has counted. */
interface CountedRecords extends Wanted {
  readonly records: readonly RelatedRecord[] | 'unknown';
}

function withoutDecided({ records, ...counted }: CountedRecords, { resource, id }: DecidedRecord): CountedRecords {
  const isOwn = records !== 'unknown' && counted.related.resource === resource;
  return { ...counted, records: isOwn ? records.filter((record) => record.id !== id) : records };
}

function toFacts(counted: readonly CountedRecords[]): ReadonlyMap<string, Json | undefined> {
  const facts = new Map<string, Json | undefined>();
  for (const { related, values, records } of counted) {
    const name = relatedName(related, values);
    if (records === 'unknown') facts.set(name, records);
    else if (records.length > related.limit) facts.set(name, 'tooMany');
    else if (records.length > MAX_FACTS) facts.set(name, undefined);
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

/** The fields that a condition reads of its related records, and the key of the records without the values that link them. */
interface RelatedShape {
  readonly key: string;
  readonly fields: ReadonlySet<string>;
}

/** Shapes by condition: those of rules are looked up for each decision. */
const shapes = new WeakMap<Related, RelatedShape>();

function toShape(related: Related): RelatedShape {
  const paths = relatedPaths(related);
  const links = related.on.map(({ path }) => path.keys[1]);
  const read = paths.map((keys) => keys.join('.')).sort();
  return {
    key: JSON.stringify([related.resource, links, read, related.limit]),
    fields: new Set(paths.map(([field = '']) => field)),
  };
}

function keyOf(related: Related, values: readonly Json[]): string {
  return memoize(shapes, related, toShape).key + JSON.stringify(values);
}

/** Returns the columns that conditions read. A checksum covers the whole record. */
function selectionFor(tx: Transaction, resource: Resource, related: Related): Sql {
  if (resource.checksum) return loadedSelectionOf(resource);
  const stamped = tx.validatesReads ? STAMPED : ['id'];
  return selectionOfFields(resource, new Set([...stamped, ...memoize(shapes, related, toShape).fields]));
}

/** The columns of the stamp of a record. */
const STAMPED = ['id', 'version', 'updatedAt'];

/** Related records as conditions read them, and the reads from which they result. */
interface FoundRecords {
  readonly records: readonly RelatedRecord[] | 'unknown';
  /** Absent if the result does not depend on what is stored. */
  readonly related?: RelatedRead;
  /** The records that the related records reference. */
  readonly referenced: readonly RecordRead[];
}

const NOT_COMPARABLE: FoundRecords = Object.freeze({ records: 'unknown', referenced: [] });

/** Loads the related records by id, and at least one more than the limit if there are more. `unknown` if one is damaged, or if SQL cannot compare a value. */
async function loadRelated(tx: Transaction, definitions: Definitions, { related, values }: Wanted): Promise<FoundRecords> {
  const resource = definitions.get(related.resource);
  if (resource === undefined) return NOT_COMPARABLE;
  const target = sqlTargetFor(resource, definitions, { dialect: tx.dialect, now: tx.now, timeZone: 'UTC' });
  const isLinked = all(related.on.map(({ path }, index) => equals(path.keys[1] ?? '', values[index] ?? null)));
  const { where, exact } = compileCondition(isLinked, target);
  if (!exact) return NOT_COMPARABLE;
  // The record that is decided may be one of them, and does not count.
  const limit = related.limit + 2;
  // The limit is a literal: with a parameter, the generic plan of PostgreSQL assumes a tenth of the rows and may read the whole primary key.
  const rows = await tx.all<Row>(
    sql`SELECT ${selectionFor(tx, resource, related)} FROM ${target.tables(checkedRecordsOf(tx, resource, {}))} WHERE ${where}
      ORDER BY ${columnOf(resource, 'id')} LIMIT ${sql.lit(limit)}`,
  );
  const links = tx.validatesReads ? linksOf(related, values, { resource, target }) : undefined;
  const stamps = new Map(links && rows.map((row) => [String(row['id']), stampOf(row)]));
  const read = links && { resource, links, stamps, isTruncated: rows.length === limit };
  const records = unlessDamaged(resource, rows);
  if (records === undefined) return { records: 'unknown', referenced: [], ...(read && { related: read }) };
  const paths = relatedPaths(related).map((keys) => toResourcePath(keys));
  const referencedOf = await loadReferencedOfEach(tx, definitions, { paths, resource, records });
  const referenced: RecordRead[] = [];
  const found = records.map((record) =>
    toRelatedRecord({ definitions, resource, record, referenced: referencedOf(record, (each) => referenced.push(each)) }),
  );
  return { records: found, referenced, ...(read && { related: read }) };
}

/** Returns the linking fields with their stored values; undefined if no column can store one of them, so that no record is related. */
function linksOf(
  { on }: Related,
  values: readonly Json[],
  { resource, target }: { readonly resource: Resource; readonly target: ResourceTarget },
): readonly LinkRead[] | undefined {
  const links: LinkRead[] = [];
  for (const [index, { path }] of on.entries()) {
    const field = path.keys[1] ?? '';
    const column = target.column(toResourcePath([field]));
    const type = columnsOf(resource).find(({ name }) => name === field)?.type;
    const stored = column && toStored(column, column.kind, values[index] ?? null);
    if (column === undefined || type === undefined || stored?.fits !== true || !canStore(type, stored.bound)) return undefined;
    const literal = column.isIndexed?.(stored.bound) ? target.dialect.indexedValue?.(stored.bound) : undefined;
    links.push({ field, type, value: stored.bound, isText: column.kind === 'text', literal });
  }
  return links;
}

/** Returns true if a column can store a value. No column of integers stores a fraction, or a number beyond 64 bits. */
function canStore(type: ColumnType, value: unknown): boolean {
  if (value === undefined) return false;
  if (type !== 'integer' || typeof value !== 'number') return true;
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

function equals(field: string, value: Json): Condition {
  return { type: 'comparison', path: toResourcePath([field]), operator: 'eq', operand: { type: 'literal', value }, ifExists: false };
}

function toResourcePath(keys: readonly string[]): Path {
  return { group: 'resource', keys, text: `resource.${keys.join('.')}` };
}
