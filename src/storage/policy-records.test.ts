import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { NEWSROOM, type WholeState } from '../../test/policy-fixtures.ts';
import { type PolicyInput, policiesFromPermissions } from '../authz/policies/index.ts';
import { Problem } from '../errors.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import { assignToRole, assignToUser, loadUserPolicies, removeAssignment, updateAssignment } from './assignment-records.ts';
import type { Database, Transaction } from './contract.ts';
import { migrate } from './migrations/migrate.ts';
import { applyPermissions, comparePermissions } from './policy-bulk-import.ts';
import {
  createPolicy,
  deletePolicy,
  listPolicies,
  listRolePolicies,
  listUserPolicies,
  loadPolicy,
  loadPolicyState,
  updatePolicy,
} from './policy-records.ts';
import { insertRecord } from './records.ts';
import { advanceRevision, currentRevision } from './revision.ts';
import { openTestDatabase, resourceOf, type TestDatabase, toRecord } from './storage.fixture.ts';

let test: TestDatabase;
let database: Database;
const by = 'admin-1';

beforeEach(async () => {
  test = openTestDatabase();
  database = test.database;
  await migrate(database, SYSTEM);
  await database.transaction(async (tx) => {
    // Revisions start at zero in these tests.
    await tx.run(sql`DELETE FROM "_State"`);
    for (const id of ['u1', 'u2'])
      await insertRecord(
        tx,
        resourceOf(SYSTEM, 'User'),
        toRecord(id, { name: id, email: `${id}@example.com`, password: '', role: 'user' }),
      );
  });
});
afterEach(() => test.dispose());

function inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
  return database.transaction(work);
}

async function codeOf(work: (tx: Transaction) => Promise<unknown>): Promise<string | undefined> {
  try {
    await database.transaction(work);
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
}

/** Loads the policy state with the assignments of all users. */
async function loadWhole(tx: Transaction): Promise<WholeState> {
  return { ...(await loadPolicyState(tx)), userPolicies: await loadUserPolicies(tx, sql`1 = 1`) };
}

function inputOf(name: string, others: Partial<PolicyInput> = {}): PolicyInput {
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

describe('a policy', () => {
  it('is loaded as it was created, with its rules in order', async () => {
    const created = await inTransaction((tx) => createPolicy(tx, inputOf('A', { description: 'about' }), { by }));
    expect(created).toMatchObject({ ...inputOf('A'), description: 'about', createdBy: by });
    const loaded = await inTransaction((tx) => loadPolicy(tx, created.id));
    expect(loaded).toEqual(created);
    expect(loaded?.rules[0]).toMatchObject({ description: 'first', policyId: created.id, isActive: true, createdAt: created.createdAt });
    expect(loaded?.rules[1]).not.toHaveProperty('description');
  });

  it('has the creator of the payload, if it names one', async () => {
    const { createdBy } = await inTransaction((tx) => createPolicy(tx, inputOf('A', { createdBy: 'someone' }), { by }));
    expect(createdBy).toBe('someone');
  });

  it('has a unique name', async () => {
    const { id } = await inTransaction((tx) => createPolicy(tx, inputOf('A'), { by }));
    await inTransaction((tx) => createPolicy(tx, inputOf('B'), { by }));
    expect(await codeOf((tx) => createPolicy(tx, inputOf('A'), { by }))).toBe('POLICY_EXISTS');
    expect(await codeOf((tx) => updatePolicy(tx, inputOf('B'), { id, by }))).toBe('POLICY_EXISTS');
    expect(await codeOf((tx) => updatePolicy(tx, inputOf('A', { priority: 7 }), { id, by }))).toBeUndefined();
  });

  it('keeps its creator, and the ids and times of unchanged rules', async () => {
    const created = await inTransaction((tx) => createPolicy(tx, inputOf('A', { description: 'about' }), { by }));
    const [first, second] = created.rules;
    const rules = [
      { ...inputOf('A').rules[0], resource: 'Desk' } as PolicyInput['rules'][0],
      { ...second, priority: 6 } as PolicyInput['rules'][0],
    ];
    const updated = await inTransaction((tx) =>
      updatePolicy(tx, inputOf('A2', { rules, isActive: false }), { id: created.id, by: 'other' }),
    );
    expect(updated).toMatchObject({ id: created.id, name: 'A2', isActive: false, createdBy: by, createdAt: created.createdAt });
    expect(updated.description).toBeUndefined();
    expect(updated.rules.map(({ id }) => id === second?.id)).toEqual([false, true]);
    expect(updated.rules[0]?.id).not.toBe(first?.id);
    expect(await inTransaction((tx) => loadPolicy(tx, created.id))).toEqual(updated);
  });

  it('is deleted with its rules and assignments', async () => {
    await inTransaction(async (tx) => {
      const { id } = await createPolicy(tx, inputOf('A'), { by });
      await assignToUser(tx, { policyId: id, userId: 'u1' }, { by });
      await assignToRole(tx, { policyId: id, role: 'user' }, { by });
      await deletePolicy(tx, id, { by });
      expect(await loadWhole(tx)).toEqual({ epoch: 4, policies: [], userPolicies: [], rolePolicies: [] });
      expect(await tx.all(sql`SELECT * FROM "_PolicyRule"`)).toEqual([]);
    });
  });

  it('that does not exist cannot be changed', async () => {
    expect(await codeOf((tx) => updatePolicy(tx, inputOf('A'), { id: 'none', by }))).toBe('POLICY_UNKNOWN');
    expect(await codeOf((tx) => deletePolicy(tx, 'none', { by }))).toBe('POLICY_UNKNOWN');
  });

  it('is listed by its state and type', async () => {
    await inTransaction(async (tx) => {
      await createPolicy(tx, inputOf('A'), { by });
      await createPolicy(tx, inputOf('B', { isActive: false, type: 'ROLE_BASED' }), { by });
      const names = async (filter: Parameters<typeof listPolicies>[1]) => (await listPolicies(tx, filter)).map(({ name }) => name);
      expect(await names({})).toEqual(['A', 'B']);
      expect(await names({ isActive: false })).toEqual(['B']);
      expect(await names({ isActive: true, type: 'ROLE_BASED' })).toEqual([]);
      expect(await names({ type: 'CUSTOM' })).toEqual(['A']);
    });
  });
});

describe('an assignment', () => {
  let policyId: string;
  beforeEach(async () => {
    policyId = (await inTransaction((tx) => createPolicy(tx, inputOf('A'), { by }))).id;
  });

  it('has defaults for omitted members', async () => {
    const { assignment: own } = await inTransaction((tx) => assignToUser(tx, { policyId, userId: 'u1' }, { by }));
    const { assignment: ofRole } = await inTransaction((tx) => assignToRole(tx, { policyId, role: 'editor' }, { by }));
    expect(own).toMatchObject({ policyId, userId: 'u1', assignedBy: by, isActive: true, context: {} });
    expect(ofRole).toMatchObject({ policyId, role: 'editor', assignedBy: by, isActive: true, priority: 100 });
    expect(await inTransaction(loadWhole)).toEqual({
      epoch: 3,
      policies: [expect.anything()],
      userPolicies: [own],
      rolePolicies: [ofRole],
    });
  });

  it('can be created only once', async () => {
    const assign = (tx: Transaction) => assignToUser(tx, { policyId, userId: 'u1' }, { by });
    const toRole = (tx: Transaction) => assignToRole(tx, { policyId, role: 'user' }, { by });
    // Either of two concurrent calls may be the first.
    for (const each of [assign, toRole])
      expect((await Promise.all([codeOf(each), codeOf(each)])).toSorted()).toEqual(['ASSIGNMENT_EXISTS', undefined]);
    expect(await inTransaction(currentRevision)).toBe(3);
  });

  it('requires an existing policy and user', async () => {
    expect(await codeOf((tx) => assignToUser(tx, { policyId: 'none', userId: 'u1' }, { by }))).toBe('POLICY_UNKNOWN');
    expect(await codeOf((tx) => assignToUser(tx, { policyId, userId: 'none' }, { by }))).toBe('USER_UNKNOWN');
    expect(await codeOf((tx) => assignToRole(tx, { policyId: 'none', role: 'user' }, { by }))).toBe('POLICY_UNKNOWN');
  });

  it('keeps members that an update omits', async () => {
    const pair = { policyId, userId: 'u1' };
    const expiresAt = '2030-01-01T00:00:00.000Z';
    await inTransaction((tx) => assignToUser(tx, pair, { by, expiresAt, context: { ticket: 7 } }));
    const changed = await inTransaction((tx) => updateAssignment(tx, pair, { by: 'other', isActive: false }));
    expect(changed).toMatchObject({ isActive: false, expiresAt, context: { ticket: 7 }, assignedBy: by });
    await inTransaction((tx) => updateAssignment(tx, pair, { by, expiresAt: null }));
    const { userPolicies } = await inTransaction(loadWhole);
    expect(userPolicies[0]).not.toHaveProperty('expiresAt');
    expect(await codeOf((tx) => updateAssignment(tx, { policyId, userId: 'u2' }, { by }))).toBe('ASSIGNMENT_UNKNOWN');
  });

  it('is removed', async () => {
    const pair = { policyId, role: 'user' } as const;
    await inTransaction((tx) => assignToRole(tx, pair, { by, priority: 5 }));
    await inTransaction((tx) => removeAssignment(tx, pair, { by }));
    expect((await inTransaction(loadWhole)).rolePolicies).toEqual([]);
    expect(await codeOf((tx) => removeAssignment(tx, pair, { by }))).toBe('ASSIGNMENT_UNKNOWN');
  });

  it('is listed with its policy', async () => {
    await inTransaction(async (tx) => {
      const other = await createPolicy(tx, inputOf('B'), { by });
      await assignToUser(tx, { policyId, userId: 'u1' }, { by, isActive: false });
      await assignToUser(tx, { policyId: other.id, userId: 'u2' }, { by });
      await assignToRole(tx, { policyId: other.id, role: 'user' }, { by });
      const names = (assigned: Awaited<ReturnType<typeof listUserPolicies>>) =>
        assigned.map(({ policy, assignment }) => [policy.name, assignment.isActive]);
      expect(names(await listUserPolicies(tx, 'u1'))).toEqual([['A', false]]);
      expect(names(await listUserPolicies(tx, 'u1', 'user'))).toEqual([
        ['A', false],
        ['B', true],
      ]);
      expect(names(await listRolePolicies(tx, 'user'))).toEqual([['B', true]]);
      expect(names(await listRolePolicies(tx, 'admin'))).toEqual([]);
    });
  });
});

describe('the policy revision', () => {
  it('starts at 0 and advances by one', async () => {
    expect(await inTransaction(currentRevision)).toBe(0);
    expect(await inTransaction(advanceRevision)).toBe(1);
    expect(await inTransaction(advanceRevision)).toBe(2);
    expect(await inTransaction(currentRevision)).toBe(2);
  });

  it('advances once with each change, and not with refused ones', async () => {
    const { id } = await inTransaction((tx) => createPolicy(tx, inputOf('A'), { by }));
    expect(await codeOf((tx) => createPolicy(tx, inputOf('A'), { by }))).toBe('POLICY_EXISTS');
    await inTransaction((tx) => assignToUser(tx, { policyId: id, userId: 'u1' }, { by }));
    await inTransaction((tx) => updateAssignment(tx, { policyId: id, userId: 'u1' }, { by, isActive: false }));
    await inTransaction((tx) => updatePolicy(tx, inputOf('A'), { id, by }));
    await inTransaction((tx) => deletePolicy(tx, id, { by }));
    expect(await inTransaction(currentRevision)).toBe(5);
  });
});

describe('policies from permissions', () => {
  const planned = policiesFromPermissions(NEWSROOM);

  it('are created once, if they are missing', async () => {
    const made = await inTransaction((tx) => applyPermissions(tx, planned, { by }));
    expect([made.missingPolicies.length, made.missingAssignments.length]).toEqual([3, 3]);
    const again = await inTransaction((tx) => applyPermissions(tx, planned, { by }));
    expect(again).toEqual({ missingPolicies: [], missingAssignments: [], differing: [] });
    const { policies, rolePolicies } = await inTransaction(loadWhole);
    expect([policies.length, rolePolicies.length]).toEqual([3, 3]);
  });

  it('are not overwritten after an admin changed them', async () => {
    await inTransaction((tx) => applyPermissions(tx, planned, { by }));
    const [policy] = await inTransaction((tx) => listPolicies(tx, {}));
    const narrowed = policy?.rules.slice(1) ?? [];
    await inTransaction((tx) => updatePolicy(tx, { ...inputOf(policy?.name ?? ''), rules: narrowed }, { id: policy?.id ?? '', by }));
    await inTransaction((tx) => applyPermissions(tx, planned, { by }));
    expect((await inTransaction((tx) => loadPolicy(tx, policy?.id ?? '')))?.rules).toEqual(narrowed);
    expect((await inTransaction((tx) => comparePermissions(tx, planned))).differing).toEqual([policy?.name]);
  });
});
