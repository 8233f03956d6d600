import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../../test/budget.ts';
import type { Policy, PolicyRule } from './policy.ts';
import { applyDifferences, policyOf } from './policy-diff.fixture.ts';
import { diffPolicies, toPolicyContent } from './policy-diff.ts';

type Rules = Parameters<typeof policyOf>[0];

const drafts = { field: 'resource.status', operator: 'eq', value: 'draft' };
const published = { ...drafts, value: 'published' };
const own = { field: 'resource.authorId', operator: 'eq', value: '${user.id}' };
const rule = (id: string, members: Partial<PolicyRule> = {}) => ({ id, description: id, ...members });

/** Returns the differences as texts: kind, path and meaning. */
function textsOf(from: Policy, to: Policy): readonly string[] {
  return diffPolicies(from, to).map(({ kind, path, meaning }) => `${kind} ${path}: ${meaning}`);
}

describe('the differences of two policies', () => {
  it.each<[string, Partial<Policy>, Partial<Policy>, readonly string[]]>([
    ['a name', {}, { name: 'Desk' }, ['changed name: the policy is named "Desk" instead of "Editors"']],
    ['a new description', {}, { description: 'who edits' }, ['added description: the description of the policy is "who edits"']],
    ['a removed description', { description: 'x' }, {}, ['removed description: the description of the policy is removed']],
    ['a type', {}, { type: 'ROLE_BASED' }, ['changed type: the policy has type ROLE_BASED instead of CUSTOM']],
    ['an inactive policy', {}, { isActive: false }, ['changed isActive: the policy is not active: none of its rules is evaluated']],
    [
      'a priority',
      {},
      { priority: 5 },
      ['changed priority: the policy has priority 5 instead of 100: among rules of the same priority, its rules are evaluated later'],
    ],
    ['tags', { tags: ['a', 'b'] }, { tags: ['b', 'c'] }, ['removed tags.0: the tag "a" is removed', 'added tags.1: the tag "c" is added']],
    ['the members that the service sets', {}, { version: 9, updatedAt: 'later', createdBy: 'bob' }, []],
  ])('describes a difference in members of the policy: %s', (_, from, to, expected) => {
    expect(textsOf(policyOf([], from), policyOf([], to))).toEqual(expected);
  });

  it.each<[string, Rules, Rules, readonly string[]]>([
    [
      'another action',
      [rule('a', { action: 'delete' })],
      [rule('a')],
      ['changed rules.0.action: rule "a" applies to action update, no longer to action delete'],
    ],
    [
      'every action',
      [rule('a')],
      [rule('a', { action: '*' })],
      ['changed rules.0.action: rule "a" applies to every action, no longer to action update'],
    ],
    [
      'another resource',
      [rule('a')],
      [rule('a', { resource: '*' })],
      ['changed rules.0.resource: rule "a" applies to every resource, no longer to resource Article'],
    ],
    ['another effect', [rule('a')], [rule('a', { effect: 'DENY' })], ['changed rules.0.effect: rule "a" denies instead of allowing']],
    [
      'an inactive rule',
      [rule('a')],
      [rule('a', { isActive: false })],
      ['changed rules.0.isActive: rule "a" is not active and is not evaluated'],
    ],
    [
      'a rule without a description',
      [{ id: 'a' }],
      [{ id: 'a', priority: 7 }],
      ['changed rules.0.priority: rule "ALLOW update on Article" has priority 7 instead of 100'],
    ],
    [
      'a condition more',
      [rule('a', { conditions: [own] })],
      [rule('a', { conditions: [own, drafts] })],
      ['added rules.0.conditions.1: rule "a" now requires resource.status eq "draft"'],
    ],
    [
      'a condition less',
      [rule('a', { conditions: [drafts, own] })],
      [rule('a', { conditions: [own] })],
      ['removed rules.0.conditions.0: rule "a" no longer requires resource.status eq "draft"'],
    ],
    [
      'another value in a condition',
      [rule('a', { conditions: [drafts] })],
      [rule('a', { conditions: [published] })],
      ['changed rules.0.conditions.0: rule "a" requires resource.status eq "published" instead of resource.status eq "draft"'],
    ],
    [
      'conditions in another order',
      [rule('a', { conditions: [drafts, own] })],
      [rule('a', { conditions: [own, drafts] })],
      [
        'moved rules.0.conditions.0: condition resource.authorId eq ${user.id} of rule "a" is at place 1 instead of 2, which changes no decision',
      ],
    ],
    [
      'a new rule',
      [],
      [rule('a', { conditions: [drafts] })],
      ['added rules.0: rule "a" is added and allows update on resource Article if resource.status eq "draft"'],
    ],
    [
      'a removed rule',
      [rule('a', { effect: 'DENY', action: '*' })],
      [],
      ['removed rules.0: rule "a" is removed and no longer denies every action on resource Article'],
    ],
    [
      'a rule at another place',
      [rule('a'), rule('b'), rule('c')],
      [rule('c'), rule('a'), rule('b')],
      ['moved rules.0: rule "c" is at place 1 instead of 3, which changes no decision'],
    ],
    ['a rule with another id and the same content', [rule('a')], [{ ...rule('a'), id: 'z' }], []],
    [
      'a rule with another id and another action',
      [rule('a')],
      [{ ...rule('a', { action: 'read' }), id: 'z' }],
      ['changed rules.0.action: rule "a" applies to action read, no longer to action update'],
    ],
    [
      'a DENY that is evaluated before other rules',
      [rule('closed', { effect: 'DENY', priority: 1 }), rule('a'), rule('b'), rule('low', { priority: 0 })],
      [rule('closed', { effect: 'DENY', priority: 900 }), rule('a'), rule('b'), rule('low', { priority: 0 })],
      ['changed rules.0.priority: rule "closed" has priority 900 instead of 1: it is evaluated before rule "a", rule "b"'],
    ],
    [
      'an ALLOW that is evaluated after a DENY of the same priority',
      [rule('a', { priority: 200 }), rule('closed', { effect: 'DENY' })],
      [rule('a', { priority: 100 }), rule('closed', { effect: 'DENY' })],
      ['changed rules.0.priority: rule "a" has priority 100 instead of 200: it is evaluated after rule "closed"'],
    ],
  ])('describes a difference in rules: %s', (_, from, to, expected) => {
    expect(textsOf(policyOf(from), policyOf(to))).toEqual(expected);
  });

  it('a condition that can no longer be parsed is shown as JSON', () => {
    const [from, to] = [
      policyOf([rule('a', { conditions: [{ field: 'resource.x', operator: 'gone', value: 1 }] })]),
      policyOf([rule('a')]),
    ];
    expect(textsOf(from, to)).toEqual([expect.stringContaining('"operator":"gone"')]);
  });
});

const condition = fc.constantFrom(drafts, published, own, { anyOf: [drafts, own] }, { not: own });
const content = fc.record(
  {
    resource: fc.constantFrom('Article', '*'),
    action: fc.constantFrom('read', 'delete'),
    effect: fc.constantFrom('ALLOW', 'DENY'),
    conditions: fc.array(condition, { maxLength: 4 }),
    priority: fc.constantFrom(1, 100),
    isActive: fc.boolean(),
    description: fc.constantFrom('x', 'y', 'z'),
  },
  { requiredKeys: ['resource', 'action', 'effect', 'conditions', 'priority', 'isActive'] },
) as fc.Arbitrary<Partial<PolicyRule>>;
const members = fc.record(
  {
    name: fc.constantFrom('A', 'B'),
    type: fc.constantFrom('CUSTOM', 'ROLE_BASED'),
    isActive: fc.boolean(),
    priority: fc.constantFrom(1, 2),
    tags: fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd')),
    description: fc.constantFrom('m', 'n'),
  },
  { requiredKeys: ['name', 'type', 'isActive', 'priority', 'tags'] },
) as fc.Arbitrary<Partial<Policy>>;
const ids = fc.uniqueArray(fc.constantFrom('1', '2', '3', '4', '5', '6', '7'));
const policy = fc.tuple(ids, fc.array(content, { minLength: 7, maxLength: 7 }), members).map(([order, contents, own]) =>
  policyOf(
    order.map((id, index) => ({ id, ...contents[index] })),
    own,
  ),
);

describe('the differences of random policies', () => {
  it('differences applied to the older version give the newer one', () => {
    fc.assert(
      fc.property(policy, policy, (from, to) => {
        expect(applyDifferences(from, diffPolicies(from, to))).toEqual(toPolicyContent(to));
      }),
      { numRuns: casesOf(500) },
    );
  });

  it('equal versions have no differences, and a permutation of rules moves rules only', () => {
    fc.assert(
      fc.property(policy, fc.array(fc.nat()), (from, keys) => {
        expect(diffPolicies(from, from)).toEqual([]);
        const keyOf = new Map(from.rules.map(({ id }, index) => [id, keys[index] ?? 0]));
        const to = { ...from, rules: from.rules.toSorted((a, b) => (keyOf.get(a.id) ?? 0) - (keyOf.get(b.id) ?? 0)) };
        const found = diffPolicies(from, to);
        expect(found.filter(({ kind }) => kind !== 'moved')).toEqual([]);
        expect(found.length).toBeLessThan(Math.max(1, from.rules.length));
      }),
      { numRuns: casesOf(200) },
    );
  });
});
