import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { isManagedIndex } from '../migrations/ddl.ts';
import type { ActualTable, DroppedPartition, PartitionDialect, Partitioned, PartitionToDrop } from '../migrations/table-state.ts';
import { quoteName } from '../table-names.ts';

/** Names of partitions: `_Decision$2026-01-31`. No table of a definition has a `$` in its name. */
const BETWEEN = '$';
/** Rows whose day has no partition: so none is ever refused. */
const REST = 'rest';
/** Rows from before there were partitions. */
const FIRST = 'first';
/** What stays of a partition, until it has its name. */
const STAYING = 'staying';

/** Days of rows without a partition that get one at once: more are left to the next time. */
const DAYS = 100;
/** How long whoever drops a partition waits for those who look at it: a vacuum that is under way is ended after a second. */
const WAIT = '2s';
/** How long it may then wait for those who are at work, and make others wait behind it. */
const MOMENT = '200ms';

/**
 * How a table is kept in partitions, one a day. Times are text, and days the first characters of it, so bounds are days too. A partition
 * is made whole and then attached: that waits for nobody who appends, as `PARTITION OF` would.
 */
export const postgresPartitions: PartitionDialect = Object.freeze({
  tableOptions: (column: string) => ` PARTITION BY RANGE (${quoteName(column)})`,
  restSql: (table: string) => `CREATE TABLE ${quoted(table, REST)} PARTITION OF ${quoteName(table)} DEFAULT`,
  convertSql,
  make,
  drop,
});

/** The table that a partition is of; a table of its own is its own. */
export function partitionedTableOf(name: string): string {
  return name.split(BETWEEN)[0] ?? name;
}

function quoted(table: string, partition: string): string {
  return quoteName(`${table}${BETWEEN}${partition}`);
}

/** What was there before is the first partition, to the end of today, or of its last day where that is later. */
function convertSql({ name, indexes }: ActualTable, column: string): readonly string[] {
  const [whole, first, by] = [quoteName(name), quoted(name, FIRST), quoteName(column)];
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
  await tx.lock(lockOf(table));
  const partitions = await loadPartitions(tx, table);
  const rest = sql.table(`${table}${BETWEEN}${REST}`);
  const day = sql`left(${sql.ref(column)}, 10)`;
  const loadMissing = async (): Promise<readonly string[]> => {
    const strays = await tx.all<{ day: string }>(sql`SELECT DISTINCT ${day} AS "day" FROM ${rest} ORDER BY 1 LIMIT ${DAYS}`);
    // Whatever somebody has put there in the place of a time is no bound.
    const wanted = new Set([...days, ...strays.map((stray) => stray.day)].filter(isDay));
    return [...wanted].filter((each) => !partitions.some(({ from, until }) => (from ?? '') <= each && each < until));
  };
  if ((await loadMissing()).length === 0) return 0;
  // Who reads all of the record waits behind this, as does who begins a chain: so not for long, as where a dump is made of all tables.
  await tx.run(sql.raw(`SET LOCAL lock_timeout = '${WAIT}'`));
  // Nobody may add another meanwhile: no partition can be made of a day that has rows among the rest.
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
  await tx.lock(lockOf(table));
  const partitions = await loadPartitions(tx, table);
  const found = partitions.find(({ from, until }) => until <= before && (after === undefined || (from ?? '') >= after));
  if (found === undefined) return undefined;
  const [whole, partition] = [quoteName(table), quoteName(found.name)];
  await tx.run(sql.raw(`SET LOCAL lock_timeout = '${WAIT}'`));
  await tx.run(sql.raw(`LOCK TABLE ${partition} IN ACCESS EXCLUSIVE MODE`));
  await tx.run(sql.raw(`SET LOCAL lock_timeout = '${MOMENT}'`));
  await tx.run(sql.raw(`LOCK TABLE ONLY ${whole} IN ACCESS EXCLUSIVE MODE`));
  const stays = staying(sql.raw(partition));
  const isEmptied = (await tx.one(sql`${stays} LIMIT 1`)) === undefined;
  if (isEmptied) await tx.run(sql.raw(`DROP TABLE ${partition}`));
  else {
    const kept = quoted(table, STAYING);
    await tx.run(sql.raw(`CREATE TABLE ${kept} (LIKE ${whole})`));
    await tx.run(sql`INSERT INTO ${sql.raw(kept)} ${stays}`);
    await tx.run(sql.raw(`DROP TABLE ${partition}`));
    await tx.run(sql.raw(`ALTER TABLE ${kept} RENAME TO ${partition}`));
    await tx.run(sql.raw(attachSql(table, partition, found)));
  }
  return { until: found.until };
}

/** Held by whoever makes or drops partitions: each needs the table and its rest, and not in the same order. */
function lockOf(table: string): string {
  return `partitions of ${table}`;
}

/** Bounds are of the database's own making, or days that it said: nothing else comes between the quotes. */
function attachSql(table: string, partition: string, { from, until }: Pick<Partition, 'from' | 'until'>): string {
  const start = from === undefined ? 'MINVALUE' : `'${from}'`;
  return `ALTER TABLE ${quoteName(table)} ATTACH PARTITION ${partition} FOR VALUES FROM (${start}) TO ('${until}')`;
}

interface Partition {
  readonly name: string;
  /** Its first day; undefined where it has all that was before. */
  readonly from: string | undefined;
  /** The first day that is not in it. */
  readonly until: string;
}

const BOUNDS = /FROM \((?:MINVALUE|'([\d-]+)')\) TO \('([\d-]+)'\)/;

/** All but the one for the rest, the oldest first. */
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
  // The last of all has no day behind it that could be written so.
  return time < Date.parse('9999-12-31') && new Date(time).toISOString().startsWith(day);
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 24 * 60 * 60_000).toISOString().slice(0, 10);
}
