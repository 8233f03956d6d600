import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { isManagedIndex } from '../migrations/ddl.ts';
import type { ActualTable, DroppedPartition, PartitionDialect, Partitioned, PartitionToDrop } from '../migrations/table-state.ts';
import { quoteName } from '../table-names.ts';

/** Separates table and day in the name of a partition: `_Decision$2026-01-31`. Resource names contain no `$`. */
const SEPARATOR = '$';
/** The name suffix of the default partition, which holds the rows of days without a partition, so that no insert fails. */
const DEFAULT = 'rest';
/** The name suffix of the partition with the rows from before the table was partitioned. */
const INITIAL = 'first';
/** The temporary name suffix of the table with the rows that are kept from a dropped partition. */
const REMAINING = 'staying';

/** Maximum days of the default partition that get partitions of their own in one run; more days wait for the next run. */
const MAX_DAYS = 100;
/** Lock timeout for a partition. It exceeds one second, after which PostgreSQL cancels an automatic vacuum that holds the lock. */
const PARTITION_LOCK_TIMEOUT = '2s';
/** Lock timeout for the parent table; all other statements on it wait behind this lock. */
const TABLE_LOCK_TIMEOUT = '200ms';

/**
 * Partitions a table by day. Times are text that begins with the day, so the bounds of partitions are days too. A partition is created as a
 * table and then attached, which, unlike `PARTITION OF`, does not wait for running inserts.
 */
export const postgresPartitions: PartitionDialect = Object.freeze({
  tableOptions: (column: string) => ` PARTITION BY RANGE (${quoteName(column)})`,
  restSql: (table: string) => `CREATE TABLE ${quoted(table, DEFAULT)} PARTITION OF ${quoteName(table)} DEFAULT`,
  convertSql,
  make,
  drop,
});

/** Returns the partitioned table of a partition; for any other table, its own name. */
export function partitionedTableOf(name: string): string {
  return name.split(SEPARATOR)[0] ?? name;
}

function quoted(table: string, partition: string): string {
  return quoteName(`${table}${SEPARATOR}${partition}`);
}

/** Returns the SQL that makes the existing table the first partition, which ends after today, or after the day of the last row if later. */
function convertSql({ name, indexes }: ActualTable, column: string): readonly string[] {
  const [whole, first, by] = [quoteName(name), quoted(name, INITIAL), quoteName(column)];
  return [
    ...[...indexes.keys()].filter(isManagedIndex).map((index) => `DROP INDEX ${quoteName(index)}`),
    `ALTER TABLE ${whole} DROP CONSTRAINT ${quoteName(`${name}_pkey`)}`,
    `ALTER TABLE ${whole} RENAME TO ${first}`,
    `ALTER TABLE ${first} ALTER COLUMN ${by} SET NOT NULL`,
    `CREATE TABLE ${whole} (LIKE ${first}, PRIMARY KEY ("id", ${by})) PARTITION BY RANGE (${by})`,
    postgresPartitions.restSql(name),
    `DO $do$ BEGIN EXECUTE (SELECT format('ALTER TABLE ${whole} ATTACH PARTITION ${first} FOR VALUES FROM (MINVALUE) TO (%L)',
      to_char(greatest(now() AT TIME ZONE 'UTC', max(left(${by}, 10))::timestamp) + interval '1 day', 'YYYY-MM-DD')) FROM ${first}); END $do$`,
  ];
}

async function make(tx: Transaction, { table, column }: Partitioned, days: readonly string[]): Promise<number> {
  await tx.lock(lockNameOf(table));
  const partitions = await loadPartitions(tx, table);
  const rest = sql.table(`${table}${SEPARATOR}${DEFAULT}`);
  const day = sql`left(${sql.ref(column)}, 10)`;
  const loadMissing = async (): Promise<readonly string[]> => {
    const strays = await tx.all<{ day: string }>(sql`SELECT DISTINCT ${day} AS "day" FROM ${rest} ORDER BY 1 LIMIT ${MAX_DAYS}`);
    // A row with an invalid time has no valid day.
    const wanted = new Set([...days, ...strays.map((stray) => stray.day)].filter(isDay));
    return [...wanted].filter((each) => !partitions.some(({ from, until }) => (from ?? '') <= each && each < until));
  };
  if ((await loadMissing()).length === 0) return 0;
  // Readers of the whole audit log and writers that begin a chain wait behind this lock request, so the request must time out soon if, for
  // example, a dump of all tables holds the lock.
  await tx.run(sql.raw(`SET LOCAL lock_timeout = '${PARTITION_LOCK_TIMEOUT}'`));
  // No transaction may insert meanwhile: a partition cannot be attached while the default partition has rows of its day.
  await tx.run(sql`LOCK TABLE ${rest} IN ACCESS EXCLUSIVE MODE`);
  const missing = await loadMissing();
  for (const each of missing) {
    const partition = quoted(table, each);
    await tx.run(sql.raw(`CREATE TABLE ${partition} (LIKE ${quoteName(table)})`));
    await tx.run(
      sql`WITH moved AS (DELETE FROM ${rest} WHERE ${day} = ${each} RETURNING *) INSERT INTO ${sql.raw(partition)} SELECT * FROM moved`,
    );
    await tx.run(sql.raw(attachSql(table, partition, { from: each, until: dayAfter(each) })));
  }
  return missing.length;
}

async function drop(
  tx: Transaction,
  { table }: Partitioned,
  { before, after, staying }: PartitionToDrop,
): Promise<DroppedPartition | undefined> {
  await tx.lock(lockNameOf(table));
  const partitions = await loadPartitions(tx, table);
  const found = partitions.find(({ from, until }) => until <= before && (after === undefined || (from ?? '') >= after));
  if (found === undefined) return undefined;
  const [whole, partition] = [quoteName(table), quoteName(found.name)];
  await tx.run(sql.raw(`SET LOCAL lock_timeout = '${PARTITION_LOCK_TIMEOUT}'`));
  await tx.run(sql.raw(`LOCK TABLE ${partition} IN ACCESS EXCLUSIVE MODE`));
  await tx.run(sql.raw(`SET LOCAL lock_timeout = '${TABLE_LOCK_TIMEOUT}'`));
  await tx.run(sql.raw(`LOCK TABLE ONLY ${whole} IN ACCESS EXCLUSIVE MODE`));
  const stays = staying(sql.raw(partition));
  const isEmptied = (await tx.one(sql`${stays} LIMIT 1`)) === undefined;
  if (isEmptied) await tx.run(sql.raw(`DROP TABLE ${partition}`));
  else {
    const remaining = quoted(table, REMAINING);
    await tx.run(sql.raw(`CREATE TABLE ${remaining} (LIKE ${whole})`));
    await tx.run(sql`INSERT INTO ${sql.raw(remaining)} ${stays}`);
    await tx.run(sql.raw(`DROP TABLE ${partition}`));
    await tx.run(sql.raw(`ALTER TABLE ${remaining} RENAME TO ${partition}`));
    await tx.run(sql.raw(attachSql(table, partition, found)));
  }
  return { until: found.until };
}

/** Serializes creating and dropping partitions: both lock the table and its default partition, in different orders. */
function lockNameOf(table: string): string {
  return `partitions of ${table}`;
}

/** Returns the SQL that attaches a partition. The bounds come from the database's catalog or are valid days, so they need no escaping. */
function attachSql(table: string, partition: string, { from, until }: Pick<Partition, 'from' | 'until'>): string {
  const start = from === undefined ? 'MINVALUE' : `'${from}'`;
  return `ALTER TABLE ${quoteName(table)} ATTACH PARTITION ${partition} FOR VALUES FROM (${start}) TO ('${until}')`;
}

interface Partition {
  readonly name: string;
  /** The first day of the partition; undefined for the partition of all earlier rows. */
  readonly from: string | undefined;
  /** The first day after the partition. */
  readonly until: string;
}

const BOUNDS = /FROM \((?:MINVALUE|'([\d-]+)')\) TO \('([\d-]+)'\)/;

/** Loads all partitions except the default one, the oldest first. */
async function loadPartitions(tx: Transaction, table: string): Promise<readonly Partition[]> {
  const rows = await tx.all<{ name: string; bounds: string }>(sql`
    SELECT c.relname AS "name", pg_get_expr(c.relpartbound, c.oid) AS "bounds" FROM pg_inherits i
    JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class t ON t.oid = i.inhparent
    WHERE t.relname = ${table} AND t.relnamespace = current_schema()::regnamespace`);
  const partitions = rows.flatMap(({ name, bounds }) => {
    const [, from, until] = BOUNDS.exec(bounds) ?? [];
    return until === undefined ? [] : [{ name, from, until }];
  });
  return partitions.toSorted((a, b) => (a.until < b.until ? -1 : 1));
}

function isDay(day: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(day) : Number.NaN;
  // 9999-12-31 has no next day in this format.
  return time < Date.parse('9999-12-31') && new Date(time).toISOString().startsWith(day);
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 24 * 60 * 60_000).toISOString().slice(0, 10);
}
