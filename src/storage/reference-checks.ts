import type { Issue } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { type Definitions, fromRow, type Resource, type Row, type StoredRecord, typeOf } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { RowLock, Transaction, UserVersion } from './contract.ts';
import { addUsersToWriteSet } from './records.ts';
import { columnOf, type Existence, idList, quoteName, recordsOf, selectionOf, tableOf } from './table-names.ts';

/** Which record is meant. */
export interface RecordId {
  readonly resource: Resource;
  readonly id: string;
}

/** Which records of a resource are meant. */
export interface RecordIds {
  readonly resource: Resource;
  readonly ids: readonly string[];
}

/** A reference by which records refer to certain ones, and what is to happen to them when those go. */
export interface ReferencingField {
  readonly resource: Resource;
  readonly field: Field;
  readonly to: RecordIds;
  readonly onDelete: 'restrict' | 'cascade' | 'setNull';
}

/** Which of the records that refer by a reference are meant. */
export interface ReferencingPage {
  /** The id behind which to begin. */
  readonly after: string;
  readonly limit: number;
  /** Those that are deleted, in place of those that there are. */
  readonly existence?: Existence;
  /** How they are held once they are found. */
  readonly lock?: RowLock;
}

/** Whose references are looked at. */
export interface ReferenceSource {
  readonly resource: Resource;
  /** Say what references lead to. */
  readonly definitions: Definitions;
}

/** References among `values` to records that do not exist, or are deleted: in reference fields, and in lists of references. */
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

/**
 * The references of a record by which it refers to others that are gone, or deleted. Secret ones are among them, which no
 * loaded record has.
 */
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

/** The resource that a reference, or a list of them, leads to. */
function targetOf(definitions: Definitions, field: Field): Resource | undefined {
  const { to } = field.of ?? field;
  if (to === undefined) return undefined;
  const target = definitions.get(to);
  // Definitions are in force together with what they refer to.
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

/** Which of the ids are records of the resource, and will be when the transaction ends: one bound value, however many they are. */
async function findIds(tx: Transaction, resource: Resource, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const wanted = idList(tx.dialect, ids);
  const rows = await tx.all<{ id: string }>(sql`SELECT "id" FROM ${recordsOf(resource)} WHERE "id" IN ${wanted}${tx.rowLock('keyShare')}`);
  return new Set(rows.map(({ id }) => id));
}

function dangling(path: string, { name }: Resource, id: string): Issue {
  return { path, code: 'reference', detail: `no ${name} has the id ${JSON.stringify(id.slice(0, 64))}` };
}

/**
 * The references by which records may be referred to, with what their definition says, by name: it makes no difference in which
 * order definitions stand.
 */
export function referencingFieldsTo(definitions: Definitions, to: RecordIds): readonly ReferencingField[] {
  const referrers: ReferencingField[] = [];
  for (const resource of definitions.values()) {
    for (const field of resource.fields.values()) {
      if ((field.of ?? field).to === to.resource.name)
        referrers.push({ resource, field, to, onDelete: (field.of ?? field).onDelete ?? 'restrict' });
    }
  }
  return referrers.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function nameOf({ resource, field }: ReferencingField): string {
  return `${resource.name}.${field.name}`;
}

/** Ids of some of the records that refer, in order. A record that refers to itself is not among them: it is not in its own way. */
export async function findReferencingIds(tx: Transaction, referrer: ReferencingField, page: ReferencingPage): Promise<readonly string[]> {
  const { after, limit, existence, lock } = page;
  const held = lock === undefined ? sql`` : tx.rowLock(lock);
  const records = recordsOf(referrer.resource, { existence });
  const rows = await tx.all<{ id: string }>(
    sql`SELECT "id" FROM ${records} WHERE ${refers(tx, referrer)} AND "id" > ${after} ORDER BY "id" LIMIT ${limit}${held}`,
  );
  return rows.map(({ id }) => id);
}

/** Returns and locks the id of an admin whose user record holds the reference; undefined if there is none. */
export async function findReferencingAdmin(tx: Transaction, referrer: ReferencingField): Promise<string | undefined> {
  const row = await tx.one<{ id: string }>(sql`
    SELECT "id" FROM ${recordsOf(referrer.resource)} WHERE ${refers(tx, referrer)} AND "role" = 'admin' ORDER BY "id" LIMIT 1${tx.rowLock('noKeyUpdate')}`);
  return row?.id;
}

/** Some of the records that refer, in order, and were deleted together with a certain one: at the same moment, by the same user. They are held. */
export async function findDeletedTogether(
  tx: Transaction,
  referrer: ReferencingField,
  { after, limit, record }: ReferencingPage & { readonly record: StoredRecord },
): Promise<readonly StoredRecord[]> {
  const records = recordsOf(referrer.resource, { existence: 'deleted' });
  const by = record['deletedBy'] === undefined ? sql`"deletedBy" IS NULL` : sql`"deletedBy" = ${record['deletedBy']}`;
  const rows = await tx.all<Row>(sql`
    SELECT ${selectionOf(referrer.resource)} FROM ${records} WHERE ${refers(tx, referrer)} AND "deletedAt" = ${record['deletedAt']} AND ${by} AND "id" > ${after}
    ORDER BY "id" LIMIT ${limit}${tx.rowLock('noKeyUpdate')}`);
  return rows.map((row) => fromRow(referrer.resource, row));
}

/**
 * Empties the reference of all records that refer, deleted ones too, or takes it out of their lists: however many, with one
 * statement. Each is at a new version then.
 */
export async function clearReferences(tx: Transaction, referrer: ReferencingField): Promise<void> {
  const { resource, field, to } = referrer;
  const name = sql.raw(quoteName(field.name));
  const { listOf, listItems } = tx.dialect;
  const others = sql`(SELECT ${listOf(sql`value`)} FROM ${listItems(columnOf(resource, field.name))} WHERE value NOT IN ${idList(tx.dialect, to.ids)})`;
  const changed = resource.fields.has('version')
    ? sql`, "version" = "version" + 1, "updatedAt" = ${new Date(tx.now).toISOString()}`
    : sql``;
  const update = sql`UPDATE ${tableOf(resource)} SET ${name} = ${field.of === undefined ? sql`NULL` : others}${changed} WHERE ${refers(tx, referrer)}`;
  if (resource.name !== 'User') return void (await tx.run(update));
  addUsersToWriteSet(tx, resource, await tx.all<UserVersion>(sql`${update} RETURNING "id", "version" - 1 AS "version"`));
}

/** However many are referred to, one statement: an index leads to what refers by a reference, a list of them has none. */
function refers(tx: Transaction, { resource, field, to }: ReferencingField): Sql {
  const column = columnOf(resource, field.name);
  const wanted = idList(tx.dialect, to.ids);
  const toOther = (value: Sql): Sql => (resource.name === to.resource.name ? sql`${value} <> ${columnOf(resource, 'id')}` : sql`TRUE`);
  if (field.of === undefined) return sql`${column} IN ${wanted} AND ${toOther(column)}`;
  return sql`EXISTS (SELECT 1 FROM ${tx.dialect.listItems(column)} WHERE value IN ${wanted} AND ${toOther(sql`value`)})`;
}
