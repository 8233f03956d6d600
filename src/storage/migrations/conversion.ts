import type { Field } from '../../fields/index.ts';
import type { Json } from '../../operators/index.ts';
import { type Resource, typeOf } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Log, Transaction } from '../contract.ts';
import { quoteName } from '../table-names.ts';
import { type ConvertedValue, convertValue } from './convert-value.ts';
import { dialectOf } from './migration-dialects.ts';
import { startConversionProgress } from './migration-progress.ts';

/** A column and what is written in it. */
export interface ConversionColumn {
  readonly column: string;
  readonly field: Field;
  /** Where references lead to. */
  readonly target?: ReferenceTarget;
}

/** The table that references have to lead into; undefined where there is none. */
export interface ReferenceTarget {
  readonly table: string | undefined;
}

/** Values of one column on their way into another type. */
export interface Conversion {
  /** The table as it is called before any step. */
  readonly table: string;
  /** The table as it is called after. */
  readonly resource: Resource;
  readonly from: ConversionColumn;
  /** As it is to be. */
  readonly after: Field;
  /** The columns kept aside, the oldest first. */
  readonly aside: readonly ConversionColumn[];
  /** Which of those has the values as they were when they were of type `after` before; undefined where they never were. */
  readonly returnsTo: number | undefined;
  /** In the database's words. */
  readonly columnType: string;
  readonly target?: ReferenceTarget;
}

/** What became of the values. */
export interface ConversionOutcome {
  /** Rows with a value. */
  readonly rows: number;
  /** Rows whose value has no place in the new type. */
  readonly lost: number;
  /** Ids of the first of them. */
  readonly ids: readonly string[];
}

/** Rows that are read, and written, by one statement. */
const CHUNK = 500;
/** Ids that are shown. */
const SHOWN = 5;

/** The value that a row will have, as SQL: worked out by `convertValues`, which comes before. */
export function convertedValueSql({ table, resource, after }: Conversion): Sql {
  const row = sql.raw(`${quoteName(table)}."id"`);
  return sql`(SELECT c."value" FROM ${scratchOf(resource, after)} AS c WHERE c."id" = ${row})`;
}

/** Copies what was worked out into the column. */
export function copyConvertedSql({ resource, after }: Conversion): string {
  const [table, column, scratch] = [resource.name, after.name, scratchName(resource, after)].map(quoteName);
  return `UPDATE ${table} SET ${column} = (SELECT c."value" FROM ${scratch} AS c WHERE c."id" = ${table}."id")`;
}

/**
 * Works out what each value becomes, in code, chunk by chunk, into a table of the transaction's own: so that whatever is
 * asked of rows in SQL (does anything collide, is anything missing) can be asked of values that no column holds yet.
 */
export async function convertValues(tx: Transaction, conversion: Conversion, tell: Log): Promise<ConversionOutcome> {
  const { resource, after, table, from } = conversion;
  const counted = await startConversionProgress(tx, { table, field: from.column }, tell);
  const scratch = scratchOf(resource, after);
  await dropScratchTable(tx, conversion);
  // Ids of one kind in all tables: else no index on them could be entered.
  const id = sql.raw(dialectOf(tx).columnTypes.text);
  await tx.run(
    sql`CREATE TEMP TABLE ${scratch} ("id" ${id} PRIMARY KEY NOT NULL, "value" ${sql.raw(conversion.columnType)}, "lost" INTEGER NOT NULL)`,
  );
  for (let last = ''; ; ) {
    const rows = await tx.all<SourceRow>(chunkAfter(tx, conversion, last));
    if (rows.length === 0) break;
    const values = rows.map((row) => sql`(${sql.join(toScratchRow(tx, conversion, row))})`);
    await tx.run(sql`INSERT INTO ${scratch} ("id", "value", "lost") VALUES ${sql.join(values)}`);
    last = rows.at(-1)?.id ?? last;
    counted.more(rows.length);
  }
  if (conversion.target !== undefined) await dropDangling(tx, conversion);
  counted.end();
  const outcome = await tx.one<{ rows: number; lost: number }>(
    sql`SELECT count(*) AS "rows", coalesce(sum("lost"), 0) AS "lost" FROM ${scratch}`,
  );
  const ids = await tx.all<{ id: string }>(sql`SELECT "id" FROM ${scratch} WHERE "lost" = 1 ORDER BY "id" LIMIT ${SHOWN}`);
  return { rows: outcome?.rows ?? 0, lost: outcome?.lost ?? 0, ids: ids.map(({ id }) => id) };
}

/** Drops what was worked out. */
export async function dropScratchTable(tx: Transaction, { resource, after }: Conversion): Promise<void> {
  await tx.run(sql`DROP TABLE IF EXISTS ${scratchOf(resource, after)}`);
}

/** Rows with a value, now or in what comes back. */
function chunkAfter(tx: Transaction, { table, from, aside }: Conversion, last: string): Sql {
  const columns = [...aside, from];
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

function toScratchRow({ dialect }: Transaction, conversion: Conversion, row: SourceRow): readonly Sql[] {
  const { after } = conversion;
  const became = convertRow(conversion, row);
  const type = typeOf(after);
  const value = became.fits && became.value !== undefined ? type.toColumn(became.value, after) : undefined;
  return [sql`${row.id}`, dialect.writtenValue(value ?? null, type.column), sql`${became.fits ? 0 : 1}`];
}

/** References to nothing have no place either: the database would refuse them. */
async function dropDangling(tx: Transaction, { resource, after, target }: Conversion): Promise<void> {
  const dangles = isDangling(tx, { column: sql`"value"`, field: after, target });
  await tx.run(sql`UPDATE ${scratchOf(resource, after)} SET "value" = NULL, "lost" = 1 WHERE ${dangles}`);
}

interface Leading {
  readonly column: Sql;
  readonly field: Field;
  readonly target: ReferenceTarget | undefined;
}

/** Whether a value, or an item of a list, is the id of nothing. */
function isDangling(tx: Transaction, { column, field, target }: Leading): Sql {
  const ids = target?.table === undefined ? sql`(SELECT NULL WHERE FALSE)` : sql`(SELECT "id" FROM ${sql.raw(quoteName(target.table))})`;
  // Before it becomes one, an id may be anything that is written like one.
  if (field.of === undefined) return sql`(${column} IS NOT NULL AND CAST(${column} AS TEXT) NOT IN ${ids})`;
  return sql`EXISTS (SELECT 1 FROM ${tx.dialect.listItems(column)} WHERE value NOT IN ${ids})`;
}

function scratchOf(resource: Resource, after: Field): Sql {
  return sql.raw(quoteName(scratchName(resource, after)));
}

/** `$` is in no name of a resource: it hides no table. */
function scratchName(resource: Resource, { name }: Field): string {
  return `converted$${resource.name}$${name}`;
}

/** A row of a conversion as it is read. */
export interface SourceRow {
  readonly id: string;
  /** What its columns hold, from the oldest to the one in force. */
  readonly [value: `value${number}`]: unknown;
  /** Whether a value could not become that of the next column, because it led to nothing there. */
  readonly [dangles: `dangles${number}`]: unknown;
}

/** What returns has its value again, unless somebody wrote another since or the type has no place for it by now. */
export function convertRow({ from, after, aside, returnsTo = -1 }: Conversion, row: SourceRow): ConvertedValue {
  const history = readHistory([...aside, from], row);
  const [value, then] = [history.values[returnsTo], aside[returnsTo]];
  if (value !== undefined && then !== undefined && history.origins.at(-1)?.has(returnsTo) === true) {
    // Through the same door, for what else is asked of it by now: that an enum still lists it.
    const returned = convertValue(value, then.field, after);
    if (returned.fits) return returned;
  }
  return convertAt(history, aside.length, after);
}

/** What the columns of a row hold, from the oldest to the one in force. */
interface History {
  readonly columns: readonly ConversionColumn[];
  readonly values: readonly (Json | undefined)[];
  /** For each column, those before it whose value it still says in its own way: nobody wrote another in the meantime. Itself too. */
  readonly origins: readonly ReadonlySet<number>[];
}

/**
 * The value of a column in another type. Where it has none, the last of those before that has its place there and that nobody has
 * taken away: a text that was no number is there again once the number is a text.
 */
function convertAt({ columns, values, origins }: History, at: number, after: Field): ConvertedValue {
  for (let index = at; index >= 0; index--) {
    const [value, written] = [values[index], columns[index]];
    if (value === undefined || written === undefined || origins[at]?.has(index) !== true) continue;
    const became = convertValue(value, written.field, after);
    if (became.fits || index === at) return became;
  }
  return { fits: true };
}

function readHistory(columns: readonly ConversionColumn[], row: SourceRow): History {
  const values = columns.map(({ field }, index) => read(row[`value${index}`], field));
  const origins: Set<number>[] = [];
  const history: History = { columns, values, origins };
  for (const [at, { field }] of columns.entries()) {
    const found = new Set([at]);
    for (let before = 0; before < at; before++) {
      const dangles = before === at - 1 && row[`dangles${before}`] === 1;
      const became = dangles ? undefined : convertAt(history, before, field);
      if (!saysTheSame(became, values[at], { beside: before === at - 1 })) continue;
      // And whatever in between says the same as that: where it came back from there, it was what this was made of.
      for (const [other, its] of origins.entries()) if (origins[before]?.has(other) === true || its.has(before)) found.add(other);
    }
    origins.push(found);
  }
  return history;
}

/** Of columns that others once lay between, only values tell: that both have none may have another reason. */
function saysTheSame(became: ConvertedValue | undefined, value: Json | undefined, { beside }: { readonly beside: boolean }): boolean {
  const said = became?.fits === true ? became.value : undefined;
  return JSON.stringify(said) === JSON.stringify(value) && (beside || value !== undefined);
}

function read(stored: unknown, field: Field): Json | undefined {
  return stored === null || stored === undefined ? undefined : typeOf(field).fromColumn(stored, field);
}
