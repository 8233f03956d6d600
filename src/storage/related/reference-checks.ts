import type { Issue } from '../../errors.ts';
import type { Field } from '../../fields/index.ts';
import { memoize } from '../../memoize.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { type Definitions, type Resource, type Row, typeOf } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { columnOf, existingIds, recordsOf } from '../table-names.ts';

/** The resource and the id of one record. */
export interface RecordId {
  readonly resource: Resource;
  readonly id: string;
}

/** The resource whose references are checked. */
export interface ReferenceSource {
  readonly resource: Resource;
  /** The definitions of the referenced resources. */
  readonly definitions: Definitions;
}

/** The resource whose references are locked. */
export interface LockedSource extends ReferenceSource {
  /** The records that are known to exist, and that the write of the record locks. */
  readonly found?: { has(target: Resource, id: string): boolean } | undefined;
}

/** A field that references records, and the resource of these records. */
interface ReferenceField {
  readonly field: Field;
  readonly target: Resource;
}

const referenceFields = new WeakMap<Definitions, WeakMap<Resource, readonly ReferenceField[]>>();

/** Returns the reference fields and lists of references of a resource. Cached: definitions do not change. */
export function referenceFieldsOf({ resource, definitions }: ReferenceSource): readonly ReferenceField[] {
  const ofResources = memoize(referenceFields, definitions, createReferenceFields);
  return memoize(ofResources, resource, () => findReferenceFields({ resource, definitions }));
}

function createReferenceFields(): WeakMap<Resource, readonly ReferenceField[]> {
  return new WeakMap();
}

function findReferenceFields({ resource, definitions }: ReferenceSource): readonly ReferenceField[] {
  return [...resource.fields.values()].flatMap((field) => {
    const target = targetOf(definitions, field);
    return target === undefined ? [] : [{ field, target }];
  });
}

/**
 * Locks the records that `values` reference, in reference fields and lists of references, and returns an issue for each that does not exist
 * or is soft-deleted.
 */
export async function lockReferences(tx: Transaction, { found: known, ...source }: LockedSource, values: JsonObject): Promise<Issue[]> {
  const issues: Issue[] = [];
  for (const { field, target } of referenceFieldsOf(source)) {
    const value = Object.hasOwn(values, field.name) ? values[field.name] : undefined;
    if (field.to !== undefined && typeof value === 'string' && known?.has(target, value) !== true) {
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
  const fields = referenceFieldsOf({ resource, definitions });
  if (fields.length === 0) return [];
  const columns = sql.join(fields.map(({ field }) => columnOf(resource, field.name)));
  const row = await tx.one<Row>(sql`SELECT ${columns} FROM ${recordsOf(resource)} WHERE "id" = ${id}`);
  const found: Field[] = [];
  for (const { field, target } of fields) {
    const stored = row?.[field.name] ?? null;
    if (stored === null) continue;
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

async function checkList(tx: Transaction, { field, target }: ReferenceField, items: readonly Json[]): Promise<Issue[]> {
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
  const rows = await tx.all<{ id: string }>(sql`${existingIds(tx.dialect, { resource, ids })}${tx.rowLock('keyShare')}`);
  return new Set(rows.map(({ id }) => id));
}

function dangling(path: string, { name }: Resource, id: string): Issue {
  return { path, code: 'reference', detail: `no ${name} has the id ${JSON.stringify(id.slice(0, 64))}` };
}
