import type { Resource } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Database, Transaction } from './contract.ts';
import { dialectOf } from './migrations/migration-dialects.ts';
import type { Partitioned } from './migrations/table-state.ts';

const DAY = 24 * 60 * 60_000;
/** Days for which a partition is there before anything is in it: so long those who make them may be away. */
const AHEAD = 7;

/**
 * Makes partitions of today and the days to come, where the database keeps a table so, whoever comes first of several processes; and gives
 * the rows that had none a partition. Answers how many it made.
 */
export async function makePartitions(database: Database, resource: Resource): Promise<number> {
  const { partitions } = dialectOf(database);
  if (partitions === undefined) return 0;
  return database.transaction((tx) => {
    const days = Array.from({ length: AHEAD + 1 }, (_, ahead) => toDay(tx.now + ahead * DAY));
    return partitions.make(tx, partitioned(resource), days);
  });
}

/** How far a table's old rows are dropped. */
export interface DropPlace {
  /** Where it goes on; nothing that is told to anybody. */
  readonly at: string;
  readonly id: string;
}

/** Which rows are dropped. */
export interface Dropping {
  /** A day: rows of it and of later ones stay. */
  readonly before: string;
  /** What the step before came to. */
  readonly after: DropPlace | undefined;
  readonly stays: Staying;
}

/** Which rows stay though they are old. */
export interface Staying {
  /** Of a row, as SQL: the name of its table in front of columns. */
  isSo(row: Sql): Sql;
  /** A query for all of them in a partition, which may hold millions: by indexes. */
  among(partition: Sql): Sql;
}

/** Rows that are dropped at once where there are no partitions: requests go on between. */
const CHUNK = 500;

/**
 * Drops some of a table's oldest rows: a partition, or a bounded number; undefined where none is left. Once all partitions that end by then
 * are gone, rows that others hold go too: the first has all that was there before there were any, to its last day.
 */
export async function dropOldest(tx: Transaction, resource: Resource, { before, after, stays }: Dropping): Promise<DropPlace | undefined> {
  const { table, column } = partitioned(resource);
  const { partitions } = dialectOf(tx);
  if (partitions === undefined || isRow(after)) return deleteOldest(tx, { table, column }, { before, after, stays });
  const dropped = await partitions.drop(tx, { table, column }, { before, after: after?.at, staying: stays.among });
  return dropped === undefined ? deleteOldest(tx, { table, column }, { before, after: undefined, stays }) : { at: dropped.until, id: '' };
}

/** Whether the step before came to a row, and not to a partition. */
function isRow(place: DropPlace | undefined): boolean {
  return place !== undefined && place.id !== '';
}

async function deleteOldest(
  tx: Transaction,
  { table, column }: Partitioned,
  { before, after, stays }: Dropping,
): Promise<DropPlace | undefined> {
  const [at, from] = [sql.ref(column), after ?? { at: '', id: '' }];
  const rows = await tx.all<DropPlace>(sql`
    SELECT ${at} AS "at", "id" FROM ${sql.table(table)}
    WHERE ${at} < ${before} AND ${at} >= ${from.at} AND (${at} > ${from.at} OR "id" > ${from.id}) ORDER BY ${at} NULLS FIRST, "id" LIMIT ${CHUNK}`);
  const [first, last] = [rows.at(0), rows.at(-1)];
  if (first === undefined || last === undefined) return undefined;
  const ids = tx.dialect.listItems(sql`${JSON.stringify(rows.map(({ id }) => id))}`);
  // Between these times, so that no partition is entered in vain.
  const found = sql`${at} >= ${first.at} AND ${at} <= ${last.at} AND "id" IN (SELECT value FROM ${ids})`;
  await tx.run(sql`DELETE FROM ${sql.table(table)} WHERE ${found} AND NOT (${stays.isSo(sql.table(table))})`);
  return last;
}

function partitioned({ name, partitionBy }: Resource): Partitioned {
  if (partitionBy === undefined) throw new Error(`${name} says not by which column its rows are old`);
  return { table: name, column: partitionBy };
}

/** The day of a time, by UTC. */
function toDay(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
