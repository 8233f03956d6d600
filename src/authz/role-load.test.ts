/** Policies change between the load of a role's policies and the moment at which they are kept. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../test/policy-fixtures.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import { assignToRole, createPolicy, deletePolicy, migrate, type Query, removeAssignment, type Transaction } from '../storage/index.ts';
import { openTestDatabase, replaceMembers, type TestDatabase } from '../storage/storage.fixture.ts';
import type { Snapshot } from './load-snapshot.ts';
import { applicableRules, DAMAGED_RULE_ID } from './policies/index.ts';
import { createPolicyStore, type PolicyStore } from './policy-store.ts';
import { loadRole, type RoleLoad } from './role-load.ts';

const by = 'admin-1';
const RULE = { resource: 'User', action: 'read', effect: 'ALLOW', conditions: [], priority: 1, isActive: true } as const;
const POLICY = { type: 'ROLE_BASED', isActive: true, priority: 1, tags: [], rules: [RULE] } as const;
let test: TestDatabase;
let store: PolicyStore;
let ids: readonly string[];

const createStore = (): PolicyStore => createPolicyStore(SYSTEM, { ...LIMITS, maxAssignments: 100, loadedAtOnce: 0 });
const inTransaction = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => test.database.transaction(work);
const idAt = (index: number): string => ids[index] ?? '';

beforeAll(async () => {
  test = openTestDatabase();
  await migrate(test.database, SYSTEM);
  const create = (tx: Transaction, name: string) => createPolicy(tx, { ...POLICY, name }, { by });
  ids = await inTransaction(async (tx) => [(await create(tx, 'first')).id, (await create(tx, 'second')).id]);
  await inTransaction((tx) => assignToRole(tx, { role: 'viewer', policyId: idAt(0) }, { by }));
  await inTransaction((tx) => assignToRole(tx, { role: 'editor', policyId: idAt(1) }, { by }));
});
afterAll(() => test.dispose());
beforeEach(() => {
  store = createStore();
});

/** Returns the ids of the policies of the rules that apply. */
const policiesOf = ({ policies }: Snapshot, role: string): readonly string[] =>
  applicableRules(policies, { assignments: [], role, resource: 'User', action: 'read', now: 0 }).rules.map(({ policy }) => policy.id);

/** Adds a load to the current snapshot, or loads the policies of `viewer` first. */
const load = (earlier?: RoleLoad): Promise<RoleLoad | undefined> =>
  inTransaction(async (tx) => store.loadPendingRole(tx, await store.pendingSnapshot(tx), { role: 'viewer', earlier }));
const viewerPolicies = async (): Promise<readonly string[]> => policiesOf(await inTransaction((tx) => store.snapshot(tx)), 'viewer');

const change = {
  role: 'viewer',
  get policyId() {
    return idAt(1);
  },
} as const;
const addChange = (): Promise<unknown> => inTransaction((tx) => assignToRole(tx, change, { by }));
const removeChange = (): Promise<unknown> => inTransaction((tx) => removeAssignment(tx, change, { by }));

it('does not take a policy that is deleted while it is loaded for a missing one', async () => {
  const { id } = await inTransaction((tx) => createPolicy(tx, { ...POLICY, name: 'deleted' }, { by }));
  await inTransaction((tx) => assignToRole(tx, { role: 'viewer', policyId: id }, { by }));
  const at = await inTransaction(async (tx) => store.withRoles(tx, await store.pendingSnapshot(tx), 'editor'));
  await inTransaction((tx) => deletePolicy(tx, id, { by }));
  const earlier = await inTransaction((tx) => store.loadPendingRole(tx, at, { role: 'viewer', earlier: undefined }));
  expect(earlier?.loaded.damaged).toEqual([{ table: '_Policy', id, isMissing: true }]);
  await load(earlier);
  expect([store.pendingRoles(), store.damaged()]).toEqual([[], []]);
  expect(await viewerPolicies()).toEqual([idAt(0)]);
});

it('does not take an assignment for a missing one that is created while the assignments are loaded', async () => {
  const earlier = await inTransaction(async (tx) => {
    const at = await store.pendingSnapshot(tx);
    const all = async <Row>(query: Query): Promise<readonly Row[]> => {
      // The rows of the assignments were read before: on PostgreSQL, each statement has a snapshot of its own.
      if ('texts' in query && query.texts[0]?.includes('SELECT "subjectId"')) await assignToRole(tx, change, { by });
      return tx.all<Row>(query);
    };
    return loadRole(replaceMembers(tx, { all }), at, 'viewer');
  });
  expect(earlier.assignments?.damaged).toMatchObject([{ table: '_RolePolicy', isMissing: true }]);
  await load(earlier);
  expect([store.pendingRoles(), store.damaged()]).toEqual([['editor'], []]);
  expect((await viewerPolicies()).toSorted()).toEqual(ids.toSorted());
  await removeChange();
});

it('keeps a damaged policy although the policies changed, and loads it again after the next change', async () => {
  const loaded = await inTransaction(async (tx) => {
    const at = await store.pendingSnapshot(tx);
    await tx.run(sql`UPDATE "_PolicyRule" SET "resource" = 'Other' WHERE "policyId" = ${idAt(0)}`);
    const found = await loadRole(tx, at, 'viewer');
    await tx.run(sql`UPDATE "_PolicyRule" SET "resource" = 'User' WHERE "policyId" = ${idAt(0)}`);
    return found;
  });
  await addChange();
  await load(loaded);
  expect([store.pendingRoles(), store.damaged()]).toEqual([['editor'], [{ table: '_Policy', id: idAt(0) }]]);
  const { policies } = await inTransaction((tx) => store.pendingSnapshot(tx));
  const request = { assignments: [], role: 'viewer', resource: 'User', action: 'read', now: 0 } as const;
  expect(applicableRules(policies, request).rules[0]).toMatchObject({ id: DAMAGED_RULE_ID, effect: 'DENY' });
  await removeChange();
  expect(await viewerPolicies()).toEqual([idAt(0)]);
  expect(store.damaged()).toEqual([]);
});

it('keeps a damaged assignment although another assignment changed', async () => {
  const damage = (tx: Transaction, priority: number) =>
    tx.run(sql`UPDATE "_RolePolicy" SET "priority" = ${priority} WHERE "role" = 'editor'`);
  const loaded = await inTransaction(async (tx) => {
    const at = await store.pendingSnapshot(tx);
    const row = await tx.one<{ priority: number }>(sql`SELECT "priority" FROM "_RolePolicy" WHERE "role" = 'editor'`);
    await damage(tx, Number(row?.priority) + 1);
    const found = await loadRole(tx, at, 'viewer');
    await damage(tx, Number(row?.priority));
    return found;
  });
  await addChange();
  await load(loaded);
  expect(store.damaged()).toMatchObject([{ table: '_RolePolicy' }]);
  expect(policiesOf(await inTransaction((tx) => store.pendingSnapshot(tx)), 'viewer')).toContain('damaged-assignment');
  await removeChange();
  expect([await viewerPolicies(), store.damaged()]).toEqual([[idAt(0)], []]);
});

it('loads the policies again if the history does not have the revision up to which they were read', async () => {
  const at = await inTransaction((tx) => store.pendingSnapshot(tx));
  await addChange();
  const loaded = await inTransaction((tx) => loadRole(tx, at, 'viewer'));
  await removeChange();
  // After a failover, the new server may lack the revision. Its number then belongs to another revision, or to none.
  expect(await load({ ...loaded, readUpTo: { ...loaded.readUpTo, stamp: 'lost' } })).toBeUndefined();
  expect(await load({ ...loaded, readUpTo: { ...loaded.readUpTo, number: loaded.readUpTo.number + 2 } })).toBeUndefined();
  expect(store.pendingRoles()).toContain('viewer');
  await load(loaded);
  expect([store.pendingRoles(), await viewerPolicies()]).toEqual([['editor'], [idAt(0)]]);
});

describe('a load after damage', () => {
  const setResource = (id: string, resource: string): Promise<unknown> =>
    inTransaction((tx) => tx.run(sql`UPDATE "_PolicyRule" SET "resource" = ${resource} WHERE "policyId" = ${id}`));
  const damage = (id: string): Promise<unknown> => setResource(id, 'Other');
  const repair = (id: string): Promise<unknown> => setResource(id, 'User');
  /** Creates a policy that is loaded at a start, because its condition reads another record. */
  const createReading = async (name: string): Promise<string> => {
    const conditions = [{ field: 'resource.createdBy.role', operator: 'eq', value: 'user' }] as const;
    return (await inTransaction((tx) => createPolicy(tx, { ...POLICY, name, rules: [{ ...RULE, conditions }] }, { by }))).id;
  };
  let reading: readonly [string, string];

  beforeAll(async () => {
    reading = [await createReading('reading'), await createReading('also reading')];
  });
  afterAll(() => Promise.all(reading.map((id) => inTransaction((tx) => deletePolicy(tx, id, { by })))));

  it('forgets no damaged row because others were damaged when the policies of the role were loaded', async () => {
    const [first, second] = reading;
    await damage(first);
    const at = await inTransaction((tx) => store.pendingSnapshot(tx));
    await damage(idAt(0));
    const loaded = await inTransaction((tx) => loadRole(tx, at, 'viewer'));
    await repair(idAt(0));
    await damage(second);
    await addChange();
    expect([await load(loaded), store.pendingRoles().includes('viewer')]).toEqual([undefined, true]);
    expect(
      store
        .damaged()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([first, second].toSorted());
    await load();
    expect(
      store
        .damaged()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual([first, second].toSorted());
    for (const id of reading) await repair(id);
    await removeChange();
  });

  it('keeps no damage that was repaired before the next change', async () => {
    const [first] = reading;
    await damage(first);
    const at = await inTransaction((tx) => store.pendingSnapshot(tx));
    const loaded = await inTransaction((tx) => loadRole(tx, at, 'viewer'));
    await repair(first);
    await addChange();
    expect([await load(loaded), store.pendingRoles().includes('viewer'), store.damaged()]).toEqual([undefined, true, []]);
    await load();
    expect([store.pendingRoles(), store.damaged()]).toEqual([['editor'], []]);
    await removeChange();
  });
});
