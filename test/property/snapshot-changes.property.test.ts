/** A snapshot after random changes, and the index of the linter, equal those that are created from the same policies at once. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPolicyIndex, lintPolicy } from '../../src/authz/linter/index.ts';
import {
  applicableRules,
  changePolicies,
  compilePolicies,
  type Policy,
  type PolicyChanges,
  type PolicySnapshot,
  type RolePolicy,
} from '../../src/authz/policies/index.ts';
import { casesOf } from '../budget.ts';
import { LIMITS, NEWSROOM, NOW, policyOf, type SomeRule, toRole } from '../policy-fixtures.ts';

const IDS = ['p', 'q', 'r', 's'] as const;
const ROLES = ['user', 'editor', 'viewer'] as const;
const RESOURCES = ['Article', 'Desk', 'User'] as const;
const ACTIONS = ['read', 'list', 'update'] as const;

const rule: fc.Arbitrary<SomeRule> = fc.record({
  resource: fc.constantFrom('Article', 'Desk', '*'),
  action: fc.constantFrom('read', 'list', '*'),
  effect: fc.constantFrom('ALLOW', 'DENY'),
  conditions: fc.constantFrom([], [{ field: 'user.id', operator: 'eq', value: 'u1' }]),
  priority: fc.constantFrom(1, 100),
  isActive: fc.boolean(),
});
const written = fc
  .record({
    id: fc.constantFrom(...IDS),
    rules: fc.array(rule, { maxLength: 3 }),
    isActive: fc.boolean(),
    priority: fc.constantFrom(1, 100),
  })
  .map(({ id, rules, ...others }) => ({ policies: new Map([[id, policyOf(id, rules, others)]]) }));
const deleted = fc.constantFrom(...IDS).map((id) => ({ policies: new Map([[id, undefined]]) }));
const assigned = fc
  .record({
    role: fc.constantFrom(...ROLES),
    policyId: fc.constantFrom(...IDS),
    isActive: fc.boolean(),
    priority: fc.constantFrom(50, 100, 150),
  })
  .map(({ role, policyId, ...others }) => {
    const assignment = toRole(role, policyId, others);
    return { rolePolicies: new Map([[assignment.id, assignment]]) };
  });
const revoked = fc
  .record({ role: fc.constantFrom(...ROLES), policyId: fc.constantFrom(...IDS) })
  .map(({ role, policyId }) => ({ rolePolicies: new Map([[`${role} ${policyId}`, undefined]]) }));
const change: fc.Arbitrary<Partial<PolicyChanges>> = fc.oneof(written, written, deleted, assigned, assigned, revoked);

const request = fc.record({
  role: fc.constantFrom(...ROLES, 'none'),
  resource: fc.constantFrom(...RESOURCES),
  action: fc.constantFrom(...ACTIONS),
  own: fc.subarray([...IDS], { maxLength: 2 }),
});
type Request = typeof request extends fc.Arbitrary<infer T> ? T : never;
const EVERY: readonly Request[] = [...ROLES, 'none'].flatMap((role) =>
  RESOURCES.flatMap((resource) =>
    ACTIONS.flatMap((action) => [[], ['p'], ['q', 's']].map((own) => ({ role, resource, action, own }) as Request)),
  ),
);

/** Some changes in one revision, the requests before the next, and a change that is rolled back. */
const step = fc.record({
  changes: fc.array(change, { minLength: 1, maxLength: 2 }),
  requests: fc.array(request, { maxLength: 4 }),
  linted: fc.option(fc.constantFrom(...IDS)),
  rolledBack: fc.option(change, { freq: 5 }),
});

/** Returns the rules that apply, as data: compiled conditions contain functions, which are never equal. */
function rulesFor(snapshot: PolicySnapshot, { own, ...others }: Request): unknown {
  const assignments = own.map((policyId) => ({ policyId, expiresAt: Number.POSITIVE_INFINITY }));
  const { ranked, ...applicable } = applicableRules(snapshot, { ...others, assignments, now: NOW });
  return JSON.parse(JSON.stringify({ ...applicable, ranked: ranked.map((each) => [each.rule, each.assignmentPriority]) }));
}

function findingsOf(snapshot: PolicySnapshot, id: string): unknown {
  const policy = snapshot.policies.get(id);
  if (policy === undefined) return [];
  return lintPolicy(policy, {
    index: createPolicyIndex(snapshot, NOW),
    users: { counted: 0, isComplete: true, withValue: new Map() },
    assignments: {
      roles: (snapshot.rolesByPolicy.get(id) ?? []).toSorted((a, b) => (a.role < b.role ? -1 : 1)),
      users: [],
      isComplete: true,
    },
    assignmentsOf: () => [],
    canCompileToSql: () => true,
    isSingle: true,
  });
}

const COUNTS = { inherited: 0, fired: 0 };

function run(steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]): void {
  const policies = new Map<string, Policy>();
  const rolePolicies = new Map<string, RolePolicy>();
  const compile = (): PolicySnapshot =>
    compilePolicies({ revision: 0, policies: [...policies.values()], rolePolicies: [...rolePolicies.values()] }, NEWSROOM, LIMITS);
  let snapshot = compile();
  for (const { changes, requests, linted, rolledBack } of steps) {
    if (rolledBack !== null) {
      const discarded = changePolicies(snapshot, toChanges([rolledBack]));
      for (const each of requests) rulesFor(discarded, each);
      for (const id of IDS) findingsOf(discarded, id);
    }
    const all = toChanges(changes);
    apply(policies, all.policies);
    apply(rolePolicies, all.rolePolicies);
    const before = snapshot;
    snapshot = changePolicies(before, all);
    for (const each of requests) rulesFor(snapshot, each);
    // A request that began before the change.
    for (const each of requests) rulesFor(before, each);
    if (linted !== null) findingsOf(snapshot, linted);
    COUNTS.inherited += snapshot.memo.buckets.size;
  }
  const expected = compile();
  for (const each of EVERY) expect(rulesFor(snapshot, each), JSON.stringify(each)).toEqual(rulesFor(expected, each));
  for (const id of IDS) {
    const found = findingsOf(snapshot, id);
    expect(found).toEqual(findingsOf(expected, id));
    COUNTS.fired += (found as readonly unknown[]).length;
  }
  expect(snapshot.named).toEqual(expected.named);
  expect(new Map(snapshot.policies.entries())).toEqual(new Map(expected.policies.entries()));
}

function toChanges(changes: readonly Partial<PolicyChanges>[]): PolicyChanges {
  return {
    revision: 0,
    policies: new Map(changes.flatMap(({ policies }) => [...(policies ?? [])])),
    rolePolicies: new Map(changes.flatMap((each) => [...(each.rolePolicies ?? [])])),
  };
}

function apply<Item>(to: Map<string, Item>, changes: ReadonlyMap<string, Item | undefined>): void {
  for (const [id, item] of changes) {
    if (item === undefined) to.delete(id);
    else to.set(id, item);
  }
}

it('a snapshot after random changes and requests equals one that is compiled at once', () => {
  const runs = casesOf(300);
  fc.assert(
    fc.property(fc.array(step, { minLength: 3, maxLength: 12 }), (steps) => run(steps)),
    { numRuns: runs },
  );
  expect(COUNTS.inherited).toBeGreaterThan(runs);
  expect(COUNTS.fired).toBeGreaterThan(runs);
});
