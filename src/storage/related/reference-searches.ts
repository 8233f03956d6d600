/**
 * Searches for the records that reference others, when those are deleted or restored. A reference field has an index. A list of references
 * has none, so its search reads the whole table: it can take too long for the attempt that writes, which uses the result of the long attempt.
 */
import { hash } from 'node:crypto';
import { Problem } from '../../errors.ts';
import type { Field } from '../../fields/index.ts';
import type { Definitions, Resource, StoredRecord } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { loadAllIntact, loadedSelectionOf } from '../checksums/intact-records.ts';
import { findDamagedRecords, hasChecksums, sealRecords } from '../checksums/record-checksums.ts';
import type { RowLock, Transaction } from '../contract.ts';
import type { UserVersion } from '../read-set.ts';
import { addUsersToWriteSet } from '../records.ts';
import type { RecordIds } from '../row-writes.ts';
import { columnOf, type Existence, idList, quoteName, recordsOf, tableOf } from '../table-names.ts';
import { isWatched, noteBulkWrite } from '../watched-writes.ts';

/** A field that references certain records, and its behavior when the referenced records are deleted. */
export interface ReferencingField {
  readonly resource: Resource;
  readonly field: Field;
  readonly to: RecordIds;
  readonly onDelete: 'restrict' | 'cascade' | 'setNull';
}

/** A page of referencing records. */
export interface ReferencingPage {
  /** The id after which the page begins. */
  readonly after: string;
  readonly limit: number;
  /** Which records to search; those that are not deleted if absent. */
  readonly existence?: Existence;
  /** The row lock to take; none if absent. */
  readonly lock?: RowLock;
}

/** Rows between two deadline checks of a search in lists: parsing a long list takes a millisecond. */
const LIST_CHECK = 8;
/** Maximum records of a list of references that are found before they are cleared. With more, clearing them takes too long anyway. */
const MAX_TO_CLEAR = 20_000;

/** Returns the fields that may reference the records, sorted by name, so that the order of the definitions makes no difference. */
export function referencingFieldsTo(definitions: Definitions, to: RecordIds): readonly ReferencingField[] {
  const references: ReferencingField[] = [];
  for (const resource of definitions.values()) {
    for (const field of resource.fields.values()) {
      if ((field.of ?? field).to === to.resource.name)
        references.push({ resource, field, to, onDelete: (field.of ?? field).onDelete ?? 'restrict' });
    }
  }
  return references.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function nameOf({ resource, field }: ReferencingField): string {
  return `${resource.name}.${field.name}`;
}

/**
 * Finds the ids of referencing records, in order. Leaves out a record that references itself, because it does not block its own deletion.
 */
export async function findReferencingIds(tx: Transaction, reference: ReferencingField, page: ReferencingPage): Promise<readonly string[]> {
  return toIds(await searchOnce(tx, reference, idSearch(tx, page)));
}

/** Returns and locks the id of an admin whose user record holds the reference; undefined if there is none. */
export async function findReferencingAdmin(tx: Transaction, reference: ReferencingField): Promise<string | undefined> {
  const page: ReferencingPage = { after: '', limit: 1, lock: 'noKeyUpdate' };
  const [row] = await searchOnce(tx, reference, { ...idSearch(tx, page), and: sql`"role" = 'admin'` });
  return row?.id;
}

function idSearch(tx: Transaction, page: ReferencingPage): ReferenceSearch<FoundRecord> {
  return { ...page, selection: sql`"id"`, load: (statement) => tx.all<FoundRecord>(statement) };
}

/** Finds and locks referencing records that were soft-deleted together with a record: at the same time, by the same user. */
export function findDeletedTogether(
  tx: Transaction,
  reference: ReferencingField,
  { record, ...page }: ReferencingPage & { readonly record: StoredRecord },
): Promise<readonly StoredRecord[]> {
  const by = record['deletedBy'] === undefined ? sql`"deletedBy" IS NULL` : sql`"deletedBy" = ${record['deletedBy']}`;
  return searchOnce(tx, reference, {
    ...page,
    existence: 'deleted',
    lock: 'noKeyUpdate',
    selection: loadedSelectionOf(reference.resource),
    load: (statement) => loadAllIntact(tx, reference.resource, statement),
    and: sql`"deletedAt" = ${record['deletedAt']} AND ${by}`,
  });
}

/** A search for referencing records. */
interface ReferenceSearch<Found extends FoundRecord> extends ReferencingPage {
  /** The columns to select, `id` among them. */
  readonly selection: Sql;
  readonly load: (statement: Sql) => Promise<readonly Found[]>;
  /** A further condition. */
  readonly and?: Sql;
  /** The ids of the records to search; all if absent. */
  readonly among?: readonly string[];
}

/** A record that a search has found. */
interface FoundRecord {
  readonly id: string;
}

/** The ids that a search in a long attempt has found. A migration replaces the resource, and makes them invalid. */
interface RetainedIds {
  readonly resource: Resource;
  readonly ids: readonly string[];
  /** The state of the references in the snapshot: see `requireNoNewReferences`. */
  readonly state: string;
}

/**
 * Runs a search; a search in lists runs once for the attempts at a unit of work. The writer uses the ids that the long attempt has found. It
 * verifies that they still match, and that since then no other record can have got a reference.
 *
 * @throws Problem STORAGE_BUSY if one of the records no longer matches
 */
async function searchOnce<Found extends FoundRecord>(
  tx: Transaction,
  reference: ReferencingField,
  search: ReferenceSearch<Found>,
): Promise<readonly Found[]> {
  const { resource, field, to } = reference;
  if (field.of === undefined) return select(tx, reference, search);
  const { after, limit, existence, and } = search;
  const key = `references ${nameOf(reference)} ${JSON.stringify([after, limit, existence, and, hash('sha256', to.ids.join())])}`;
  const retained = tx.attempt === 'writer' ? (tx.retained.get(key) as RetainedIds | undefined) : undefined;
  if (retained?.resource === resource) {
    await tx.requireNoNewReferences(to.resource.name, to.ids, retained.state);
    const still = await select(tx, reference, { ...search, among: retained.ids });
    if (still.length === retained.ids.length) return still;
    throw new Problem('STORAGE_BUSY', `${resource.name} records that refer to a record of this request are being changed by others`);
  }
  const found = await select(tx, reference, search);
  if (tx.attempt !== 'long') return found;
  const state = await tx.loadReferenceState(to.resource.name, to.ids);
  tx.retained.set(key, { resource, ids: toIds(found), state } satisfies RetainedIds);
  return found;
}

function select<Found extends FoundRecord>(
  tx: Transaction,
  reference: ReferencingField,
  { after, limit, existence, lock, selection, load, and, among }: ReferenceSearch<Found>,
): Promise<readonly Found[]> {
  const held = lock === undefined ? sql`` : tx.rowLock(lock, { beforeSearch: true });
  const records = recordsOf(reference.resource, { existence, check: deadlineCheck(tx, reference) });
  const conditions = [refers(tx, reference), sql`"id" > ${after}`];
  if (and !== undefined) conditions.push(and);
  if (among !== undefined) conditions.push(sql`"id" IN ${idList(tx.dialect, among)}`);
  return load(sql`SELECT ${selection} FROM ${records} WHERE ${sql.join(conditions, sql` AND `)} ORDER BY "id" LIMIT ${limit}${held}`);
}

function toIds(found: readonly FoundRecord[]): readonly string[] {
  return found.map(({ id }) => id);
}

function deadlineCheck(tx: Transaction, { resource, field }: ReferencingField): Sql {
  return tx.dialect.deadlineCheck(tableOf(resource), field.of === undefined ? undefined : LIST_CHECK);
}

/** The records in which a reference will be cleared. */
export interface ReferencesToClear {
  readonly reference: ReferencingField;
  /** The ids of the records, if the field is a list of references; undefined if the database finds them by an index. */
  readonly ids: readonly string[] | undefined;
}

/** Finds the records whose references will be cleared. Call it before the first write: the search in lists can take long. */
export async function findReferencesToClear(tx: Transaction, reference: ReferencingField): Promise<ReferencesToClear> {
  if (reference.field.of === undefined) return { reference, ids: undefined };
  const page: ReferencingPage = { after: '', limit: MAX_TO_CLEAR + 1 };
  const ids = [...(await findReferencingIds(tx, reference, page))];
  if (reference.resource.softDelete) ids.push(...(await findReferencingIds(tx, reference, { ...page, existence: 'deleted' })));
  return { reference, ids: ids.length > MAX_TO_CLEAR ? undefined : ids };
}

/**
 * Clears the reference in all referencing records, soft-deleted ones too, or removes it from their lists, with one statement. Increments
 * their versions.
 */
export async function clearReferences(tx: Transaction, { reference, ids }: ReferencesToClear): Promise<void> {
  const { resource, field, to } = reference;
  if (ids?.length === 0) return;
  const name = sql.raw(quoteName(field.name));
  const { listOf, listItems } = tx.dialect;
  const others = sql`(SELECT ${listOf(sql`value`)} FROM ${listItems(columnOf(resource, field.name))} WHERE value NOT IN ${idList(tx.dialect, to.ids)})`;
  const nextVersion = resource.fields.has('version')
    ? sql`, "version" = "version" + 1, "updatedAt" = ${new Date(tx.now).toISOString()}`
    : sql``;
  const found = ids === undefined ? sql`` : sql`"id" IN ${idList(tx.dialect, ids)} AND `;
  const where = sql`${found}${refers(tx, reference)}`;
  const update = sql`UPDATE ${tableOf(resource)} SET ${name} = ${field.of === undefined ? sql`NULL` : others}${nextVersion} WHERE ${deadlineCheck(tx, reference)} AND ${where}`;
  if (!hasChecksums(resource)) {
    if (!isWatched(tx, resource)) return void (await tx.run(update));
    const written = await tx.all<FoundRecord>(sql`${update} RETURNING "id"`);
    return noteBulkWrite(tx, resource, toIds(written));
  }
  const damaged = await findDamagedRecords(tx, resource, where);
  const changed = await tx.all<UserVersion>(sql`${update} RETURNING "id", "version" - 1 AS "version"`);
  addUsersToWriteSet(tx, resource, changed);
  noteBulkWrite(tx, resource, toIds(changed));
  // A damaged record keeps its checksum, so that it stays damaged.
  await sealRecords(
    tx,
    resource,
    changed.map(({ id }) => id).filter((id) => !damaged.has(id)),
  );
}

/** Renders the condition for the referencing records. */
function refers(tx: Transaction, { resource, field, to }: ReferencingField): Sql {
  const column = columnOf(resource, field.name);
  const wanted = idList(tx.dialect, to.ids);
  const toOther = (value: Sql): Sql => (resource.name === to.resource.name ? sql`${value} <> ${columnOf(resource, 'id')}` : sql`TRUE`);
  if (field.of === undefined) return sql`${column} IN ${wanted} AND ${toOther(column)}`;
  return sql`EXISTS (SELECT 1 FROM ${tx.dialect.listItems(column)} WHERE value IN ${wanted} AND ${toOther(sql`value`)})`;
}
