import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../sql.ts';
import { readingEarlierTables } from './earlier-tables.ts';
import { migrate } from './migrations/migrate.ts';
import { toPolicyInput } from './policies/policy.fixture.ts';
import { createPolicy } from './policies/policy-records.ts';
import { loadPolicyVersion } from './policies/policy-versions.ts';
import { define, failure, openTestDatabase, type TestDatabase } from './storage.fixture.ts';

let test: TestDatabase;
let policyId: string;
beforeEach(async () => {
  test = openTestDatabase();
  await migrate(test.database, define({}));
  policyId = (await test.database.transaction((tx) => createPolicy(tx, toPolicyInput('readers'), { by: 'u1' }))).id;
});
afterEach(() => test.dispose());

describe('the policy history of a version without checksums', () => {
  const transaction: TestDatabase['database']['transaction'] = (work, options) =>
    readingEarlierTables((inner, given) => test.database.transaction(inner, given))(work, options);

  it('refuses a row without a checksum while the table has the column', async () => {
    await test.database.transaction((tx) => tx.run(sql`UPDATE "_PolicyHistory" SET "checksum" = NULL`));
    expect(await failure(transaction((tx) => loadPolicyVersion(tx, policyId)))).toMatchObject({ code: 'STORAGE_DAMAGED' });
  });

  it('reads the rows without a comparison if the table has no checksums', async () => {
    await test.database.transaction((tx) => tx.run(sql`ALTER TABLE "_PolicyHistory" DROP COLUMN "checksum"`));
    expect(await transaction((tx) => loadPolicyVersion(tx, policyId))).toMatchObject({ value: { name: 'readers' } });
  });
});
