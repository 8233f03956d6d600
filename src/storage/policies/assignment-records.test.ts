import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createAnswerSize } from '../answer-size.ts';
import type { Database, Transaction } from '../contract.ts';
import type { TestDatabase } from '../storage.fixture.ts';
import { assignToRole, assignToUser, removeAssignment, updateAssignment } from './assignment-records.ts';
import { loadWholeState, openPolicyDatabase, problemCodeOf, resetPolicies, toPolicyInput } from './policy.fixture.ts';
import { type AssignedPageQuery, type AssignedPolicy, listRolePolicies, loadAssignedPage } from './policy-lists.ts';
import { createPolicy } from './policy-records.ts';
import type { Assignee } from './policy-search.ts';
import { currentRevision } from './revision.ts';

let test: TestDatabase;
let database: Database;
const by = 'admin-1';

beforeAll(async () => {
  test = await openPolicyDatabase();
  database = test.database;
});
afterAll(() => test.dispose());
beforeEach(() => resetPolicies(test));

function inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
  return database.transaction(work);
}

function codeOf(work: (tx: Transaction) => Promise<unknown>): Promise<string | undefined> {
  return problemCodeOf(test, work);
}

describe('assignments', () => {
  let policyId: string;
  beforeEach(async () => {
    policyId = (await inTransaction((tx) => createPolicy(tx, toPolicyInput('A'), { by }))).id;
  });

  it('an assignment has defaults for omitted members', async () => {
    const { assignment: own } = await inTransaction((tx) => assignToUser(tx, { policyId, userId: 'u1' }, { by }));
    const { assignment: ofRole } = await inTransaction((tx) => assignToRole(tx, { policyId, role: 'editor' }, { by }));
    expect(own).toMatchObject({ policyId, userId: 'u1', assignedBy: by, isActive: true, context: {} });
    expect(ofRole).toMatchObject({ policyId, role: 'editor', assignedBy: by, isActive: true, priority: 100 });
    expect(await inTransaction(loadWholeState)).toEqual({
      revision: 3,
      policies: [expect.anything()],
      userPolicies: [own],
      rolePolicies: [ofRole],
    });
  });

  it('an assignment can be created only once', async () => {
    const assign = (tx: Transaction) => assignToUser(tx, { policyId, userId: 'u1' }, { by });
    const toRole = (tx: Transaction) => assignToRole(tx, { policyId, role: 'user' }, { by });
    // Either of two concurrent calls may be the first.
    for (const each of [assign, toRole])
      expect((await Promise.all([codeOf(each), codeOf(each)])).toSorted()).toEqual(['ASSIGNMENT_EXISTS', undefined]);
    expect(await inTransaction(currentRevision)).toBe(3);
  });

  it('an assignment requires an existing policy and user', async () => {
    expect(await codeOf((tx) => assignToUser(tx, { policyId: 'none', userId: 'u1' }, { by }))).toBe('POLICY_UNKNOWN');
    expect(await codeOf((tx) => assignToUser(tx, { policyId, userId: 'none' }, { by }))).toBe('USER_UNKNOWN');
    expect(await codeOf((tx) => assignToRole(tx, { policyId: 'none', role: 'user' }, { by }))).toBe('POLICY_UNKNOWN');
  });

  it('an update of an assignment keeps members that it omits', async () => {
    const pair = { policyId, userId: 'u1' };
    const expiresAt = '2030-01-01T00:00:00.000Z';
    await inTransaction((tx) => assignToUser(tx, pair, { by, expiresAt, context: { ticket: 7 } }));
    const changed = await inTransaction((tx) => updateAssignment(tx, pair, { by: 'other', isActive: false }));
    expect(changed).toMatchObject({ isActive: false, expiresAt, context: { ticket: 7 }, assignedBy: by });
    await inTransaction((tx) => updateAssignment(tx, pair, { by, expiresAt: null }));
    const { userPolicies } = await inTransaction(loadWholeState);
    expect(userPolicies[0]).not.toHaveProperty('expiresAt');
    expect(await codeOf((tx) => updateAssignment(tx, { policyId, userId: 'u2' }, { by }))).toBe('ASSIGNMENT_UNKNOWN');
  });

  it('removes an assignment once', async () => {
    const pair = { policyId, role: 'user' } as const;
    await inTransaction((tx) => assignToRole(tx, pair, { by, priority: 5 }));
    await inTransaction((tx) => removeAssignment(tx, pair, { by }));
    expect((await inTransaction(loadWholeState)).rolePolicies).toEqual([]);
    expect(await codeOf((tx) => removeAssignment(tx, pair, { by }))).toBe('ASSIGNMENT_UNKNOWN');
  });

  it('lists assignments with their policies', async () => {
    await inTransaction(async (tx) => {
      const other = await createPolicy(tx, toPolicyInput('B'), { by });
      await assignToUser(tx, { policyId, userId: 'u1' }, { by, isActive: false });
      await assignToUser(tx, { policyId: other.id, userId: 'u2' }, { by });
      await assignToRole(tx, { policyId: other.id, role: 'user' }, { by });
      const names = (assigned: readonly AssignedPolicy[]) => assigned.map(({ policy, assignment }) => [policy.name, assignment.isActive]);
      const page = { limit: 10, size: createAnswerSize(100_000) };
      const namesOn = async (...[assignee, query]: [Assignee, AssignedPageQuery]) =>
        names((await loadAssignedPage(tx, assignee, query)).assigned);
      expect(await namesOn({ userId: 'u1' }, page)).toEqual([['A', false]]);
      expect(await namesOn({ role: 'user' }, page)).toEqual([['B', true]]);
      expect(await namesOn({ role: 'user' }, { ...page, after: other.id })).toEqual([]);
      expect(names(await listRolePolicies(tx, 'user'))).toEqual([['B', true]]);
      expect(names(await listRolePolicies(tx, 'admin'))).toEqual([]);
    });
  });
});
