/** The checksums of records, in the table `_RecordChecksum`: the tables of resources have no columns that their definition does not name. */
import { Problem } from '../../errors.ts';
import { memoize } from '../../memoize.ts';
import type { SqlDialect } from '../../operators/index.ts';
import type { Resource, Row } from '../../resources/index.ts';
import { renderSql, type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { columnOf, idList, readingText, selectionOf, tableOf } from '../table-names.ts';
import { damaged } from './damaged-rows.ts';
import { toChecksum } from './row-checksums.ts';
import { coveredColumnsOf } from './row-content.ts';

/** The alias of the checksum beside the columns of a record. No field has this name. */
const STORED = '$checksum';

/** Maximum records that one statement seals: each has two bound values. */
const RECORDS_PER_STATEMENT = 500;

/** Returns whether the records of a resource have checksums: by its definition, and those of users, because each request depends on one. */
export function hasChecksums({ name, checksum }: Resource): boolean {
  return checksum || name === 'User';
}

const selections = new WeakMap<Resource, Sql>();

/** Returns the columns of a record and its stored checksum, without secret fields. */
export function checkedSelectionOf(resource: Resource): Sql {
  return memoize(selections, resource, () => {
    const id = sql`${sql.lit(`${resource.name}/`)} || ${columnOf(resource, 'id')}`;
    const stored = sql`(SELECT "_RecordChecksum"."checksum" FROM "_RecordChecksum" WHERE "_RecordChecksum"."id" = ${id})`;
    return sql`${selectionOf(resource)}, ${stored} AS ${sql.ref(STORED)}`;
  });
}

const readings = new WeakMap<SqlDialect, WeakMap<Resource, string>>();

/** Returns the text of `readingById` with the stored checksum. */
export function checkedReadingById(dialect: SqlDialect, resource: Resource): string {
  const texts = memoize(readings, dialect, () => new WeakMap<Resource, string>());
  return memoize(texts, resource, () => {
    const selection = renderSql(checkedSelectionOf(resource), dialect.placeholder).sql;
    return readingText(dialect, resource, selection);
  });
}

/** Returns whether a row of `checkedSelectionOf` has the checksum of its content. */
export function isIntactRecord(table: Resource, row: Row): boolean {
  return row[STORED] === toChecksum({ table, row });
}

/** Returns the row of `checkedSelectionOf`. @throws Problem STORAGE_DAMAGED if its checksum does not match its content. */
export function requireIntactRecord(table: Resource, row: Row): Row {
  if (!isIntactRecord(table, row)) throw damagedRecord(table, String(row['id']));
  return row;
}

/**
 * Returns whether two rows of `checkedSelectionOf` are equal in every column that their checksum covers, and in the checksum. If one of them
 * is intact, so is the other: comparing takes a tenth of the time of a checksum.
 */
export function hasSameContent(table: Resource, row: Row, other: Row): boolean {
  return row[STORED] === other[STORED] && coveredColumnsOf(table).every(({ name }) => row[name] === other[name]);
}

/** Creates the problem of a damaged record. The id is only logged: a list of the caller may not show this record. */
function damagedRecord({ name }: Resource, id: string): Problem {
  const cause = damaged({ table: name, id });
  return new Problem('STORAGE_DAMAGED', `a ${name} record is damaged: its checksum does not match its content`, { cause });
}

/**
 * Refuses to change or show a damaged record, soft-deleted or not: a new checksum would cover the damaged columns that a change does not set.
 *
 * @throws Problem STORAGE_DAMAGED
 */
export async function refuseDamagedRecord(tx: Transaction, resource: Resource, id: string): Promise<void> {
  if (!hasChecksums(resource)) return;
  for (const row of await selectChecked(tx, resource, sql`"id" = ${id}`)) requireIntactRecord(resource, row);
}

/** Returns the ids of the damaged records that match a condition, soft-deleted ones too. */
export async function findDamagedRecords(tx: Transaction, resource: Resource, where: Sql): Promise<ReadonlySet<string>> {
  const rows = await selectChecked(tx, resource, where);
  return new Set(rows.filter((row) => !isIntactRecord(resource, row)).map(({ id }) => String(id)));
}

/** Stores the checksums of records as they are now. Every function that writes a record calls it after the write. */
export async function sealRecords(tx: Transaction, resource: Resource, ids: readonly string[]): Promise<void> {
  if (!hasChecksums(resource)) return;
  for (let at = 0; at < ids.length; at += RECORDS_PER_STATEMENT) {
    const some = ids.slice(at, at + RECORDS_PER_STATEMENT);
    await storeChecksums(tx, resource, await selectChecked(tx, resource, sql`"id" IN ${idList(tx.dialect, some)}`));
  }
}

/** Deletes the checksum of a deleted record. */
export async function removeSeal(tx: Transaction, resource: Resource, id: string): Promise<void> {
  if (hasChecksums(resource)) await tx.run(sql`DELETE FROM "_RecordChecksum" WHERE "id" = ${keyOf(resource, id)}`);
}

/** Renders the statement that deletes the checksums of the records of a resource that are no longer stored. */
export function removalOfLostSeals(resource: Resource): Sql {
  return sql`DELETE FROM "_RecordChecksum" WHERE ${isLostSeal(resource)}`;
}

/** Deletes the checksums of all records of a resource that has no checksums any more, or another name. */
export async function removeSeals(tx: Transaction, resource: Resource): Promise<void> {
  await tx.run(sql`DELETE FROM "_RecordChecksum" WHERE ${isSealOf(resource)}`);
}

/** Finds the ids of records that have a checksum and are no longer stored, at most `limit`. */
export async function findLostRecords(tx: Transaction, resource: Resource, limit: number): Promise<readonly string[]> {
  const lost = await tx.all<{ readonly id: string }>(
    sql`SELECT "id" FROM "_RecordChecksum" WHERE ${isLostSeal(resource)} ORDER BY "id" LIMIT ${limit}`,
  );
  return lost.map(({ id }) => id.slice(keyOf(resource, '').length));
}

function isLostSeal(resource: Resource): Sql {
  // The id is the subject of the comparison, so that the database finds each record by its primary key.
  const id = sql`substr("_RecordChecksum"."id", ${sql.raw(String(keyOf(resource, '').length + 1))})`;
  return sql`${isSealOf(resource)} AND NOT EXISTS (SELECT 1 FROM ${tableOf(resource)} WHERE ${columnOf(resource, 'id')} = ${id})`;
}

/** Renders the condition for the checksums of a resource: a range of their index. "0" is the character after "/". */
function isSealOf({ name }: Resource): Sql {
  return sql`"_RecordChecksum"."id" > ${`${name}/`} AND "_RecordChecksum"."id" < ${`${name}0`}`;
}

/** Calls `receive` with pages of the stored records of a resource and their checksums, ordered by id. */
export async function eachChecked(
  tx: Transaction,
  resource: Resource,
  receive: (rows: readonly Row[]) => Promise<void> | void,
): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const rows: readonly Row[] = await selectCheckedPage(tx, resource, after);
    await receive(rows);
    after = rows.length < RECORDS_PER_STATEMENT ? undefined : String(rows.at(-1)?.['id']);
  }
}

/** Loads the records of a resource after an id, at most 500, with their checksums, ordered by id. */
export function selectCheckedPage(tx: Transaction, resource: Resource, after: string): Promise<readonly Row[]> {
  return selectChecked(tx, resource, sql`"id" > ${after} ORDER BY "id" LIMIT ${RECORDS_PER_STATEMENT}`);
}

/** Stores the checksums of rows of `checkedSelectionOf`. */
export async function storeChecksums(tx: Transaction, resource: Resource, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const values = rows.map((row) => sql`(${keyOf(resource, String(row['id']))}, ${toChecksum({ table: resource, row })})`);
  await tx.run(sql`
    INSERT INTO "_RecordChecksum" ("id", "checksum") VALUES ${sql.join(values)}
    ON CONFLICT ("id") DO UPDATE SET "checksum" = excluded."checksum"`);
}

/** Loads records with their stored checksums, soft-deleted ones too: damage must be found there as well. */
function selectChecked(tx: Transaction, resource: Resource, where: Sql): Promise<readonly Row[]> {
  return tx.all<Row>(sql`SELECT ${checkedSelectionOf(resource)} FROM ${tableOf(resource)} WHERE ${where}`);
}

function keyOf({ name }: Resource, id: string): string {
  return `${name}/${id}`;
}
