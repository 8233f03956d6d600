import { memoize } from '../memoize.ts';
import type { JsonObject } from '../operators/index.ts';
import { columnsOf, type Definitions, isDeletionField, type Resource, type Row, type StoredRecord, toRow } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import {
  loadAllIntact,
  loadedSelectionOf,
  loadIntact,
  loadingById,
  loadWithoutDamaged,
  withoutDamaged,
} from './checksums/intact-records.ts';
import { hasChecksums, refuseDamagedRecord, removeSeal, sealRecords } from './checksums/record-checksums.ts';
import type { RowLock, Statement, Transaction } from './contract.ts';
import { changesUnique, fitsIndexes } from './deferrable-writes.ts';
import type { UserVersion } from './read-set.ts';
import { type ChangedRecord, withChanged } from './related/changed-record.ts';
import { type FoundForInsertion, uniqueValuesOf } from './related/insertion-lookups.ts';
import { referenceFieldsOf } from './related/reference-checks.ts';
import { stampOf } from './related/relation-reads.ts';
import { rowSizeOf } from './row-size.ts';
import { type Existence, existenceSql, idList, insertionInto, quoteName, recordsOf, selectionOf, tableOf } from './table-names.ts';
import { isWatched, loadWatched, noteInsertion } from './watched-writes.ts';

/** A change of one record: canonical values to set, and fields to clear. */
export interface RecordChange {
  readonly id: string;
  /** The version that the change is based on. */
  readonly version: number;
  readonly values: JsonObject;
  readonly cleared: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The changed record, if it was loaded without a lock. If it has changed since, the unit of work runs again. */
  readonly unlocked?: JsonObject | undefined;
}

/** Columns that `updateRecord` sets by itself or never changes. */
const MANAGED_COLUMNS: ReadonlySet<string> = new Set(['id', 'version', 'createdAt', 'updatedAt', 'createdBy']);

/** The record to load, and the row lock to take. */
export interface RecordQuery {
  readonly id: string;
  readonly lock?: RowLock | undefined;
  /** True if a search that can take long follows before the first write. */
  readonly beforeSearch?: boolean | undefined;
}

/** Loads a record by its id, without secret fields. */
export function loadRecord(tx: Transaction, resource: Resource, query: string | RecordQuery): Promise<StoredRecord | undefined> {
  return loadOne(tx, resource, { ...toQuery(query), existence: 'notDeleted' });
}

/** Loads a soft-deleted record by its id, without secret fields. */
export function loadDeletedRecord(tx: Transaction, resource: Resource, query: string | RecordQuery): Promise<StoredRecord | undefined> {
  return loadOne(tx, resource, { ...toQuery(query), existence: 'deleted' });
}

function toQuery(query: string | RecordQuery): RecordQuery {
  return typeof query === 'string' ? { id: query } : query;
}

function loadOne(
  tx: Transaction,
  resource: Resource,
  { id, lock, beforeSearch = false, existence }: RecordQuery & { readonly existence: Existence },
): Promise<StoredRecord | undefined> {
  return loadIntact(
    tx,
    resource,
    lock === undefined && existence === 'notDeleted'
      ? loadingById(tx, resource, id)
      : sql`SELECT ${loadedSelectionOf(resource)} FROM ${recordsOf(resource, { existence })} WHERE "id" = ${id}${lock ? tx.rowLock(lock, { beforeSearch }) : sql``}`,
  );
}

/** Loads records by their ids with one statement, without secret fields. Returns them by id. */
export async function loadRecords(tx: Transaction, resource: Resource, ids: readonly string[]): Promise<ReadonlyMap<string, StoredRecord>> {
  if (ids.length === 0) return new Map();
  return byId(await loadAllIntact(tx, resource, selectionByIds(tx, resource, { ids })));
}

/** Loads records like `loadRecords`, without the damaged ones. */
export async function loadUndamagedRecords(
  tx: Transaction,
  resource: Resource,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredRecord>> {
  if (ids.length === 0) return new Map();
  return byId(await loadWithoutDamaged(tx, resource, selectionByIds(tx, resource, { ids })));
}

/** The records with some ids, without the damaged ones, and the stamps of all of them if reads are validated. */
interface StampedRecords {
  readonly records: ReadonlyMap<string, StoredRecord>;
  readonly stamps: ReadonlyMap<string, string>;
}

/** Records to load for conditions. */
export interface StampedQuery {
  readonly ids: readonly string[];
  /** The names of the fields that are read. */
  readonly fields: ReadonlySet<string>;
  /** The changed record that is decided, if any: it takes the place of the stored one. */
  readonly changed?: ChangedRecord | undefined;
}

/** Loads records like `loadUndamagedRecords`, with the stamps of their stored states, and without the long fields that are not read. */
export async function loadStampedRecords(
  tx: Transaction,
  resource: Resource,
  { ids, fields, changed }: StampedQuery,
): Promise<StampedRecords> {
  if (ids.length === 0) return { records: new Map(), stamps: new Map() };
  const unread = [...rowSizeOf(resource).longFields].filter((name) => !fields.has(name));
  // A checksum covers the whole record.
  const selection = resource.checksum ? loadedSelectionOf(resource) : selectionOf(resource, unread);
  const rows = await tx.all<Row>(selectionByIds(tx, resource, { ids, selection }));
  return {
    records: withChanged(byId(withoutDamaged(resource, rows)), resource, changed),
    stamps: tx.validatesReads ? new Map(rows.map((row) => [String(row['id']), stampOf(row)])) : new Map(),
  };
}

interface SelectionByIds {
  readonly ids: readonly string[];
  readonly selection?: Sql;
}

function selectionByIds(tx: Transaction, resource: Resource, { ids, selection = loadedSelectionOf(resource) }: SelectionByIds): Sql {
  return sql`SELECT ${selection} FROM ${recordsOf(resource)} WHERE "id" IN ${idList(tx.dialect, ids)}`;
}

function byId(records: readonly StoredRecord[]): ReadonlyMap<string, StoredRecord> {
  return new Map(records.map((record) => [record.id, record]));
}

/** Inserts a record with canonical values and hashed passwords. Throws ConstraintError. */
export async function insertRecord(tx: Transaction, resource: Resource, record: JsonObject): Promise<void> {
  const row = toRow(resource, record);
  await tx.run(insertionOf(tx, resource, row));
  noteInsertion(tx, resource, row);
  await sealRecords(tx, resource, [String(row['id'])]);
}

/** A record, and what was looked up for its insertion. */
export interface LookedUpInsertion {
  readonly record: JsonObject;
  readonly definitions: Definitions;
  readonly found: FoundForInsertion;
}

/** Inserts a record as `insertRecord` does, perhaps with the commit. If what was looked up has changed, the unit of work runs again. */
export async function insertAfterLookups(
  tx: Transaction,
  resource: Resource,
  { record, definitions, found }: LookedUpInsertion,
): Promise<void> {
  const row = toRow(resource, record);
  const columns = columnsOf(resource);
  const references = referenceFieldsOf({ resource, definitions }).flatMap(({ field, target }) =>
    field.to === undefined ? [] : [{ at: columns.findIndex(({ name }) => name === field.name), target }],
  );
  await tx.insertRow({
    row: `${resource.name} ${String(row['id'])}`,
    table: tableOf(resource),
    columns,
    statement: insertionOf(tx, resource, row),
    references,
    uniqueValues: uniqueValuesOf(resource, row),
    isDeferrable: found.isFree(resource, row) && fitsIndexes(resource, record) && !isWatched(tx, resource),
  });
  noteInsertion(tx, resource, row);
}

/** Returns the INSERT of a row. It names every column, so that each resource has one statement text. */
function insertionOf({ dialect }: Transaction, resource: Resource, row: Row): Statement {
  const columns = columnsOf(resource);
  const text = memoize(
    memoize(insertions, dialect, () => new WeakMap()),
    resource,
    () => insertionInto(dialect, resource.name, { columns }),
  );
  return { sql: text, parameters: columns.map(({ name }) => row[name] ?? null) };
}

const insertions = new WeakMap<Transaction['dialect'], WeakMap<Resource, string>>();

/** Updates a record and increments its version. Returns false if it is gone or has another version. Throws ConstraintError. */
export async function updateRecord(tx: Transaction, resource: Resource, change: RecordChange): Promise<boolean> {
  await refuseDamagedRecord(tx, resource, change.id);
  const row = toRow(resource, change.values);
  const assignments: Sql[] = [];
  for (const { name, type } of columnsOf(resource)) {
    if (MANAGED_COLUMNS.has(name) || isDeletionField(resource, name)) continue;
    if (row[name] !== undefined) assignments.push(sql`${sql.raw(quoteName(name))} = ${tx.dialect.writtenValue(row[name], type)}`);
    else if (change.cleared.includes(name)) assignments.push(sql`${sql.raw(quoteName(name))} = NULL`);
  }
  assignments.push(...nextVersion(change.now));
  const watched = await loadWatched(tx, resource, change.id);
  const notDeleted = resource.softDelete ? sql.raw(` AND ${existenceSql('notDeleted')}`) : sql``;
  const update = {
    row: `${resource.name} ${change.id}`,
    table: tableOf(resource),
    assignments: sql.join(assignments),
    where: sql`"id" = ${change.id} AND "version" = ${change.version}${notDeleted}`,
  };
  const changesKey = changesUnique(resource, [...Object.keys(row), ...change.cleared]);
  const isOptimistic = change.unlocked !== undefined;
  const isSafe = change.unlocked !== undefined && !changesKey && fitsIndexes(resource, change.unlocked);
  const isDeferrable = isSafe && watched === undefined && !hasChecksums(resource);
  if (!(await tx.updateRow(update, { isOptimistic, isDeferrable }))) return false;
  watched?.noteWrite({ ...row, ...Object.fromEntries(change.cleared.map((name) => [name, null])) });
  addUsersToWriteSet(tx, resource, [change]);
  await sealRecords(tx, resource, [change.id]);
  return true;
}

/** Adds records to the write set if they are users: requests that read the old version of one of the users run again. */
export function addUsersToWriteSet(tx: Transaction, resource: Resource, found: readonly UserVersion[]): void {
  if (resource.name === 'User') tx.addToWriteSet({ users: found });
}

/** The record to delete, and the user who deletes it. */
export interface Deletion {
  readonly id: string;
  /** User id; absent for anon. */
  readonly by?: string | undefined;
}

/**
 * Deletes a record, or soft-deletes it if its resource has `softDelete`. Returns false if there is none. Throws ConstraintError if other records
 * reference a row that would be removed.
 */
export async function deleteRecord(tx: Transaction, resource: Resource, { id, by }: Deletion): Promise<boolean> {
  const assignments = [sql`"deletedAt" = ${new Date(tx.now).toISOString()}`, sql`"deletedBy" = ${by ?? null}`, ...nextVersion(tx.now)];
  if (resource.softDelete) return markRecord(tx, resource, { id, before: 'notDeleted', assignments });
  const watched = await loadWatched(tx, resource, id);
  const deleted = await tx.one<UserVersion>(sql`DELETE FROM ${tableOf(resource)} WHERE "id" = ${id} RETURNING "id", "version"`);
  if (deleted === undefined) return false;
  watched?.noteWrite({});
  addUsersToWriteSet(tx, resource, [deleted]);
  await removeSeal(tx, resource, id);
  return true;
}

/** Restores a soft-deleted record. Returns false if there is none. Throws ConstraintError if another record has taken a unique value. */
export async function restoreRecord(tx: Transaction, resource: Resource, id: string): Promise<boolean> {
  if (!resource.softDelete) return false;
  const assignments = [sql`"deletedAt" = NULL`, sql`"deletedBy" = NULL`, ...nextVersion(tx.now)];
  return markRecord(tx, resource, { id, before: 'deleted', assignments });
}

interface DeletionMark {
  readonly id: string;
  readonly before: Existence;
  readonly assignments: readonly Sql[];
}

/** Sets the deletion fields of a record. Returns false if there is none. */
async function markRecord(tx: Transaction, resource: Resource, { id, before, assignments }: DeletionMark): Promise<boolean> {
  await refuseDamagedRecord(tx, resource, id);
  const watched = await loadWatched(tx, resource, id);
  const { changes } = await tx.run(
    sql`UPDATE ${tableOf(resource)} SET ${sql.join(assignments)} WHERE "id" = ${id} AND ${sql.raw(existenceSql(before))}`,
  );
  if (changes === 0) return false;
  watched?.noteWrite({});
  await sealRecords(tx, resource, [id]);
  return true;
}

function nextVersion(now: number): readonly Sql[] {
  return [sql`"version" = "version" + 1`, sql`"updatedAt" = ${new Date(now).toISOString()}`];
}
