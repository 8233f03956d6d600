/** Adds writes of records that conditions of others read to the write set. */
import type { WatchedFields } from '../authz/policies/index.ts';
import { fieldKind, type Resource, type Row } from '../resources/index.ts';
import { sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { forgetLoadedRecords } from './related/loaded-records.ts';
import { type RecordWrite, recordKey, relatedKey, stampOf } from './related/relation-reads.ts';
import { quoteName, tableOf } from './table-names.ts';

/** A watched record that is about to be written. */
interface WatchedRecord {
  /** Adds the write to the write set. `changed` are the columns that change; those of the deletion need not be among them. */
  noteWrite(changed: Row): void;
}

/** Adds a new record to the write set if conditions read the records of its resource. */
export function noteInsertion(tx: Transaction, resource: Resource, row: Row): void {
  const watched = watchedOf(tx, resource);
  if (watched === undefined) return;
  const id = String(row['id']);
  const keys = watched === 'unknown' ? 'all' : keysOf(resource, watched, { ...row, id });
  tx.addToWriteSet({ records: [{ resource: resource.name, id, before: null, keysBefore: [], keys }] });
}

/** Adds records to the write set that one statement has changed, if conditions read the records of their resource. */
export function noteBulkWrite(tx: Transaction, resource: Resource, ids: readonly string[]): void {
  if (watchedOf(tx, resource) === undefined) return;
  const toWrite = (id: string): RecordWrite => ({ resource: resource.name, id, before: undefined, keysBefore: [], keys: 'all' });
  tx.addToWriteSet({ records: ids.map(toWrite) });
}

/** Returns whether conditions read the records of a resource, or may do so. */
export function isWatched(tx: Transaction, resource: Resource): boolean {
  return watchedOf(tx, resource) !== undefined;
}

/** Loads and locks the state of a record before it is written; undefined if no condition reads the records of its resource. */
export async function loadWatched(tx: Transaction, resource: Resource, id: string): Promise<WatchedRecord | undefined> {
  const watched = watchedOf(tx, resource);
  if (watched === undefined) return undefined;
  const fields = new Set(['id', 'version', 'updatedAt', ...(resource.softDelete ? ['deletedAt'] : []), ...linkedFields(resource, watched)]);
  const columns = sql.join([...fields].map((name) => sql.raw(quoteName(name))));
  const row = await tx.one<Row>(sql`SELECT ${columns} FROM ${tableOf(resource)} WHERE "id" = ${id}${tx.rowLock('noKeyUpdate')}`);
  return {
    noteWrite(changed) {
      const keysBefore = watched === 'unknown' || row === undefined ? [] : keysOf(resource, watched, row);
      const keys = watched === 'unknown' ? 'all' : [...keysBefore, ...keysOf(resource, watched, { ...row, ...changed, id })];
      const isReadable = row !== undefined && (row['deletedAt'] ?? null) === null;
      const before = isReadable ? stampOf(row) : null;
      tx.addToWriteSet({ records: [{ resource: resource.name, id, before, keysBefore: isReadable ? keysBefore : [], keys }] });
    },
  };
}

/** Returns what conditions read of the records of a resource. They read no records of resources of the system. */
function watchedOf(tx: Transaction, resource: Resource): WatchedFields | 'unknown' | undefined {
  forgetLoadedRecords(tx);
  if (resource.internal) return undefined;
  tx.noteWritten(resource.name);
  return tx.watched(resource.name);
}

/** Returns the linking fields that the resource has: those of a rule that was written before a migration may be gone. */
function linkedFields(resource: Resource, watched: WatchedFields | 'unknown'): readonly string[] {
  return watched === 'unknown' ? [] : watched.links.flat().filter((name) => resource.fields.has(name));
}

/** Returns the keys of the reads that contain a record with these columns. A record without a linking field is related to none. */
function keysOf(resource: Resource, { links, isReferenced }: WatchedFields, row: Row): readonly string[] {
  const keys = isReferenced ? [recordKey(resource.name, String(row['id']))] : [];
  for (const fields of links) {
    const values = fields.map((name) => row[name] ?? null);
    if (values.includes(null)) continue;
    keys.push(
      relatedKey(
        resource.name,
        fields.map((name, index) => (isText(resource, name) ? [name, String(values[index])] : [name])),
      ),
    );
  }
  return keys;
}

/** Returns whether the column of a field has texts, which are equal only if they are stored alike. */
function isText(resource: Resource, name: string): boolean {
  const field = resource.fields.get(name);
  return field !== undefined && fieldKind(field)?.kind === 'text';
}
