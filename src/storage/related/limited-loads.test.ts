import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SYSTEM } from '../../resources/system/index.ts';
import type { Transaction } from '../contract.ts';
import { assignToRole, assignToUser, removeAssignmentsOf } from '../policies/assignment-records.ts';
import { insertUser, loadFullState, openPolicyDatabase, toPolicyInput } from '../policies/policy.fixture.ts';
import { loadPolicyStateAt } from '../policies/policy-history.ts';
import { listRoleAssignments } from '../policies/policy-lists.ts';
import { createPolicy, deletePolicy, listPolicies } from '../policies/policy-records.ts';
import { loadUserAssignments } from '../policies/policy-state.ts';
import { currentRevision } from '../policies/revision.ts';
import { failure, openUrl, resourceOf, type TestDatabase } from '../storage.fixture.ts';
import { countUserValues } from '../user-queries.ts';

/** More users than rows between two deadline checks. */
const USERS = Array.from({ length: 300 }, (_, n) => `u${n}`);

let test: TestDatabase;
let policyId: string;
beforeAll(async () => {
  test = await openPolicyDatabase();
  await test.database.transaction(async (tx) => {
    for (const userId of USERS) await insertUser(tx, userId);
    const { id } = await createPolicy(tx, toPolicyInput('A'), { by: 'admin-1' });
    policyId = id;
    for (const userId of USERS) await assignToUser(tx, { policyId: id, userId }, { by: 'admin-1' });
    await assignToRole(tx, { policyId: id, role: 'user' }, { by: 'admin-1' });
  });
});
afterAll(() => test.dispose());

/** Loads in a request whose time is up. */
function load(loading: (tx: Transaction) => Promise<unknown>): Promise<unknown> {
  const work = (tx: Transaction): Promise<unknown> => {
    tx.limitTime(0);
    return loading(tx);
  };
  return test.database.transaction(work, { beginsLong: true });
}

describe('the time limit of loads', () => {
  it.each<[string, (tx: Transaction) => Promise<unknown>]>([
    ['all policies', listPolicies],
    ['all assignments to roles', listRoleAssignments],
    ['the policies of a past revision', async (tx) => loadPolicyStateAt(tx, await currentRevision(tx), { userId: 'u1', role: 'user' })],
    ['the assignments of many users', (tx) => loadUserAssignments(tx, USERS, { isLimited: true })],
    ['the values of users', (tx) => countUserValues(tx, resourceOf(SYSTEM, 'User'), { limit: 1000 })],
  ])('a load of %s ends when the time of the request is up', async (_, loading) => {
    expect(await failure(load(loading))).toMatchObject({ code: 'REQUEST_BUDGET' });
  });

  it.each<[string, (tx: Transaction) => Promise<unknown>]>([
    ['a policy', (tx) => deletePolicy(tx, policyId, { by: 'admin-1' })],
    ['a user', (tx) => removeAssignmentsOf(tx, 'u1', { by: 'admin-1' })],
  ])('the removal of all assignments of %s ends when the time is up, and removes none', async (_, removing) => {
    const other = openUrl(test.url, { timeLimits: { short: 60_000, writer: 0 } });
    const work = (tx: Transaction): Promise<unknown> => {
      tx.limitTime(0);
      return removing(tx);
    };
    expect(await failure(other.transaction(work, { beginsLong: true }))).toMatchObject({ code: 'REQUEST_BUDGET' });
    await other.close();
    expect((await test.rows('_UserPolicy')).length).toBe(USERS.length);
  });

  it('policies and assignments that decisions depend on are loaded even when the time of the request is up', async () => {
    expect(await load((tx) => tx.withoutTimeLimit(() => loadFullState(tx)))).toMatchObject({ policies: [{ name: 'A' }] });
    const { assignments } = (await load((tx) => tx.withoutTimeLimit(() => loadUserAssignments(tx, USERS)))) as Awaited<
      ReturnType<typeof loadUserAssignments>
    >;
    expect(assignments.size).toBe(USERS.length);
  });
});
