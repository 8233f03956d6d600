import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NEWSROOM } from '../../../test/policy-fixtures.ts';
import { policiesFromPermissions } from '../../authz/policies/index.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import type { Database, Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { openTestDatabase, type TestDatabase } from '../storage.fixture.ts';
import { applyPermissions, comparePermissions } from './permission-comparison.ts';
import { loadWholeState, toPolicyInput } from './policy.fixture.ts';
import { listPolicies, loadPolicy, updatePolicy } from './policy-records.ts';

let test: TestDatabase;
let database: Database;
const by = 'admin-1';

beforeEach(async () => {
  test = openTestDatabase();
  database = test.database;
  await migrate(database, SYSTEM);
});
afterEach(() => test.dispose());

function inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
  return database.transaction(work);
}

describe('policies from permissions', () => {
  const planned = policiesFromPermissions(NEWSROOM);

  it('creates policies from permissions once, if they are missing', async () => {
    const made = await inTransaction((tx) => applyPermissions(tx, planned, { by }));
    expect([made.missingPolicies.length, made.missingAssignments.length]).toEqual([3, 3]);
    const again = await inTransaction((tx) => applyPermissions(tx, planned, { by }));
    expect(again).toEqual({ missingPolicies: [], missingAssignments: [], differing: [] });
    const { policies, rolePolicies } = await inTransaction(loadWholeState);
    expect([policies.length, rolePolicies.length]).toEqual([3, 3]);
  });

  it('does not overwrite a policy that an admin changed', async () => {
    await inTransaction((tx) => applyPermissions(tx, planned, { by }));
    const [policy] = await inTransaction((tx) => listPolicies(tx));
    const narrowed = policy?.rules.slice(1) ?? [];
    await inTransaction((tx) => updatePolicy(tx, { ...toPolicyInput(policy?.name ?? ''), rules: narrowed }, { id: policy?.id ?? '', by }));
    await inTransaction((tx) => applyPermissions(tx, planned, { by }));
    expect((await inTransaction((tx) => loadPolicy(tx, policy?.id ?? '')))?.rules).toEqual(narrowed);
    expect((await inTransaction((tx) => comparePermissions(tx, planned))).differing).toEqual([policy?.name]);
  });
});
