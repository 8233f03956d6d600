import type { Field } from '../../fields/index.ts';
import { isObject, type Json, type JsonObject } from '../../operators/index.ts';
import { type Definitions, parseDefinition, type Resource } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';

/** What was applied to the tables before. */
export interface AppliedState {
  readonly resources: ReadonlyMap<string, AppliedResource>;
  /** Fields kept aside, by resource and name, as they were. */
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, AppliedField>>;
  /** Columns kept aside by conversions, by resource and field, the oldest first. */
  readonly columns: ReadonlyMap<string, ReadonlyMap<string, readonly ArchivedColumn[]>>;
}

/** A resource as it was last applied. */
export interface AppliedResource {
  /** Undefined where the program can no longer read it. */
  readonly resource: Resource | undefined;
  readonly keptAside: boolean;
}

/** A field as it was when its column was in force, and as its definition said it. */
export interface AppliedField {
  readonly field: Field;
  readonly source: Json;
}

/** The column of a field before a conversion: `price$2`. */
export interface ArchivedColumn extends AppliedField {
  readonly column: string;
  /** Counts up, so in the order in which columns were put aside. */
  readonly number: number;
}

/** A row of `_Definition`: a resource `Article`, a field kept aside `Article.title`, a column kept aside `Article.price$2`. */
export interface DefinitionRow {
  readonly id: string;
  readonly hash: string;
  readonly source: JsonObject;
  readonly keptAside: boolean;
}

/** Everything that is on the record about definitions. */
export async function loadDefinitionRows(tx: Transaction): Promise<readonly DefinitionRow[]> {
  const rows = await tx.all<{ id: string; hash: string; source: string; keptAside: number | boolean }>(
    sql`SELECT "id", "hash", "source", "keptAside" FROM "_Definition" ORDER BY "id"`,
  );
  return rows.map(({ source, keptAside, ...row }) => ({ ...row, source: JSON.parse(source) as JsonObject, keptAside: Boolean(keptAside) }));
}

/** Reads the rows into what they say. */
export function toAppliedState(rows: readonly DefinitionRow[]): AppliedState {
  const resources = new Map<string, AppliedResource>();
  const fields = new Map<string, Map<string, AppliedField>>();
  const columns = new Map<string, Map<string, readonly ArchivedColumn[]>>();
  for (const { id, source, keptAside } of rows) {
    const [name = '', part] = id.split('.');
    const { resource } = parseDefinition(source, { builtIn: true });
    if (part === undefined) resources.set(name, { resource, keptAside });
    else keepPart({ fields, columns }, { resource, name, part });
  }
  return { resources, fields, columns };
}

/** The definitions that were applied and are not kept aside. */
export function appliedDefinitions(applied: ReadonlyMap<string, AppliedResource>): Definitions {
  const inForce = [...applied].filter(([, { keptAside }]) => !keptAside);
  return new Map(inForce.flatMap(([name, { resource }]) => (resource === undefined ? [] : [[name, resource] as const])));
}

interface Parts {
  readonly fields: Map<string, Map<string, AppliedField>>;
  readonly columns: Map<string, Map<string, readonly ArchivedColumn[]>>;
}

interface Part {
  readonly resource: Resource | undefined;
  readonly name: string;
  /** `title`, or `price$2`. */
  readonly part: string;
}

function keepPart({ fields, columns }: Parts, { resource, name, part }: Part): void {
  const [field = '', number] = part.split('$');
  const kept = resource && toAppliedField(resource, field);
  if (kept === undefined) return;
  if (number === undefined) {
    fields.set(name, (fields.get(name) ?? new Map<string, AppliedField>()).set(field, kept));
    return;
  }
  const ofResource = columns.get(name) ?? new Map<string, readonly ArchivedColumn[]>();
  const all = [...(ofResource.get(field) ?? []), { ...kept, column: part, number: Number(number) }];
  columns.set(
    name,
    ofResource.set(
      field,
      all.sort((a, b) => a.number - b.number),
    ),
  );
}

/**
 * A field of a resource, as its definition says it; undefined where it has none. Without the name before: what is kept aside may
 * get that one back, and a field that comes from itself could not be read.
 */
export function toAppliedField(resource: Resource, name: string): AppliedField | undefined {
  const field = resource.fields.get(name);
  const sources = resource.source['fields'] as JsonObject | undefined;
  const source = sources !== undefined && Object.hasOwn(sources, name) ? sources[name] : undefined;
  if (field === undefined || !isObject(source)) return undefined;
  const { renamedFrom: _renamedFrom, ...kept } = source;
  return { field, source: kept };
}

/** Keeps a row, in the place of the one that has its id. */
export async function saveDefinitionRow(tx: Transaction, { id, hash, source, keptAside }: DefinitionRow): Promise<void> {
  await tx.run(sql`
    INSERT INTO "_Definition" ("id", "hash", "source", "appliedAt", "keptAside")
    VALUES (${id}, ${hash}, ${JSON.stringify(source)}, ${new Date(tx.now).toISOString()}, ${keptAside})
    ON CONFLICT ("id") DO UPDATE SET "hash" = excluded."hash", "source" = excluded."source",
      "appliedAt" = excluded."appliedAt", "keptAside" = excluded."keptAside"`);
}

/** Says of a resource that its records are kept aside. */
export async function archiveResource(tx: Transaction, resource: string): Promise<void> {
  await tx.run(
    sql`UPDATE "_Definition" SET "keptAside" = ${true}, "appliedAt" = ${new Date(tx.now).toISOString()} WHERE "id" = ${resource}`,
  );
}

/** Forgets a row. */
export async function deleteDefinitionRow(tx: Transaction, id: string): Promise<void> {
  await tx.run(sql`DELETE FROM "_Definition" WHERE "id" = ${id}`);
}
