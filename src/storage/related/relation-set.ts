import { Problem } from '../../errors.ts';
import { isPossibleId } from '../table-names.ts';
import {
  keyOfRelated,
  type ListRead,
  type RecordRead,
  type RecordWrite,
  type RelatedRead,
  type RelationReads,
  recordKey,
  type TotalRead,
} from './relation-reads.ts';

/** The records behind references and the related records that one unit of work has read and written. */
export interface RelationSet {
  /** Records that were read by id and that the unit of work did not write, by key. */
  readonly records: ReadonlyMap<string, RecordRead>;
  readonly related: readonly RelatedCheck[];
  readonly lists: readonly ListCheck[];
  readonly totals: readonly TotalCheck[];
  /** The ids of the records that the unit of work has written, by resource. Its reads are compared without them. */
  readonly written: ReadonlyMap<string, ReadonlySet<string>>;
  /** The keys of the reads. A writer of a record with one of these keys waits until the reads are committed. */
  readonly readKeys: ReadonlySet<string> | 'all';
  /** The keys of the writes. */
  readonly writeKeys: ReadonlySet<string> | 'all';
}

/** Related records to compare with the current ones. */
export interface RelatedCheck extends Pick<RelatedRead, 'resource' | 'links' | 'isTruncated'> {
  readonly key: string;
  /** The ids and stamps, in the order of the ids; the number of records if there were more than were read; null for none. */
  readonly expected: string | null;
  /** Maximum number of records to load: one more than expected shows that a record was added. */
  readonly maximum: number;
}

/** The records of a list to compare with the current ones. */
export interface ListCheck extends ListRead {
  readonly key: string;
}

/** A total. It is stale if others have written records of the resources on which it depends since it was counted. */
export interface TotalCheck extends TotalRead {
  readonly key: string;
}

/** Builds the set while a unit of work runs. */
export interface RelationSetBuilder {
  /** Adds reads. Returns false if one of them contradicts an earlier read. */
  addReads(reads: RelationReads): boolean;
  /** Adds a write. Returns false if the unit of work has read another state of the record than the one that it replaces. */
  addWrite(write: RecordWrite): boolean;
  /** True after a write of a record on which an earlier list depends: the condition of the list can no longer be compared. */
  readonly needsBlocking: boolean;
  /** The number of writes, for `undoTo`. */
  readonly mark: number;
  undoTo(mark: number): void;
  /** Returns the set; undefined if it is empty. */
  build(): RelationSet | undefined;
}

/** Maximum records that the read set of a unit of work keeps, so that its memory is bounded. */
const MAX_READ = 100_000;

/** Numbers the lists and totals of this process, so that a failed check names its list. */
let lists = 0;

/** Returns true for the key of a list. */
export function isListKey(key: string): boolean {
  return key.startsWith(LIST);
}

const LIST = 'list ';

/** Creates an empty set. */
export function createRelationSet(): RelationSetBuilder {
  return new Builder();
}

/** A read of related records, and its key. */
interface KeyedRead {
  readonly key: string;
  readonly read: RelatedRead;
}

/** A list, and the number of writes before it. */
interface DatedList {
  readonly check: ListCheck;
  readonly after: number;
}

class Builder implements RelationSetBuilder {
  readonly #records = new Map<string, RecordRead>();
  /** By key and content: equal reads of several decisions are kept once. */
  readonly #related = new Map<string, KeyedRead>();
  readonly #lists: DatedList[] = [];
  readonly #totals: TotalCheck[] = [];
  readonly #writes: RecordWrite[] = [];
  /** The number of writes of each record, by its key. */
  readonly #written = new Map<string, number>();
  #size = 0;
  #readsPartially = false;
  needsBlocking = false;

  addReads({ records = [], related = [], lists: read = [], totals = [] }: RelationReads): boolean {
    let isSame = true;
    for (const record of records) isSame = this.#addRecord(record) && isSame;
    for (const each of related) this.#addRelated(each);
    for (const list of read) {
      this.#count(list.records.length);
      this.#lists.push({ check: { ...list, key: `${LIST}${lists++}` }, after: this.#writes.length });
    }
    for (const total of totals) this.#totals.push({ ...total, key: `total ${lists++}` });
    return isSame;
  }

  #addRecord(record: RecordRead): boolean {
    // The absence of a record that cannot exist does not change, and PostgreSQL would refuse the id.
    if (!isPossibleId(record.id)) return true;
    const key = recordKey(record.resource.name, record.id);
    if (this.#written.has(key)) return true;
    const known = this.#records.get(key);
    if (known !== undefined) return known.stamp === record.stamp;
    this.#count(1);
    this.#records.set(key, record);
    return true;
  }

  #addRelated(read: RelatedRead): void {
    const key = `${keyOfRelated(read)}${read.isPartial === true ? ' of some links' : ''}`;
    const content = `${key} ${JSON.stringify([...read.stamps])} ${JSON.stringify(read.links.map(({ value }) => String(value)))}`;
    if (this.#related.has(content)) return;
    this.#count(read.stamps.size + 1);
    this.#related.set(content, { key, read });
    if (read.isPartial === true) this.#readsPartially = true;
  }

  #count(records: number): void {
    this.#size += records;
    if (this.#size > MAX_READ) throw new Problem('REQUEST_BUDGET', `the conditions read more than ${MAX_READ} other records`);
  }

  addWrite(write: RecordWrite): boolean {
    const key = recordKey(write.resource, write.id);
    const isFirst = !this.#written.has(key);
    this.#writes.push(write);
    this.#written.set(key, (this.#written.get(key) ?? 0) + 1);
    if (this.#lists.some(({ check }) => check.dependsOn.has(write.resource))) this.needsBlocking = true;
    return !isFirst || write.before === undefined || this.#agrees(key, write);
  }

  /** Returns false if a read shows another state of the record than the one that is replaced: later, the record is not compared. */
  #agrees(key: string, { resource, id, before, keysBefore }: RecordWrite): boolean {
    const known = this.#records.get(key);
    if (known !== undefined && known.stamp !== before) return false;
    for (const { key: links, read } of this.#related.values()) {
      if (read.resource.name !== resource || read.isTruncated) continue;
      const stamp = read.stamps.get(id);
      if (stamp === undefined ? keysBefore.includes(links) : stamp !== before) return false;
    }
    return true;
  }

  get mark(): number {
    return this.#writes.length;
  }

  undoTo(mark: number): void {
    for (const { resource, id } of this.#writes.splice(mark)) {
      const key = recordKey(resource, id);
      const left = (this.#written.get(key) ?? 1) - 1;
      if (left === 0) this.#written.delete(key);
      else this.#written.set(key, left);
    }
  }

  build(): RelationSet | undefined {
    const reads = this.#records.size + this.#related.size + this.#lists.length + this.#totals.length;
    if (reads + this.#writes.length === 0) return undefined;
    const written = idsByResource(this.#writes);
    const records = new Map([...this.#records].filter(([key]) => !this.#written.has(key)));
    const related = [...this.#related.values()].map((keyed) => toCheck(keyed, written.get(keyed.read.resource.name)));
    const checks = this.#lists.map((list) => this.#toListCheck(list)).filter(({ records: listed }) => listed.length > 0);
    return {
      records,
      related,
      lists: checks,
      totals: this.#totals,
      written,
      readKeys:
        this.#lists.length + this.#totals.length > 0 || this.#readsPartially
          ? 'all'
          : new Set([...records.keys(), ...related.map(({ key }) => key)]),
      writeKeys: toWriteKeys(this.#writes),
    };
  }

  /** Leaves out the records of a list that the unit of work has written after the list. */
  #toListCheck({ check, after }: DatedList): ListCheck {
    const later = idsByResource(this.#writes.slice(after)).get(check.resource.name);
    return later === undefined ? check : { ...check, records: check.records.filter(({ id }) => !later.has(id)) };
  }
}

/** Leaves out the records that the unit of work has written. Truncated reads only show that there are many. */
function toCheck({ key, read }: KeyedRead, written: ReadonlySet<string> | undefined): RelatedCheck {
  const { resource, links, isTruncated } = read;
  const stamps = [...read.stamps].filter(([id]) => written?.has(id) !== true);
  const common = { key, resource, links, isTruncated };
  if (isTruncated) return { ...common, expected: String(stamps.length), maximum: stamps.length };
  const expected = stamps.length === 0 ? null : stamps.map(([id, stamp]) => `${id} ${stamp}`).join();
  return { ...common, expected, maximum: stamps.length + 1 };
}

function idsByResource(writes: readonly RecordWrite[]): ReadonlyMap<string, ReadonlySet<string>> {
  const ids = new Map<string, Set<string>>();
  for (const { resource, id } of writes) ids.set(resource, (ids.get(resource) ?? new Set<string>()).add(id));
  return ids;
}

function toWriteKeys(writes: readonly RecordWrite[]): RelationSet['writeKeys'] {
  const keys = new Set<string>();
  for (const write of writes) {
    if (write.keys === 'all') return 'all';
    for (const key of write.keys) keys.add(key);
  }
  return keys;
}
