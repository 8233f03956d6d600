import type { Field } from '../../fields/index.ts';
import { isObject, type Json, type JsonObject } from '../../operators/index.ts';
import { type Definitions, parseDefinition, type Resource } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import { parseStoredJson } from '../checksums/damaged-rows.ts';
import type { Transaction } from '../contract.ts';

/** The parsed content of `_Definition`: the definitions as last applied, and the archived resources, fields and columns. */
export interface AppliedState {
  readonly resources: ReadonlyMap<string, AppliedResource>;
  /** Archived fields by resource and name. */
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, AppliedField>>;
  /** Columns archived by conversions, by resource and field, oldest first. */
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, readonly ArchivedColumn[]>>;
}

/** A resource as last applied. */
export interface AppliedResource {
  /** Undefined if this version of the program cannot parse it. */
  readonly resource: Resource | undefined;
  readonly archived: boolean;
}

/** A field as last applied to its column, with its definition as written. */
export interface AppliedField {
  readonly field: Field;
  readonly source: Json;
}

/** A column that a conversion archived: `price$2`. */
export interface ArchivedColumn extends AppliedField {
  readonly column: string;
  /** The number after the last `$` in the column name. A later conversion of the field has a higher number. */
  readonly number: number;
}

/**
 * A row of `_Definition`. Its id names a resource (`Article`), an archived field (`Article.title`) or an archived column
 * (`Article.price$2`).
 */
export interface DefinitionRow {
  readonly id: string;
  readonly hash: string;
  readonly source: JsonObject;
  readonly archived: boolean;
}

/** Loads all rows of `_Definition`. */
export async function loadDefinitionRows(tx: Transaction): Promise<readonly DefinitionRow[]> {
  const rows = await tx.all<{ id: string; hash: string; source: string; archived: number | boolean }>(
    sql`SELECT "id", "hash", "source", "keptAside" AS "archived" FROM "_Definition" ORDER BY "id"`,
  );
  return rows.map(({ source, archived, ...row }) => ({
    ...row,
    source: parseStoredJson<JsonObject>({ table: '_Definition', id: row.id }, source),
    archived: Boolean(archived),
  }));
}

/** Converts rows of `_Definition` into resources, fields and columns. */
export function toAppliedState(rows: readonly DefinitionRow[]): AppliedState {
  const resources = new Map<string, AppliedResource>();
  const fields = new Map<string, Map<string, AppliedField>>();
  const columns = new Map<string, Map<string, readonly ArchivedColumn[]>>();
  for (const { id, source, archived } of rows) {
    const [name = '', column] = id.split('.');
    const { resource } = parseDefinition(source, { builtIn: true });
    if (column === undefined) resources.set(name, { resource, archived });
    else addArchived({ fields, columns }, { resource, name, column });
  }
  return { resources, fields, columns };
}

/** Returns the applied definitions that are not archived. */
export function appliedDefinitions(applied: ReadonlyMap<string, AppliedResource>): Definitions {
  const inForce = [...applied].filter(([, { archived }]) => !archived);
  return new Map(inForce.flatMap(([name, { resource }]) => (resource === undefined ? [] : [[name, resource] as const])));
}

/** Loads the applied definitions that are not archived: those that fit the tables. */
export async function loadAppliedDefinitions(tx: Transaction): Promise<Definitions> {
  return appliedDefinitions(toAppliedState(await loadDefinitionRows(tx)).resources);
}

interface ArchivedMaps {
  readonly fields: Map<string, Map<string, AppliedField>>;
  readonly columns: Map<string, Map<string, readonly ArchivedColumn[]>>;
}

interface ArchivedName {
  readonly resource: Resource | undefined;
  readonly name: string;
  /** The part of the id after the dot: `title` for an archived field, `price$2` for an archived column. */
  readonly column: string;
}

function addArchived({ fields, columns }: ArchivedMaps, { resource, name, column }: ArchivedName): void {
  // The row defines a single field. The name of an archived column may contain only the beginning of the field's name.
  const [field = ''] = Object.keys(resource?.source['fields'] ?? {});
  const applied = resource && toAppliedField(resource, field);
  if (applied === undefined) return;
  if (!column.includes('$')) {
    fields.set(name, (fields.get(name) ?? new Map<string, AppliedField>()).set(field, applied));
    return;
  }
  const ofResource = columns.get(name) ?? new Map<string, readonly ArchivedColumn[]>();
  const number = Number(column.slice(column.lastIndexOf('$') + 1));
  const all = [...(ofResource.get(field) ?? []), { ...applied, column, number }];
  columns.set(
    name,
    ofResource.set(
      field,
      all.sort((a, b) => a.number - b.number),
    ),
  );
}

/**
 * Returns a field of a resource with its definition as written, or undefined if the resource has no such field. `renamedFrom` is
 * left out: an archived field can be renamed back to its former name, and a definition that names itself in `renamedFrom` is invalid.
 */
export function toAppliedField(resource: Resource, name: string): AppliedField | undefined {
  const field = resource.fields.get(name);
  const sources = resource.source['fields'] as JsonObject | undefined;
  const source = sources !== undefined && Object.hasOwn(sources, name) ? sources[name] : undefined;
  if (field === undefined || !isObject(source)) return undefined;
  const { renamedFrom: _renamedFrom, ...written } = source;
  return { field, source: written };
}

/** Inserts a row of `_Definition`, or replaces the row with the same id. */
export async function saveDefinitionRow(tx: Transaction, { id, hash, source, archived }: DefinitionRow): Promise<void> {
  await tx.run(sql`
    INSERT INTO "_Definition" ("id", "hash", "source", "appliedAt", "keptAside")
    VALUES (${id}, ${hash}, ${JSON.stringify(source)}, ${new Date(tx.now).toISOString()}, ${archived})
    ON CONFLICT ("id") DO UPDATE SET "hash" = excluded."hash", "source" = excluded."source",
      "appliedAt" = excluded."appliedAt", "keptAside" = excluded."keptAside"`);
}

/** Marks a resource as archived. */
export async function archiveResource(tx: Transaction, resource: string): Promise<void> {
  await tx.run(
    sql`UPDATE "_Definition" SET "keptAside" = ${true}, "appliedAt" = ${new Date(tx.now).toISOString()} WHERE "id" = ${resource}`,
  );
}

/** Deletes a row of `_Definition`. */
export async function deleteDefinitionRow(tx: Transaction, id: string): Promise<void> {
  await tx.run(sql`DELETE FROM "_Definition" WHERE "id" = ${id}`);
}
