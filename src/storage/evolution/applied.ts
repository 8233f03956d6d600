import { sql } from 'kysely';
import type { Field } from '../../fields/index.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { type Resource, readDefinition } from '../../resource/index.ts';
import type { Transaction } from '../database.ts';
import type { Step } from './plan.ts';
import type { ActualTable } from './tables.ts';

/** What was applied to the tables before. */
export interface Applied {
  readonly resources: ReadonlyMap<string, AppliedResource>;
  /** Fields kept aside, by resource and name, as they were. */
  readonly fields: ReadonlyMap<string, ReadonlyMap<string, Field>>;
}

/** A resource as it was last applied. */
export interface AppliedResource {
  /** Undefined where the program can no longer read it. */
  readonly resource: Resource | undefined;
  readonly keptAside: boolean;
}

interface DefinitionRow {
  readonly id: string;
  readonly source: string;
  readonly keptAside: number | boolean;
}

/** Reads what was applied; empty on a new database. A field kept aside has a row of its own, `Article.title`. */
export async function loadApplied(tx: Transaction, actual: readonly ActualTable[]): Promise<Applied> {
  const resources = new Map<string, AppliedResource>();
  const fields = new Map<string, Map<string, Field>>();
  if (!actual.some(({ name }) => name === '_Definition')) return { resources, fields };
  const rows = await tx.all<DefinitionRow>(sql`SELECT "id", "source", "keptAside" FROM "_Definition"`);
  for (const { id, source, keptAside } of rows) {
    const [name = '', field] = id.split('.');
    const { resource } = readDefinition(JSON.parse(source) as Json, { builtIn: true });
    if (field === undefined) resources.set(name, { resource, keptAside: Boolean(keptAside) });
    else keepField(fields, name, resource?.fields.get(field));
  }
  return { resources, fields };
}

function keepField(fields: Map<string, Map<string, Field>>, resource: string, field: Field | undefined): void {
  if (field === undefined) return;
  const kept = fields.get(resource) ?? new Map<string, Field>();
  fields.set(resource, kept.set(field.name, field));
}

/** Keeps what is in force now. */
export async function keepApplied(tx: Transaction, resource: Resource): Promise<void> {
  await keepRow(tx, { id: resource.name, hash: resource.hash, source: resource.source, keptAside: false });
}

/** Keeps, beside that, what a step put aside or brought back. `before` is the resource as it was applied. */
export async function keepStep(tx: Transaction, { resource, kind, field }: Step, before: Resource | undefined): Promise<void> {
  if (kind === 'keepAside' && field === undefined) {
    await tx.run(sql`UPDATE "_Definition" SET "keptAside" = ${true}, "appliedAt" = ${nowOf(tx)} WHERE "id" = ${resource}`);
  }
  if (field === undefined) return;
  const id = `${resource}.${field}`;
  if (kind === 'bringBack' || kind === 'renameColumn') await tx.run(sql`DELETE FROM "_Definition" WHERE "id" = ${id}`);
  const source = fieldSource(before, field);
  if (kind === 'keepAside' && before !== undefined && source !== undefined) {
    await keepRow(tx, { id, hash: before.hash, source: { name: resource, fields: { [field]: source } }, keptAside: true });
  }
}

function fieldSource(before: Resource | undefined, field: string): Json | undefined {
  const fields = before?.source['fields'] as JsonObject | undefined;
  return fields !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined;
}

interface KeptRow {
  readonly id: string;
  readonly hash: string;
  readonly source: JsonObject;
  readonly keptAside: boolean;
}

async function keepRow(tx: Transaction, { id, hash, source, keptAside }: KeptRow): Promise<void> {
  await tx.run(sql`
    INSERT INTO "_Definition" ("id", "hash", "source", "appliedAt", "keptAside")
    VALUES (${id}, ${hash}, ${JSON.stringify(source)}, ${nowOf(tx)}, ${keptAside})
    ON CONFLICT ("id") DO UPDATE SET "hash" = excluded."hash", "source" = excluded."source",
      "appliedAt" = excluded."appliedAt", "keptAside" = excluded."keptAside"`);
}

function nowOf(tx: Transaction): string {
  return new Date(tx.now).toISOString();
}
