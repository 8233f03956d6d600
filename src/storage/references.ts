import { type RawBuilder, sql } from 'kysely';
import type { Issue } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import type { Definitions, Resource } from '../resource/index.ts';
import type { Transaction } from './database.ts';
import { columnOf, quoteName, tableOf } from './names.ts';

/** Ids of referring records that are named; what has more is only said to. */
const REFERRERS = 100;

/** Records of one resource that refer to a record through one field. */
export interface Referrer {
  readonly resource: Resource;
  readonly field: Field;
  readonly onDelete: 'restrict' | 'cascade' | 'setNull';
  /** The first of them; at least one. */
  readonly ids: readonly string[];
  readonly more: boolean;
}

/** Which record is meant. */
export interface RecordName {
  readonly resource: Resource;
  readonly id: string;
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
 * The records that refer to one, by resource and field, with what their definition says is to happen to them.
 * An item of a list cannot be emptied like a field, so lists of references restrict unless they say `cascade`.
 */
export async function findReferrers(
  tx: Transaction,
  definitions: Definitions,
  { resource: to, id }: RecordName,
): Promise<readonly Referrer[]> {
  const referrers: Referrer[] = [];
  for (const resource of definitions.values()) {
    for (const field of resource.fields.values()) {
      const refers = refersTo(tx, { resource, field, to, id });
      if (refers === undefined) continue;
      const rows = await tx.all<{ id: string }>(
        sql`SELECT "id" FROM ${tableOf(resource)} WHERE ${refers} ORDER BY "id" LIMIT ${REFERRERS + 1}`,
      );
      if (rows.length === 0) continue;
      const ids = rows.slice(0, REFERRERS).map((row) => row.id);
      referrers.push({ resource, field, onDelete: onDeleteOf(field), ids, more: rows.length > REFERRERS });
    }
  }
  return referrers;
}

interface Reference {
  readonly resource: Resource;
  readonly field: Field;
  readonly to: Resource;
  readonly id: string;
}

function refersTo(tx: Transaction, { resource, field, to, id }: Reference): RawBuilder<unknown> | undefined {
  const column = columnOf(resource, field.name);
  if (field.to === to.name) return sql`${column} = ${id}`;
  if (field.of?.to !== to.name) return undefined;
  return sql`EXISTS (SELECT 1 FROM ${tx.dialect.listItems(column)} WHERE value = ${id})`;
}

function onDeleteOf(field: Field): Referrer['onDelete'] {
  if (field.of !== undefined) return field.of.onDelete === 'cascade' ? 'cascade' : 'restrict';
  return field.onDelete ?? 'restrict';
}
