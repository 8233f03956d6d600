import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { insertRecord } from '../records.ts';
import { define, onPostgres, resourceOf, toRecord } from '../storage.fixture.ts';
import { quoteName } from '../table-names.ts';
import { migrate } from './migrate.ts';
import { article, type Fields, type MigrationTest, openMigrationTest } from './migration.fixture.ts';
import { pruneArchived } from './prune-archived.ts';

let test: MigrationTest;

beforeEach(() => {
  test = openMigrationTest();
});
afterEach(() => test.dispose());

describe('long names', () => {
  it('converts two fields of a resource whose long names begin alike', async () => {
    const fieldsOf = (type: string): Fields => ({ shippingAddressPostcode: { type }, shippingAddressNumber: { type } });
    const definitionsOf = (type: string): ReturnType<typeof define> =>
      define({ CustomerRelationshipManagementContactPerson: { fields: fieldsOf(type) } });
    const [before, name] = [definitionsOf('string'), 'CustomerRelationshipManagementContactPerson'];
    await migrate(test.database, before);
    const record = { shippingAddressPostcode: '11111', shippingAddressNumber: '2' };
    await test.database.transaction((tx) => insertRecord(tx, resourceOf(before, name), toRecord('1', record)));
    await migrate(test.database, definitionsOf('integer'));
    expect(await test.rows(name)).toMatchObject([{ shippingAddressPostcode: 11111, shippingAddressNumber: 2 }]);
  });

  it.each([60, 61, 62, 63])('restores the values of two fields whose names of %i characters begin alike', async (length) => {
    const [one, two] = [`${'a'.repeat(length - 1)}1`, `${'a'.repeat(length - 1)}2`];
    const fieldsOf = (type: string): Fields => ({ [one]: { type }, [two]: { type } });
    await test.apply(fieldsOf('string'));
    await test.insert(fieldsOf('string'), { [one]: 'free', [two]: '12' }, { [one]: '7', [two]: 'none' });
    for (const type of ['integer', 'boolean', 'integer', 'string']) expect((await test.force(fieldsOf(type))).plan.held).toEqual([]);
    expect(await test.rows('Article')).toMatchObject([
      { [one]: 'free', [two]: '12' },
      { [one]: '7', [two]: 'none' },
    ]);
    expect((await migrate(test.database, article(fieldsOf('string')), { thorough: true })).plan.steps).toEqual([]);
  });

  it('restores the values of a field with a long name after a rename from and to another long name', async () => {
    const [one, two] = ['a'.repeat(63), 'b'.repeat(63)];
    const before = { [one]: { type: 'string' } };
    await test.apply(before);
    await test.insert(before, { [one]: 'free' });
    await test.force({ [one]: { type: 'integer' } });
    await test.apply({ [two]: { type: 'integer', renamedFrom: one } });
    await test.force({ [one]: { type: 'boolean', renamedFrom: two } });
    await test.apply(before);
    expect(await test.rows('Article')).toMatchObject([{ [one]: 'free' }]);
  });

  it('prunes the archived columns of a field with a long name', async () => {
    const [name, after] = ['a'.repeat(63), { ['a'.repeat(63)]: { type: 'integer' } }];
    await test.apply({ [name]: { type: 'string' } });
    await test.insert({ [name]: { type: 'string' } }, { [name]: '12' });
    await test.apply(after);
    const steps = await pruneArchived(test.database, article(after), { actor: 'cli' });
    expect(steps.map(({ kind, rows }) => [kind, rows])).toEqual([['dropColumn', 1]]);
    expect(await test.rows('Article')).toMatchObject([{ [name]: 12 }]);
  });

  it.skipIf(onPostgres)('restores a column that an earlier version archived under a name of more than 63 characters', async () => {
    const name = 'a'.repeat(63);
    await test.apply({ [name]: { type: 'string' } });
    await test.insert({ [name]: { type: 'string' } }, { [name]: 'free' });
    await test.force({ [name]: { type: 'integer' } });
    const archived = Object.keys(await test.shapeOf('Article')).find((column) => column.includes('$')) ?? '';
    await test.database.transaction(async (tx) => {
      await tx.run(sql`ALTER TABLE "Article" RENAME COLUMN ${sql.ref(archived)} TO ${sql.raw(quoteName(`${name}$1`))}`);
      await tx.run(sql`UPDATE "_Definition" SET "id" = ${`Article.${name}$1`} WHERE "id" = ${`Article.${archived}`}`);
    });
    for (const type of ['boolean', 'decimal', 'string']) await test.force({ [name]: { type } });
    expect(await test.rows('Article')).toMatchObject([{ [name]: 'free' }]);
  });

  it('renames a resource whose name has 63 characters if only the case changes', async () => {
    const [before, after] = [`A${'a'.repeat(62)}`, `A${'a'.repeat(61)}A`];
    await migrate(test.database, define({ [before]: { fields: { title: { type: 'string' } } } }));
    await test.database.transaction((tx) => tx.run(sql`INSERT INTO ${sql.table(before)} ("id") VALUES ('1')`));
    await migrate(test.database, define({ [after]: { fields: { title: { type: 'string' } }, renamedFrom: before } }));
    expect(await test.rows(after)).toMatchObject([{ id: '1' }]);
  });
});
