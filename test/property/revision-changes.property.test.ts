/** After random changes in any order, the updated policy store equals one that is compiled from scratch. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createPolicyIndex, lintPolicy } from '../../src/authz/linter/index.ts';
import type { Snapshot } from '../../src/authz/load-snapshot.ts';
import { applicableRules, type PolicyInput, type PolicySnapshot } from '../../src/authz/policies/index.ts';
import { createPolicyStore, type PolicyStore } from '../../src/authz/policy-store.ts';
import type { RoleLoad } from '../../src/authz/role-load.ts';
import { Problem } from '../../src/errors.ts';
import { sql } from '../../src/sql.ts';
import {
  advanceRevisionAbove,
  assignToRole,
  assignToUser,
  createPolicy,
  deletePolicy,
  listPolicies,
  loadActiveAssignments,
  migrate,
  removeAssignment,
  removeAssignmentsOf,
  type Transaction,
  updateAssignment,
  updatePolicy,
} from '../../src/storage/index.ts';
import { openTestDatabase } from '../../src/storage/storage.fixture.ts';
import { casesOf } from '../budget.ts';
import { LIMITS, NEWSROOM, NOW } from '../policy-fixtures.ts';

const by = 'admin-1';
const NAMES = ['A', 'B', 'C'] as const;
const USERS = ['u1', 'u2', 'u3'] as const;
const ROLES = ['user', 'editor'] as const;
const RUNS = casesOf(20, { postgres: 7 });

const test = openTestDatabase();
beforeAll(async () => {
  await migrate(test.database, NEWSROOM);
  await test.database.transaction(async (tx) => {
    for (const id of USERS)
      await tx.run(
        sql`INSERT INTO "User" ("id", "version", "createdAt", "updatedAt", "name", "email", "password", "role", "isActive") VALUES (${id}, 1, '', '', ${id}, ${id}, '', 'user', TRUE)`,
      );
  });
});
afterAll(() => test.dispose());

const rule = fc.record({
  resource: fc.constantFrom('Article', 'Desk', '*'),
  action: fc.constantFrom('read', 'list', '*'),
  effect: fc.constantFrom('ALLOW', 'DENY'),
  // The last condition reads another record, so its policy is loaded without an assignment.
  conditions: fc.constantFrom(
    [],
    [{ field: 'user.id', operator: 'eq', value: 'u1' }],
    [{ field: 'resource.authorId.role', operator: 'eq', value: 'user' }],
  ),
  priority: fc.constantFrom(1, 100),
  isActive: fc.boolean(),
});
const input = fc.record({
  name: fc.constantFrom(...NAMES),
  type: fc.constant('CUSTOM'),
  isActive: fc.boolean(),
  priority: fc.constantFrom(1, 100),
  tags: fc.constant([]),
  rules: fc.array(rule, { maxLength: 3 }),
}) as fc.Arbitrary<PolicyInput>;

const policy = fc.constantFrom(...NAMES);
const holder = fc.oneof(fc.record({ userId: fc.constantFrom(...USERS) }), fc.record({ role: fc.constantFrom(...ROLES) }));
const values = fc.record(
  { isActive: fc.boolean(), expiresAt: fc.constantFrom(new Date(NOW).toISOString(), new Date(NOW + 5).toISOString(), null) },
  { requiredKeys: [] },
);

const change = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), input }),
  fc.record({ kind: fc.constant('delete' as const), policy }),
  fc.record({ kind: fc.constant('assign' as const), policy, holder, values }),
  fc.record({ kind: fc.constant('reassign' as const), policy, holder, values }),
  fc.record({ kind: fc.constant('take' as const), policy, holder }),
  fc.record({ kind: fc.constant('leave' as const), userId: fc.constantFrom(...USERS) }),
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('several' as const), changes: fc.array(change, { minLength: 1, maxLength: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rolled back' as const), change }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('during a load' as const), changes: fc.tuple(change, change) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restored' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('defined' as const) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('checked' as const) }) },
);

/** Changes that are refused and rolled back, such as changes of missing policies and repeated assignments. */
function refused(error: unknown): void {
  if (!(error instanceof Problem || error instanceof RolledBack)) throw error;
}

class RolledBack extends Error {}

async function idOf(tx: Transaction, name: string): Promise<string> {
  return (await tx.one<{ id: string }>(sql`SELECT "id" FROM "_Policy" WHERE "name" = ${name}`))?.id ?? 'none';
}

/** Performs one change. A refused change rolls its transaction back. */
async function perform(tx: Transaction, one: Change): Promise<unknown> {
  if (one.kind === 'leave') return removeAssignmentsOf(tx, one.userId, { by });
  const policyId = await idOf(tx, one.kind === 'write' ? one.input.name : one.policy);
  switch (one.kind) {
    case 'write':
      return policyId === 'none' ? createPolicy(tx, one.input, { by }) : updatePolicy(tx, one.input, { id: policyId, by });
    case 'delete':
      return deletePolicy(tx, policyId, { by });
    case 'assign':
      if ('userId' in one.holder) return assignToUser(tx, { ...one.holder, policyId }, { by, ...one.values });
      return assignToRole(tx, { ...one.holder, policyId }, { by, isActive: one.values.isActive });
    case 'reassign':
      return updateAssignment(tx, { ...one.holder, policyId }, { by, ...('userId' in one.holder ? one.values : { priority: 7 }) });
    case 'take':
      return removeAssignment(tx, { ...one.holder, policyId }, { by });
  }
}

const inTransaction = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => test.database.transaction(work);

/** Returns the content of a policy store: the rules that apply to each user, in order, with expiry. */
async function contentOf(snapshot: Snapshot): Promise<unknown> {
  const content: unknown[] = [];
  for (const userId of [undefined, ...USERS]) {
    const assignments = await inTransaction(async (tx) => snapshot.assignments.of(tx, userId));
    for (const role of ['none', ...ROLES])
      for (const resource of ['Article', 'Desk', 'User'])
        for (const action of ['read', 'list', 'update'] as const) {
          const { ranked, ...others } = applicableRules(snapshot.policies, { assignments, role, resource, action, now: NOW });
          content.push({ ...others, ranked: ranked.map((one) => [one.rule, one.assignmentPriority]) });
        }
  }
  // As data, because compiled conditions contain functions, which are never equal.
  return JSON.parse(JSON.stringify(content));
}

/** Returns the indexes of a snapshot, without the policies that no role has: a snapshot keeps those that a role had. */
function indexesOf({ policies, rolePolicies, rolesByPolicy, byRole, watch, watchCounts }: PolicySnapshot): unknown {
  const assignments = [...rolesByPolicy.entries()].map(([id, all]) => [id, all.toSorted((a, b) => (a.id < b.id ? -1 : 1))] as const);
  return {
    policies: new Map([...policies.entries()].filter(([id]) => rolesByPolicy.has(id))),
    rolePolicies: new Map(rolePolicies.entries()),
    rolesByPolicy: new Map(assignments),
    byRole: new Map([...byRole].map(([role, assigned]) => [role, new Map(assigned.entries())])),
    watch,
    watchCounts: new Map([...watchCounts].filter(([, rules]) => rules !== 0)),
  };
}

/** Returns the findings about each policy, linted alone and with the others. */
async function findingsOf({ policies, assignments }: Snapshot): Promise<unknown> {
  const index = createPolicyIndex(policies, NOW);
  const users = { counted: 0, isComplete: true, withValue: new Map() };
  const findings: unknown[] = [];
  for (const one of await inTransaction(listPolicies)) {
    const { id } = one;
    const assigned = (await inTransaction((tx) => loadActiveAssignments(tx, [id], { limit: 100 }))).get(id) ?? expect.fail(id);
    const assignmentsOf = await inTransaction((tx) => assignments.ofEach(tx, USERS));
    const context = { index, users, assignments: assigned, assignmentsOf, canCompileToSql: () => true };
    findings.push(lintPolicy(one, context), lintPolicy(one, { ...context, isSingle: true }));
  }
  return findings;
}

async function check(store: PolicyStore): Promise<boolean> {
  const whole = createPolicyStore(store.definitions, { ...LIMITS, maxAssignments: 1000 });
  const snapshots = await inTransaction(async (tx) => [await store.snapshot(tx), await whole.snapshot(tx)] as const);
  const [withRevisions, compiled] = snapshots;
  expect(withRevisions.revision).toEqual(compiled.revision);
  expect(indexesOf(withRevisions.policies)).toEqual(indexesOf(compiled.policies));
  expect(await findingsOf(withRevisions)).toEqual(await findingsOf(compiled));
  const [found, wanted] = [await contentOf(withRevisions), await contentOf(compiled)];
  expect(found).toEqual(wanted);
  return (found as readonly { readonly rules: readonly unknown[] }[]).some(({ rules }) => rules.length > 0);
}

/** Resets the database; a policy store that was compiled before then belongs to another history. */
async function restore(tx: Transaction): Promise<void> {
  for (const table of ['_PolicyRule', '_UserPolicy', '_RolePolicy', '_Policy', '_PolicyHistory', '_Epoch'])
    await tx.run(sql`DELETE FROM ${sql.table(table)} WHERE 1 = 1`);
  await advanceRevisionAbove(tx, 0);
  for (const name of NAMES) {
    const { id } = await createPolicy(tx, { ...BEGINNING, name }, { by });
    await assignToUser(tx, { policyId: id, userId: name === 'A' ? 'u1' : 'u2' }, { by });
    if (name !== 'A') await assignToRole(tx, { policyId: id, role: 'user' }, { by });
  }
}

const BEGINNING: Omit<PolicyInput, 'name'> = {
  type: 'CUSTOM',
  isActive: true,
  priority: 100,
  tags: [],
  rules: [{ resource: '*', action: 'read', effect: 'ALLOW', conditions: [], priority: 50, isActive: true }],
};

/** Changes policies while those of a role are loaded again, before and after the first load. */
async function changeDuringLoad(store: PolicyStore, changes: readonly [Change, Change]): Promise<void> {
  const change = (one: Change): Promise<unknown> => inTransaction((tx) => perform(tx, one)).catch(refused);
  const load = (at: Snapshot, earlier: RoleLoad | undefined): Promise<RoleLoad | undefined> =>
    inTransaction((tx) => store.loadPendingRole(tx, at, { role: 'user', earlier }));
  store.replaceDefinitions(new Map(NEWSROOM));
  const before = await inTransaction((tx) => store.pendingSnapshot(tx));
  if (!before.policies.pendingRoles.has('user')) return;
  await change(changes[0]);
  const earlier = await load(before, undefined);
  await change(changes[1]);
  await load(await inTransaction((tx) => store.pendingSnapshot(tx)), earlier);
  expect(store.pendingRoles()).not.toContain('user');
}

it('the updated policy store equals a newly compiled one after random changes', async () => {
  let applied = 0;
  let reused = 0;
  const property = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), fc.boolean(), async (steps, isPending) => {
    await inTransaction(restore);
    const store = createPolicyStore(NEWSROOM, { ...LIMITS, maxAssignments: 5, ...(isPending && { loadedAtOnce: 0 }) });
    const load = (tx: Transaction): Promise<Snapshot> => (isPending ? store.pendingSnapshot(tx) : store.snapshot(tx));
    for (const one of [...steps, { kind: 'checked' as const }]) {
      if (one.kind === 'checked') applied += Number(await check(store));
      if (one.kind === 'restored') await inTransaction(restore);
      if (one.kind === 'defined') store.replaceDefinitions(new Map(NEWSROOM));
      if (one.kind === 'during a load') await changeDuringLoad(store, one.changes);
      if (one.kind === 'several') {
        const before = await inTransaction(load);
        await inTransaction(async (tx) => {
          for (const each of one.changes) await tx.savepoint(() => perform(tx, each)).catch(refused);
        });
        const after = await inTransaction(load);
        reused += Number(before !== after && before.policies.memo.rules === after.policies.memo.rules);
      }
      if (one.kind === 'rolled back')
        await inTransaction(async (tx) => {
          await perform(tx, one.change);
          await store.snapshotAfterChange(tx);
          // As a reader in the middle of a commit batch that then fails.
          await store.snapshot(tx);
          throw new RolledBack();
        }).catch(refused);
    }
  });
  await fc.assert(property, { numRuns: RUNS });
  expect(applied).toBeGreaterThan(RUNS);
  expect(reused).toBeGreaterThan(RUNS);
});
