import { Problem } from '../../errors.ts';
import type { Field } from '../../fields/index.ts';
import type { Json } from '../../operators/index.ts';
import { isDeletionField, typeOf } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Log, Transaction } from '../contract.ts';
import { quoteName } from '../table-names.ts';
import { convertValues } from './conversion.ts';
import type { WantedIndex } from './ddl.ts';
import { createBlockedStep, type DraftStep, type Precondition, type ResourceDraft } from './migration-plan.ts';
import { columnBefore, type TableState, tableBefore } from './table-state.ts';

/** The maximum number of values or ids in a refusal. */
const MAX_VALUES = 5;

/** Returns SQL for the value of a field after the migration. The SQL can be queried before any step. */
export type ValueAfter = (field: string) => Sql;

/**
 * Runs the queries of a draft and returns its steps. Computes conversions, whose lost values decide the risk; leaves out steps whose count
 * of affected rows is 0; adds a blocked step for each precondition that fails. If the draft has refusals, runs no query and adds a blocked
 * step for each refusal.
 */
export async function checkPreconditions(tx: Transaction, draft: ResourceDraft, log: Log): Promise<readonly DraftStep[]> {
  const { resource, steps, refusals, preconditions } = draft;
  if (refusals.length > 0) return [...steps, ...refusals.map((reason) => createBlockedStep(resource, { reason }))];
  const converted: DraftStep[] = [];
  // Conversions are computed first, because counts and preconditions read the converted values.
  for (const step of steps) converted.push(await computeConversion(tx, step, log));
  const checked: DraftStep[] = [];
  for (const step of converted) checked.push(...(await countAffected(tx, step)));
  for (const { query, trial, refuse, field } of preconditions) {
    const refusal = refuse(await tx.all(query));
    if (refusal === undefined || (trial !== undefined && (await succeeds(tx, trial)))) continue;
    checked.push(createBlockedStep(resource, { ...refusal, field }));
  }
  return checked;
}

/** Runs the statements in a savepoint. Returns false if a value is invalid. */
async function succeeds(tx: Transaction, statements: readonly Sql[]): Promise<boolean> {
  try {
    await tx.savepoint(async () => {
      for (const statement of statements) await tx.run(statement);
    });
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === 'VALUE_INVALID') return false;
    throw error;
  }
}

async function computeConversion(tx: Transaction, step: DraftStep, log: Log): Promise<DraftStep> {
  if (step.conversion === undefined) return step;
  const { rows, lost, ids, idsHash } = await convertValues(tx, step.conversion, log);
  if (lost === 0) {
    const reason = `${step.reason}; ${rows === 0 ? 'there are no values' : `all ${rows} values can be converted`}`;
    return { ...step, risk: rows === 0 ? 'safe' : 'needs-backfill', rows, reason };
  }
  const records = `${ids.join(', ')}${lost > ids.length ? ', …' : ''}`;
  const reason = `${step.reason}; ${lost} of ${rows} values cannot be converted and would remain only in the archived column (records ${records})`;
  return { ...step, risk: 'lossy', rows: lost, ids, idsHash, reason };
}

async function countAffected(tx: Transaction, step: DraftStep): Promise<readonly DraftStep[]> {
  if (step.affected === undefined) return [step];
  const row = await tx.one<{ count: number }>(step.affected);
  return row === undefined || row.count === 0 ? [] : [{ ...step, rows: row.count }];
}

/** Fails if a record has no value for a required field. */
export function requiredPrecondition(table: TableState, field: Field, after: Sql): Precondition {
  const name = `${table.resource.name}.${field.name}`;
  return {
    field: field.name,
    query: sql`SELECT count(*) AS "count", count(${deletedAtBefore(table)}) AS "deleted" FROM ${tableBefore(table)} WHERE ${after} IS NULL`,
    refuse([row]) {
      const rows = Number(row?.['count'] ?? 0);
      if (rows === 0) return undefined;
      const without = `${rows} ${rows === 1 ? 'record has' : 'records have'} no value`;
      const advice = `add a default, or make it required when every record has a value${describeFormerName(table, field)}`;
      return { rows, reason: `${name} is required, but ${without}; ${advice}${describeDeleted(row)}` };
    },
  };
}

/** Returns a hint if the field may be a removed or an archived field under another name: there is one of its type. */
function describeFormerName({ resource, applied, archivedFields }: TableState, { name, type, renamedFrom }: Field): string {
  if (applied === undefined || renamedFrom !== undefined) return '';
  const isInForce = applied.fields.has(name);
  const former = isInForce ? [...archivedFields.values()].map(({ field }) => field) : [...applied.fields.values()];
  const later = new Set([...resource.fields.values()].flatMap((field) => [field.name, field.renamedFrom ?? field.name]));
  const [only, ...others] = former.filter(
    (field) => field.type === type && !later.has(field.name) && !isDeletionField(applied, field.name),
  );
  if (only === undefined || others.length > 0) return '';
  if (isInForce) return `; if it is the new name of ${only.name}, whose values are archived, see docs/guides/migrations.md#rename-errors`;
  return `; if it is the new name of ${only.name}, add renamedFrom: ${only.name}, which keeps the values`;
}

/** Fails if records would get a default reference to a record that does not exist. */
export function defaultPrecondition(table: TableState, field: Field, after: Sql): Precondition {
  const { to = '' } = field;
  const current = table.currentNameOf(to);
  const ids = current === undefined ? sql`(SELECT NULL WHERE FALSE)` : sql`(SELECT "id" FROM ${sql.raw(quoteName(current))})`;
  const reason = `${table.resource.name}.${field.name} has the default ${JSON.stringify(field.default)}, but no ${to} has this id`;
  return {
    field: field.name,
    query: sql`SELECT 1 AS "found" FROM ${tableBefore(table)} WHERE ${after} NOT IN ${ids} LIMIT 1`,
    refuse: (rows) => (rows.length === 0 ? undefined : { reason }),
  };
}

/** Fails if the parents of a record form a cycle, so that the record has no first ancestor. Names the records of the cycle, and those below it. */
export function hierarchyPrecondition(table: TableState, field: Field, after: Sql): Precondition {
  const name = `${table.resource.name}.${field.name}`;
  return {
    field: field.name,
    query: sql`WITH RECURSIVE "parents"("id", "parent") AS (SELECT "id", ${after} FROM ${tableBefore(table)}),
      "reached"("id") AS (SELECT "id" FROM "parents" WHERE "parent" IS NULL
        UNION ALL SELECT "parents"."id" FROM "parents" JOIN "reached" ON "parents"."parent" = "reached"."id")
      SELECT "id", count(*) OVER () AS "count" FROM "parents" WHERE "id" NOT IN (SELECT "id" FROM "reached") ORDER BY "id" LIMIT ${MAX_VALUES}`,
    refuse(found) {
      const [row] = found;
      if (row === undefined) return undefined;
      const rows = countOf(row);
      const ids = found.map(({ id }) => String(id));
      const named = `${ids.join(', ')}${rows > ids.length ? ', …' : ''}`;
      const what = `${name} cannot be a hierarchy, because the parents of ${rows} ${rows === 1 ? 'record' : 'records'} form a cycle (${named})`;
      return { rows, ids, reason: `${what}; give one record of each cycle another parent, or none` };
    },
  };
}

/**
 * Fails if records have enum values that the definition no longer lists. If the field is a list, only the first such item of each record is
 * reported.
 */
export function valuesPrecondition(table: TableState, field: Field, column: Sql): Precondition {
  const list = JSON.stringify((field.of ?? field).values ?? []);
  const unlisted = sql`NOT IN (SELECT value FROM ${table.listItems(sql`${list}`)})`;
  const found =
    field.of === undefined
      ? sql`CASE WHEN ${column} ${unlisted} THEN ${column} END`
      : sql`(SELECT value FROM ${table.listItems(column)} WHERE value ${unlisted} LIMIT 1)`;
  const query = sql`
    SELECT f."found" AS "value", count(*) AS "count", sum(count(f."deletedAt")) OVER () AS "deleted"
    FROM (SELECT ${found} AS "found", ${deletedAtBefore(table)} AS "deletedAt" FROM ${tableBefore(table)}) AS f
    WHERE f."found" IS NOT NULL GROUP BY f."found" ORDER BY "count" DESC, "value" LIMIT ${MAX_VALUES}`;
  const name = `${table.resource.name}.${field.name}`;
  return {
    field: field.name,
    query,
    refuse(rows) {
      if (rows.length === 0) return undefined;
      const used = field.writeOnly ? 'values' : rows.map((row) => `${JSON.stringify(row['value'] as Json)} (${countOf(row)})`).join(', ');
      const reason = `${name} no longer lists ${used}, but records have these values; list them again, or change the records first`;
      return { reason: `${reason}${describeDeleted(rows[0])}` };
    },
  };
}

/** Fails if a resource without soft deletes still has soft-deleted records, because they would be visible again. */
export function deletedPrecondition(table: TableState): Precondition {
  const { name } = table.resource;
  return {
    query: sql`SELECT "id", count(*) OVER () AS "count" FROM ${tableBefore(table)} WHERE "deletedAt" IS NOT NULL ORDER BY "id" LIMIT ${MAX_VALUES}`,
    refuse(found) {
      const [row] = found;
      if (row === undefined) return undefined;
      const rows = countOf(row);
      const what = `${rows} soft-deleted ${name} ${rows === 1 ? 'record' : 'records'} would be visible again without softDelete`;
      return {
        rows,
        ids: found.map(({ id }) => String(id)),
        reason: `${what}; first restore them, or permanently delete them with storage prune --deleted-before 0 --yes`,
      };
    },
  };
}

/** Fails if records would have the same values in a unique index. Records that lack one of the values do not conflict. */
export function uniquePrecondition(
  table: TableState,
  index: Pick<WantedIndex, 'fields' | 'where' | 'of'>,
  after: ValueAfter,
): Precondition {
  const { resource } = table;
  const { fields } = index;
  const values = fields.map(after);
  const selected = sql.join(values.map((value, nth) => sql`${value} AS ${sql.raw(`"v${nth}"`)}`));
  const conditions = [...values.map((value) => sql`${value} IS NOT NULL`), ...toConditions(table, index, after)];
  const grouping = sql.raw(values.map((_, nth) => nth + 1).join(', '));
  const query = sql`SELECT ${selected}, count(*) AS "count" FROM ${tableBefore(table)} WHERE ${sql.join(conditions, sql` AND `)}
    GROUP BY ${grouping} HAVING count(*) > 1 ORDER BY "count" DESC, ${grouping} LIMIT ${MAX_VALUES}`;
  return {
    query,
    refuse(rows) {
      if (rows.length === 0) return undefined;
      const shared = rows.map((row) => `${values.map((_, nth) => render(row[`v${nth}`])).join(', ')} (${countOf(row)})`);
      const what = `${resource.name} (${fields.join(', ')}) must be unique, but several records have ${shared.join('; ')}`;
      return { reason: `${what}; change these records first` };
    },
  };
}

/** The temporary table with the values of a new index that are perhaps too long. */
const LONG_VALUES = sql.raw('"$indexed"');

/**
 * Fails if values are too long for an index of the database, which compresses them. Creates the index over a copy of the long values: over the
 * table of the resource, it would make requests wait, also for a plan.
 */
export function indexSizePrecondition(table: TableState, index: WantedIndex, after: ValueAfter): Precondition | undefined {
  const { resource, dialect } = table;
  const { maxIndexBytes } = dialect;
  if (maxIndexBytes === undefined || index.of === 'deleted') return undefined;
  const values = index.columns.map(after);
  const bytes = sql.join(
    values.map((value) => sql`coalesce(octet_length(CAST(${value} AS TEXT)), 0)`),
    sql` + `,
  );
  const conditions = sql.join([sql`${bytes} > ${maxIndexBytes}`, ...toConditions(table, index, after)], sql` AND `);
  const selected = sql.join(values.map((value, nth) => sql`${value} AS ${sql.raw(`"v${nth}"`)}`));
  const columns = sql.raw(values.map((_, nth) => `"v${nth}"`).join(', '));
  const what = `${resource.name} (${index.fields.join(', ')}) cannot be indexed, because values are too long`;
  const limit = 'the values of the fields of an index have at most about 2,700 bytes together, after compression';
  return {
    query: sql`SELECT "id" FROM ${tableBefore(table)} WHERE ${conditions} ORDER BY ${bytes} DESC, "id" LIMIT ${MAX_VALUES}`,
    trial: [
      sql`CREATE TEMP TABLE ${LONG_VALUES} AS SELECT ${selected} FROM ${tableBefore(table)} WHERE ${conditions}`,
      sql`CREATE INDEX ON ${LONG_VALUES} (${columns})`,
      sql`DROP TABLE ${LONG_VALUES}`,
    ],
    refuse(rows) {
      if (rows.length === 0) return undefined;
      const ids = rows.map(({ id }) => String(id));
      const longest = `the longest are those of the records ${ids.join(', ')}`;
      return { ids, reason: `${what} (${longest}): ${limit}; shorten these values, or remove the index` };
    },
  };
}

/** Returns the conditions of the rows in an index. With soft deletes, a unique index contains no soft-deleted records. */
function toConditions({ resource }: TableState, { where = {}, of }: Pick<WantedIndex, 'where' | 'of'>, after: ValueAfter): readonly Sql[] {
  const equal = Object.entries(where).map(([name, value]) => {
    const field = resource.fields.get(name);
    return sql`${after(name)} = ${field === undefined ? null : typeOf(field).toColumn(value, field)}`;
  });
  return of === undefined ? equal : [...equal, sql`${after('deletedAt')} IS NULL`];
}

/** Returns SQL for the time of the soft deletion of a record; NULL if the resource had no soft deletes. */
function deletedAtBefore(table: TableState): Sql {
  const has = table.applied?.softDelete === true && table.actual.columns.has('deletedAt');
  return has ? columnBefore(table, 'deletedAt') : sql`NULL`;
}

/** Describes how many of the counted records are soft-deleted, because requests neither return nor change these. */
function describeDeleted(row: Readonly<Record<string, unknown>> | undefined): string {
  const deleted = Number(row?.['deleted'] ?? 0);
  if (deleted === 0) return '';
  const remedy = 'restore and change them, or permanently delete them with storage prune --deleted-before 0 --yes';
  return `; ${deleted} of the records ${deleted === 1 ? 'is' : 'are'} soft-deleted: ${remedy}`;
}

function countOf(row: Readonly<Record<string, unknown>>): number {
  return Number(row['count']);
}

function render(value: unknown): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value).slice(0, 80);
}
