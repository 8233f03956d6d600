import { describe, expect, it } from 'vitest';
import { LIMITS, NEWSROOM, policyOf, stateOf, toRole } from '../../../test/policy-fixtures.ts';
import type { Policy } from './policy.ts';
import { changePolicies, compilePolicies, type PolicySnapshot } from './policy-snapshot.ts';
import { type IndexedRequest, policiesAbout } from './role-index.ts';

const POLICIES = [
  policyOf('all', [{}]),
  policyOf('article', [
    { resource: 'Article', action: 'read' },
    { resource: 'Article', action: 'read', effect: 'DENY' },
    { resource: 'Article' },
  ]),
  policyOf('desk', [{ resource: 'Desk', action: 'list' }]),
  policyOf('inactive', [{ resource: 'Article', isActive: false }]),
  policyOf('log', [{ resource: '_Decision', action: 'read' }]),
];

function compile(policies: readonly Policy[]): PolicySnapshot {
  const rolePolicies = policies.map(({ id }) => toRole('user', id));
  return compilePolicies(stateOf({ policies: [...policies], rolePolicies }), NEWSROOM, LIMITS);
}

function find(snapshot: PolicySnapshot, resource: string, action: IndexedRequest['action']): readonly string[] {
  const assigned = snapshot.byRole.get('user');
  if (assigned === undefined) return [];
  return policiesAbout(snapshot, { role: 'user', resource, action }, assigned).map(({ id }) => id);
}

function change(snapshot: PolicySnapshot, policies: readonly Policy[]): PolicySnapshot {
  const changed = new Map(policies.map((policy) => [policy.id, policy]));
  return changePolicies(snapshot, { revision: 2, policies: changed, rolePolicies: new Map() });
}

describe('policiesAbout', () => {
  it.each<[string, IndexedRequest['action'], readonly string[]]>([
    ['Article', 'read', ['all', 'article']],
    ['Article', 'list', ['all', 'article']],
    ['Desk', 'list', ['all', 'desk']],
    ['Desk', 'read', ['all']],
    ['*', 'read', ['all']],
    ['_Decision', 'read', ['log']],
    ['__proto__', 'read', ['all']],
  ])('finds each policy with active rules about %s and %s once', (resource, action, expected) => {
    expect(find(compile(POLICIES), resource, action).toSorted()).toEqual(expected);
  });

  it('finds changed policies, and those of the earlier snapshot for requests under it, without a new index', () => {
    const before = compile(POLICIES);
    expect(find(before, 'Desk', 'list').toSorted()).toEqual(['all', 'desk']);
    const index = before.memo.roleIndexes.get('user');
    const after = change(before, [policyOf('desk', [{ resource: 'Article', action: 'read' }])]);
    // The caller selects the rules: a changed policy may have none about the request.
    expect(find(after, 'Article', 'read').toSorted()).toEqual(['all', 'article', 'desk']);
    expect(find(before, 'Article', 'read').toSorted()).toEqual(['all', 'article']);
    expect(after.memo.roleIndexes.get('user')).toBe(index);
  });

  it('finds an assigned policy that becomes active again', () => {
    const before = compile(POLICIES);
    find(before, 'Desk', 'list');
    const off = change(before, [{ ...policyOf('desk', [{ resource: 'Desk' }]), isActive: false }]);
    expect(find(off, 'Desk', 'list')).toEqual(['all']);
    const on = change(off, [policyOf('desk', [{ resource: 'Desk' }])]);
    expect(find(on, 'Desk', 'list').toSorted()).toEqual(['all', 'desk']);
  });

  it('builds a new index after many changes', () => {
    const many = Array.from({ length: 1001 }, (_, nth) => policyOf(`p${nth}`, [{ resource: 'Article' }]));
    const before = compile(many);
    expect(find(before, 'Desk', 'list')).toEqual([]);
    const index = before.memo.roleIndexes.get('user');
    const after = change(
      before,
      many.map(({ id }) => policyOf(id, [{ resource: 'Desk' }])),
    );
    expect(find(after, 'Desk', 'list')).toHaveLength(1001);
    expect(find(after, 'Article', 'list')).toEqual([]);
    expect(after.memo.roleIndexes.get('user')).not.toBe(index);
  });
});
