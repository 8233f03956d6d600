/** Units of work that insert several rows with a commit that other units of work share. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import type { Database, Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertAfterLookups, insertRecord } from '../records.ts';
import { lockReferences } from '../related/reference-checks.ts';
import { define, failure, resourceOf, toRecord } from '../storage.fixture.ts';
import { LOG, openFamily } from './postgres.fixture.ts';

const { open, runSql, close } = openFamily('storage_postgres_batches');
const definitions = define({
  Part: {
    fields: {
      name: { type: 'string', unique: true },
      partId: { type: 'reference', to: 'Part' },
      text: { type: 'text' },
      size: { type: 'integer' },
      weight: { type: 'number' },
      price: { type: 'decimal', scale: 2 },
      isNew: { type: 'boolean' },
      kind: { type: 'enum', values: ['a', 'b'] },
      day: { type: 'date' },
      at: { type: 'timestamp' },
      tags: { type: 'list', of: 'string' },
      data: { type: 'json' },
    },
  },
});
const part = resourceOf(definitions, 'Part');

let database: Database;
beforeAll(async () => {
  // Long, so that no attempt ends on a slow machine.
  database = await open({ connections: 4, shortAttempt: 30_000 });
  await migrate(database, definitions);
  await runSql('CREATE TABLE "Log" ("id" TEXT COLLATE "C" PRIMARY KEY)');
});
afterAll(() => close(database));
beforeEach(() => runSql('DELETE FROM "Log"; DELETE FROM "Part"'));

const found = { has: () => true, isFree: () => true };
let entries = 0;

/** Inserts parts, with the commit if the transaction can be optimistic. */
async function insertParts(tx: Transaction, parts: readonly (readonly [id: string, values: JsonObject])[]): Promise<void> {
  tx.addToReadSet({ watch: new Map() });
  for (const [id, values] of parts) {
    const record = toRecord(id, values);
    await (tx.canBeOptimistic ? insertAfterLookups(tx, part, { record, definitions, found }) : insertRecord(tx, part, record));
    tx.append(LOG, [`entry ${++entries}`]);
  }
}

/** Runs a unit of work, and returns its result and the number of its runs. */
async function run<T>(work: (tx: Transaction) => Promise<T>): Promise<{ readonly runs: number; readonly result: T }> {
  let runs = 0;
  const result = await database.transaction((tx) => {
    runs++;
    return work(tx);
  });
  return { runs, result };
}

const countOf = async (table: string): Promise<number> => (await runSql(`SELECT count(*)::int AS "n" FROM "${table}"`)).rows[0].n;
const partsOf = async (ids: readonly string[]): Promise<readonly unknown[]> =>
  (await runSql('SELECT to_jsonb("Part") - \'id\' - \'name\' AS "part" FROM "Part" WHERE "id" = ANY ($1) ORDER BY "id"', [ids])).rows;

const VALUES: JsonObject = {
  text: 'a "quoted", {braced} \\ NULL \n line and ünïcode 🎉',
  size: Number.MAX_SAFE_INTEGER,
  weight: -1.5e-7,
  price: '12.30',
  isNew: false,
  kind: 'b',
  day: '2026-02-28',
  at: '2026-02-28T12:00:00.000Z',
  tags: ['', 'NULL', '{"a"}'],
  data: { a: [1, null, 'x"y'], b: {} },
};

it.each<[string, JsonObject]>([
  ['values of every type', VALUES],
  ['no values', {}],
  ['empty values', { text: '', size: 0, weight: 0, tags: [], data: null }],
])('inserts %s as a statement of one row does, alone and with others', async (_, values) => {
  await database.transaction((tx) => insertRecord(tx, part, toRecord('at once', { ...values, name: 'at once' })));
  expect((await run((tx) => insertParts(tx, [['alone', { ...values, name: 'alone' }]]))).runs).toBe(1);
  const together = ['first', 'second'].map((id) => [id, { ...values, name: id }] as const);
  expect((await run((tx) => insertParts(tx, together))).runs).toBe(1);
  const [expected, ...others] = await partsOf(['at once', 'alone', 'first', 'second']);
  expect(others).toEqual([expected, expected, expected]);
});

it('inserts the rows of one unit of work with one statement, each with its entry', async () => {
  await insertPart('red');
  const parts = Array.from({ length: 50 }, (_, at) => [`m${at}`, { name: `${at}`, ...(at % 3 > 0 && { partId: 'red' }) }] as const);
  expect((await run((tx) => insertParts(tx, parts))).runs).toBe(1);
  expect([await countOf('Part'), await countOf('Log')]).toEqual([51, 51]);
});

it('refuses a second deferred insertion of a unique value before the commit, and runs the unit of work again', async () => {
  let refused: unknown;
  const { runs } = await run(async (tx) => {
    await insertParts(tx, [['a', { name: 'same' }]]);
    if (!tx.canBeOptimistic) return;
    refused = await failure(insertParts(tx, [['b', { name: 'same' }]]));
    throw refused;
  });
  expect([refused, runs]).toMatchObject([{ code: 'STORAGE_BUSY' }, 2]);
  expect([await countOf('Part'), await countOf('Log')]).toEqual([1, 1]);
});

it('runs a unit of work again that then locks its own new record', async () => {
  const { runs, result: issues } = await run(async (tx) => {
    await insertParts(tx, [['a', { name: 'a' }]]);
    return lockReferences(tx, { resource: part, definitions }, { partId: 'a' });
  });
  expect([runs, issues]).toEqual([2, []]);
});

function insertPart(id: string): Promise<unknown> {
  return run((tx) => insertParts(tx, [[id, { name: id }]]));
}
