import type { WholeState } from '../../../test/policy-fixtures.ts';
import type { PolicyInput, PolicyState } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertRecord } from '../records.ts';
import { emptyTables, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../storage.fixture.ts';
import { loadUserPolicies } from './assignment-records.ts';
import { listPolicies } from './policy-records.ts';
import { loadPolicyState } from './policy-state.ts';

/** Opens a database with the system tables. */
export async function openPolicyDatabase(): Promise<TestDatabase> {
  const test = openTestDatabase();
  await migrate(test.database, SYSTEM);
  return test;
}

const CHANGED = ['_UserPolicy', '_RolePolicy', '_PolicyRule', '_Policy', '_PolicyHistory', '_Epoch', '_State', 'User'];

/** Removes what a test has changed: leaves the users u1 and u2, no policies, and revisions that start at zero. */
export async function resetPolicies(test: TestDatabase): Promise<void> {
  await emptyTables(test, ...CHANGED);
  await test.database.transaction(async (tx) => {
    for (const id of ['u1', 'u2']) await insertUser(tx, id);
  });
}

/** Inserts a user without a password. */
export function insertUser(tx: Transaction, id: string): Promise<void> {
  return insertRecord(tx, resourceOf(SYSTEM, 'User'), toRecord(id, { name: id, email: `${id}@example.com`, password: '', role: 'user' }));
}

/** Returns the code of the problem that ends a transaction; undefined if it commits. */
export async function problemCodeOf({ database }: TestDatabase, work: (tx: Transaction) => Promise<unknown>): Promise<string | undefined> {
  try {
    await database.transaction(work);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

/** Loads the policy state, with the policies that only users have. */
export async function loadFullState(tx: Transaction): Promise<PolicyState> {
  return { ...(await loadPolicyState(tx)), policies: await listPolicies(tx) };
}

/** Loads the policy state with the assignments of all users. */
export async function loadWholeState(tx: Transaction): Promise<WholeState> {
  return { ...(await loadFullState(tx)), userPolicies: await loadUserPolicies(tx, sql`1 = 1`) };
}

/** Returns a policy with two rules. */
export function toPolicyInput(name: string, others: Partial<PolicyInput> = {}): PolicyInput {
  const conditions = [{ field: 'user.id', operator: 'eq', value: 'u1' }];
  return {
    name,
    type: 'CUSTOM',
    isActive: true,
    priority: 100,
    tags: ['a', 'b'],
    rules: [
      { resource: 'Article', action: 'read', effect: 'ALLOW', conditions, priority: 900, description: 'first', isActive: true },
      { resource: '*', action: '*', effect: 'DENY', conditions: [], priority: 5, isActive: false },
    ],
    ...others,
  };
}
