/** After random changes, the history replays to the state of each revision, and rollbacks restore it. */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  diffPolicies,
  type Policy,
  type PolicyInput,
  type RolePolicy,
  toPolicyContent,
  type UserPolicy,
} from '../../src/authz/policies/index.ts';
import { applyDifferences } from '../../src/authz/policies/policy-diff.fixture.ts';
import { Problem } from '../../src/errors.ts';
import {
  assignToRole,
  assignToUser,
  createPolicy,
  currentRevision,
  deletePolicy,
  loadAssignmentsAt,
  loadPolicyChanges,
  loadPolicyVersion,
  removeAssignment,
  rollBackPolicy,
  type StoredChange,
  type Transaction,
  updateAssignment,
  updatePolicy,
} from '../../src/storage/index.ts';
import { loadWholeState, openPolicyDatabase, resetPolicies } from '../../src/storage/policies/policy.fixture.ts';
import type { TestDatabase } from '../../src/storage/storage.fixture.ts';
import { databaseCasesOf } from '../budget.ts';
import type { WholeState } from '../policy-fixtures.ts';

const by = 'admin-1';
const NAMES = ['A', 'B'] as const;
let test: TestDatabase;
beforeAll(async () => {
  test = await openPolicyDatabase();
});
afterAll(() => test.dispose());

const rule = fc.record(
  {
    resource: fc.constantFrom('Article', '*'),
    action: fc.constantFrom('read', 'update', '*'),
    effect: fc.constantFrom('ALLOW', 'DENY'),
    conditions: fc.constantFrom(
      [],
      [{ field: 'user.id', operator: 'eq', value: 'u1' }],
      [{ field: 'user.id', operator: 'eq', value: 'u2' }],
    ),
    priority: fc.constantFrom(1, 100),
    isActive: fc.boolean(),
    description: fc.constantFrom('first', 'second'),
  },
  { requiredKeys: ['resource', 'action', 'effect', 'conditions', 'priority', 'isActive'] },
);
const input = fc.record({
  type: fc.constantFrom('CUSTOM', 'ROLE_BASED'),
  isActive: fc.boolean(),
  priority: fc.constantFrom(1, 100),
  tags: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
  rules: fc.array(rule, { maxLength: 4 }),
}) as fc.Arbitrary<Omit<PolicyInput, 'name'>>;
const name = fc.constantFrom(...NAMES);
const holder = fc.oneof(
  fc.record({ userId: fc.constantFrom('u1', 'u2') }),
  fc.record({ role: fc.constantFrom('user' as const, 'editor' as const) }),
);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('write' as const), name, input, keeps: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), name }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('assign' as const), name, holder }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change' as const), name, holder, isActive: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('revoke' as const), name, holder }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('roll back' as const), past: fc.nat(), isWhole: fc.boolean() }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const inTransaction = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> => test.database.transaction(work);

/** Performs a step. A step that is refused, such as the deletion of a missing policy, changes nothing. */
async function perform(given: Step, states: readonly WholeState[]): Promise<void> {
  try {
    await inTransaction((tx) => performIn(tx, given, states));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

async function performIn(tx: Transaction, given: Step, states: readonly WholeState[]): Promise<unknown> {
  if (given.kind === 'roll back') return rollBackTo(tx, given, states);
  const known = states.at(-1)?.policies.find((policy) => policy.name === given.name);
  const policyId = known?.id ?? 'none';
  switch (given.kind) {
    case 'write': {
      if (known === undefined) return createPolicy(tx, { ...given.input, name: given.name }, { by });
      // Keeps the ids of rules, or sends the rules as new ones.
      const rules = given.keeps ? [...given.input.rules, ...known.rules] : given.input.rules;
      return updatePolicy(tx, { ...given.input, rules, name: given.name }, { id: known.id, by });
    }
    case 'delete':
      return deletePolicy(tx, policyId, { by });
    case 'assign':
      if ('userId' in given.holder) return assignToUser(tx, { ...given.holder, policyId }, { by });
      return assignToRole(tx, { ...given.holder, policyId }, { by });
    case 'change':
      return updateAssignment(tx, { ...given.holder, policyId }, { by, isActive: given.isActive });
    case 'revoke':
      return removeAssignment(tx, { ...given.holder, policyId }, { by });
  }
}

async function rollBackTo(
  tx: Transaction,
  { past, isWhole }: Step & { kind: 'roll back' },
  states: readonly WholeState[],
): Promise<unknown> {
  const state = states[past % states.length];
  const policy = state?.policies[past % Math.max(1, state.policies.length)];
  if (state === undefined || policy === undefined) return undefined;
  const assignments = isWhole ? await loadAssignmentsAt(tx, { policyId: policy.id, revision: state.revision, limit: 100 }) : undefined;
  return rollBackPolicy(tx, { policy, revision: state.revision, assignments }, { by });
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);

/** Returns the policies and assignments of a state, without the order in which they were loaded. */
function contentOf({ policies, rolePolicies, userPolicies }: Pick<WholeState, 'policies' | 'rolePolicies' | 'userPolicies'>): unknown {
  return { policies: policies.toSorted(byId), rolePolicies: rolePolicies.toSorted(byId), userPolicies: userPolicies.toSorted(byId) };
}

/** Returns the state after the given changes. */
function replay(changes: readonly StoredChange[]): unknown {
  const values = new Map<string, StoredChange>();
  for (const change of changes) values.set(change.subjectId, change);
  const ofKind = <Value>(kind: StoredChange['kind']) =>
    [...values.values()].flatMap((change) => (change.kind === kind && change.value !== undefined ? [change.value as Value] : []));
  return contentOf({
    policies: ofKind<Policy>('policy'),
    rolePolicies: ofKind<RolePolicy>('rolePolicy'),
    userPolicies: ofKind<UserPolicy>('userPolicy'),
  });
}

it('the history of random changes replays to the state of each revision, and differences lead from version to version', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 15 }), async (steps) => {
      await resetPolicies(test);
      const states: WholeState[] = [];
      for (const each of steps) {
        await perform(each, states);
        states.push(await inTransaction(loadWholeState));
      }
      const changes = (await inTransaction((tx) => loadPolicyChanges(tx, { limit: 1000 }, (change) => change))).toReversed();
      for (const state of states) {
        expect(replay(changes.filter(({ revision }) => revision <= state.revision))).toEqual(contentOf(state));
        for (const policy of state.policies) {
          const { id } = policy;
          expect((await inTransaction((tx) => loadPolicyVersion(tx, id, state.revision)))?.value).toEqual(policy);
          const past = await inTransaction((tx) => loadAssignmentsAt(tx, { policyId: id, revision: state.revision, limit: 100 }));
          const held = [...state.rolePolicies, ...state.userPolicies].filter(({ policyId }) => policyId === id);
          expect(past.toSorted(byId)).toEqual(held.toSorted(byId));
        }
      }
      const versions = changes.flatMap(({ kind, value }) => (kind === 'policy' && value !== undefined ? [value as Policy] : []));
      for (const from of versions) {
        expect(diffPolicies(from, from)).toEqual([]);
        for (const to of versions.slice(-4)) expect(applyDifferences(from, diffPolicies(from, to))).toEqual(toPolicyContent(to));
      }
    }),
    { numRuns: databaseCasesOf(30) },
  );
});

it('a rollback restores a policy and its assignments, and a rollback of the rollback gives the state before it', async () => {
  const pick = fc.nat();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), pick, async (steps, past) => {
      await resetPolicies(test);
      const states: WholeState[] = [];
      for (const each of steps) {
        await perform(each, states);
        states.push(await inTransaction(loadWholeState));
      }
      const [then, before] = [states[past % states.length], states.at(-1)];
      const policy = then?.policies[past % Math.max(1, then.policies.length)];
      if (then === undefined || before === undefined || policy === undefined) return;
      if (before.policies.some(({ id, name: taken }) => id !== policy.id && taken === policy.name)) return;
      const undone = await rollBackWhole(policy.id, then);
      expect(undone).toEqual(restoredIn(then, policy.id));
      expect(await inTransaction(currentRevision)).toBe(before.revision + 1);
      if (!before.policies.some(({ id }) => id === policy.id)) return;
      expect(await rollBackWhole(policy.id, before)).toEqual(restoredIn(before, policy.id));
    }),
    { numRuns: databaseCasesOf(30) },
  );
});

/** Rolls a policy back to a state with its assignments, and returns what is stored then. */
async function rollBackWhole(id: string, { revision }: WholeState): Promise<unknown> {
  await inTransaction(async (tx) => {
    const policy = (await loadPolicyVersion(tx, id, revision))?.value as Policy;
    const assignments = await loadAssignmentsAt(tx, { policyId: id, revision, limit: 100 });
    await rollBackPolicy(tx, { policy, revision, assignments }, { by });
  });
  return restoredIn(await inTransaction(loadWholeState), id);
}

/** Returns the members of a policy and its assignments that a rollback restores. An assignment that was created again has another id. */
function restoredIn({ policies, rolePolicies, userPolicies }: WholeState, id: string): unknown {
  const policy = policies.find((each) => each.id === id);
  const held = [...rolePolicies, ...userPolicies].filter(({ policyId }) => policyId === id);
  const assignments = held.map(({ id: _, version: _version, ...assignment }) => assignment);
  const texts = assignments.map((assignment) => JSON.stringify(Object.entries(assignment).toSorted()));
  return { policy: policy && { ...policy, version: 0, updatedAt: '' }, assignments: texts.toSorted() };
}
