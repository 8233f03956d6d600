/** Loads records and compares those of resources with `checksum` with their checksums. */
import { fromRow, type Resource, type Row, type StoredRecord } from '../../resources/index.ts';
import type { Sql } from '../../sql.ts';
import type { Statement, Transaction } from '../contract.ts';
import { readingById, selectionOf } from '../table-names.ts';
import { checkedReadingById, checkedSelectionOf, isIntactRecord, requireIntactRecord } from './record-checksums.ts';

/** Returns the columns with which records are loaded: with the stored checksum if it is compared whenever a record is loaded. */
export function loadedSelectionOf(resource: Resource): Sql {
  return resource.checksum ? checkedSelectionOf(resource) : selectionOf(resource);
}

/** Returns the statement that loads a record by its id, with the columns of `loadedSelectionOf`. */
export function loadingById({ dialect }: Transaction, resource: Resource, id: string): Statement {
  return {
    sql: resource.checksum ? checkedReadingById(dialect, resource) : readingById(dialect, resource),
    parameters: [id],
    isLookup: true,
  };
}

/** Loads a record with the columns of `loadedSelectionOf`. @throws Problem STORAGE_DAMAGED if it is damaged. */
export async function loadIntact(tx: Transaction, resource: Resource, statement: Sql | Statement): Promise<StoredRecord | undefined> {
  const row = await tx.one<Row>(statement);
  if (row === undefined) return undefined;
  if (!resource.checksum || isIntactRecord(resource, row)) return fromRow(resource, row);
  return (await loadAgain(tx, resource, statement))[0];
}

/** Loads records with the columns of `loadedSelectionOf`. @throws Problem STORAGE_DAMAGED if one of them is damaged. */
export async function loadAllIntact(tx: Transaction, resource: Resource, statement: Sql): Promise<readonly StoredRecord[]> {
  return (await loadIntactRows(tx, resource, statement)).records;
}

/** The records that a statement has loaded, and its first row, which may have other columns. */
interface IntactRows {
  readonly records: readonly StoredRecord[];
  readonly first: Row | undefined;
}

/** Loads records as `loadAllIntact` does, with a statement that selects more columns. */
export async function loadIntactRows(tx: Transaction, resource: Resource, statement: Sql): Promise<IntactRows> {
  const rows = await tx.all<Row>(statement);
  const isDamaged = resource.checksum && rows.some((row) => !isIntactRecord(resource, row));
  const records = isDamaged ? await loadAgain(tx, resource, statement) : rows.map((row) => fromRow(resource, row));
  return { records, first: rows[0] };
}

/**
 * Loads records a second time if one looks damaged: a statement of PostgreSQL that waited for a row lock returns the record as it is then and
 * its checksum as it was when the statement began.
 */
async function loadAgain(tx: Transaction, resource: Resource, statement: Sql | Statement): Promise<readonly StoredRecord[]> {
  const rows = await tx.all<Row>(statement);
  return rows.map((row) => fromRow(resource, requireIntactRecord(resource, row)));
}

/** Loads records with the columns of `loadedSelectionOf`, without the damaged ones. */
export async function loadWithoutDamaged(tx: Transaction, resource: Resource, statement: Sql): Promise<readonly StoredRecord[]> {
  return withoutDamaged(resource, await tx.all<Row>(statement));
}

/** Converts rows with the columns of `loadedSelectionOf` to records, without the damaged ones. */
export function withoutDamaged(resource: Resource, rows: readonly Row[]): readonly StoredRecord[] {
  const intact = resource.checksum ? rows.filter((row) => isIntactRecord(resource, row)) : rows;
  return intact.map((row) => fromRow(resource, row));
}

/** Converts rows with the columns of `loadedSelectionOf` to records; returns undefined if one of them is damaged. */
export function unlessDamaged(resource: Resource, rows: readonly Row[]): readonly StoredRecord[] | undefined {
  if (resource.checksum && rows.some((row) => !isIntactRecord(resource, row))) return undefined;
  return rows.map((row) => fromRow(resource, row));
}
