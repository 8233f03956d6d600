import { memoize } from '../memoize.ts';
import type { JsonObject } from '../operators/index.ts';
import { columnsOf, fromRow, isDeletionField, type Resource, type Row, type StoredRecord, toRow } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { RowLock, Transaction, UserVersion } from './contract.ts';
import {
  type Existence,
  idList,
  insertionInto,
  isNotDeleted,
  quoteName,
  readingById,
  recordsOf,
  selectionOf,
  tableOf,
} from './table-names.ts';

/** A change of one record: the values to set, canonical, and the fields to leave without one. */
export interface RecordChange {
  readonly id: string;
  /** The version that the change was made from. */
  readonly version: number;
  readonly values: JsonObject;
  readonly cleared: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Set by `updateRecord` itself, or never. */
const OWN: ReadonlySet<string> = new Set(['id', 'version', 'createdAt', 'updatedAt', 'createdBy']);

/** Which record, and how it is held once it is read. */
export interface RecordQuery {
  readonly id: string;
  readonly lock?: RowLock | undefined;
}

/** The record of that id, without secret fields. */
export function loadRecord(tx: Transaction, resource: Resource, query: string | RecordQuery): Promise<StoredRecord | undefined> {
  return loadOne(tx, resource, { ...toQuery(query), existence: 'living' });
}

/** The deleted record of that id, without secret fields. */
export function loadDeletedRecord(tx: Transaction, resource: Resource, query: string | RecordQuery): Promise<StoredRecord | undefined> {
  return loadOne(tx, resource, { ...toQuery(query), existence: 'deleted' });
}

function toQuery(query: string | RecordQuery): RecordQuery {
  return typeof query === 'string' ? { id: query } : query;
}

async function loadOne(
  tx: Transaction,
  resource: Resource,
  { id, lock, existence }: RecordQuery & { readonly existence: Existence },
): Promise<StoredRecord | undefined> {
  const row = await tx.one<Row>(
    lock === undefined && existence === 'living'
      ? { sql: readingById(tx.dialect, resource), parameters: [id] }
      : sql`SELECT ${selectionOf(resource)} FROM ${recordsOf(resource, { existence })} WHERE "id" = ${id}${lock ? tx.rowLock(lock) : sql``}`,
  );
  return row === undefined ? undefined : fromRow(resource, row);
}

/** The records of those ids by id, without secret fields, with one statement. */
export async function loadRecords(tx: Transaction, resource: Resource, ids: readonly string[]): Promise<ReadonlyMap<string, StoredRecord>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.all<Row>(sql`SELECT ${selectionOf(resource)} FROM ${recordsOf(resource)} WHERE "id" IN ${idList(tx.dialect, ids)}`);
  return new Map(rows.map((row) => fromRow(resource, row)).map((record) => [record.id, record]));
}

/** Inserts a record: values canonical, passwords hashed. Throws ConstraintError. */
export async function insertRecord(tx: Transaction, resource: Resource, record: JsonObject): Promise<void> {
  const row = toRow(resource, record);
  // Every column, given or not: one statement text for each resource.
  const columns = columnsOf(resource);
  const text = memoize(
    memoize(insertions, tx.dialect, () => new WeakMap()),
    resource,
    () => insertionInto(tx.dialect, resource.name, { columns }),
  );
  await tx.run({ sql: text, parameters: columns.map(({ name }) => row[name] ?? null) });
}

const insertions = new WeakMap<Transaction['dialect'], WeakMap<Resource, string>>();

/** Changes a record and raises its version. False where it is gone or no longer at that version. Throws ConstraintError. */
export async function updateRecord(tx: Transaction, resource: Resource, change: RecordChange): Promise<boolean> {
  const row = toRow(resource, change.values);
  const settings: Sql[] = [];
  for (const { name, type } of columnsOf(resource)) {
    if (OWN.has(name) || isDeletionField(resource, name)) continue;
    if (row[name] !== undefined) settings.push(sql`${sql.raw(quoteName(name))} = ${tx.dialect.writtenValue(row[name], type)}`);
    else if (change.cleared.includes(name)) settings.push(sql`${sql.raw(quoteName(name))} = NULL`);
  }
  settings.push(...nextVersion(change.now));
  const living = resource.softDelete ? sql.raw(` AND ${isNotDeleted('living')}`) : sql``;
  const { changes } = await tx.run(
    sql`UPDATE ${tableOf(resource)} SET ${sql.join(settings)} WHERE "id" = ${change.id} AND "version" = ${change.version}${living}`,
  );
  if (changes === 1) tellReplaced(tx, resource, [change]);
  return changes === 1;
}

/** Requests of a user rest on the version of them: tells that these were found and are no longer so. */
export function tellReplaced(tx: Transaction, resource: Resource, found: readonly UserVersion[]): void {
  if (resource.name === 'User') tx.addToWriteSet({ users: found });
}

/** Which record is deleted, and by whom. */
export interface Deletion {
  readonly id: string;
  /** A user's id; absent for anon. */
  readonly by?: string | undefined;
}

/**
 * Deletes a record, for good or, where its resource keeps deleted ones, by saying so in it; false where there is none. Throws
 * ConstraintError where others refer to what would be gone.
 */
export async function deleteRecord(tx: Transaction, resource: Resource, { id, by }: Deletion): Promise<boolean> {
  const table = tableOf(resource);
  const marks = [sql`"deletedAt" = ${new Date(tx.now).toISOString()}`, sql`"deletedBy" = ${by ?? null}`, ...nextVersion(tx.now)];
  if (resource.softDelete) {
    const { changes } = await tx.run(sql`UPDATE ${table} SET ${sql.join(marks)} WHERE "id" = ${id} AND ${sql.raw(isNotDeleted('living'))}`);
    return changes === 1;
  }
  const deleted = await tx.one<UserVersion>(sql`DELETE FROM ${table} WHERE "id" = ${id} RETURNING "id", "version"`);
  if (deleted !== undefined) tellReplaced(tx, resource, [deleted]);
  return deleted !== undefined;
}

/** Makes a deleted record one that there is; false where it is none. Throws ConstraintError where another has taken what is unique of it. */
export async function restoreRecord(tx: Transaction, resource: Resource, id: string): Promise<boolean> {
  if (!resource.softDelete) return false;
  const marks = [sql`"deletedAt" = NULL`, sql`"deletedBy" = NULL`, ...nextVersion(tx.now)];
  const { changes } = await tx.run(
    sql`UPDATE ${tableOf(resource)} SET ${sql.join(marks)} WHERE "id" = ${id} AND ${sql.raw(isNotDeleted('deleted'))}`,
  );
  return changes === 1;
}

function nextVersion(now: number): readonly Sql[] {
  return [sql`"version" = "version" + 1`, sql`"updatedAt" = ${new Date(now).toISOString()}`];
}
