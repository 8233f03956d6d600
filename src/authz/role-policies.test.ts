import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../test/policy-fixtures.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import { assignToRole, createPolicy, migrate, removeAssignment, type Transaction } from '../storage/index.ts';
import { openTestDatabase, replaceMembers, type TestDatabase } from '../storage/storage.fixture.ts';
import type { Snapshot } from './load-snapshot.ts';
import { applicableRules, missingPoliciesOf } from './policies/index.ts';
import { createPolicyStore, type PolicyStore } from './policy-store.ts';
import { createRoleLoading, type RoleLoading, withRevisions } from './revisioned-database.ts';

const by = 'admin-1';
let test: TestDatabase;
let store: PolicyStore;
let ids: readonly string[];

const createStore = (): PolicyStore => createPolicyStore(SYSTEM, { ...LIMITS, maxAssignments: 100, loadedAtOnce: 0 });
const inTransaction = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => test.database.transaction(work);

beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, SYSTEM);
  const rule = { resource: 'User', action: 'read', effect: 'ALLOW', conditions: [], priority: 1, isActive: true } as const;
  const policy = { type: 'ROLE_BASED', isActive: true, priority: 1, tags: [], rules: [rule] } as const;
  ids = await inTransaction(async (tx) => {
    const created: string[] = [];
    for (const name of ['first', 'second']) created.push((await createPolicy(tx, { ...policy, name }, { by })).id);
    return created;
  });
  await inTransaction((tx) => assignToRole(tx, { role: 'viewer', policyId: ids[0] ?? '' }, { by }));
  await inTransaction((tx) => assignToRole(tx, { role: 'editor', policyId: ids[1] ?? '' }, { by }));
});
afterAll(() => test.dispose());

/** Returns the ids of the policies of the rules that apply. */
const policiesOf = ({ policies }: Snapshot, role: string): readonly string[] =>
  applicableRules(policies, { assignments: [], role, resource: 'User', action: 'read', now: 0 }).rules.map(({ policy }) => policy.id);

describe('withRoles', () => {
  it('loads the policies of a role when a decision first needs it, and keeps them', async () => {
    store = createStore();
    await inTransaction(async (tx) => {
      const pending = await store.pendingSnapshot(tx);
      const missing = missingPoliciesOf(pending.policies, ['viewer']);
      expect([missing, missingPoliciesOf(pending.policies, ['editor'])]).toEqual([[ids[0]], [ids[1]]]);
      expect(missingPoliciesOf(pending.policies, ['viewer'])).toBe(missing);
      expect(() => policiesOf(pending, 'viewer')).toThrow('the policies of the role viewer are not loaded');
      const loaded = await store.withRoles(tx, pending, 'viewer');
      expect(policiesOf(loaded, 'viewer')).toEqual([ids[0]]);
      expect(() => policiesOf(loaded, 'editor')).toThrow('not loaded');
      expect(await store.withRoles(tx, pending, 'viewer')).toBe(loaded);
      expect(policiesOf(loaded, 'user')).toEqual([]);
    });
    expect(store.pendingRoles()).toEqual(['editor']);
  });

  it('loads the policies of the current revision if the assignments change before', async () => {
    store = createStore();
    await inTransaction((tx) => store.pendingSnapshot(tx));
    await inTransaction((tx) => assignToRole(tx, { role: 'editor', policyId: ids[0] ?? '' }, { by }));
    await inTransaction(async (tx) => {
      const pending = await store.pendingSnapshot(tx);
      expect(() => policiesOf(pending, 'editor')).toThrow('not loaded');
      expect(policiesOf(await store.withRoles(tx, pending, 'editor'), 'editor').toSorted()).toEqual(ids);
    });
    await inTransaction((tx) => removeAssignment(tx, { role: 'editor', policyId: ids[0] ?? '' }, { by }));
    const after = await inTransaction((tx) => store.snapshot(tx));
    expect(policiesOf(after, 'editor')).toEqual([ids[1]]);
  });

  it('keeps no policies of a transaction that changes them and is rolled back', async () => {
    store = createStore();
    const rolledBack = inTransaction(async (tx) => {
      await store.pendingSnapshot(tx);
      await assignToRole(tx, { role: 'moderator', policyId: ids[0] ?? '' }, { by });
      expect(policiesOf(await store.snapshotAfterChange(tx), 'moderator')).toEqual([ids[0]]);
      throw new Error('rolled back');
    });
    await expect(rolledBack).rejects.toThrow('rolled back');
    expect(policiesOf(await inTransaction((tx) => store.snapshot(tx)), 'moderator')).toEqual([]);
  });

  it('loads policies once for long attempts that need them at the same time', async () => {
    store = createStore();
    let searches = 0;
    const load = (): Promise<Snapshot> =>
      test.database.transaction(
        (tx) => {
          const all = ((query) => {
            searches += Number(JSON.stringify(query).includes('_PolicyRule'));
            return tx.all(query);
          }) as Transaction['all'];
          return store.snapshot(replaceMembers(tx, { all }));
        },
        { beginsLong: true },
      );
    await inTransaction((tx) => store.pendingSnapshot(tx));
    const [first, ...others] = await Promise.all([load(), load(), load()]);
    for (const other of others) expect(other).toBe(first);
    expect(searches).toBe(1);
  });
});

describe('the load in the background', () => {
  const load = async (loading: RoleLoading): Promise<void> => {
    loading.start();
    await loading.close();
  };

  it('loads the policies of all roles, and reports a damaged one', async () => {
    store = createStore();
    const database = withRevisions(test.database, store);
    await inTransaction((tx) => store.pendingSnapshot(tx));
    await inTransaction((tx) => tx.run(sql`UPDATE "_PolicyRule" SET "resource" = 'Other' WHERE "policyId" = ${ids[1]}`));
    await load(createRoleLoading({ database, policyStore: store }));
    expect([store.pendingRoles(), store.damaged()]).toEqual([[], [{ table: '_Policy', id: ids[1] }]]);
    await inTransaction((tx) => tx.run(sql`UPDATE "_PolicyRule" SET "resource" = 'User' WHERE "policyId" = ${ids[1]}`));
  });

  it('leaves the policies to later requests if they cannot be loaded', async () => {
    store = createStore();
    await inTransaction((tx) => store.pendingSnapshot(tx));
    const log: string[] = [];
    const database = { ...test.database, transaction: () => Promise.reject(new Error('no connection')) };
    await load(createRoleLoading({ database, policyStore: store, log: (line) => log.push(line) }));
    expect(log).toEqual(['the policies of roles will be loaded with the requests that need them: no connection']);
    expect(policiesOf(await inTransaction((tx) => store.snapshot(tx)), 'viewer')).toEqual([ids[0]]);
  });
});
