import { describe, expect, it } from 'vitest';
import { LIMITS, NEWSROOM, NOW, policyOf, stateOf, toRole } from '../../../test/policy-fixtures.ts';
import type { Json } from '../../operators/index.ts';
import { applicableRules, type UserAssignment } from './applicable-rules.ts';
import { type AccessDraft, applyDraft, draftAssignments, EMPTY_DRAFT, parseDraft } from './policy-draft.ts';
import { type DraftContext, namesInDraft } from './policy-draft-mistakes.ts';
import { compilePolicies } from './policy-snapshot.ts';

const READ = { resource: 'Article', action: 'read' } as const;
const POLICIES = [policyOf('p', [{ ...READ, description: 'stored' }]), policyOf('q', [READ], { name: 'Readers' })];
const snapshot = compilePolicies(stateOf({ policies: POLICIES, rolePolicies: [toRole('user', 'p', { priority: 70 })] }), NEWSROOM, LIMITS);
const OF_ANN: readonly UserAssignment[] = [{ policyId: 'q', expiresAt: NOW + 1 }];

const context: DraftContext = {
  definitions: NEWSROOM,
  limits: LIMITS,
  snapshot,
  stored: POLICIES,
  hasPolicy: (id) => POLICIES.some((policy) => policy.id === id),
  hasUser: (id) => id === 'ann' || id === 'ben',
  assignmentsOf: (id) => (id === 'ann' ? OF_ANN : []),
  now: NOW,
};

function issuesOf(input: Json): string[] {
  return parseDraft(input, context).issues.map(({ path, code }) => `${path} ${code}`);
}

function draftOf(input: Json): AccessDraft {
  const { draft, issues } = parseDraft(input, context);
  expect(issues).toEqual([]);
  return draft as AccessDraft;
}

/** Returns the descriptions of the rules that apply to a caller with a draft. */
function rulesWith(input: Json, { role = 'user', userId }: { readonly role?: string; readonly userId?: string } = {}) {
  const draft = draftOf(input);
  const assignments = draftAssignments(draft, userId, userId === undefined ? [] : context.assignmentsOf(userId));
  return applicableRules(applyDraft(snapshot, draft), { assignments, role, resource: 'Article', action: 'read', now: NOW }).rules.map(
    ({ id, description }) => description ?? id,
  );
}

const NEW = { name: 'New', type: 'ROLE_BASED', rules: [{ ...READ, description: 'new' }] };

describe('parseDraft', () => {
  it('an empty draft changes nothing', () => {
    expect(rulesWith({})).toEqual(['stored']);
    expect(rulesWith({}, { role: 'editor', userId: 'ann' })).toEqual(['q.0']);
  });

  it('a policy with an id replaces the given members of the stored policy', () => {
    expect(rulesWith({ policies: [{ id: 'p', rules: [{ ...READ, description: 'changed' }] }] })).toEqual(['changed']);
    expect(rulesWith({ policies: [{ id: 'p', name: 'Renamed' }] })).toEqual(['stored']);
    expect(rulesWith({ policies: [{ id: 'p', isActive: false }] })).toEqual([]);
  });

  it('a policy without an id is new, and assignments name it by its index', () => {
    expect(rulesWith({ policies: [NEW] })).toEqual(['stored']);
    const policies = [{ id: 'q', priority: 90 }, NEW];
    const toRoleUser = [{ role: 'user', policyId: 'draft:1' }];
    expect(rulesWith({ policies, assignments: toRoleUser })).toEqual(['new', 'stored']);
    expect(rulesWith({ policies, assignments: [{ userId: 'ben', policyId: 'draft:1' }] }, { userId: 'ben' })).toEqual(['new', 'stored']);
  });

  it('new rules are evaluated in their order, behind the stored rules of the same rank', () => {
    const rules = Array.from({ length: 12 }, (_, index) => ({ ...READ, description: `new ${index}` }));
    const [stored] = POLICIES[0]?.rules ?? [];
    const inOrder = rulesWith({ policies: [{ id: 'p', rules: [...rules, { ...stored, id: 'p.0' }] as unknown as Json }] });
    expect([...inOrder].sort()).toEqual([...rules.map(({ description }) => description), 'stored'].sort());
    expect(inOrder.filter((name) => name !== 'stored')).toEqual(rules.map(({ description }) => description));
  });

  it('an assignment to a role keeps the stored priority, unless the draft gives one', () => {
    const own = { policies: [NEW], assignments: [{ role: 'user', policyId: 'draft:0', priority: 80 }] };
    expect(rulesWith(own)).toEqual(['new', 'stored']);
    expect(rulesWith({ ...own, assignments: [...own.assignments, { role: 'user', policyId: 'p', priority: 90 }] })).toEqual([
      'stored',
      'new',
    ]);
    expect(rulesWith({ ...own, assignments: [...own.assignments, { role: 'user', policyId: 'p' }] })).toEqual(['new', 'stored']);
  });

  it('an assignment to a user keeps the stored expiry, unless it has expired or the draft gives one', () => {
    const expiryOf = (given: Json, now: number = NOW) => {
      const { draft = EMPTY_DRAFT } = parseDraft({ assignments: [given] }, { ...context, now });
      return draftAssignments(draft, 'ann', OF_ANN).map(({ expiresAt }) => expiresAt);
    };
    const pair = { userId: 'ann', policyId: 'q' };
    expect(expiryOf(pair)).toEqual([NOW + 1]);
    expect(expiryOf(pair, NOW + 1)).toEqual([Number.POSITIVE_INFINITY]);
    expect(expiryOf({ ...pair, expiresAt: null })).toEqual([Number.POSITIVE_INFINITY]);
    expect(expiryOf({ ...pair, expiresAt: '2026-01-01T01:00:00+01:00' })).toEqual([Date.UTC(2026, 0, 1)]);
  });

  it('removed policies and assignments do not apply', () => {
    expect(rulesWith({ removePolicies: ['p'] })).toEqual([]);
    expect(rulesWith({ removeAssignments: [{ role: 'user', policyId: 'p' }] })).toEqual([]);
    expect(rulesWith({ removeAssignments: [{ userId: 'ann', policyId: 'q' }] }, { role: 'editor', userId: 'ann' })).toEqual([]);
    expect(rulesWith({ removePolicies: ['q'] }, { role: 'editor', userId: 'ann' })).toEqual([]);
  });

  it('the given snapshot does not change', () => {
    rulesWith({ policies: [{ id: 'p', rules: [{ ...READ, description: 'changed' }] }], removePolicies: ['q'] });
    const request = { assignments: OF_ANN, role: 'user', resource: 'Article', action: 'read', now: NOW } as const;
    expect(applicableRules(snapshot, request).rules.map(({ id }) => id)).toEqual(['q.0', 'p.0']);
    expect([...snapshot.policies.entries()].map(([id]) => id)).toEqual(['p', 'q']);
  });

  it.each<[Json, string]>([
    [null, ' type'],
    [{ policy: [] }, 'policy unknown'],
    [{ policies: {} }, 'policies type'],
    [{ policies: [5] }, 'policies.0 type'],
    [{ policies: [{}] }, 'policies.0.name required policies.0.rules required policies.0.type required'],
    [
      { policies: [{ id: 'gone', name: 'Gone', type: 'CUSTOM', rules: [{ ...READ, action: 'raed' }] }] },
      'policies.0.id reference policies.0.rules.0.action enum',
    ],
    [
      { policies: [{ id: 'p', rules: [{ ...READ, conditions: [{ field: 'resource.titl', operator: 'eqq', value: 1 }] }] }] },
      'policies.0.rules.0.conditions.0.field field policies.0.rules.0.conditions.0.operator operator',
    ],
    [{ policies: [{ id: 'p' }, { id: 'p' }] }, 'policies.1.id duplicate'],
    [
      { policies: [{ id: 'p' }], removePolicies: ['p', 'p', 'gone'] },
      'policies.0.id conflict removePolicies.1 duplicate removePolicies.2 reference',
    ],
    [{ policies: [{ ...NEW, name: 'Readers' }] }, 'policies.0.name taken'],
    [{ policies: [NEW, NEW] }, 'policies.1.name taken'],
    [{ assignments: [{ policyId: 'p' }] }, 'assignments.0 conflict'],
    [{ assignments: [{ policyId: 'p', userId: 'ann', role: 'user' }] }, 'assignments.0 conflict'],
    [{ assignments: [{ policyId: 'gone', userId: 'zoe' }] }, 'assignments.0.policyId reference assignments.0.userId reference'],
    [{ assignments: [{ policyId: 'draft:0', role: 'user' }] }, 'assignments.0.policyId reference'],
    [{ assignments: [{ policyId: 'p', role: 'pope' }] }, 'assignments.0.role enum'],
    [{ assignments: [{ policyId: 'p', role: 'user', expiresAt: null }] }, 'assignments.0.expiresAt conflict'],
    [{ assignments: [{ policyId: 'p', userId: 'ann', priority: 1 }] }, 'assignments.0.priority conflict'],
    [
      { assignments: [{ policyId: 'p', role: 'user' }], removeAssignments: [{ policyId: 'p', role: 'user' }] },
      'removeAssignments.0 duplicate',
    ],
    [{ assignments: [{ policyId: 'p', role: 'user' }], removePolicies: ['p'] }, 'assignments.0.policyId conflict'],
    [
      {
        removeAssignments: [
          { policyId: 'p', role: 'editor' },
          { policyId: 'p', userId: 'ann' },
        ],
      },
      'removeAssignments.0 reference removeAssignments.1 reference',
    ],
    [
      { policies: [{ id: 'p', priority: 1.5 }], assignments: [{ policyId: 'gone', role: 'user' }] },
      'assignments.0.policyId reference policies.0.priority type',
    ],
  ])('reports every mistake of %j', (input, expected) => {
    expect(issuesOf(input).toSorted().join(' ')).toBe(expected);
  });

  it('a name may be given to another policy if the draft removes or renames the policy that has it', () => {
    expect(issuesOf({ policies: [{ ...NEW, name: 'Readers' }], removePolicies: ['q'] })).toEqual([]);
    expect(
      issuesOf({
        policies: [
          { ...NEW, name: 'Readers' },
          { id: 'q', name: 'Others' },
        ],
      }),
    ).toEqual([]);
  });

  it('reports lists that are too long, and looks up only the permitted items', () => {
    const removePolicies = Array.from({ length: 101 }, (_, index) => `gone ${index}`);
    const assignments = Array.from({ length: 1001 }, (_, index) => ({ role: 'user', policyId: `gone ${index}` }));
    expect(issuesOf({ removePolicies, assignments }).slice(0, 2)).toEqual(['removePolicies tooMany', 'assignments tooMany']);
    expect(issuesOf({ removePolicies, assignments })).toHaveLength(100);
    expect(namesInDraft({ removePolicies, assignments }).mentioned).toHaveLength(1100);
  });
});
