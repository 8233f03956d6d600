import { type RawBuilder, sql } from 'kysely';
import type { Field } from '../../fields/index.ts';
import type { Json } from '../../operators/index.ts';
import { typeOf } from '../../resource/index.ts';
import { columnOf, quoteName, tableOf } from '../names.ts';
import { checkCompatible, describeChanges } from './changes.ts';
import { addColumnSql, renameColumnSql } from './ddl.ts';
import { type DraftStep, type Obstacle, toStep } from './plan.ts';
import type { Table } from './tables.ts';

/** What one field of a definition asks of its table. */
export interface FieldDraft {
  readonly steps: readonly DraftStep[];
  readonly refusals: readonly string[];
  readonly obstacles: readonly Obstacle[];
  /** The value that a row will have, as SQL that can be asked before any step is done. */
  readonly after: RawBuilder<unknown>;
  /** What is different about it without its column being touched, in words. */
  readonly changes: readonly string[];
}

/** Plans one field of a table that exists: its column is there, was there under another name, or is new. */
export function planField(table: Table, field: Field): FieldDraft {
  const from = sourceOf(table, field);
  const draft = from === undefined ? planNew(table, field) : planExisting(table, field, from);
  return {
    ...draft,
    obstacles: [...draft.obstacles, ...requiredObstacle(table, field, draft.after), ...defaultObstacle(table, field, draft)],
  };
}

/** The name of the column that holds the field's values now; undefined where none does. */
function sourceOf({ actual, resource }: Table, field: Field): string | undefined {
  if (actual.columns.has(field.name)) return field.name;
  const { renamedFrom } = field;
  return renamedFrom !== undefined && actual.columns.has(renamedFrom) && !resource.fields.has(renamedFrom) ? renamedFrom : undefined;
}

function planNew({ resource, actual, dialect }: Table, field: Field): FieldDraft {
  const name = `${resource.name}.${field.name}`;
  const twin = [...actual.columns.keys()].find((column) => column.toLowerCase() === field.name.toLowerCase());
  if (twin !== undefined) {
    const reason = `${name} differs only in case from ${twin}, whose values are kept; say renamedFrom: ${twin} to take them over`;
    return { steps: [], refusals: [reason], obstacles: [], after: sql`NULL`, changes: [] };
  }
  const value = defaultOf(field);
  const add = toStep(resource.name, {
    kind: 'addColumn',
    field: field.name,
    reason: `${name} is new`,
    text: addColumnSql(resource, field, dialect),
  });
  const steps =
    value === undefined
      ? [add]
      : [add, backfill({ resource, field, value, concerns: sql`SELECT count(*) AS "count" FROM ${tableOf(resource)}` })];
  return { steps, refusals: [], obstacles: [], after: value === undefined ? sql`NULL` : sql`${value}`, changes: [] };
}

function planExisting(table: Table, field: Field, from: string): FieldDraft {
  const { resource, actual, dialect } = table;
  const column = actual.columns.get(from);
  const inForce = table.applied?.fields.get(from);
  const before = inForce ?? table.keptFields.get(from);
  const refusals = column === undefined ? [] : checkCompatible({ resource, field, before, column, dialect });
  const steps: DraftStep[] = [];
  if (from !== field.name) {
    const reason = `${resource.name}.${from} is called ${field.name} now and keeps its values`;
    steps.push(toStep(resource.name, { kind: 'renameColumn', field: from, reason, text: renameColumnSql(resource, from, field.name) }));
  }
  if (inForce === undefined) {
    const reason = `${resource.name}.${field.name} comes back with the values that were kept of it`;
    steps.push(toStep(resource.name, { kind: 'bringBack', field: from, reason }));
  }
  const stored = columnOf(resource, from);
  const value = field.required && inForce?.required !== true ? defaultOf(field) : undefined;
  if (value !== undefined) {
    steps.push(
      backfill({ resource, field, value, concerns: sql`SELECT count(*) AS "count" FROM ${tableOf(resource)} WHERE ${stored} IS NULL` }),
    );
  }
  const after = value === undefined ? stored : sql`coalesce(${stored}, ${value})`;
  return {
    steps,
    refusals,
    obstacles: valuesObstacle(table, field, { before, from }),
    after,
    changes: before === undefined ? [] : describeChanges(before, field),
  };
}

interface Backfill {
  readonly resource: Table['resource'];
  readonly field: Field;
  /** As the column holds it. */
  readonly value: unknown;
  readonly concerns: RawBuilder<unknown>;
}

/** Gives the default to rows without a value; left out where there are none. */
function backfill({ resource, field, value, concerns }: Backfill): DraftStep {
  const column = quoteName(field.name);
  const text = `UPDATE ${quoteName(resource.name)} SET ${column} = ? WHERE ${column} IS NULL`;
  return {
    resource: resource.name,
    kind: 'backfill',
    field: field.name,
    reason: `records without ${resource.name}.${field.name} get its default ${JSON.stringify(field.default)}`,
    sql: [text],
    statement: sql`UPDATE ${tableOf(resource)} SET ${sql.raw(column)} = ${value} WHERE ${sql.raw(column)} IS NULL`,
    concerns,
  };
}

/** A field's default as its column holds it. */
function defaultOf(field: Field): unknown {
  if (field.default === undefined) return undefined;
  const type = typeOf(field);
  return type.toColumn(type.toCanonical?.(field.default, field) ?? field.default, field);
}

/** A required field without a value in some row. Asked where that was not sure before. */
function requiredObstacle(table: Table, field: Field, after: RawBuilder<unknown>): readonly Obstacle[] {
  const { resource, applied } = table;
  if (!field.required || applied?.fields.get(field.name)?.required === true) return [];
  const name = `${resource.name}.${field.name}`;
  return [
    {
      query: sql`SELECT count(*) AS "count" FROM ${tableOf(resource)} WHERE ${after} IS NULL`,
      refuse([row]) {
        const count = Number(row?.['count'] ?? 0);
        if (count === 0) return undefined;
        return `${name} is required, and ${count} ${count === 1 ? 'record has' : 'records have'} no value for it; give it a default, or make it required once every record has one`;
      },
    },
  ];
}

/** A reference whose default is the id of no record: rows that were given it would refer to nothing. */
function defaultObstacle({ resource, exists }: Table, field: Field, { steps, after }: Omit<FieldDraft, 'obstacles'>): readonly Obstacle[] {
  const { to } = field;
  if (to === undefined || !steps.some(({ kind }) => kind === 'backfill')) return [];
  const ids = exists(to) ? sql`(SELECT "id" FROM ${sql.raw(quoteName(to))})` : sql`(SELECT NULL WHERE FALSE)`;
  return [
    {
      query: sql`SELECT 1 AS "found" FROM ${tableOf(resource)} WHERE ${after} NOT IN ${ids} LIMIT 1`,
      refuse: (rows) =>
        rows.length === 0
          ? undefined
          : `${resource.name}.${field.name} has the default ${JSON.stringify(field.default)}, and no ${to} has this id`,
    },
  ];
}

/** Values of an enum that rows have and the definition no longer lists; of a list, its first such item. */
function valuesObstacle(
  { resource, listItems }: Table,
  field: Field,
  { before, from }: { before: Field | undefined; from: string },
): readonly Obstacle[] {
  const allowed = (field.of ?? field).values;
  const known = (before?.of ?? before)?.values;
  if (allowed === undefined || known?.every((value) => allowed.includes(value)) === true) return [];
  const column = columnOf(resource, from);
  const list = JSON.stringify(allowed);
  const unlisted = sql`NOT IN (SELECT value FROM ${listItems(sql`${list}`)})`;
  const found =
    field.of === undefined
      ? sql`CASE WHEN ${column} ${unlisted} THEN ${column} END`
      : sql`(SELECT value FROM ${listItems(column)} WHERE value ${unlisted} LIMIT 1)`;
  const query = sql`
    SELECT f."found" AS "value", count(*) AS "count" FROM (SELECT ${found} AS "found" FROM ${tableOf(resource)}) AS f
    WHERE f."found" IS NOT NULL GROUP BY f."found" ORDER BY "count" DESC LIMIT 5`;
  return [{ query, refuse: (rows) => describeUnlisted(`${resource.name}.${field.name}`, field.writeOnly, rows) }];
}

function describeUnlisted(name: string, isSecret: boolean, rows: readonly Readonly<Record<string, unknown>>[]): string | undefined {
  if (rows.length === 0) return undefined;
  const used = isSecret ? 'values' : rows.map((row) => `${JSON.stringify(row['value'] as Json)} (${Number(row['count'])})`).join(', ');
  return `${name} no longer lists ${used}, which records have; keep listing them, or change those records first`;
}
