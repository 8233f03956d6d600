import { type RawBuilder, sql } from 'kysely';
import type { Issue } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import type { Definitions, Resource } from '../resource/index.ts';
import type { Transaction } from './database.ts';
import { columnOf, quoteName, tableOf } from './names.ts';

/** Which record is meant. */
export interface RecordName {
  readonly resource: Resource;
  readonly id: string;
}

/** Which records of a resource are meant. */
export interface RecordNames {
  readonly resource: Resource;
  readonly ids: readonly string[];
}

/** A reference by which records refer to certain ones, and what is to happen to them when those go. */
export interface Referrer {
  readonly resource: Resource;
  readonly field: Field;
  readonly to: RecordNames;
  readonly onDelete: 'restrict' | 'cascade' | 'setNull';
}

/** Which of the records that refer by a reference are meant. */
export interface ReferrerPage {
  /** The id behind which to begin. */
  readonly after: string;
  readonly limit: number;
}

/** References among `values` to records that do not exist: in reference fields, and in lists of references. */
export async function checkReferences(tx: Transaction, resource: Resource, values: JsonObject): Promise<Issue[]> {
  const issues: Issue[] = [];
  for (const field of resource.fields.values()) {
    const value = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    if (field.to !== undefined && typeof value === 'string') {
      const found = await findIds(tx, field.to, [value]);
      if (!found.has(value)) issues.push(dangling(field.name, field.to, value));
    }
    if (field.of?.to !== undefined && Array.isArray(value)) issues.push(...(await checkList(tx, field, value)));
  }
  return issues;
}

async function checkList(tx: Transaction, field: Field, items: readonly Json[]): Promise<Issue[]> {
  const to = field.of?.to ?? '';
  const found = await findIds(
    tx,
    to,
    items.filter((item) => typeof item === 'string'),
  );
  return [...items.entries()].flatMap(([index, item]) =>
    typeof item !== 'string' || found.has(item) ? [] : [dangling(`${field.name}.${index}`, to, item)],
  );
}

/** Which of the ids are records of the resource: one bound value, however many they are. */
async function findIds(tx: Transaction, resource: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const wanted = ids.length === 1 ? sql`(${ids[0]})` : sql`(SELECT value FROM ${tx.dialect.listItems(sql`${JSON.stringify(ids)}`)})`;
  const rows = await tx.all<{ id: string }>(sql`SELECT "id" FROM ${sql.raw(quoteName(resource))} WHERE "id" IN ${wanted}`);
  return new Set(rows.map(({ id }) => id));
}

function dangling(path: string, to: string, id: string): Issue {
  return { path, code: 'reference', detail: `no ${to} has the id ${JSON.stringify(id.slice(0, 64))}` };
}

/**
 * The references by which records may be referred to, with what their definition says, by name: it makes no difference in which
 * order definitions stand.
 */
export function referrersTo(definitions: Definitions, to: RecordNames): readonly Referrer[] {
  const referrers: Referrer[] = [];
  for (const resource of definitions.values()) {
    for (const field of resource.fields.values()) {
      if ((field.of ?? field).to === to.resource.name)
        referrers.push({ resource, field, to, onDelete: (field.of ?? field).onDelete ?? 'restrict' });
    }
  }
  return referrers.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function nameOf({ resource, field }: Referrer): string {
  return `${resource.name}.${field.name}`;
}

/** Ids of some of the records that refer, in order. A record that refers to itself is not among them: it is not in its own way. */
export async function findReferrers(tx: Transaction, referrer: Referrer, { after, limit }: ReferrerPage): Promise<readonly string[]> {
  const rows = await tx.all<{ id: string }>(
    sql`SELECT "id" FROM ${tableOf(referrer.resource)} WHERE ${refers(tx, referrer)} AND "id" > ${after} ORDER BY "id" LIMIT ${limit}`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Empties the reference of all records that refer, or takes it out of their lists: however many, with one statement. Each is at
 * a new version then.
 */
export async function emptyReferences(tx: Transaction, referrer: Referrer): Promise<void> {
  const { resource, field, to } = referrer;
  const name = sql.raw(quoteName(field.name));
  const { listOf, listItems } = tx.dialect;
  const others = sql`(SELECT ${listOf(sql`value`)} FROM ${listItems(columnOf(resource, field.name))} WHERE value NOT IN ${idsOf(tx, to)})`;
  const changed = resource.fields.has('version')
    ? sql`, "version" = "version" + 1, "updatedAt" = ${new Date(tx.now).toISOString()}`
    : sql``;
  await tx.run(
    sql`UPDATE ${tableOf(resource)} SET ${name} = ${field.of === undefined ? sql`NULL` : others}${changed} WHERE ${refers(tx, referrer)}`,
  );
}

/** However many are referred to, one statement: an index leads to what refers by a reference, a list of them has none. */
function refers(tx: Transaction, { resource, field, to }: Referrer): RawBuilder<unknown> {
  const column = columnOf(resource, field.name);
  const wanted = idsOf(tx, to);
  const toOther = (value: RawBuilder<unknown>): RawBuilder<unknown> =>
    resource.name === to.resource.name ? sql`${value} <> ${columnOf(resource, 'id')}` : sql`TRUE`;
  if (field.of === undefined) return sql`${column} IN ${wanted} AND ${toOther(column)}`;
  return sql`EXISTS (SELECT 1 FROM ${tx.dialect.listItems(column)} WHERE value IN ${wanted} AND ${toOther(sql`value`)})`;
}

function idsOf({ dialect }: Transaction, { ids }: RecordNames): RawBuilder<unknown> {
  return ids.length === 1 ? sql`(${ids[0]})` : sql`(SELECT value FROM ${dialect.listItems(sql`${JSON.stringify(ids)}`)})`;
}
