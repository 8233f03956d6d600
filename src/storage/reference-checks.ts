import type { Issue } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { type Definitions, type Resource, type Row, typeOf } from '../resources/index.ts';
import { sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { columnOf, idList, recordsOf } from './table-names.ts';

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
    if (field.of !== undefined) tx.noteReferences(target.name, ids);
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
  const ids = items.filter((item) => typeof item === 'string');
  const found = await findIds(tx, target, ids);
  tx.noteReferences(target.name, ids);
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
