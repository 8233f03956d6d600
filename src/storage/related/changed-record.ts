/**
 * The record that an update would store. The decision on it reads this record, and not the stored one, wherever a path leads back to its id: by a
 * reference, as an item of a list, by a reference of a related record, or among the ancestors of another record.
 */
import type { Definitions, Resource, StoredRecord } from '../../resources/index.ts';
import type { Transaction } from '../contract.ts';
import type { RecordRead } from './relation-reads.ts';

/** A record that an update would store, without secret fields. */
export interface ChangedRecord {
  readonly resource: Resource;
  readonly record: StoredRecord;
}

/** The transaction and the definitions with which the records of a decision are loaded, and the changed record if the decision is on one. */
export interface RecordSource {
  readonly tx: Transaction;
  readonly definitions: Definitions;
  readonly changed?: ChangedRecord | undefined;
}

/** Returns the changed record as records are loaded: without secret fields. */
export function toChangedRecord(resource: Resource, record: StoredRecord): ChangedRecord {
  const shown = Object.entries(record).filter(([name]) => resource.fields.get(name)?.writeOnly !== true);
  return { resource, record: { ...Object.fromEntries(shown), id: record.id, version: record.version } };
}

/** Returns loaded records of a resource, with the changed record in the place of the stored one. */
export function withChanged(
  records: ReadonlyMap<string, StoredRecord>,
  resource: Resource,
  changed: ChangedRecord | undefined,
): ReadonlyMap<string, StoredRecord> {
  if (changed?.resource.name !== resource.name || !records.has(changed.record.id)) return records;
  return new Map(records).set(changed.record.id, changed.record);
}

/** Returns true if one of the reads is that of the changed record. */
export function readsChanged(reads: readonly RecordRead[], { resource: { name }, record }: ChangedRecord): boolean {
  return reads.some(({ resource, id }) => id === record.id && resource.name === name);
}
