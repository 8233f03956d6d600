import { describe, expect, it } from 'vitest';
import { NEWSROOM, NOW, policyOf, toRole, toUser } from '../../../test/policy-fixtures.ts';
import type { Policy, RolePolicy, UserPolicy } from '../policies/index.ts';
import { lintAll, READ, type TestPolicies } from './lint.fixture.ts';
import { lintAssignment } from './lint-assignments.ts';

describe('findings about assignments', () => {
  const p = policyOf('p', [READ]);
  const at = (days: number) => new Date(NOW + days * 24 * 3_600_000).toISOString();
  const rows: readonly [what: string, policies: TestPolicies, expected: readonly string[]][] = [
    ['no assignments', { policies: [p] }, ['unassigned: the policy is active but has no assignments, so it has no effect']],
    ['no assignments of an inactive policy', { policies: [{ ...p, isActive: false }] }, []],
    // The policy may be kept for later.
    ['an inactive policy', { policies: [{ ...p, isActive: false }], rolePolicies: [toRole('user', 'p')] }, []],
    [
      'a role that no user has',
      { policies: [p], rolePolicies: [toRole('moderator', 'p')] },
      ['unknown-role: no user can have role "moderator": only a token of another issuer can contain it'],
    ],
    [
      'expired assignments',
      { policies: [p], userPolicies: ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => toUser(id, 'p', { expiresAt: at(0) })) },
      ['expired: each of 6 assignments (to users a, b, c, d, e and 1 more) has expired and no longer applies'],
    ],
    [
      'an assignment that expires soon',
      { policies: [p], userPolicies: [toUser('a', 'p', { expiresAt: at(7) }), toUser('b', 'p', { expiresAt: at(7.1) }), toUser('c', 'p')] },
      [`expires-soon: the assignment to user a expires within seven days, at ${at(7)}`],
    ],
    [
      'several assignments that expire soon',
      { policies: [p], userPolicies: [toUser('a', 'p', { expiresAt: at(1) }), toUser('b', 'p', { expiresAt: at(2) })] },
      [`expires-soon: each of 2 assignments (to users a, b) expires within seven days, the first at ${at(1)}`],
    ],
    [
      'a policy without rules',
      { policies: [policyOf('p', [])], rolePolicies: [toRole('user', 'p')] },
      ['empty: the policy has no rules, so it has no effect'],
    ],
  ];
  it.each(rows)('checks assignments: %s', (_, policies, expected) =>
    expect(lintAll(policies).map(({ code, detail }) => `${code}: ${detail}`)).toEqual(expected),
  );
});

describe('findings about an assignment that was just written', () => {
  const p = policyOf('p', [READ]);
  const codes = (policy: Policy, assignment: RolePolicy | UserPolicy): readonly string[] =>
    lintAssignment(policy, assignment, { definitions: NEWSROOM, now: NOW }).map(({ code }) => code);

  it('names the reason why an assignment has no effect, but not an expiry in the future', () => {
    expect(codes({ ...p, isActive: false }, toRole('user', 'p'))).toEqual(['assigned-inactive']);
    expect(codes(p, toRole('moderator', 'p'))).toEqual(['unknown-role']);
    expect(codes(p, toUser('a', 'p', { expiresAt: new Date(NOW).toISOString() }))).toEqual(['expired']);
    expect(codes(p, toUser('a', 'p', { expiresAt: new Date(NOW + 1000).toISOString() }))).toEqual([]);
    expect(codes({ ...p, isActive: false }, toRole('user', 'p', { isActive: false }))).toEqual([]);
  });
});
