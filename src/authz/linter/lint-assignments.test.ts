import { describe, expect, it } from 'vitest';
import { NEWSROOM, NOW, policyOf, toRole, toUser } from '../../../test/policy-fixtures.ts';
import type { Policy, RolePolicy, UserPolicy } from '../policies/index.ts';
import { lintAll, READ, type TestPolicies } from './lint.fixture.ts';
import { lintAssignment } from './lint-assignments.ts';

describe('findings about assignments', () => {
  const p = policyOf('p', [READ]);
  const at = (days: number) => new Date(NOW + days * 24 * 3_600_000).toISOString();
  const nameDays = (text: string) => text.replace(at(1), 'DAY_1').replace(at(7), 'DAY_7');
  const rows: readonly [what: string, policies: TestPolicies, expected: readonly RegExp[]][] = [
    ['no assignments', { policies: [p] }, [/^unassigned: /]],
    ['no assignments of an inactive policy', { policies: [{ ...p, isActive: false }] }, []],
    // The policy may be kept for later.
    ['an inactive policy', { policies: [{ ...p, isActive: false }], rolePolicies: [toRole('user', 'p')] }, []],
    ['a role that no user has', { policies: [p], rolePolicies: [toRole('moderator', 'p')] }, [/^unknown-role: .*"moderator"/]],
    [
      'expired assignments',
      { policies: [p], userPolicies: ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => toUser(id, 'p', { expiresAt: at(0) })) },
      [/^expired: .* 6 .*a, b, c, d, e and 1 more/],
    ],
    [
      'an assignment that expires soon',
      { policies: [p], userPolicies: [toUser('a', 'p', { expiresAt: at(7) }), toUser('b', 'p', { expiresAt: at(7.1) }), toUser('c', 'p')] },
      [/^expires-soon: .*user a .* DAY_7$/],
    ],
    [
      'several assignments that expire soon',
      { policies: [p], userPolicies: [toUser('a', 'p', { expiresAt: at(1) }), toUser('b', 'p', { expiresAt: at(2) })] },
      [/^expires-soon: .* 2 .*users a, b\b.* DAY_1$/],
    ],
    ['a policy without rules', { policies: [policyOf('p', [])], rolePolicies: [toRole('user', 'p')] }, [/^empty: /]],
  ];
  it.each(rows)('checks assignments: %s', (_, policies, expected) =>
    expect(lintAll(policies).map(({ code, detail }) => `${code}: ${nameDays(detail)}`)).toEqual(
      expected.map((finding) => expect.stringMatching(finding)),
    ),
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
