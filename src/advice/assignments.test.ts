import { describe, expect, it } from 'vitest';
import { NOW, policyOf, toRole, toUser } from '../../test/policy-fixtures.ts';
import { adviceIn, READ, type World } from './advice.fixture.ts';

describe('advice on assignments', () => {
  const p = policyOf('p', [READ]);
  const at = (days: number) => new Date(NOW + days * 24 * 3_600_000).toISOString();
  const rows: readonly [what: string, world: World, expected: readonly string[]][] = [
    ['to nobody', { policies: [p] }, ['unassigned: the policy is active and assigned to nobody: it allows nothing and denies nothing']],
    ['of an inactive policy to nobody', { policies: [{ ...p, isActive: false }] }, []],
    [
      'of an inactive policy',
      { policies: [{ ...p, isActive: false }], rolePolicies: [toRole('user', 'p')] },
      ['assigned-inactive: the policy is assigned and not active: it allows nothing and denies nothing'],
    ],
    [
      'to a role that no user has',
      { policies: [p], rolePolicies: [toRole('moderator', 'p')] },
      ['unknown-role: no user can have role "moderator": only the token of another issuer could bring it'],
    ],
    [
      'that have expired',
      { policies: [p], userPolicies: ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => toUser(id, 'p', { expiresAt: at(0) })) },
      ['expired: each of 6 assignments, to users a, b, c, d, e and 1 more has expired and gives nothing any more'],
    ],
    [
      'that soon expire',
      { policies: [p], userPolicies: [toUser('a', 'p', { expiresAt: at(7) }), toUser('b', 'p', { expiresAt: at(7.1) }), toUser('c', 'p')] },
      ['expires-soon: the assignment to user a expires within seven days'],
    ],
    [
      'of no rules',
      { policies: [policyOf('p', [])], rolePolicies: [toRole('user', 'p')] },
      ['empty: a policy without rules allows nothing and denies nothing'],
    ],
  ];
  it.each(rows)('%s', (_, world, expected) => expect(adviceIn(world).map(({ code, detail }) => `${code}: ${detail}`)).toEqual(expected));
});
