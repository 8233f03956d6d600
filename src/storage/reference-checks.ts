import type { Issue } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { type Definitions, type Resource, type Row, type StoredRecord, typeOf } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { RowLock, Transaction, UserVersion } from './contract.ts';
import { loadAllIntact, loadedSelectionOf } from './intact-records.ts';
import { findDamagedRecords, hasChecksums, sealRecords } from './record-checksums.ts';
import { addUsersToWriteSet } from './records.ts';
import { columnOf, type Existence, idList, quoteName, recordsOf, tableOf } from './table-names.ts';

/** The resource and the id of one record. */
export interface RecordId {
  readonly resource: Resource;
  readonly id: string;
}

/** The resource and the ids of several records. */
export interface RecordIds {
  readonly resource: Resource;
  readonly ids: readonly string[];
}

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

/** The resource whose references are checked. */
export interface ReferenceSource {
  readonly resource: Resource;
  /** The definitions of the referenced resources. */
  readonly definitions: Definitions;
}

/**
 * Locks the records that `values` reference, in reference fields and lists of references, and returns an issue for each that does not exist
 * or is soft-deleted.
 */
export async function lockReferences(tx: Transaction, { resource, definitions }: ReferenceSource, values: JsonObject): Promise<Issue[]> {
  const issues: Issue[] = [];
  for (const field of resource.fields.values()) {
    const value = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    const target = targetOf(definitions, field);
    if (target === undefined) continue;
    if (field.to !== undefined && typeof value === 'string') {
      const found = await findIds(tx, target, [value]);
      if (!found.has(value)) issues.push(dangling(field.name, target, value));
    }
    if (field.of !== undefined && Array.isArray(value)) issues.push(...(await checkList(tx, { field, target }, value)));
  }
  return issues;
}

/** Finds the fields of a stored record that reference a missing or soft-deleted record. Includes secret fields, which loaded records do not have. */
export async function findDanglingReferences(
  tx: Transaction,
  { resource, definitions }: ReferenceSource,
  id: string,
): Promise<readonly Field[]> {
  const fields = [...resource.fields.values()].filter((field) => targetOf(definitions, field) !== undefined);
  if (fields.length === 0) return [];
  const columns = sql.join(fields.map(({ name }) => columnOf(resource, name)));
  const row = await tx.one<Row>(sql`SELECT ${columns} FROM ${recordsOf(resource)} WHERE "id" = ${id}`);
  const found: Field[] = [];
  for (const field of fields) {
    const [target, stored] = [targetOf(definitions, field), row?.[field.name] ?? null];
    if (target === undefined || stored === null) continue;
    const ids = [typeOf(field).fromColumn(stored, field)].flat().filter((item) => typeof item === 'string');
    const there = await findIds(tx, target, ids);
    if (ids.some((each) => !there.has(each))) found.push(field);
  }
  return found;
}

/** Returns the resource that a reference field or a list of references leads to; undefined for other fields. */
function targetOf(definitions: Definitions, field: Field): Resource | undefined {
  const { to } = field.of ?? field;
  if (to === undefined) return undefined;
  const target = definitions.get(to);
  // Definitions are loaded together with those that they reference.
  if (target === undefined) throw new Error(`${field.name} refers to ${to}, which no definition names`);
  return target;
}

async function checkList(
  tx: Transaction,
  { field, target }: { readonly field: Field; readonly target: Resource },
  items: readonly Json[],
): Promise<Issue[]> {
  const found = await findIds(
    tx,
    target,
    items.filter((item) => typeof item === 'string'),
  );
  return [...items.entries()].flatMap(([index, item]) =>
    typeof item !== 'string' || found.has(item) ? [] : [dangling(`${field.name}.${index}`, target, item)],
  );
}

/** Returns the ids of records that exist and are not soft-deleted, and locks the records until the transaction ends. */
async function findIds(tx: Transaction, resource: Resource, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const wanted = idList(tx.dialect, ids);
  const rows = await tx.all<{ id: string }>(sql`SELECT "id" FROM ${recordsOf(resource)} WHERE "id" IN ${wanted}${tx.rowLock('keyShare')}`);
  return new Set(rows.map(({ id }) => id));
}

function dangling(path: string, { name }: Resource, id: string): Issue {
  return { path, code: 'reference', detail: `no ${name} has the id ${JSON.stringify(id.slice(0, 64))}` };
}

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
  const { after, limit, existence, lock } = page;
  const held = lock === undefined ? sql`` : tx.rowLock(lock);
  const records = recordsOf(reference.resource, { existence });
  const rows = await tx.all<{ id: string }>(
    sql`SELECT "id" FROM ${records} WHERE ${refers(tx, reference)} AND "id" > ${after} ORDER BY "id" LIMIT ${limit}${held}`,
  );
  return rows.map(({ id }) => id);
}

/** Returns and locks the id of an admin whose user record holds the reference; undefined if there is none. */
export async function findReferencingAdmin(tx: Transaction, reference: ReferencingField): Promise<string | undefined> {
  const row = await tx.one<{ id: string }>(sql`
    SELECT "id" FROM ${recordsOf(reference.resource)} WHERE ${refers(tx, reference)} AND "role" = 'admin' ORDER BY "id" LIMIT 1${tx.rowLock('noKeyUpdate')}`);
  return row?.id;
}

/** Finds and locks referencing records that were soft-deleted together with a record: at the same time, by the same user. */
export function findDeletedTogether(
  tx: Transaction,
  reference: ReferencingField,
  { after, limit, record }: ReferencingPage & { readonly record: StoredRecord },
): Promise<readonly StoredRecord[]> {
  const records = recordsOf(reference.resource, { existence: 'deleted' });
  const by = record['deletedBy'] === undefined ? sql`"deletedBy" IS NULL` : sql`"deletedBy" = ${record['deletedBy']}`;
  const selected = sql`
    SELECT ${loadedSelectionOf(reference.resource)} FROM ${records} WHERE ${refers(tx, reference)} AND "deletedAt" = ${record['deletedAt']} AND ${by} AND "id" > ${after}
    ORDER BY "id" LIMIT ${limit}${tx.rowLock('noKeyUpdate')}`;
  return loadAllIntact(tx, reference.resource, selected);
}

/**
 * Clears the reference in all referencing records, soft-deleted ones too, or removes it from their lists, with one statement. Increments
 * their versions.
 */
export async function clearReferences(tx: Transaction, reference: ReferencingField): Promise<void> {
  const { resource, field, to } = reference;
  const name = sql.raw(quoteName(field.name));
  const { listOf, listItems } = tx.dialect;
  const others = sql`(SELECT ${listOf(sql`value`)} FROM ${listItems(columnOf(resource, field.name))} WHERE value NOT IN ${idList(tx.dialect, to.ids)})`;
  const nextVersion = resource.fields.has('version')
    ? sql`, "version" = "version" + 1, "updatedAt" = ${new Date(tx.now).toISOString()}`
    : sql``;
  const update = sql`UPDATE ${tableOf(resource)} SET ${name} = ${field.of === undefined ? sql`NULL` : others}${nextVersion} WHERE ${refers(tx, reference)}`;
  if (!hasChecksums(resource)) return void (await tx.run(update));
  const damaged = await findDamagedRecords(tx, resource, refers(tx, reference));
  const changed = await tx.all<UserVersion>(sql`${update} RETURNING "id", "version" - 1 AS "version"`);
  addUsersToWriteSet(tx, resource, changed);
  // A damaged record keeps its checksum, so that it stays damaged.
  await sealRecords(
    tx,
    resource,
    changed.map(({ id }) => id).filter((id) => !damaged.has(id)),
  );
}

/** Renders the condition for the referencing records. A reference field has an index; a list of references has none. */
function refers(tx: Transaction, { resource, field, to }: ReferencingField): Sql {
  const column = columnOf(resource, field.name);
  const wanted = idList(tx.dialect, to.ids);
  const toOther = (value: Sql): Sql => (resource.name === to.resource.name ? sql`${value} <> ${columnOf(resource, 'id')}` : sql`TRUE`);
  if (field.of === undefined) return sql`${column} IN ${wanted} AND ${toOther(column)}`;
  return sql`EXISTS (SELECT 1 FROM ${tx.dialect.listItems(column)} WHERE value IN ${wanted} AND ${toOther(sql`value`)})`;
}
