import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { databaseCasesOf } from '../../../test/budget.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import { ConstraintError } from '../contract.ts';
import { define, onPostgres, openTestDatabase, resourceOf, type TestDatabase } from '../storage.fixture.ts';
import { isManagedIndex } from './ddl.ts';
import { type MigrationResult, migrate, planMigration } from './migrate.ts';
import { dialectOf } from './migration-dialects.ts';

/**
 * Migrates tables with records through random sequences of definitions. The tables in force must then be those of a new database,
 * a second run must find nothing to do, and no record may be lost.
 */

const TYPES: readonly JsonObject[] = [
  { type: 'string' },
  { type: 'text' },
  { type: 'integer' },
  { type: 'decimal', scale: 1 },
  { type: 'boolean' },
  { type: 'enum', values: ['1', 'a'] },
  { type: 'list', of: 'string' },
  { type: 'json' },
  { type: 'reference', to: 'Parent' },
];
/** Two names that differ only in case: never both in force, but one of them may be archived. */
const NAMES = ['one', 'ONE', 'two', 'three'];

const fieldOf = fc
  .record({
    type: fc.constantFrom(...TYPES),
    index: fc.boolean(),
    unique: fc.boolean(),
    required: fc.constantFrom(true, false, false, false),
    from: fc.constantFrom(undefined, ...NAMES),
  })
  .map(({ type, index, unique, required, from }): JsonObject => {
    const indexable = type['type'] !== 'list' && type['type'] !== 'json';
    return { ...type, required, index: indexable && index, unique: indexable && unique, ...(from !== undefined && { renamedFrom: from }) };
  });

/** A resource of some of three fields, renamed from those that it does not have. */
const fieldsOf = fc.dictionary(fc.constantFrom(...NAMES), fieldOf, { minKeys: 0, maxKeys: 3 }).map((all): JsonObject => {
  const claimed = new Set<unknown>();
  const { ONE, ...rest } = all;
  const fields = ONE === undefined || rest['one'] !== undefined ? rest : { ...rest, ONE };
  const sound = Object.entries(fields).map(([name, { renamedFrom, ...field }]) => {
    const isFree = renamedFrom !== undefined && !Object.hasOwn(fields, String(renamedFrom)) && !claimed.has(renamedFrom);
    if (isFree) claimed.add(renamedFrom);
    return [name, isFree ? { ...field, renamedFrom } : field] as const;
  });
  return { always: { type: 'string' }, ...Object.fromEntries(sound) };
});

/** Parents always; children, by one of two names, or none. What cascades is kept only where the other end is. */
const sourcesOf = fc
  .record({
    parent: fieldsOf,
    child: fieldsOf,
    name: fc.constantFrom('Child', 'Infant', undefined),
    renamed: fc.boolean(),
    soft: fc.boolean(),
    both: fc.boolean(),
  })
  .map(({ parent, child, name, renamed, soft, both }): Readonly<Record<string, JsonObject>> => {
    const parentId = { type: 'reference', to: 'Parent', onDelete: 'cascade' };
    const other = name === 'Child' ? 'Infant' : 'Child';
    const kept = { softDelete: soft && both };
    const children =
      name === undefined ? {} : { [name]: { fields: { parentId, ...child }, ...kept, ...(renamed && { renamedFrom: other }) } };
    return { Parent: { fields: parent, softDelete: soft }, ...children };
  });

const ID = '018f4e6a-1c2b-7d3e-8f40-00000000000';
const TEXTS = ['1', 'a', `${ID}1`, '["a"]', '0.1', null];
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  string: TEXTS,
  timestamp: ['2026-01-01T00:00:00.000Z', null, null],
  text: TEXTS,
  integer: [0, 1, 12, null],
  decimal: [0, 10, 15, null],
  boolean: [0, 1],
  enum: ['1', 'a'],
  list: ['["a"]', '["a","b"]', '[]'],
  json: ['1', '{"a":1}', '["a"]'],
  reference: [`${ID}1`, `${ID}2`],
};

/** Inserts records, and writes values into empty columns, so that every migration could lose some. */
async function populate({ database }: TestDatabase, definitions: Definitions, seed: number): Promise<void> {
  const resources = [...definitions.values()].filter(({ name }) => !name.startsWith('_') && name !== 'User');
  const records = resources.flatMap(({ name, fields }) => [1, 2, 3].map((n) => ({ table: sql.table(name), fields, n, id: `${ID}${n}` })));
  await database.transaction(async (tx) => {
    for (const { table, id } of records) {
      const values = sql`(${id}, 1, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`;
      await tx.run(sql`INSERT INTO ${table} ("id", "version", "createdAt", "updatedAt") VALUES ${values} ON CONFLICT DO NOTHING`);
    }
    for (const { table, fields, id, n } of records) {
      for (const { name, type } of [...fields.values()].slice(5)) {
        const value = valueFor(type, seed + n);
        const change = sql`UPDATE ${table} SET ${sql.ref(name)} = ${value} WHERE "id" = ${id} AND ${sql.ref(name)} IS NULL`;
        await tx.savepoint(() => tx.run(change)).catch(passOver);
      }
    }
  });
}

/** Writes values into new columns and returns them. They are never overwritten. */
async function populateNew(test: TestDatabase, { definitions, done }: MigrationResult, seed: number): Promise<readonly string[]> {
  const parent = resourceOf(definitions, 'Parent');
  const made = done.filter(({ kind }) => kind === 'addColumn' || kind === 'createTable').map(({ field }) => field);
  const fields = [...parent.fields.values()].slice(5).filter(({ name }) => made.includes(undefined) || made.includes(name));
  await test.database.transaction(async (tx) => {
    const ids = [1, 2, 3].map((n) => ID + n);
    for (const id of ids)
      await tx.run(sql`INSERT INTO "Parent" ("id", "version", "createdAt", "updatedAt") VALUES (${id}, 1, '', '') ON CONFLICT DO NOTHING`);
    for (const { name, type } of fields) {
      for (const [n, id] of ids.entries()) {
        const change = sql`UPDATE "Parent" SET ${sql.ref(name)} = ${valueFor(type, seed + n)} WHERE "id" = ${id}`;
        await tx.savepoint(() => tx.run(change)).catch(passOver);
      }
    }
  });
  const rows = await test.rows('Parent');
  return rows.flatMap((row) => fields.flatMap(({ name }) => (row[name] === null ? [] : [toCell(row, row[name])])));
}

function toCell({ id }: Readonly<Record<string, unknown>>, value: unknown): string {
  return JSON.stringify([id, value]);
}

/** A value that is taken already, or that refers to nothing. */
function passOver(error: unknown): void {
  if (!(error instanceof ConstraintError)) throw error;
}

/** One that could have been written. */
function valueFor(type: string, seed: number): unknown {
  const values = VALUES[type] ?? [];
  return values[seed % values.length];
}

/** The managed parts of a database: columns, references, indexes. */
function shapeOf({ database }: TestDatabase, definitions: Definitions): Promise<unknown> {
  return database.transaction(async (tx) => {
    const tables = (await dialectOf(tx).introspect(tx)).filter(({ name }) => definitions.has(name));
    return tables.map(({ name, columns, indexes }) => ({
      name,
      columns: [...columns.values()]
        .map(({ constraint: _, ...column }) => column)
        .filter((column) => definitions.get(name)?.fields.has(column.name))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
      indexes: [...indexes.values()].filter((index) => isManagedIndex(index.name)).sort((a, b) => (a.name < b.name ? -1 : 1)),
    }));
  });
}

/** Counts all records, archived ones included. */
function countRecords({ database }: TestDatabase): Promise<number> {
  return database.transaction(async (tx) => {
    let count = 0;
    for (const { name } of await dialectOf(tx).introspect(tx)) {
      if (name.startsWith('_')) continue;
      count += (await tx.one<{ n: number }>(sql`SELECT count(*) AS n FROM ${sql.table(name)}`))?.n ?? 0;
    }
    return count;
  });
}

describe('any sequence of definitions', () => {
  it('any sequence of definitions leads to the tables that the last of them creates, leaves nothing to do, and loses no record', async () => {
    const sequence = fc.array(fc.record({ sources: sourcesOf, allowed: fc.boolean(), seed: fc.nat(100) }), {
      minLength: 2,
      maxLength: 5,
    });
    await fc.assert(
      fc.asyncProperty(sequence, async (steps) => {
        const test = openTestDatabase();
        const fresh = openTestDatabase();
        try {
          let inForce: Definitions = define({});
          for (const { sources, allowed, seed } of steps) {
            const definitions = define(sources);
            const before = await countRecords(test);
            const plan = await planMigration(test.database, definitions);
            const migrated = await migrate(test.database, definitions, allowed ? { allow: plan.hash } : {});
            expect(migrated.plan.hash).toBe(plan.hash);
            expect(await countRecords(test)).toBe(before);
            inForce = migrated.definitions;
            await populate(test, inForce, seed);
            expect((await migrate(test.database, inForce, { thorough: true })).plan.steps).toEqual([]);
            // PostgreSQL has no way to pass over a reference that leads to nothing.
            if (!onPostgres)
              expect(await test.database.transaction((tx) => tx.all(sql`SELECT * FROM pragma_foreign_key_check`))).toEqual([]);
          }
          await migrate(fresh.database, inForce);
          expect(await shapeOf(test, inForce)).toEqual(await shapeOf(fresh, inForce));
        } finally {
          await test.dispose();
          await fresh.dispose();
        }
      }),
      { numRuns: databaseCasesOf(10) },
    );
  });

  it('any sequence of definitions keeps every value that was ever written, in force or archived', async () => {
    const sequence = fc.array(fc.record({ fields: fieldsOf, seed: fc.nat(100) }), { minLength: 3, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(sequence, async (steps) => {
        const test = openTestDatabase();
        try {
          const given: string[] = [];
          for (const { fields, seed } of steps) {
            const definitions = define({ Parent: { fields } });
            const { hash } = await planMigration(test.database, definitions);
            given.push(...(await populateNew(test, await migrate(test.database, definitions, { allow: hash }), seed)));
            const kept = new Set((await test.rows('Parent')).flatMap((row) => Object.values(row).map((value) => toCell(row, value))));
            expect(given.filter((cell) => !kept.has(cell))).toEqual([]);
          }
        } finally {
          await test.dispose();
        }
      }),
      { numRuns: databaseCasesOf(10) },
    );
  });

  it('a return to earlier definitions restores every value that was there before', async () => {
    const way = fc.record({
      first: fc.constantFrom(...TYPES),
      others: fc.array(fc.constantFrom(...TYPES), { minLength: 1, maxLength: 4 }),
      seed: fc.nat(100),
    });
    await fc.assert(
      fc.asyncProperty(way, async ({ first, others, seed }) => {
        const test = openTestDatabase();
        try {
          const definitionsOf = (type: JsonObject): Definitions =>
            define({ Parent: { fields: { one: type, always: { type: 'string' } } } });
          await migrate(test.database, definitionsOf(first));
          await populate(test, definitionsOf(first), seed);
          const before = await test.rows('Parent');
          for (const type of [...others, first]) {
            const { hash } = await planMigration(test.database, definitionsOf(type));
            expect((await migrate(test.database, definitionsOf(type), { allow: hash })).plan.held).toEqual([]);
          }
          expect((await test.rows('Parent')).map(({ one, always }) => [one, always])).toEqual(
            before.map(({ one, always }) => [one, always]),
          );
        } finally {
          await test.dispose();
        }
      }),
      { numRuns: databaseCasesOf(15) },
    );
  });
});
