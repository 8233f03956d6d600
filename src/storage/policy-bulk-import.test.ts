import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPolicyDatabase, toPolicyInput } from './policy.fixture.ts';
import { importPolicies } from './policy-bulk-import.ts';
import { listPolicies } from './policy-records.ts';
import { failure, type TestDatabase } from './storage.fixture.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await openPolicyDatabase();
});
afterAll(() => test.dispose());

it('an import that writes for longer than its time fails and stores nothing', async () => {
  const imports = [{ policy: toPolicyInput('late'), roles: [], users: [] }];
  const late = test.database.transaction((tx) => importPolicies(tx, imports, { by: 'admin-1', milliseconds: -1 }));
  expect(await failure(late)).toMatchObject({ code: 'REQUEST_BUDGET', message: expect.stringContaining('adminMilliseconds') });
  expect(await test.database.transaction(listPolicies)).toEqual([]);
});
