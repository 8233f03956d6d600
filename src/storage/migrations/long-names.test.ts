import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { insertRecord } from '../records.ts';
import { define, resourceOf, toRecord } from '../storage.fixture.ts';
import { migrate } from './migrate.ts';
import { type Fields, type MigrationTest, openMigrationTest } from './migration.fixture.ts';

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
});
