import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PolicyInput } from '../../authz/policies/index.ts';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../contract.ts';
import { replaceMembers, type TestDatabase } from '../storage.fixture.ts';
import { assignToRole, assignToUser, updateAssignment } from './assignment-records.ts';
import { insertUser, loadWholeState, openPolicyDatabase, problemCodeOf, resetPolicies, toPolicyInput } from './policy.fixture.ts';
import { loadActiveAssignments } from './policy-lists.ts';
import { createPolicy, deletePolicy, loadPolicy, updatePolicy } from './policy-records.ts';
import { loadPolicyPage, type PolicyPageQuery } from './policy-search.ts';
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

/** Wraps a transaction and groups its statements: a group has those that are sent before one of them is answered. */
function watchStatements(tx: Transaction): { readonly watched: Transaction; readonly groups: readonly (readonly string[])[] } {
  const groups: string[][] = [];
  let running = 0;
  const watch =
    (name: 'all' | 'lock' | 'one' | 'run') =>
    async (...given: unknown[]): Promise<unknown> => {
      if (running === 0) groups.push([]);
      groups.at(-1)?.push(name);
      running++;
      try {
        return await (tx[name] as (...parameters: unknown[]) => Promise<unknown>)(...given);
      } finally {
        running--;
      }
    };
  const members = { all: watch('all'), lock: watch('lock'), one: watch('one'), run: watch('run') } as Partial<Transaction>;
  return { watched: replaceMembers(tx, members), groups };
}

describe('policies', () => {
  it('loads a policy as it was created, with its rules in order', async () => {
    const created = await inTransaction((tx) => createPolicy(tx, toPolicyInput('A', { description: 'about' }), { by }));
    expect(created).toMatchObject({ ...toPolicyInput('A'), description: 'about', createdBy: by });
    const loaded = await inTransaction((tx) => loadPolicy(tx, created.id));
    expect(loaded).toEqual(created);
    expect(loaded?.rules[0]).toMatchObject({ description: 'first', policyId: created.id, isActive: true, createdAt: created.createdAt });
    expect(loaded?.rules[1]).not.toHaveProperty('description');
  });

  it('a policy has the creator of the payload, if it names one', async () => {
    const { createdBy } = await inTransaction((tx) => createPolicy(tx, toPolicyInput('A', { createdBy: 'someone' }), { by }));
    expect(createdBy).toBe('someone');
  });

  it('a policy has a unique name', async () => {
    const { id } = await inTransaction((tx) => createPolicy(tx, toPolicyInput('A'), { by }));
    await inTransaction((tx) => createPolicy(tx, toPolicyInput('B'), { by }));
    expect(await codeOf((tx) => createPolicy(tx, toPolicyInput('A'), { by }))).toBe('POLICY_EXISTS');
    expect(await codeOf((tx) => updatePolicy(tx, toPolicyInput('B'), { id, by }))).toBe('POLICY_EXISTS');
    expect(await codeOf((tx) => updatePolicy(tx, toPolicyInput('A', { priority: 7 }), { id, by }))).toBeUndefined();
  });

  it('an update waits four times for the database, and loads the policy after its lock', async () => {
    const { id } = await inTransaction((tx) => createPolicy(tx, toPolicyInput('A'), { by }));
    const together = await inTransaction(async (tx) => {
      const { watched, groups } = watchStatements(tx);
      await updatePolicy(watched, toPolicyInput('A', { priority: 7 }), { id, by });
      return groups;
    });
    expect(together.map((names) => names[0])).toEqual(['lock', 'one', 'run', 'run']);
    expect(together[0]).toEqual(['lock', 'all', 'all']);
  });

  it('an update keeps the creator of a policy, and the ids and times of unchanged rules', async () => {
    const created = await inTransaction((tx) => createPolicy(tx, toPolicyInput('A', { description: 'about' }), { by }));
    const [first, second] = created.rules;
    const rules = [
      { ...toPolicyInput('A').rules[0], resource: 'Desk' } as PolicyInput['rules'][0],
      { ...second, priority: 6 } as PolicyInput['rules'][0],
    ];
    const updated = await inTransaction((tx) =>
      updatePolicy(tx, toPolicyInput('A2', { rules, isActive: false }), { id: created.id, by: 'other' }),
    );
    expect(updated).toMatchObject({ id: created.id, name: 'A2', isActive: false, createdBy: by, createdAt: created.createdAt });
    expect(updated.description).toBeUndefined();
    expect(updated.rules.map(({ id }) => id === second?.id)).toEqual([false, true]);
    expect(updated.rules[0]?.id).not.toBe(first?.id);
    expect(await inTransaction((tx) => loadPolicy(tx, created.id))).toEqual(updated);
  });

  it('deletes a policy with its rules and assignments', async () => {
    await inTransaction(async (tx) => {
      const { id } = await createPolicy(tx, toPolicyInput('A'), { by });
      await assignToUser(tx, { policyId: id, userId: 'u1' }, { by });
      await assignToRole(tx, { policyId: id, role: 'user' }, { by });
      await deletePolicy(tx, id, { by });
      expect(await loadWholeState(tx)).toEqual({ revision: 4, policies: [], userPolicies: [], rolePolicies: [] });
      expect(await tx.all(sql`SELECT * FROM "_PolicyRule"`)).toEqual([]);
    });
  });

  it('refuses to change a policy that does not exist', async () => {
    expect(await codeOf((tx) => updatePolicy(tx, toPolicyInput('A'), { id: 'none', by }))).toBe('POLICY_UNKNOWN');
    expect(await codeOf((tx) => deletePolicy(tx, 'none', { by }))).toBe('POLICY_UNKNOWN');
  });

  it('lists policies by state and type', async () => {
    await inTransaction(async (tx) => {
      await createPolicy(tx, toPolicyInput('A'), { by });
      await createPolicy(tx, toPolicyInput('B', { isActive: false, type: 'ROLE_BASED' }), { by });
      const names = async (filter: Omit<PolicyPageQuery, 'limit'>) =>
        (await loadPolicyPage(tx, { ...filter, limit: 10 })).map(({ name }) => name);
      expect(await names({})).toEqual(['A', 'B']);
      expect(await names({ isActive: false })).toEqual(['B']);
      expect(await names({ isActive: true, type: 'ROLE_BASED' })).toEqual([]);
      expect(await names({ type: 'CUSTOM' })).toEqual(['A']);
    });
  });

  it('each change advances the revision once, and a refused change does not', async () => {
    const { id } = await inTransaction((tx) => createPolicy(tx, toPolicyInput('A'), { by }));
    expect(await codeOf((tx) => createPolicy(tx, toPolicyInput('A'), { by }))).toBe('POLICY_EXISTS');
    await inTransaction((tx) => assignToUser(tx, { policyId: id, userId: 'u1' }, { by }));
    await inTransaction((tx) => updateAssignment(tx, { policyId: id, userId: 'u1' }, { by, isActive: false }));
    await inTransaction((tx) => updatePolicy(tx, toPolicyInput('A'), { id, by }));
    await inTransaction((tx) => deletePolicy(tx, id, { by }));
    expect(await inTransaction(currentRevision)).toBe(5);
  });
});

describe('lists for the policy linter', () => {
  const ids: string[] = [];
  beforeEach(async () => {
    ids.length = 0;
    await inTransaction(async (tx) => {
      for (const id of ['u3', 'u4']) await insertUser(tx, id);
      for (const name of ['one', 'two', 'three']) ids.push((await createPolicy(tx, toPolicyInput(name), { by })).id);
      ids.sort();
      const [policyId = ''] = ids;
      await assignToRole(tx, { policyId, role: 'user' }, { by });
      await assignToRole(tx, { policyId, role: 'admin' }, { by, isActive: false });
      await assignToUser(tx, { policyId, userId: 'u1' }, { by });
      await assignToUser(tx, { policyId, userId: 'u2' }, { by, expiresAt: '2030-01-02T00:00:00.000Z' });
      await assignToUser(tx, { policyId, userId: 'u3' }, { by, expiresAt: '2030-01-01T00:00:00.000Z' });
      await assignToUser(tx, { policyId, userId: 'u4' }, { by });
      await updateAssignment(tx, { policyId, userId: 'u4' }, { by, isActive: false });
    });
  });

  describe('pages of policies', () => {
    const rows: readonly [what: string, after: number | undefined, limit: number, expected: readonly number[]][] = [
      ['the first', undefined, 2, [0, 1]],
      ['the next', 1, 2, [2]],
      ['after the last', 2, 2, []],
      ['all', undefined, 9, [0, 1, 2]],
    ];
    it.each(rows)('loads a page of policies: %s', async (_, after, limit, expected) => {
      const page = await inTransaction((tx) =>
        loadPolicyPage(tx, { after: after === undefined ? undefined : { id: ids[after] ?? '' }, limit }),
      );
      expect(page.map(({ id }) => ids.indexOf(id))).toEqual(expected);
      expect(page.every(({ rules }) => rules.length === 2)).toBe(true);
    });
  });

  describe('active assignments of policies', () => {
    const loadAll = (limit: number) => inTransaction((tx) => loadActiveAssignments(tx, ids, { limit }));
    const load = async (limit: number) => (await loadAll(limit)).get(ids[0] ?? '') ?? expect.fail('the policy is missing');

    it('loads active roles and users, the first to expire first', async () => {
      const { roles, users, isComplete } = await load(3);
      expect([roles.map(({ role }) => role), users.map(({ userId }) => userId), isComplete]).toEqual([['user'], ['u3', 'u2', 'u1'], true]);
    });

    it('limits the users of each policy by itself', async () => {
      const [first = '', second = '', third = ''] = ids;
      for (const userId of ['u1', 'u2']) await inTransaction((tx) => assignToUser(tx, { policyId: second, userId }, { by }));
      const loaded = await loadAll(1);
      expect(ids.map((id) => [loaded.get(id)?.users.length, loaded.get(id)?.isComplete])).toEqual([
        [1, false],
        [1, false],
        [0, true],
      ]);
      expect([first, second, third].map((id) => loaded.get(id)?.roles.length)).toEqual([1, 0, 0]);
    });

    it('truncates assignments at the limit, with isComplete false', async () => {
      const cut = [await load(2), await load(1)];
      expect(cut.map(({ users, isComplete }) => [users.map(({ userId }) => userId), isComplete])).toEqual([
        [['u3', 'u2'], false],
        [['u3'], false],
      ]);
    });
  });
});
