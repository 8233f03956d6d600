import { afterEach, beforeEach, expect, it } from 'vitest';
import { appendEntry } from '../../audit/index.ts';
import { testEntry } from '../../audit/integrity/integrity.fixture.ts';
import { parseDefinition } from '../../resources/index.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import { sql } from '../../sql.ts';
import { createPartitions, dropOldest } from '../audit-partitions.ts';
import type { Database } from '../contract.ts';
import { migrate, planMigration } from '../migrations/migrate.ts';
import { openTestDatabase, resourceOf, type TestDatabase } from '../storage.fixture.ts';

const DECISION = resourceOf(SYSTEM, '_Decision');
const DAY = 24 * 60 * 60_000;
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

let test: TestDatabase;
let database: Database;
beforeEach(async () => {
  test = openTestDatabase();
  database = test.database;
});
afterEach(() => test.dispose());

/** Partition → ids of its rows. */
async function partitions(): Promise<Readonly<Record<string, readonly string[]>>> {
  return database.transaction(async (tx) => {
    const names = await tx.all<{ name: string }>(sql`
      SELECT c.relname AS "name" FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class t ON t.oid = i.inhparent
      WHERE t.relname = '_Decision' AND t.relnamespace = current_schema()::regnamespace ORDER BY 1`);
    const rows = await tx.all<{ name: string; id: string }>(
      sql`SELECT tableoid::regclass::text AS "name", "reason" AS "id" FROM "_Decision" ORDER BY "at"`,
    );
    const of = (name: string): readonly string[] => rows.filter((row) => row.name.replaceAll('"', '').endsWith(name)).map(({ id }) => id);
    return Object.fromEntries(names.map(({ name }) => [name.replace('_Decision$', ''), of(name)]));
  });
}

const append = (at: string, reason: string, on: Database = database): Promise<void> =>
  on.transaction(async (tx) => appendEntry(tx, { ...testEntry(1), at, reason }));
const now = (): Promise<number> => database.transaction(async (tx) => tx.now);
const drop = (before: string, retained = 'false', after?: string) =>
  database.transaction((tx) =>
    dropOldest(tx, DECISION, {
      before,
      after: after === undefined ? undefined : { at: after, id: '' },
      retained: { condition: () => sql.raw(retained), select: (rows) => sql`SELECT * FROM ${rows} AS e WHERE ${sql.raw(retained)}` },
    }),
  );

it('today and the next seven days have a partition, even if several processes create them at once', async () => {
  await migrate(database, SYSTEM);
  const made = await Promise.all(Array.from({ length: 3 }, () => createPartitions(database, DECISION)));
  expect(made.toSorted()).toEqual([0, 0, 8]);
  const today = await now();
  await append(new Date(today).toISOString(), 'today');
  await append(new Date(today + DAY).toISOString(), 'tomorrow');
  const days = Array.from({ length: 8 }, (_, offset) => [
    dayOf(today + offset * DAY),
    offset === 0 ? ['today'] : offset === 1 ? ['tomorrow'] : [],
  ]);
  expect(await partitions()).toEqual({ ...Object.fromEntries(days), rest: [] });
  expect((await planMigration(database, SYSTEM)).steps).toEqual([]);
});

it('an entry belongs to the partition of its day', async () => {
  await migrate(database, SYSTEM);
  await append('2026-01-31T12:00:00.000Z', 'noon');
  await createPartitions(database, DECISION);
  await append('2026-01-31T23:59:59.999Z', 'before');
  await append('2026-02-01T00:00:00.000Z', 'after');
  await createPartitions(database, DECISION);
  await append('2026-02-01T00:00:00.001Z', 'then');
  expect(await partitions()).toMatchObject({ '2026-01-31': ['noon', 'before'], '2026-02-01': ['after', 'then'], rest: [] });
});

it('rows of a day without a partition move to it when it is created, while others append', async () => {
  await migrate(database, SYSTEM);
  const at = (n: number): string => `2026-03-0${1 + (n % 3)}T00:00:00.${String(n).padStart(3, '0')}Z`;
  const appending = Array.from({ length: 60 }, (_, n) => append(at(n), `${n}`));
  await Promise.all([...appending.slice(0, 20)]);
  await Promise.all([createPartitions(database, DECISION), ...appending.slice(20), createPartitions(database, DECISION)]);
  await createPartitions(database, DECISION);
  const { rest, '2026-03-01': first = [], '2026-03-02': second = [], '2026-03-03': third = [] } = await partitions();
  expect([rest, first.length, second.length, third.length]).toEqual([[], 20, 20, 20]);
});

it('rows with an invalid time stay in the default partition', async () => {
  await migrate(database, SYSTEM);
  await append('2026-01-31T12:00:00.000Z', 'put');
  for (const at of [`'); DROP--`, '2026-02-31', '9999', '9999-12-31']) {
    await database.transaction((tx) => tx.run(sql`UPDATE "_Decision" SET "at" = ${at}`));
    await createPartitions(database, DECISION);
    expect((await partitions())['rest']).toEqual(['put']);
  }
});

it('an unpartitioned table becomes the first partition, and migrations apply to it', async () => {
  const { partitionBy: _, ...source } = DECISION.source;
  const { resource } = parseDefinition(source, { builtIn: true });
  if (resource === undefined) throw new Error('no definition');
  await migrate(database, new Map([...SYSTEM, ['_Decision', resource]]));
  await append('2026-01-31T12:00:00.000Z', 'old');
  await append('2126-01-31T12:00:00.000Z', 'from a wrong clock');
  const migrated = await migrate(database, SYSTEM);
  expect(migrated.done.filter(({ kind }) => kind !== 'createIndex').map(({ reason }) => reason)).toEqual([
    '_Decision is partitioned by the day of at',
  ]);
  expect((await planMigration(database, SYSTEM)).steps).toEqual([]);
  await append('2126-01-31T13:00:00.000Z', 'new');
  await append('2126-02-01T00:00:00.000Z', 'next');
  await createPartitions(database, DECISION);
  expect(await partitions()).toEqual({ first: ['old', 'from a wrong clock', 'new'], '2126-02-01': ['next'], rest: [] });
  const fields = { ...(source['fields'] as object), more: { type: 'string', index: true } };
  const wider = parseDefinition({ ...DECISION.source, fields }, { builtIn: true }).resource;
  if (wider === undefined) throw new Error('no definition');
  const widened = await migrate(database, new Map([...SYSTEM, ['_Decision', wider]]));
  expect(widened.done.map(({ kind }) => kind)).toEqual(['addColumn', 'createIndex']);
  expect((await planMigration(database, new Map([...SYSTEM, ['_Decision', wider]]))).steps).toEqual([]);
  await database.transaction((tx) => tx.run(sql`UPDATE "_Decision" SET "more" = 'x' WHERE "at" > '2126'`));
  expect(await drop('2126-02-01')).toEqual({ at: '2126-02-01', id: '' });
});

it('old partitions are dropped one after the other, except for retained rows', async () => {
  await migrate(database, SYSTEM);
  for (const day of ['01', '02', '03'])
    for (const hour of ['00', '23']) await append(`2026-01-${day}T${hour}:00:00.000Z`, `${day} ${hour}`);
  await createPartitions(database, DECISION);
  expect(await drop('2026-01-03', `"reason" = '02 23'`)).toEqual({ at: '2026-01-02', id: '' });
  expect(await drop('2026-01-03', `"reason" = '02 23'`, '2026-01-02')).toEqual({ at: '2026-01-03', id: '' });
  expect(await drop('2026-01-03', `"reason" = '02 23'`, '2026-01-03')).toMatchObject({ at: '2026-01-02T23:00:00.000Z' });
  expect(await partitions()).toMatchObject({ '2026-01-02': ['02 23'], '2026-01-03': ['03 00', '03 23'], rest: [] });
  expect((await planMigration(database, SYSTEM)).steps).toEqual([]);
});

it('rows of the first partition are deleted one by one', async () => {
  const { partitionBy: _, ...source } = DECISION.source;
  const { resource } = parseDefinition(source, { builtIn: true });
  if (resource === undefined) throw new Error('no definition');
  await migrate(database, new Map([...SYSTEM, ['_Decision', resource]]));
  for (const day of ['01', '02', '03']) await append(`2026-01-${day}T12:00:00.000Z`, day);
  await migrate(database, SYSTEM);
  const position = await drop('2026-01-03', `"reason" = '01'`);
  expect(position).toMatchObject({ at: '2026-01-02T12:00:00.000Z' });
  const { at, id } = position ?? { at: '', id: '' };
  const more = await database.transaction((tx) =>
    dropOldest(tx, DECISION, {
      before: '2026-01-03',
      after: { at, id },
      retained: { condition: () => sql`false`, select: (rows) => sql`SELECT * FROM ${rows}` },
    }),
  );
  expect(more).toBeUndefined();
  expect((await partitions())['first']).toEqual(['01', '03']);
});

it('a duplicate entry is reported with its table and id column', async () => {
  await migrate(database, SYSTEM);
  await createPartitions(database, DECISION);
  const at = new Date(await now()).toISOString();
  await append(at, 'once');
  const again = database.transaction((tx) =>
    tx.run(sql`INSERT INTO "_Decision" ("id", "at", "kind", "allowed") SELECT "id", "at", "kind", "allowed" FROM "_Decision"`),
  );
  await expect(again).rejects.toMatchObject({ constraint: 'unique', table: '_Decision', columns: ['id', 'at'] });
});

it('a drop does not wait for long transactions, nor block appends', async () => {
  await migrate(database, SYSTEM);
  await append('2026-01-01T00:00:00.000Z', 'old');
  await createPartitions(database, DECISION);
  const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
  const { promise: isReading, resolve: reading } = Promise.withResolvers<void>();
  const other = database.transaction(async (tx) => {
    await tx.lock('anything');
    await tx.all(sql`SELECT 1 FROM "_Decision"`);
    reading();
    await isOver;
  });
  await isReading;
  await expect(drop('2026-01-02')).rejects.toMatchObject({ code: 'STORAGE_BUSY' });
  await append('2026-01-01T00:00:00.001Z', 'newer');
  end();
  await other;
  expect(await drop('2026-01-02')).toBeDefined();
  expect((await database.transaction((tx) => tx.all(sql`SELECT 1 FROM "_Decision"`))).length).toBe(0);
});
