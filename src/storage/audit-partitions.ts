import type { Resource } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Database, Transaction } from './contract.ts';
import { dialectOf } from './migrations/migration-dialects.ts';
import type { Partitioned } from './migrations/table-state.ts';

const DAY = 24 * 60 * 60_000;
/** Default number of days for which partitions exist in advance, so that maintenance may be down for as long. */
const DAYS_IN_ADVANCE = 7;

/**
 * Creates the partitions of today, of the next `daysInAdvance` days, and of days whose rows are in the default partition. Returns the
 * number of partitions created; 0 on a database without partitions. Concurrent processes create each partition once.
 */
export async function createPartitions(database: Database, resource: Resource, daysInAdvance = DAYS_IN_ADVANCE): Promise<number> {
  const { partitions } = dialectOf(database);
  if (partitions === undefined) return 0;
  return database.transaction((tx) => {
    const days = Array.from({ length: daysInAdvance + 1 }, (_, offset) => toDay(tx.now + offset * DAY));
    return partitions.make(tx, toPartitioned(resource), days);
  });
}

/** The position up to which old rows were dropped. */
export interface DropPosition {
  /** The partition bound or entry time after which the next step continues. */
  readonly at: string;
  readonly id: string;
}

/** The rows to drop. */
export interface DropOptions {
  /** A UTC day, such as `2026-01-31`; rows of this day and of later days stay. */
  readonly before: string;
  /** The result of the previous `dropOldest`; undefined for the first step. */
  readonly after: DropPosition | undefined;
  readonly retained: RetainedRows;
}

/** Old rows that must stay. */
export interface RetainedRows {
  /** Renders the condition that is true for a row to retain; `row` is the table name that qualifies the columns. */
  condition(row: Sql): Sql;
  /** Renders a query for all retained rows of a partition. The query must use indexes, because a partition may hold millions of rows. */
  select(partition: Sql): Sql;
}

/** Maximum rows that one transaction deletes one by one; requests run between two transactions. */
const ROWS_PER_STEP = 500;

/**
 * Drops the oldest partition of a table, or deletes at most `ROWS_PER_STEP` of its oldest rows. Returns the position after which the next
 * step continues; undefined if no old rows are left. After the last partition with old rows only, deletes old rows one by one, because the
 * first remaining partition also holds newer rows.
 */
export async function dropOldest(
  tx: Transaction,
  resource: Resource,
  { before, after, retained: stays }: DropOptions,
): Promise<DropPosition | undefined> {
  const { table, column } = toPartitioned(resource);
  const { partitions } = dialectOf(tx);
  if (partitions === undefined || isRow(after)) return deleteOldest(tx, { table, column }, { before, after, retained: stays });
  const dropped = await partitions.drop(tx, { table, column }, { before, after: after?.at, staying: stays.select });
  return dropped === undefined
    ? deleteOldest(tx, { table, column }, { before, after: undefined, retained: stays })
    : { at: dropped.until, id: '' };
}

/** Returns true if the previous step deleted rows, not a partition. */
function isRow(place: DropPosition | undefined): boolean {
  return place !== undefined && place.id !== '';
}

async function deleteOldest(
  tx: Transaction,
  { table, column }: Partitioned,
  { before, after, retained: stays }: DropOptions,
): Promise<DropPosition | undefined> {
  const [at, from] = [sql.ref(column), after ?? { at: '', id: '' }];
  const rows = await tx.all<DropPosition>(sql`
    SELECT ${at} AS "at", "id" FROM ${sql.table(table)}
    WHERE ${at} < ${before} AND ${at} >= ${from.at} AND (${at} > ${from.at} OR "id" > ${from.id}) ORDER BY ${at} NULLS FIRST, "id" LIMIT ${ROWS_PER_STEP}`);
  const [first, last] = [rows.at(0), rows.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const ids = tx.dialect.listItems(sql`${JSON.stringify(rows.map(({ id }) => id))}`);
  // The bounds let the database skip partitions.
  const found = sql`${at} >= ${first.at} AND ${at} <= ${last.at} AND "id" IN (SELECT value FROM ${ids})`;
  await tx.run(sql`DELETE FROM ${sql.table(table)} WHERE ${found} AND NOT (${stays.condition(sql.table(table))})`);
  return last;
}

function toPartitioned({ name, partitionBy }: Resource): Partitioned {
  if (partitionBy === undefined) throw new Error(`${name} has no partition column`);
  return { table: name, column: partitionBy };
}

/** Returns the UTC day of a time. */
function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
