import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../test/policy-fixtures.ts';
import { ASSIGNABLE_ROLES } from '../resources/index.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import {
  assignToRole,
  createPolicy,
  type Database,
  migrate,
  removeAssignment,
  type Transaction,
  type TransactionOptions,
  updatePolicy,
} from '../storage/index.ts';
import { openTestDatabase, type TestDatabase } from '../storage/storage.fixture.ts';
import type { Snapshot } from './load-snapshot.ts';
import { applicableRules, missingPoliciesOf, type Policy } from './policies/index.ts';
import { createPolicyStore, type PolicyStore } from './policy-store.ts';
import { withRevisions } from './revisioned-database.ts';
import { isUnchanged, type RoleLoad } from './role-load.ts';
import { createRoleLoading, type RoleLoading } from './role-loading.ts';

const by = 'admin-1';
const RULE = { resource: 'User', action: 'read', effect: 'ALLOW', conditions: [], priority: 1, isActive: true } as const;
const POLICY = { type: 'ROLE_BASED', isActive: true, priority: 1, tags: [], rules: [RULE] } as const;
let test: TestDatabase;
let store: PolicyStore;
let ids: readonly string[];

const createStore = (): PolicyStore => createPolicyStore(SYSTEM, { ...LIMITS, maxAssignments: 100, loadedAtOnce: 0 });
const inTransaction = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => test.database.transaction(work);

beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, SYSTEM);
  ids = await inTransaction(async (tx) => {
    const created: string[] = [];
    for (const name of ['first', 'second']) created.push((await createPolicy(tx, { ...POLICY, name }, { by })).id);
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
      expect([pending.policies.hasRolePolicies, [...pending.policies.rolePolicies.entries()]]).toEqual([false, []]);
      for (const role of ASSIGNABLE_ROLES)
        expect(() => policiesOf(pending, role)).toThrow(`the policies of the role ${role} are not loaded`);
      const loaded = await store.withRoles(tx, pending, 'viewer');
      expect(policiesOf(loaded, 'viewer')).toEqual([ids[0]]);
      expect(['viewer', 'editor'].map((role) => missingPoliciesOf(loaded.policies, [role]))).toEqual([[], [ids[1]]]);
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
});

/** Returns a database, and the options of its transactions so far. */
function observe(database: Database): { readonly database: Database; readonly begun: readonly (TransactionOptions | undefined)[] } {
  const begun: (TransactionOptions | undefined)[] = [];
  const transaction: Database['transaction'] = (work, options) => {
    begun.push(options);
    return database.transaction(work, options);
  };
  return { database: { ...database, transaction }, begun };
}

describe('a transaction that needs the policies of a role', () => {
  const needViewer = async (tx: Transaction): Promise<readonly string[]> =>
    policiesOf(await store.withRoles(tx, await store.pendingSnapshot(tx), 'viewer'), 'viewer');

  it('runs again after the policies are loaded, once for all that wait', async () => {
    store = createStore();
    const { database, begun } = observe(test.database);
    const revisioned = withRevisions(database, store);
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => revisioned.transaction(needViewer, { caller: `user ${index % 5}` })),
    );
    expect(answers).toEqual(answers.map(() => [ids[0]]));
    expect(begun.filter((options) => options?.beginsLong)).toHaveLength(1);
    expect(store.pendingRoles()).toEqual(['editor']);
  });

  it('loads the policies of all roles, one role after the other', async () => {
    store = createStore();
    await inTransaction(async (tx) => store.withRoles(tx, await store.pendingSnapshot(tx), 'user'));
    const { database, begun } = observe(test.database);
    const snapshot = await withRevisions(database, store).transaction((tx) => store.snapshot(tx));
    expect(['viewer', 'editor'].map((role) => policiesOf(snapshot, role))).toEqual([[ids[0]], [ids[1]]]);
    // No other role has an assignment.
    expect(begun.filter((options) => options?.beginsLong)).toHaveLength(2);
  });

  it('loads them by itself if it has no time limit', async () => {
    store = createStore();
    const { database, begun } = observe(test.database);
    expect(await withRevisions(database, store).transaction(needViewer, { unlimited: true })).toEqual([ids[0]]);
    expect(begun).toEqual([{ unlimited: true }]);
  });

  it('refuses the request if the policies change each time while they are loaded', async () => {
    store = createStore();
    const transaction: Database['transaction'] = async (work, options) => {
      const answer = await test.database.transaction(work, options);
      if (options?.beginsLong) store.replaceDefinitions(SYSTEM);
      return answer;
    };
    const database = withRevisions({ ...test.database, transaction }, store);
    await expect(database.transaction(needViewer)).rejects.toMatchObject({ code: 'STORAGE_BUSY' });
  });

  it('loads the policies once if others change each time while they are loaded', async () => {
    store = createStore();
    await inTransaction((tx) => store.pendingSnapshot(tx));
    const earlier: boolean[] = [];
    const loadPendingRole: PolicyStore['loadPendingRole'] = async (tx, at, query) => {
      earlier.push(query.earlier !== undefined);
      const change = { role: 'viewer', policyId: ids[1] ?? '' } as const;
      if (earlier.length < 4)
        await inTransaction<unknown>((other) => (earlier.length === 2 ? removeAssignment : assignToRole)(other, change, { by }));
      // Another request needs the change before the load is kept.
      await inTransaction((other) => store.pendingSnapshot(other));
      return store.loadPendingRole(tx, at, query);
    };
    await createRoleLoading({ database: test.database, policyStore: { ...store, loadPendingRole } }).load(['viewer']);
    expect([store.pendingRoles(), earlier]).toEqual([['editor'], [false, true, true, true]]);
    expect(policiesOf(await inTransaction((tx) => store.pendingSnapshot(tx)), 'viewer').toSorted()).toEqual(ids);
    await inTransaction((tx) => removeAssignment(tx, { role: 'viewer', policyId: ids[1] ?? '' }, { by }));
  });

  it('watches the records that a policy reads since a change during its load', async () => {
    store = createStore();
    const at = await inTransaction((tx) => store.pendingSnapshot(tx));
    const change = (tx: Transaction, conditions: Policy['rules'][number]['conditions']): Promise<unknown> =>
      updatePolicy(tx, { ...POLICY, name: 'first', rules: [{ ...RULE, conditions }] }, { id: ids[0] ?? '', by });
    await inTransaction((tx) => change(tx, [{ field: 'resource.createdBy.role', operator: 'eq', value: 'user' }]));
    const load = (tx: Transaction, from: Snapshot, earlier?: RoleLoad) => store.loadPendingRole(tx, from, { role: 'viewer', earlier });
    const earlier = await inTransaction((tx) => load(tx, at));
    expect([earlier && isUnchanged(earlier), store.pendingRoles().includes('viewer')]).toEqual([false, true]);
    await inTransaction(async (tx) => load(tx, await store.pendingSnapshot(tx), earlier));
    expect(store.pendingRoles()).toEqual(['editor']);
    const [changed, loaded] = await inTransaction(async (tx) => [await store.snapshot(tx), await createStore().snapshot(tx)]);
    expect([...(changed?.policies.watchCounts ?? [])]).toEqual([...(loaded?.policies.watchCounts ?? [])]);
    expect(loaded?.policies.watchCounts.size).toBeGreaterThan(0);
    await inTransaction((tx) => change(tx, []));
  });

  it('refuses the requests that wait if each load is discarded', async () => {
    store = createStore();
    await inTransaction((tx) => store.pendingSnapshot(tx));
    let loads = 0;
    const loadPendingRole: PolicyStore['loadPendingRole'] = async () => {
      loads++;
      return undefined;
    };
    const loading = createRoleLoading({ database: test.database, policyStore: { ...store, loadPendingRole } });
    await expect(loading.load(['viewer'])).rejects.toMatchObject({ code: 'STORAGE_BUSY' });
    expect(loads).toBe(10);
  });

  it('does not replace a snapshot that has another role by one that does not', async () => {
    store = createStore();
    const load = (tx: Transaction, from: Snapshot, earlier?: RoleLoad) => store.loadPendingRole(tx, from, { role: 'viewer', earlier });
    const at = await inTransaction((tx) => store.pendingSnapshot(tx));
    await inTransaction((tx) => assignToRole(tx, { role: 'viewer', policyId: ids[1] ?? '' }, { by }));
    const earlier = await inTransaction((tx) => load(tx, at));
    await inTransaction(async (tx) => store.withRoles(tx, await store.pendingSnapshot(tx), 'editor'));
    expect(await inTransaction(async (tx) => load(tx, await store.pendingSnapshot(tx), earlier))).toBeUndefined();
    expect(store.pendingRoles()).toEqual(['viewer']);
    await inTransaction(async (tx) => load(tx, await store.pendingSnapshot(tx)));
    expect(store.pendingRoles()).toEqual([]);
    expect(policiesOf(await inTransaction((tx) => store.snapshot(tx)), 'viewer').toSorted()).toEqual(ids);
    await inTransaction((tx) => removeAssignment(tx, { role: 'viewer', policyId: ids[1] ?? '' }, { by }));
  });

  it('fails if the policies cannot be loaded, and the next one loads them', async () => {
    store = createStore();
    let fails = true;
    const transaction: Database['transaction'] = (work, options) =>
      fails && options?.beginsLong ? Promise.reject(new Error('no connection')) : test.database.transaction(work, options);
    const database = withRevisions({ ...test.database, transaction }, store);
    await expect(database.transaction(needViewer)).rejects.toThrow('no connection');
    fails = false;
    expect(await database.transaction(needViewer)).toEqual([ids[0]]);
  });

  it('refuses the request if too many wait', async () => {
    store = createStore();
    const database = { ...test.database, transaction: () => new Promise<never>(() => undefined) };
    const loading = createRoleLoading({ database, policyStore: store });
    for (let count = 0; count < 10_000; count++) void loading.load(['viewer']);
    const refused = loading.load(['viewer']).catch((error: unknown) => error);
    expect(await Promise.race([refused, setImmediate('it waits')])).toMatchObject({ code: 'STORAGE_BUSY' });
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
