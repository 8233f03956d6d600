import { createHash } from 'node:crypto';
import type { Field } from '../../fields/index.ts';
import type { Json } from '../../operators/index.ts';
import { type Resource, typeOf } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Log, Transaction } from '../contract.ts';
import { quoteName } from '../table-names.ts';
import { type ConvertedValue, convertValue } from './convert-value.ts';
import { shortenName } from './ddl.ts';
import { dialectOf } from './migration-dialects.ts';
import type { Conversion, ConversionColumn, ReferenceTarget } from './migration-plan.ts';
import { startConversionProgress } from './migration-progress.ts';

/** The result of a conversion, with the number of lost values. */
export interface ConversionOutcome {
  /** Rows with a value. */
  readonly rows: number;
  /** Rows whose value cannot be converted. */
  readonly lost: number;
  /** The ids of the first five rows whose value cannot be converted. */
  readonly ids: readonly string[];
  /** The SHA-256 of the ids of all rows whose value cannot be converted. */
  readonly idsHash: string;
}

/** Rows per statement. */
const CHUNK = 500;
/** The maximum number of ids in an outcome. */
const MAX_IDS = 5;

/** Returns SQL for the converted value of a row. The SQL can be run only after `convertValues`. */
export function convertedValueSql({ table, resource, after }: Conversion): Sql {
  const row = sql.raw(`${quoteName(table)}."id"`);
  return sql`(SELECT c."value" FROM ${scratchOf(resource, after)} AS c WHERE c."id" = ${row})`;
}

/** Returns the SQL that copies the converted values into the new column. */
export function copyConvertedSql({ resource, after }: Conversion): string {
  const [table, column, scratch] = [resource.name, after.name, scratchName(resource, after)].map(quoteName);
  return `UPDATE ${table} SET ${column} = (SELECT c."value" FROM ${scratch} AS c WHERE c."id" = ${table}."id")`;
}

/**
 * Converts the values of a column in memory, in chunks, into a temporary table. Preconditions in SQL, such as uniqueness, can then
 * read values that no column contains yet.
 */
export async function convertValues(tx: Transaction, conversion: Conversion, log: Log): Promise<ConversionOutcome> {
  const { resource, after, table, from } = conversion;
  const progress = await startConversionProgress(tx, { table, field: from.column }, log);
  const scratch = scratchOf(resource, after);
  await dropScratchTable(tx, conversion);
  // The ids need the column type of other tables: with another collation, joins could not use the index.
  const id = sql.raw(dialectOf(tx).columnTypes.text);
  await tx.run(
    sql`CREATE TEMP TABLE ${scratch} ("id" ${id} PRIMARY KEY NOT NULL, "value" ${sql.raw(conversion.columnType)}, "lost" INTEGER NOT NULL)`,
  );
  for (let last = ''; ; ) {
    const rows = await tx.all<RowToConvert>(chunkAfter(tx, conversion, last));
    if (rows.length === 0) break;
    const values = rows.map((row) => sql`(${sql.join(toScratchRow(tx, conversion, row))})`);
    await tx.run(sql`INSERT INTO ${scratch} ("id", "value", "lost") VALUES ${sql.join(values)}`);
    last = rows.at(-1)?.id ?? last;
    progress.add(rows.length);
  }
  if (conversion.target !== undefined) await markDanglingLost(tx, conversion);
  progress.end();
  const outcome = await tx.one<{ rows: number; lost: number }>(
    sql`SELECT count(*) AS "rows", coalesce(sum("lost"), 0) AS "lost" FROM ${scratch}`,
  );
  return { rows: outcome?.rows ?? 0, lost: outcome?.lost ?? 0, ...(await loadLostIds(tx, scratch)) };
}

async function loadLostIds(tx: Transaction, scratch: Sql): Promise<Pick<ConversionOutcome, 'ids' | 'idsHash'>> {
  const hash = createHash('sha256');
  const first: string[] = [];
  for (let last = ''; ; ) {
    const rows = await tx.all<{ id: string }>(
      sql`SELECT "id" FROM ${scratch} WHERE "lost" = 1 AND "id" > ${last} ORDER BY "id" LIMIT ${CHUNK}`,
    );
    const ids = rows.map(({ id }) => id);
    for (const id of ids) hash.update(JSON.stringify(id));
    first.push(...ids.slice(0, MAX_IDS - first.length));
    if (rows.length < CHUNK) return { ids: first, idsHash: hash.digest('hex') };
    last = ids.at(-1) ?? last;
  }
}

/** Drops the temporary table of a conversion. */
export async function dropScratchTable(tx: Transaction, { resource, after }: Conversion): Promise<void> {
  await tx.run(sql`DROP TABLE IF EXISTS ${scratchOf(resource, after)}`);
}

/** Returns the query for the next rows, by id, that have a value in the present column or in an archived column of the field. */
function chunkAfter(tx: Transaction, { table, from, archived }: Conversion, last: string): Sql {
  const columns = [...archived, from];
  const values = columns.map(({ column }, index) => sql`${sql.raw(quoteName(column))} AS ${sql.raw(`"value${index}"`)}`);
  const dangles = columns.slice(0, -1).flatMap((before, index) => {
    const next = columns[index + 1];
    if (next?.target === undefined || (before.field.of === undefined) !== (next.field.of === undefined)) return [];
    const column = sql.raw(`${quoteName(table)}.${quoteName(before.column)}`);
    return [sql`${isDangling(tx, { column, field: next.field, target: next.target })} AS ${sql.raw(`"dangles${index}"`)}`];
  });
  const selected = [...values, ...dangles];
  const present = sql.join(
    columns.map(({ column }) => sql`${sql.raw(quoteName(column))} IS NOT NULL`),
    sql` OR `,
  );
  return sql`SELECT "id", ${sql.join(selected)} FROM ${sql.raw(quoteName(table))}
    WHERE "id" > ${last} AND (${present}) ORDER BY "id" LIMIT ${CHUNK}`;
}

function toScratchRow({ dialect }: Transaction, conversion: Conversion, row: RowToConvert): readonly Sql[] {
  const { after } = conversion;
  const converted = convertRow(conversion, row);
  const type = typeOf(after);
  const value = converted.fits && converted.value !== undefined ? type.toColumn(converted.value, after) : undefined;
  return [sql`${row.id}`, dialect.writtenValue(value ?? null, type.column), sql`${converted.fits ? 0 : 1}`];
}

/** Counts references to missing records as lost and empties them, because the database would refuse them. */
async function markDanglingLost(tx: Transaction, { resource, after, target }: Conversion): Promise<void> {
  const dangles = isDangling(tx, { column: sql`"value"`, field: after, target });
  await tx.run(sql`UPDATE ${scratchOf(resource, after)} SET "value" = NULL, "lost" = 1 WHERE ${dangles}`);
}

interface ReferenceColumn {
  readonly column: Sql;
  readonly field: Field;
  readonly target: ReferenceTarget | undefined;
}

/** Returns a condition that is true if the value, or an item of the list, is not the id of a record of the target. */
function isDangling(tx: Transaction, { column, field, target }: ReferenceColumn): Sql {
  const ids = target?.table === undefined ? sql`(SELECT NULL WHERE FALSE)` : sql`(SELECT "id" FROM ${sql.raw(quoteName(target.table))})`;
  // Cast to text, because the column may still have another type, such as INTEGER.
  if (field.of === undefined) return sql`(${column} IS NOT NULL AND CAST(${column} AS TEXT) NOT IN ${ids})`;
  return sql`EXISTS (SELECT 1 FROM ${tx.dialect.listItems(column)} WHERE value NOT IN ${ids})`;
}

function scratchOf(resource: Resource, after: Field): Sql {
  return sql.raw(quoteName(scratchName(resource, after)));
}

/** Returns the name of the temporary table of a conversion. Resource names contain no `$`, so the temporary table hides no other table. */
function scratchName(resource: Resource, { name }: Field): string {
  return shortenName(`converted$${resource.name}$${name}`);
}

/** A row whose value is converted. */
export interface RowToConvert {
  readonly id: string;
  /** The stored values of the archived columns, oldest first, then of the present column. */
  readonly [value: `value${number}`]: unknown;
  /** 1 if the value in this column is not the id of a record of the resource that the next column references. */
  readonly [dangles: `dangles${number}`]: unknown;
}

/**
 * Converts the value of a row. Uses the value of the restored column if the value was not changed in a later column and is valid under
 * the options of the new field; otherwise converts the value of the present column.
 */
function convertRow({ from, after, archived, restored = -1 }: Conversion, row: RowToConvert): ConvertedValue {
  const history = toHistory([...archived, from], row);
  const [value, column] = [history.values[restored], archived[restored]];
  if (value !== undefined && column !== undefined && history.origins.at(-1)?.has(restored) === true) {
    // Converted to its own type, because the options may have changed: an enum may no longer list the value.
    const returned = convertValue(value, column.field, after);
    if (returned.fits) return returned;
  }
  return convertAt(history, archived.length, after);
}

/** The values of a row in the columns of a field, oldest first. */
interface History {
  readonly columns: readonly ConversionColumn[];
  readonly values: readonly (Json | undefined)[];
  /** For each column, the indexes of the columns, including itself, whose value it still represents: no other value was written since. */
  readonly origins: readonly ReadonlySet<number>[];
}

/**
 * Converts the value of a row in one column. If that is impossible, converts the latest earlier value that the column still represents: a
 * text that could not be converted to a number is restored when the field becomes a text again.
 */
function convertAt({ columns, values, origins }: History, at: number, after: Field): ConvertedValue {
  for (let index = at; index >= 0; index--) {
    const [value, written] = [values[index], columns[index]];
    if (value === undefined || written === undefined || origins[at]?.has(index) !== true) continue;
    const converted = convertValue(value, written.field, after);
    if (converted.fits || index === at) return converted;
  }
  return { fits: true };
}

function toHistory(columns: readonly ConversionColumn[], row: RowToConvert): History {
  const values = columns.map(({ field }, index) => toValue(row[`value${index}`], field));
  const origins: Set<number>[] = [];
  const history: History = { columns, values, origins };
  for (const [at, { field }] of columns.entries()) {
    const found = new Set([at]);
    for (let before = 0; before < at; before++) {
      const dangles = before === at - 1 && row[`dangles${before}`] === 1;
      const converted = dangles ? undefined : convertAt(history, before, field);
      if (!isUnchanged(converted, values[at], { adjacent: before === at - 1 })) continue;
      // Columns that share an origin with `before`, or have `before` as an origin, represent the same value.
      for (const [other, its] of origins.entries()) if (origins[before]?.has(other) === true || its.has(before)) found.add(other);
    }
    origins.push(found);
  }
  return history;
}

/**
 * Returns whether a value equals the converted earlier one. Two missing values are equal only in adjacent columns: a value may lie between.
 */
function isUnchanged(
  converted: ConvertedValue | undefined,
  value: Json | undefined,
  { adjacent }: { readonly adjacent: boolean },
): boolean {
  const expected = converted?.fits === true ? converted.value : undefined;
  return JSON.stringify(expected) === JSON.stringify(value) && (adjacent || value !== undefined);
}

function toValue(stored: unknown, field: Field): Json | undefined {
  return stored === null || stored === undefined ? undefined : typeOf(field).fromColumn(stored, field);
}
