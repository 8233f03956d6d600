import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { failure, type TestDatabase } from '../storage.fixture.ts';
import { loadRolePolicies } from './assignment-records.ts';
import { openPolicyDatabase, resetPolicies, toPolicyInput } from './policy.fixture.ts';
import { importPolicies } from './policy-bulk-import.ts';
import { listPolicies } from './policy-records.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await openPolicyDatabase();
});
beforeEach(() => resetPolicies(test));
afterAll(() => test.dispose());

it('an import that writes for longer than its time fails and stores nothing', async () => {
  const imports = [{ policy: toPolicyInput('late'), roles: [], users: [] }];
  const late = test.database.transaction((tx) => importPolicies(tx, imports, { by: 'admin-1', milliseconds: -1 }));
  expect(await failure(late)).toMatchObject({ code: 'REQUEST_BUDGET', message: expect.stringContaining('adminMilliseconds') });
  expect(await test.database.transaction(listPolicies)).toEqual([]);
});

it.each([
  { writer: 'a file', before: 'a file', file: 'policies/a.yaml', previous: 'policies/a.yaml', assigned: 1, priority: 100 },
  { writer: 'a file', before: 'the API', file: 'policies/a.yaml', previous: undefined, assigned: 1, priority: 100 },
  { writer: 'an import', before: 'the API', file: undefined, previous: undefined, assigned: 0, priority: 7 },
])('$writer that omits the priority of an assignment of $before gives it priority $priority', async (given) => {
  const policy = toPolicyInput('frozen');
  const write = (file: string | undefined, priority: { readonly priority?: number }) =>
    test.database.transaction((tx) =>
      importPolicies(tx, [{ policy, file, roles: [{ role: 'user', ...priority }], users: [] }], { by: 'admin-1' }),
    );
  await write(given.previous, { priority: 7 });
  expect(await write(given.file, {})).toMatchObject({ assigned: given.assigned });
  const stored = await test.database.transaction((tx) => loadRolePolicies(tx, sql`1 = 1`));
  expect(stored).toMatchObject([{ priority: given.priority }]);
  expect(await write(given.file, {})).toMatchObject({ assigned: 0 });
});
