import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WholeState } from '../../test/policy-fixtures.ts';
import type { PolicyInput } from '../authz/policies/index.ts';
import { sql } from '../sql.ts';
import { assignToRole, assignToUser, loadUserPolicies, removeAssignment, updateAssignment } from './assignment-records.ts';
import type { Transaction } from './contract.ts';
import { migrate } from './migrations/migrate.ts';
import { type ChangesSince, loadChanges, loadPolicyStateAt, storeVersion } from './policy-history.ts';
import { createPolicy, deletePolicy, loadPolicyState, updatePolicy } from './policy-records.ts';
import { insertInto, POLICY_TABLES } from './policy-tables.ts';
import { insertRecord } from './records.ts';
import { advanceRevision, loadRevision, type Revision } from './revision.ts';
import { define, openTestDatabase, resourceOf, type TestDatabase, toRecord } from './storage.fixture.ts';

const definitions = define({ User: { fields: { email: { type: 'email' } } } });
const by = 'admin-1';
const AT = '2026-01-01T00:00:00.000Z';
let test: TestDatabase;

beforeEach(async () => {
  test = openTestDatabase();
  await migrate(test.database, definitions);
  for (const id of ['u1', 'u2']) await inTransaction((tx) => insertRecord(tx, resourceOf(definitions, 'User'), toRecord(id, {})));
});
afterEach(() => test.dispose());

function inTransaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
  return test.database.transaction(work);
}

/** What is assigned to every user, too. */
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

/** Policies that are assigned to nobody apply to nobody. */
function applyingTo(state: WholeState): WholeState {
  const assigned = [...state.userPolicies, ...state.rolePolicies].map(({ policyId }) => policyId);
  return { ...state, policies: state.policies.filter(({ id }) => assigned.includes(id)) };
}

describe('the history', () => {
  it('has the state of every epoch', async () => {
    const states = [await inTransaction(loadWhole)];
    const step = async (work: (tx: Transaction) => Promise<unknown>) => {
      await inTransaction(work);
      states.push(await inTransaction(loadWhole));
    };
    let id = '';
    await step(async (tx) => {
      id = (await createPolicy(tx, inputOf('A', { description: 'about' }), { by })).id;
    });
    await step((tx) => assignToUser(tx, { policyId: id, userId: 'u1' }, { by, expiresAt: '2030-01-01T00:00:00.000Z' }));
    await step((tx) => assignToRole(tx, { policyId: id, role: 'user' }, { by }));
    await step((tx) => updatePolicy(tx, inputOf('A2', { rules: inputOf('A').rules.slice(1) }), { id, by }));
    await step((tx) => updateAssignment(tx, { policyId: id, role: 'user' }, { by, priority: 7 }));
    await step((tx) => removeAssignment(tx, { policyId: id, userId: 'u1' }, { by }));
    await step((tx) => deletePolicy(tx, id, { by }));
    const first = states[0]?.epoch ?? 0;
    expect(states.map(({ epoch }) => epoch - first)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    for (const state of states)
      expect(await inTransaction((tx) => loadPolicyStateAt(tx, state.epoch, { userId: 'u1', role: 'user' }))).toEqual(applyingTo(state));
  });

  it('has what one user and one role had, and of the policies those', async () => {
    const [a, b, c] = await inTransaction(async (tx) => {
      const ids: string[] = [];
      for (const name of ['A', 'B', 'C']) ids.push((await createPolicy(tx, inputOf(name), { by })).id);
      return ids as [string, string, string];
    });
    await inTransaction((tx) => assignToUser(tx, { policyId: a, userId: 'u1' }, { by }));
    await inTransaction((tx) => assignToUser(tx, { policyId: b, userId: 'u2' }, { by }));
    await inTransaction((tx) => assignToRole(tx, { policyId: c, role: 'user' }, { by }));
    const { epoch } = await inTransaction(loadPolicyState);
    await inTransaction((tx) => removeAssignment(tx, { policyId: a, userId: 'u1' }, { by }));
    const policiesOf = async (userId: string | undefined, role: string) =>
      (await inTransaction((tx) => loadPolicyStateAt(tx, epoch, { userId, role }))).policies.map(({ name }) => name).sort();
    expect(await policiesOf('u1', 'viewer')).toEqual(['A']);
    expect(await policiesOf('u2', 'user')).toEqual(['B', 'C']);
    expect(await policiesOf(undefined, 'user')).toEqual(['C']);
    expect(await policiesOf(undefined, 'viewer')).toEqual([]);
    // As a version before this one kept them.
    await inTransaction((tx) => tx.run(sql`UPDATE "_PolicyHistory" SET "userId" = NULL`));
    expect(await policiesOf('u1', 'viewer')).toEqual(['A']);
  });

  it('has the end of each assignment that goes with a policy, however many they are', async () => {
    const { id: policyId } = await inTransaction((tx) => createPolicy(tx, inputOf('A'), { by }));
    const kept = await inTransaction((tx) => createPolicy(tx, inputOf('B'), { by }));
    const userIds = Array.from({ length: 1001 }, (_, index) => `many${index}`);
    const to = (userId: string, policy: string) => ({ id: `${userId} ${policy}`, userId, policyId: policy });
    await inTransaction(async (tx) => {
      const epoch = await advanceRevision(tx);
      for (const each of [...userIds.map((userId) => to(userId, policyId)), to('many0', kept.id)]) {
        const value = { ...each, assignedBy: by, assignedAt: AT, isActive: true, context: {}, version: epoch };
        await insertInto(tx, POLICY_TABLES.userPolicy, value);
        await storeVersion(tx, { kind: 'userPolicy', id: each.id, userId: each.userId, value, revision: epoch, by });
      }
    });
    const from = await inTransaction(loadRevision);
    await inTransaction((tx) => deletePolicy(tx, policyId, { by: 'other' }));
    const { number } = await inTransaction(loadRevision);
    expect((await inTransaction((tx) => loadUserPolicies(tx, sql`1 = 1`))).map(({ id }) => id)).toEqual([`many0 ${kept.id}`]);
    const history = await inTransaction((tx) =>
      tx.all(sql`SELECT "toEpoch", "userId", "changedBy" FROM "_PolicyHistory" WHERE "kind" = 'userPolicy'`),
    );
    const versions = history as readonly { readonly toEpoch: number | null; readonly userId: string; readonly changedBy: string }[];
    expect(versions.filter(({ toEpoch }) => toEpoch === number)).toHaveLength(1001);
    expect(new Set(versions.filter(({ changedBy }) => changedBy === 'other').map(({ userId }) => userId))).toEqual(new Set(userIds));
    expect((await inTransaction(async (tx) => loadChanges(tx, from, await loadRevision(tx))))?.users).toEqual(new Set(userIds));
    const past = await inTransaction((tx) => loadPolicyStateAt(tx, from.number, { userId: 'many1000', role: 'user' }));
    expect(past.userPolicies.map((assignment) => assignment.policyId)).toEqual([policyId]);
    expect((await inTransaction((tx) => loadPolicyStateAt(tx, number, { userId: 'many1000', role: 'user' }))).userPolicies).toEqual([]);
  });

  it('says who made each change', async () => {
    const { id } = await inTransaction((tx) => createPolicy(tx, inputOf('A'), { by }));
    await inTransaction((tx) => deletePolicy(tx, id, { by: 'other' }));
    const rows = (await test.rows('_PolicyHistory')) as readonly Record<'fromEpoch' | 'toEpoch' | 'value' | 'changedBy', unknown>[];
    const first = Number(rows[0]?.fromEpoch);
    expect(rows.map(({ fromEpoch, toEpoch, value, changedBy }) => [fromEpoch, toEpoch, value === null, changedBy])).toEqual([
      [first, first + 1, false, by],
      [first + 1, null, true, 'other'],
    ]);
  });
});

describe('what changed since an epoch', () => {
  const since = (from: Revision) =>
    inTransaction(async (tx): Promise<ChangesSince | undefined> => loadChanges(tx, from, await loadRevision(tx)));
  const now = () => inTransaction(loadRevision);

  it('is each policy and assignment as it is now, and whose assignments are others', async () => {
    const [kept, changed, gone] = await inTransaction(async (tx) => [
      await createPolicy(tx, inputOf('kept'), { by }),
      await createPolicy(tx, inputOf('changed'), { by }),
      await createPolicy(tx, inputOf('gone'), { by }),
    ]);
    const [keptId, changedId, goneId] = [kept?.id ?? '', changed?.id ?? '', gone?.id ?? ''];
    const { assignment: ofRole } = await inTransaction((tx) => assignToRole(tx, { policyId: goneId, role: 'user' }, { by }));
    await inTransaction((tx) => assignToUser(tx, { policyId: goneId, userId: 'u2' }, { by }));
    const from = await now();
    await inTransaction((tx) => updatePolicy(tx, inputOf('changed', { priority: 1 }), { id: changedId, by }));
    const last = await inTransaction((tx) => updatePolicy(tx, inputOf('changed', { priority: 2 }), { id: changedId, by }));
    await inTransaction((tx) => deletePolicy(tx, goneId, { by }));
    await inTransaction((tx) => assignToUser(tx, { policyId: keptId, userId: 'u1' }, { by }));
    const to = await now();
    expect(await since(from)).toEqual({
      epoch: to.number,
      policies: new Map([
        [changedId, last],
        [goneId, undefined],
      ]),
      rolePolicies: new Map([[ofRole.id, undefined]]),
      users: new Set(['u1', 'u2']),
    });
    // What is committed meanwhile is of later epochs.
    await inTransaction((tx) => updatePolicy(tx, inputOf('changed', { priority: 3 }), { id: changedId, by }));
    expect((await inTransaction((tx) => loadChanges(tx, from, to)))?.policies.get(changedId)).toEqual(last);
  });

  it('is not told from an epoch that never was, was undone, or is not before', async () => {
    const from = await now();
    const undone = inTransaction(async (tx): Promise<never> => {
      await advanceRevision(tx);
      throw await loadRevision(tx);
    });
    const lost = (await undone.catch((epoch: unknown) => epoch)) as Revision;
    await inTransaction((tx) => createPolicy(tx, inputOf('A'), { by }));
    await inTransaction((tx) => createPolicy(tx, inputOf('B'), { by }));
    expect(lost.number).toBe(from.number + 1);
    expect((await since(from))?.policies.size).toBe(2);
    expect(await since(lost)).toBeUndefined();
    expect(await since({ number: from.number, stamp: 'none' })).toBeUndefined();
    expect(await since(await now())).toBeUndefined();
  });

  it('names nobody where a program of before made a change, which did not say whose it was', async () => {
    const { id } = await inTransaction((tx) => createPolicy(tx, inputOf('A'), { by }));
    const from = await now();
    await inTransaction((tx) => updatePolicy(tx, inputOf('A', { priority: 1 }), { id, by }));
    expect((await since(from))?.users).toEqual(new Set());
    await inTransaction((tx) => assignToUser(tx, { policyId: id, userId: 'u1' }, { by }));
    await inTransaction((tx) => tx.run(sql`UPDATE "_PolicyHistory" SET "userId" = NULL`));
    expect((await since(from))?.users).toBeUndefined();
  });
});
