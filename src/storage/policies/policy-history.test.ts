import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WholeState } from '../../../test/policy-fixtures.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { migrate } from '../migrations/migrate.ts';
import { insertRecord } from '../records.ts';
import { define, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../storage.fixture.ts';
import { assignToRole, assignToUser, loadUserPolicies, removeAssignment, updateAssignment } from './assignment-records.ts';
import { loadWholeState, toPolicyInput } from './policy.fixture.ts';
import { type ChangesSince, loadChanges, loadPolicyStateAt, storeVersion, toVersionHash } from './policy-history.ts';
import { createPolicy, deletePolicy, updatePolicy } from './policy-records.ts';
import { loadPolicyState } from './policy-state.ts';
import { insertInto, POLICY_TABLES } from './policy-tables.ts';
import { advanceRevision, loadRevision, type Revision } from './revision.ts';
import { sealAll } from './seal.fixture.ts';

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

/** Removes policies without an assignment, which apply to no user. */
function withoutUnassigned(state: WholeState): WholeState {
  const assigned = [...state.userPolicies, ...state.rolePolicies].map(({ policyId }) => policyId);
  return { ...state, policies: state.policies.filter(({ id }) => assigned.includes(id)) };
}

describe('the policy history', () => {
  it('the history contains the state of every revision', async () => {
    const states = [await inTransaction(loadWholeState)];
    const addStep = async (work: (tx: Transaction) => Promise<unknown>) => {
      await inTransaction(work);
      states.push(await inTransaction(loadWholeState));
    };
    let id = '';
    await addStep(async (tx) => {
      id = (await createPolicy(tx, toPolicyInput('A', { description: 'about' }), { by })).id;
    });
    await addStep((tx) => assignToUser(tx, { policyId: id, userId: 'u1' }, { by, expiresAt: '2030-01-01T00:00:00.000Z' }));
    await addStep((tx) => assignToRole(tx, { policyId: id, role: 'user' }, { by }));
    await addStep((tx) => updatePolicy(tx, toPolicyInput('A2', { rules: toPolicyInput('A').rules.slice(1) }), { id, by }));
    await addStep((tx) => updateAssignment(tx, { policyId: id, role: 'user' }, { by, priority: 7 }));
    await addStep((tx) => removeAssignment(tx, { policyId: id, userId: 'u1' }, { by }));
    await addStep((tx) => deletePolicy(tx, id, { by }));
    const first = states[0]?.revision ?? 0;
    expect(states.map(({ revision }) => revision - first)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    for (const state of states)
      expect(await inTransaction((tx) => loadPolicyStateAt(tx, state.revision, { userId: 'u1', role: 'user' }))).toEqual(
        withoutUnassigned(state),
      );
  });

  it('loads the past assignments of one user and one role, and only their policies', async () => {
    const [a, b, c] = await inTransaction(async (tx) => {
      const ids: string[] = [];
      for (const name of ['A', 'B', 'C']) ids.push((await createPolicy(tx, toPolicyInput(name), { by })).id);
      return ids as [string, string, string];
    });
    await inTransaction((tx) => assignToUser(tx, { policyId: a, userId: 'u1' }, { by }));
    await inTransaction((tx) => assignToUser(tx, { policyId: b, userId: 'u2' }, { by }));
    await inTransaction((tx) => assignToRole(tx, { policyId: c, role: 'user' }, { by }));
    const { revision } = await inTransaction(loadPolicyState);
    await inTransaction((tx) => removeAssignment(tx, { policyId: a, userId: 'u1' }, { by }));
    const policiesOf = async (userId: string | undefined, role: string) =>
      (await inTransaction((tx) => loadPolicyStateAt(tx, revision, { userId, role }))).policies.map(({ name }) => name).sort();
    expect(await policiesOf('u1', 'viewer')).toEqual(['A']);
    expect(await policiesOf('u2', 'user')).toEqual(['B', 'C']);
    expect(await policiesOf(undefined, 'user')).toEqual(['C']);
    expect(await policiesOf(undefined, 'viewer')).toEqual([]);
    // Earlier versions of the service did not store the user id.
    await inTransaction((tx) => tx.run(sql`UPDATE "_PolicyHistory" SET "userId" = NULL`));
    await inTransaction((tx) => sealAll(tx, resourceOf(definitions, 'User')));
    expect(await policiesOf('u1', 'viewer')).toEqual(['A']);
  });

  it('the history contains the end of each assignment that is deleted with its policy', async () => {
    const { id: policyId } = await inTransaction((tx) => createPolicy(tx, toPolicyInput('A'), { by }));
    const kept = await inTransaction((tx) => createPolicy(tx, toPolicyInput('B'), { by }));
    const userIds = Array.from({ length: 1001 }, (_, index) => `many${index}`);
    const to = (userId: string, policy: string) => ({ id: `${userId} ${policy}`, userId, policyId: policy });
    await inTransaction(async (tx) => {
      const revision = await advanceRevision(tx);
      for (const each of [...userIds.map((userId) => to(userId, policyId)), to('many0', kept.id)]) {
        const value = { ...each, assignedBy: by, assignedAt: AT, isActive: true, context: {}, version: revision };
        await insertInto(tx, POLICY_TABLES.userPolicy, value);
        await storeVersion(tx, { kind: 'userPolicy', id: each.id, userId: each.userId, value, revision, by });
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

  it('the history contains the author and the reason of each change', async () => {
    const { id } = await inTransaction((tx) => createPolicy(tx, toPolicyInput('A'), { by, reason: 'asked for' }));
    await inTransaction((tx) => deletePolicy(tx, id, { by: 'other' }));
    type Columns = Record<'fromEpoch' | 'toEpoch' | 'value' | 'changedBy' | 'reason', unknown>;
    const rows = (await test.rows('_PolicyHistory')) as readonly Columns[];
    const first = Number(rows[0]?.fromEpoch);
    expect(rows.map(({ value, ...row }) => [row.fromEpoch, row.toEpoch, value === null, row.changedBy, row.reason])).toEqual([
      [first, first + 1, false, by, 'asked for'],
      [first + 1, null, true, 'other', null],
    ]);
  });

  it('each version names its policy, and an end that a deletion causes has the reason of the deletion', async () => {
    const { id } = await inTransaction((tx) => createPolicy(tx, toPolicyInput('A'), { by }));
    await inTransaction((tx) => assignToUser(tx, { policyId: id, userId: 'u1' }, { by, reason: 'to the user' }));
    await inTransaction((tx) => assignToRole(tx, { policyId: id, role: 'user' }, { by, reason: 'to the role' }));
    await inTransaction((tx) => updateAssignment(tx, { policyId: id, role: 'user' }, { by, priority: 1, reason: 'first' }));
    await inTransaction((tx) => removeAssignment(tx, { policyId: id, role: 'user' }, { by, reason: 'not needed' }));
    await inTransaction((tx) => deletePolicy(tx, id, { by, reason: 'replaced' }));
    const rows = await inTransaction((tx) =>
      tx.all(sql`SELECT "kind", "policyId", "reason" FROM "_PolicyHistory" ORDER BY "fromEpoch", "kind"`),
    );
    expect(rows.map(({ kind, policyId, reason }) => [kind, policyId === id, reason])).toEqual([
      ['policy', true, null],
      ['userPolicy', true, 'to the user'],
      ['rolePolicy', true, 'to the role'],
      ['rolePolicy', true, 'first'],
      ['rolePolicy', true, 'not needed'],
      ['policy', true, 'replaced'],
      ['userPolicy', true, 'replaced'],
    ]);
  });
});

describe('toVersionHash', () => {
  const version = { id: 'v', kind: 'policy', subjectId: 'p', userId: null, fromEpoch: 3, value: '{}', changedBy: 'ada', changedAt: AT };

  it('a version from before the columns policyId and reason keeps its hash', () => {
    const text = `["bailiwick policy version 1","before","v","policy","p",null,3,"{}","ada","${AT}"]`;
    const before = createHash('sha256').update(text).digest('base64url');
    expect(toVersionHash('before', version)).toBe(before);
    expect(toVersionHash('before', { ...version, policyId: null, reason: null })).toBe(before);
  });

  it('a version from before the column rolledBackTo keeps its hash', () => {
    const text = `["bailiwick policy version 1","before","v","policy","p",null,3,"{}","ada","${AT}","p","undo"]`;
    const before = createHash('sha256').update(text).digest('base64url');
    expect(toVersionHash('before', { ...version, policyId: 'p', reason: 'undo', rolledBackTo: null })).toBe(before);
  });

  it('the hash covers the policy, the reason and the rollback of a version, each in its column', () => {
    const added = [{}, { policyId: 'x' }, { reason: 'x' }, { reason: 'y' }, { policyId: 'x', reason: 'x' }, { rolledBackTo: 1 }];
    const hashes = [...added, { reason: 'x', rolledBackTo: 1 }, { rolledBackTo: 2 }].map((each) =>
      toVersionHash('before', { ...version, ...each }),
    );
    expect(new Set(hashes).size).toBe(8);
  });
});

describe('loadChanges', () => {
  const since = (from: Revision) =>
    inTransaction(async (tx): Promise<ChangesSince | undefined> => loadChanges(tx, from, await loadRevision(tx)));
  const now = () => inTransaction(loadRevision);

  it('returns changed policies and role assignments, and the users whose assignments changed', async () => {
    const [kept, changed, gone] = await inTransaction(async (tx) => [
      await createPolicy(tx, toPolicyInput('kept'), { by }),
      await createPolicy(tx, toPolicyInput('changed'), { by }),
      await createPolicy(tx, toPolicyInput('gone'), { by }),
    ]);
    const [keptId, changedId, goneId] = [kept?.id ?? '', changed?.id ?? '', gone?.id ?? ''];
    const { assignment: ofRole } = await inTransaction((tx) => assignToRole(tx, { policyId: goneId, role: 'user' }, { by }));
    await inTransaction((tx) => assignToUser(tx, { policyId: goneId, userId: 'u2' }, { by }));
    const from = await now();
    await inTransaction((tx) => updatePolicy(tx, toPolicyInput('changed', { priority: 1 }), { id: changedId, by }));
    const last = await inTransaction((tx) => updatePolicy(tx, toPolicyInput('changed', { priority: 2 }), { id: changedId, by }));
    await inTransaction((tx) => deletePolicy(tx, goneId, { by }));
    await inTransaction((tx) => assignToUser(tx, { policyId: keptId, userId: 'u1' }, { by }));
    const to = await now();
    expect(await since(from)).toEqual({
      revision: to.number,
      policies: new Map([
        [changedId, last],
        [goneId, undefined],
      ]),
      rolePolicies: new Map([[ofRole.id, undefined]]),
      users: new Set(['u1', 'u2']),
    });
    // Later commits belong to later revisions.
    await inTransaction((tx) => updatePolicy(tx, toPolicyInput('changed', { priority: 3 }), { id: changedId, by }));
    expect((await inTransaction((tx) => loadChanges(tx, from, to)))?.policies.get(changedId)).toEqual(last);
  });

  it('returns undefined for a revision that is unknown, rolled back or not earlier', async () => {
    const from = await now();
    const rolledBack = inTransaction(async (tx): Promise<never> => {
      await advanceRevision(tx);
      throw await loadRevision(tx);
    });
    const lost = (await rolledBack.catch((revision: unknown) => revision)) as Revision;
    await inTransaction((tx) => createPolicy(tx, toPolicyInput('A'), { by }));
    await inTransaction((tx) => createPolicy(tx, toPolicyInput('B'), { by }));
    expect(lost.number).toBe(from.number + 1);
    expect((await since(from))?.policies.size).toBe(2);
    expect(await since(lost)).toBeUndefined();
    expect(await since({ number: from.number, stamp: 'none' })).toBeUndefined();
    expect(await since(await now())).toBeUndefined();
  });

  it('returns no user list if an earlier version of the service stored a change without its user id', async () => {
    const { id } = await inTransaction((tx) => createPolicy(tx, toPolicyInput('A'), { by }));
    const from = await now();
    await inTransaction((tx) => updatePolicy(tx, toPolicyInput('A', { priority: 1 }), { id, by }));
    expect((await since(from))?.users).toEqual(new Set());
    // An earlier version of the service hashed the version without the user id.
    await inTransaction(async (tx) => {
      const revision = await advanceRevision(tx);
      await storeVersion(tx, { kind: 'userPolicy', id: 'a1', value: { policyId: id, userId: 'u1' } as never, revision, by });
    });
    expect((await since(from))?.users).toBeUndefined();
  });
});
