import { describe, expect, it } from 'vitest';
import { NEWSROOM, NOW, policyOf, toRole, toUser } from '../../../test/policy-fixtures.ts';
import type { Policy, RolePolicy, UserPolicy } from '../policies/index.ts';
import { lintWorld, READ, type TestPolicies } from './finding.fixture.ts';
import { lintAssignment } from './lint-assignments.ts';

describe('advice on assignments', () => {
  const p = policyOf('p', [READ]);
  const at = (days: number) => new Date(NOW + days * 24 * 3_600_000).toISOString();
  const rows: readonly [what: string, world: TestPolicies, expected: readonly string[]][] = [
    ['to nobody', { policies: [p] }, ['unassigned: the policy is active and assigned to nobody: it allows nothing and denies nothing']],
    ['of an inactive policy to nobody', { policies: [{ ...p, isActive: false }] }, []],
    // Kept ready for when it is needed, or put aside for a while.
    ['of an inactive policy', { policies: [{ ...p, isActive: false }], rolePolicies: [toRole('user', 'p')] }, []],
    [
      'to a role that no user has',
      { policies: [p], rolePolicies: [toRole('moderator', 'p')] },
      ['unknown-role: no user can have role "moderator": only the token of another issuer could bring it'],
    ],
    [
      'that have expired',
      { policies: [p], userPolicies: ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => toUser(id, 'p', { expiresAt: at(0) })) },
      ['expired: each of 6 assignments, to users a, b, c, d, e and 1 more, has expired and gives nothing any more'],
    ],
    [
      'that soon expire',
      { policies: [p], userPolicies: [toUser('a', 'p', { expiresAt: at(7) }), toUser('b', 'p', { expiresAt: at(7.1) }), toUser('c', 'p')] },
      [`expires-soon: the assignment to user a expires within seven days, at ${at(7)}`],
    ],
    [
      'of which several soon expire',
      { policies: [p], userPolicies: [toUser('a', 'p', { expiresAt: at(1) }), toUser('b', 'p', { expiresAt: at(2) })] },
      [`expires-soon: each of 2 assignments, to users a, b, expires within seven days, the first at ${at(1)}`],
    ],
    [
      'of no rules',
      { policies: [policyOf('p', [])], rolePolicies: [toRole('user', 'p')] },
      ['empty: a policy without rules allows nothing and denies nothing'],
    ],
  ];
  it.each(rows)('%s', (_, world, expected) => expect(lintWorld(world).map(({ code, detail }) => `${code}: ${detail}`)).toEqual(expected));
});

describe('advice on an assignment that was just written', () => {
  const p = policyOf('p', [READ]);
  const codes = (policy: Policy, assignment: RolePolicy | UserPolicy): readonly string[] =>
    lintAssignment(policy, assignment, { definitions: NEWSROOM, now: NOW }).map(({ code }) => code);

  it('is what keeps it from giving anything, and not what was just said', () => {
    expect(codes({ ...p, isActive: false }, toRole('user', 'p'))).toEqual(['assigned-inactive']);
    expect(codes(p, toRole('moderator', 'p'))).toEqual(['unknown-role']);
    expect(codes(p, toUser('a', 'p', { expiresAt: new Date(NOW).toISOString() }))).toEqual(['expired']);
    expect(codes(p, toUser('a', 'p', { expiresAt: new Date(NOW + 1000).toISOString() }))).toEqual([]);
    expect(codes({ ...p, isActive: false }, toRole('user', 'p', { isActive: false }))).toEqual([]);
  });
});
