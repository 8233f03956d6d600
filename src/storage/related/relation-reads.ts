/**
 * The records that a decision has read in addition to the record that it decides: records behind references, related records, and the absence
 * of either. They belong to the read set. Writers of such records add them to the write set.
 */
import type { ColumnType } from '../../fields/index.ts';
import type { Resource, Row, StoredRecord } from '../../resources/index.ts';
import type { Sql } from '../../sql.ts';

/** A record that was read by its id. */
export interface RecordRead {
  readonly resource: Resource;
  readonly id: string;
  /** The stamp of its state; null if there was no record. */
  readonly stamp: string | null;
}

/** The records that were related to a record or a user. */
export interface RelatedRead {
  readonly resource: Resource;
  readonly links: readonly LinkRead[];
  /** The stamps of the records by id, in the order of the ids. */
  readonly stamps: ReadonlyMap<string, string>;
  /** True if there were more records than were read. */
  readonly isTruncated: boolean;
  /** True if `links` are only some of those of a condition: writers of these records have other keys, so the read takes all of them. */
  readonly isPartial?: boolean;
}

/** A linking field, and the stored value that it was equal to. */
export interface LinkRead {
  readonly field: string;
  readonly type: ColumnType;
  readonly value: unknown;
  /** True for a text: equal texts are stored alike. */
  readonly isText: boolean;
  /** The value as text of the statement, if only this lets the database use a partial index. */
  readonly literal?: Sql | undefined;
}

/** The records of a list, all of which matched a condition that reads other records. */
export interface ListRead {
  readonly resource: Resource;
  /** The records as they were read. */
  readonly records: readonly StoredRecord[];
  /** The names of the resources whose records the condition reads. */
  readonly dependsOn: ReadonlySet<string>;
  /**
   * The write marks of these resources in the snapshot of the records, or in an earlier one: while they are the same, every record still matches the
   * condition. Absent if only a comparison shows it.
   */
  readonly marks?: string | undefined;
  /** Compiles the comparison of the records with the current ones. */
  toComparison(): ListComparison;
  /** Returns true if the comparison finds related records without an index: it scans their table for each record of the list. */
  needsScans(): boolean;
}

/** The comparison of the records of a list with the current ones. */
export interface ListComparison {
  /** The FROM items of the condition. */
  readonly tables: Sql;
  readonly where: Sql;
  /** Texts of the listed records that do not change unless the fields that the condition reads of these records change. */
  readonly texts: readonly Sql[];
  /** Returns the texts of a record as it was read. */
  valuesOf(record: StoredRecord): readonly (string | null)[];
}

/** A counted number of records. It is current if no other unit of work has written records on which the access to them depends. */
export interface TotalRead {
  /** The names of the resources whose records the condition reads. */
  readonly dependsOn: ReadonlySet<string>;
  /** The write marks of these resources in the snapshot of the count; on SQLite, the counters of the writes. */
  readonly marks: string;
}

/** Records that a unit of work has read for its decisions. */
export interface RelationReads {
  readonly records?: readonly RecordRead[];
  readonly related?: readonly RelatedRead[];
  readonly lists?: readonly ListRead[];
  readonly totals?: readonly TotalRead[];
}

/** A written record that conditions of others may have read. */
export interface RecordWrite {
  readonly resource: string;
  readonly id: string;
  /** The stamp of its state before the write; null if there was no record that can be read, undefined if the state is not known. */
  readonly before: string | null | undefined;
  /** The keys of the reads that contained the record before. */
  readonly keysBefore: readonly string[];
  /** The keys of all reads whose result may change; `all` if they are not known. */
  readonly keys: readonly string[] | 'all';
}

/** Returns the stamp of the state of a record. No two states of a record have the same one. */
export function stampOf(row: Row): string {
  return `${String(row['version'])} ${String(row['updatedAt'])}`;
}

/** Returns the key of the reads of a record by its id. */
export function recordKey(resource: string, id: string): string {
  return `record ${resource} ${id}`;
}

/** A linking field of a key; values of other types than text are left out, because equal ones may be stored in several ways. */
type KeyPart = readonly [field: string, text?: string];

/** Returns the key of the reads of the records of a resource by links. Records with different keys are never related by the same links. */
export function relatedKey(resource: string, parts: readonly KeyPart[]): string {
  return `related ${resource} ${JSON.stringify([...parts].sort(([a], [b]) => (a < b ? -1 : 1)))}`;
}

/** Returns the key of a read of related records. */
export function keyOfRelated({ resource, links }: RelatedRead): string {
  return relatedKey(
    resource.name,
    links.map(({ field, value, isText }): KeyPart => (isText ? [field, String(value)] : [field])),
  );
}
