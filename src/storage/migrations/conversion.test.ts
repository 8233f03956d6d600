import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SetupError } from '../../errors.ts';
import { sql } from '../../sql.ts';
import { insertRecord } from '../records.ts';
import { define, failure, resourceOf, toRecord } from '../storage.fixture.ts';
import { migrate, planMigration } from './migrate.ts';
import { article, blocked, type Fields, kinds, type MigrationTest, openMigrationTest, stepOf } from './migration.fixture.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

const asText: Fields = { price: { type: 'string' } };
const asNumber: Fields = { price: { type: 'integer' } };
const prices = async (): Promise<unknown[]> => (await test.rows('Article')).map(({ price }) => price);
const write = (id: string, price: unknown): Promise<unknown> =>
  test.database.transaction((tx) => tx.run(sql`UPDATE "Article" SET "price" = ${price} WHERE "id" = ${id}`));

describe('a changed type', () => {
  it('converts the values without confirmation if all can be converted', async () => {
    await test.apply(asText);
    await test.insert(asText, { price: '12' }, {}, { price: '7' });
    const migrated = await test.apply(asNumber);
    expect(kinds(migrated)).toEqual(['convert price']);
    expect(stepOf(migrated.done, 'convert')).toMatchObject({ risk: 'needs-backfill', rows: 2 });
    expect(await prices()).toEqual([12, null, 7]);
    expect((await test.apply(asNumber)).plan.steps).toEqual([]);
    expect((await planMigration(test.database, article(asNumber))).steps).toEqual([]);
  });

  it('a changed type is safe without values', async () => {
    await test.apply(asText);
    expect(stepOf((await test.apply(asNumber)).done, 'convert').risk).toBe('safe');
  });

  it('a changed type needs confirmation if values cannot be converted, and names their records', async () => {
    await test.apply(asText);
    await test.insert(asText, { price: '12' }, ...Array.from({ length: 6 }, () => ({ price: 'free' })));
    const { plan, done, definitions } = await test.apply(asNumber);
    expect([done, plan.held, definitions.get('Article')?.fields.get('price')?.type]).toEqual([[], ['Article'], 'string']);
    expect(stepOf(plan.steps, 'convert')).toMatchObject({ risk: 'lossy', rows: 6, ids: ['2', '3', '4', '5', '6'] });
    expect(stepOf(plan.steps, 'convert').reason).toContain('6 of 7 values cannot be converted');
    expect(await prices()).toContain('free');
  });

  it('performs a conversion for the hash of the present plan only', async () => {
    await test.apply(asText);
    await test.insert(asText, { price: '12' }, { price: 'free' }, { price: '1' });
    const { hash } = await planMigration(test.database, article(asNumber));
    expect((await planMigration(test.database, article(asNumber))).hash).toBe(hash);
    await write('3', 'cheap');
    const refused = await failure(migrate(test.database, article(asNumber), { allow: hash }));
    expect(refused).toBeInstanceOf(SetupError);
    const now = (await planMigration(test.database, article(asNumber))).hash;
    expect((refused as SetupError).mistakes.join()).toContain(now);
    expect(await prices()).toEqual(['12', 'free', 'cheap']);
    expect(kinds(await migrate(test.database, article(asNumber), { allow: now }))).toEqual(['convert price']);
    expect(await prices()).toEqual([12, null, null]);
  });

  it('writes the default of a required field where a value cannot be converted', async () => {
    await test.apply(asText);
    await test.insert(asText, { price: '12' }, { price: 'free' });
    expect(blocked(await test.force({ price: { type: 'integer', required: true } }))).toEqual([
      expect.stringContaining('Article.price is required, but 1 record has no value'),
    ]);
    expect(kinds(await test.force({ price: { type: 'integer', required: true, default: 0 } }))).toEqual([
      'convert price',
      'backfill price',
      'redefine',
    ]);
    expect(await prices()).toEqual([12, 0]);
  });

  it('refuses a conversion if different unique values become equal', async () => {
    await test.apply(asText);
    await test.insert(asText, { price: '1' }, { price: '1.0' });
    const migrated = await test.apply({ price: { type: 'integer', unique: true } });
    expect(blocked(migrated)).toEqual(['Article (price) must be unique, but several records have 1 (2); change these records first']);
  });

  it('recreates the indexes on the new column', async () => {
    await test.apply({ price: { type: 'string', index: true, unique: true } }, { indexes: [{ fields: ['createdAt', 'price'] }] });
    await test.insert(asText, { price: '1' });
    await test.apply({ price: { type: 'integer', index: true, unique: true } }, { indexes: [{ fields: ['createdAt', 'price'] }] });
    expect(await test.indexesOf('Article')).toEqual([
      'CREATE INDEX "ix_Article$createdAt$price" ON "Article" ("createdAt", "price", "id")',
      'CREATE UNIQUE INDEX "ux_Article$price" ON "Article" ("price")',
    ]);
  });

  it('a changed type can be combined with a rename', async () => {
    await test.apply(asText);
    await test.insert(asText, { price: '12' });
    const after = { cost: { type: 'integer', renamedFrom: 'price' } };
    expect(kinds(await test.apply(after))).toEqual(['convert cost']);
    expect(await test.rows('Article')).toMatchObject([{ cost: 12, cost$1: '12' }]);
    expect((await test.apply(after)).plan.steps).toEqual([]);
  });

  it('converts more rows than one statement reads', async () => {
    await test.apply(asText);
    await test.database.transaction(async (tx) => {
      const price = resourceOf(article(asText), 'Article');
      for (let i = 1; i <= 1203; i++) await insertRecord(tx, price, toRecord(String(i).padStart(5, '0'), { price: String(i) }));
    });
    await test.apply(asNumber);
    const sum = await test.database.transaction((tx) =>
      tx.one(sql`SELECT count("price") AS "count", sum("price") AS "sum" FROM "Article"`),
    );
    expect(sum).toEqual({ count: 1203, sum: (1203 * 1204) / 2 });
  });
});

describe('a type that is changed back', () => {
  it('a type that is changed back restores every value, including those that the other type could not represent', async () => {
    await test.apply(asText);
    await test.insert(asText, { price: '1.0' }, { price: 'free' }, {}, { price: '5' }, { price: '6' });
    await test.force(asNumber);
    expect(await prices()).toEqual([1, null, null, 5, 6]);
    await write('3', 33);
    await write('4', 44);
    await write('5', null);
    expect(kinds(await test.apply(asText))).toEqual(['convert price']);
    // As they were; written meanwhile; emptied meanwhile.
    expect(await prices()).toEqual(['1.0', 'free', '33', '44', null]);
    expect((await test.apply(asText)).plan.steps).toEqual([]);
  });

  it('restores values after any number of changes, including those archived in between', async () => {
    await test.apply(asText);
    await test.insert(asText, { price: 'free' }, { price: '1' });
    for (let round = 0; round < 3; round++) {
      await test.force(asNumber);
      expect(await prices()).toEqual([null, 1]);
      await test.force({ price: { type: 'boolean' } });
      expect(await prices()).toEqual([null, 1]);
      await test.force(asText);
      expect(await prices()).toEqual(['free', '1']);
    }
    expect(Object.keys(await test.shapeOf('Article')).filter((name) => name.startsWith('price'))).toHaveLength(3);
  });

  it('restores no value that an enum no longer lists', async () => {
    const listed = (...values: string[]): Fields => ({ price: { type: 'enum', values } });
    await test.apply(listed('1', '2'));
    await test.insert(listed('1', '2'), { price: '1' }, { price: '2' });
    await test.apply(asNumber);
    expect(stepOf((await test.apply(listed('2'))).plan.steps, 'convert')).toMatchObject({ risk: 'lossy', ids: ['1'] });
  });

  const integer = { type: 'integer' };
  const decimal = { type: 'decimal', scale: 1 };
  const boolean = { type: 'boolean' };
  const string = { type: 'string' };
  const json = { type: 'json' };
  const list = { type: 'list', of: 'string' };
  const one = { type: 'enum', values: ['1'] };

  /** Sequences of types after which a value was once not restored, because it was mistaken for an overwritten one. */
  it.each([
    [decimal, '1.0', 10, [string, integer, one]],
    [decimal, '1.0', 10, [integer, decimal, one, boolean]],
    [boolean, true, 1, [decimal, integer, decimal]],
    [integer, 0, 0, [boolean, json, integer, list]],
    [list, ['a'], '["a"]', [json, list, json, string]],
  ])('restores the value of %j after other types: %j (case %#)', async (first, value, stored, others) => {
    const fieldsOf = (price: Fields[string]): Fields => ({ price });
    await test.apply(fieldsOf(first));
    await test.insert(fieldsOf(first), { price: value });
    for (const other of others) await test.force(fieldsOf(other));
    await test.force(fieldsOf(first));
    expect(await prices()).toEqual([stored]);
  });

  it('restores values of a field that was renamed in between', async () => {
    await test.apply(asText);
    await test.insert(asText, { price: 'free' });
    await test.force(asNumber);
    expect(kinds(await test.apply({ cost: { type: 'integer', renamedFrom: 'price' } }))).toEqual(['renameColumn cost']);
    await test.apply({ cost: { type: 'string' } });
    expect(await test.rows('Article')).toMatchObject([{ cost: 'free' }]);
  });

  it('restores values of a field that is renamed at the same time, twice, and only in case', async () => {
    await test.apply(asText);
    await test.insert(asText, { price: 'true' }, { price: 'free' });
    const way: readonly Fields[] = [
      { price: { type: 'boolean' } },
      { cost: { type: 'integer', renamedFrom: 'price' } },
      { COST: { type: 'boolean', renamedFrom: 'cost' } },
      { Price: { type: 'integer', renamedFrom: 'COST' } },
      { price: { type: 'string', renamedFrom: 'Price' } },
    ];
    for (let round = 0; round < 2; round++) {
      for (const fields of way) expect((await test.force(fields)).plan.held).toEqual([]);
      expect(await prices()).toEqual(['true', 'free']);
    }
  });
});

describe('a reference to another resource', () => {
  const id = (n: number): string => `018f4e6a-1c2b-7d3e-8f40-00000000000${n}`;
  const one: Fields = { title: { type: 'string' } };
  const pointing = (to: string, list = false): Parameters<typeof define>[0] => ({
    Left: { fields: one },
    Right: { fields: one },
    Article: { fields: { other: list ? { type: 'list', of: { type: 'reference', to } } : { type: 'reference', to } } },
  });
  const populate = async (others: readonly unknown[], list = false): Promise<void> => {
    await migrate(test.database, define(pointing('Left', list)));
    await test.database.transaction(async (tx) => {
      for (const n of [1, 2]) await tx.run(sql`INSERT INTO "Left" ("id") VALUES (${id(n)})`);
      await tx.run(sql`INSERT INTO "Right" ("id") VALUES (${id(1)})`);
      for (const [n, other] of others.entries()) await tx.run(sql`INSERT INTO "Article" ("id", "other") VALUES (${String(n)}, ${other})`);
    });
  };

  it.each([
    ['alone', false, [id(1), id(2)], [id(1), null]],
    ['in a list', true, [`["${id(1)}"]`, `["${id(1)}","${id(2)}"]`], [`["${id(1)}"]`, null]],
  ])('a changed reference %s keeps ids of existing records, and needs confirmation for the rest', async (_, list, before, after) => {
    await populate(before, list);
    const definitions = define(pointing('Right', list));
    const plan = await planMigration(test.database, definitions);
    expect(stepOf(plan.steps, 'convert')).toMatchObject({ risk: 'lossy', rows: 1, ids: ['1'] });
    await migrate(test.database, definitions, { allow: plan.hash });
    expect((await test.rows('Article')).map(({ other }) => other)).toEqual(after);
    expect((await migrate(test.database, definitions, { thorough: true })).plan.steps).toEqual([]);
  });

  it('a reference that changes to a new resource is lost', async () => {
    await populate([id(1)]);
    const definitions = define({ ...pointing('New'), New: { fields: one } });
    const plan = await planMigration(test.database, definitions);
    expect(stepOf(plan.steps, 'convert')).toMatchObject({ risk: 'lossy', rows: 1 });
    await migrate(test.database, definitions, { allow: plan.hash });
    expect((await migrate(test.database, define(pointing('Left')))).plan.held).toEqual([]);
    expect((await test.rows('Article')).map(({ other }) => other)).toEqual([id(1)]);
  });

  it('a reference converted from text must be the id of a record', async () => {
    await test.apply(asText);
    await test.database.transaction((tx) => insertRecord(tx, resourceOf(define({}), 'User'), { id: id(1), email: 'a@example.org' }));
    await test.insert(asText, { price: id(1) }, { price: id(2) }, { price: 'Ada' });
    const { plan } = await test.apply({ price: { type: 'reference', to: 'User' } });
    expect(stepOf(plan.steps, 'convert')).toMatchObject({ risk: 'lossy', rows: 2, ids: ['2', '3'] });
  });
});
