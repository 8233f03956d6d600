import { describe, expect, it } from 'vitest';
import { NOW, policyOf, type SomeRule, toRole, toUser } from '../../../test/policy-fixtures.ts';
import { comparison, DENY, drafts, lintWorld, READ, type TestPolicies, when } from './finding.fixture.ts';

describe('rules beside those of other policies', () => {
  const p = policyOf('p', [READ]);
  const q = policyOf('q', [{ ...READ, ...DENY }]);
  const hours = policyOf('q', [{ ...READ, ...DENY, ...when(comparison('environment.hour', 'lt', 6)) }]);
  const same = policyOf('q', [{ ...READ, ...when(drafts) }]);
  const soon = new Date(NOW + 30 * 24 * 3_600_000).toISOString();
  const past = new Date(NOW - 1).toISOString();
  const ofMany = (policyId: string, count: number) => Array.from({ length: count }, (_, index) => toUser(`u${index}`, policyId));
  const rows: readonly [what: string, world: TestPolicies, expected: readonly string[]][] = [
    ['of the same role', { policies: [p, q], rolePolicies: [toRole('user', 'p'), toRole('user', 'q')] }, ['p.0 never-fires q.0']],
    ['of another role', { policies: [p, q], rolePolicies: [toRole('user', 'p'), toRole('admin', 'q')] }, []],
    ['of one of two roles', { policies: [p, q], rolePolicies: [toRole('user', 'p'), toRole('admin', 'p'), toRole('user', 'q')] }, []],
    [
      'of both roles',
      { policies: [p, q], rolePolicies: [toRole('user', 'p'), toRole('admin', 'p'), toRole('user', 'q'), toRole('admin', 'q')] },
      ['p.0 never-fires q.0'],
    ],
    [
      'that goes second by its assignment',
      { policies: [p, q], rolePolicies: [toRole('user', 'p'), toRole('user', 'q', { priority: 99 })] },
      ['q.0 never-fires p.0'],
    ],
    [
      'of a policy of lower priority',
      { policies: [p, { ...q, priority: 99 }], rolePolicies: [toRole('user', 'p'), toRole('user', 'q')] },
      ['q.0 never-fires p.0'],
    ],
    ['of an inactive policy', { policies: [p, { ...q, isActive: false }], rolePolicies: [toRole('user', 'p')] }, []],
    [
      'by an inactive assignment',
      { policies: [p, q], rolePolicies: [toRole('user', 'p'), toRole('user', 'q', { isActive: false })] },
      ['q unassigned'],
    ],
    ['of the same user', { policies: [p, q], userPolicies: [toUser('u1', 'p'), toUser('u1', 'q')] }, ['p.0 never-fires q.0']],
    ['of another user', { policies: [p, q], userPolicies: [toUser('u1', 'p'), toUser('u2', 'q')] }, []],
    [
      'of the same user for a time',
      { policies: [p, q], userPolicies: [toUser('u1', 'p'), toUser('u1', 'q', { expiresAt: soon })] },
      ['p.0 conflict q.0'],
    ],
    [
      'of the same user, whose own may go first by a role',
      {
        policies: [p, q],
        userPolicies: [toUser('u1', 'p'), toUser('u1', 'q')],
        rolePolicies: [toRole('user', 'p', { priority: 101 }), toRole('user', 'q')],
      },
      [],
    ],
    [
      'of a role that a user has besides',
      { policies: [p, q], userPolicies: [toUser('u1', 'p')], rolePolicies: [toRole('user', 'p'), toRole('user', 'q')] },
      [],
    ],
    ['of too many users to look at each', { policies: [p, q], userPolicies: [...ofMany('p', 201), ...ofMany('q', 201)] }, []],
    [
      'of as many users as are looked at',
      { policies: [p, q], userPolicies: [...ofMany('p', 200), ...ofMany('q', 200)] },
      ['p.0 never-fires q.0'],
    ],
    ['of users not all of whom are known', { policies: [p, q], userPolicies: [toUser('u1', 'p'), toUser('u1', 'q')], all: false }, []],
    [
      'in conflict with one that a third keeps from firing',
      {
        policies: [policyOf('p', [{ action: 'read' }]), hours, policyOf('r', [{ ...READ, ...DENY, priority: 900 }])],
        rolePolicies: [toRole('user', 'p'), toRole('user', 'q'), toRole('user', 'r')],
      },
      ['q.0 redundant r.0'],
    ],
    [
      'in conflict with one that never fires, for a time',
      {
        policies: [
          policyOf('p', [
            { action: 'read' },
            { ...READ, ...DENY, ...when(comparison('environment.hour', 'lt', 6)) },
            { ...READ, ...DENY, priority: 900 },
          ]),
        ],
        userPolicies: [toUser('u1', 'p', { expiresAt: soon })],
      },
      ['p.1 redundant p.2'],
    ],
    ['in conflict', { policies: [p, hours], rolePolicies: [toRole('user', 'p'), toRole('user', 'q')] }, ['p.0 conflict q.0']],
    [
      'in no conflict by their assignments',
      { policies: [p, hours], rolePolicies: [toRole('user', 'p'), toRole('user', 'q', { priority: 101 })] },
      [],
    ],
    [
      'in conflict for a user, for a time',
      { policies: [p, hours], userPolicies: [toUser('u1', 'p'), toUser('u1', 'q', { expiresAt: soon })] },
      ['p.0 conflict q.0'],
    ],
    [
      'in conflict no more',
      { policies: [p, hours], userPolicies: [toUser('u1', 'p'), toUser('u1', 'q', { expiresAt: past })] },
      ['q expired'],
    ],
    [
      'that say the same',
      { policies: [policyOf('p', [{ ...READ, ...when(drafts) }]), same], rolePolicies: [toRole('user', 'p'), toRole('user', 'q')] },
      ['q.0 duplicate p.0'],
    ],
    [
      'that say the same to others',
      { policies: [policyOf('p', [{ ...READ, ...when(drafts) }]), same], rolePolicies: [toRole('user', 'p'), toRole('admin', 'q')] },
      [],
    ],
  ];
  it.each(rows)('%s', (_, world, expected) => {
    const told = lintWorld(world).map(({ policy, rule, code, other }) =>
      [rule?.id ?? policy.id, code, other?.rule.id].filter(Boolean).join(' '),
    );
    expect(told).toEqual(expected);
  });

  it('say what to do where the other policy is there to stay: it may be a lock that is lifted tomorrow', () => {
    const rolePolicies = [toRole('user', 'p'), toRole('user', 'q')];
    const todosBelow = (above: SomeRule): readonly string[] =>
      lintWorld({ policies: [p, policyOf('q', [{ resource: '*', action: '*', priority: 1000, ...above }])], rolePolicies }, 'p').map(
        ({ todo }) => todo,
      );
    expect(todosBelow(DENY)).toEqual([
      'where that rule is there to stay: delete this one, give it a higher priority than 1000, or put conditions on the DENY',
    ]);
    expect(todosBelow({})).toEqual(['where that rule is there to stay: delete this one']);
  });

  it('are told once where both are of the one policy that is looked at', () => {
    const both = policyOf('p', [...p.rules, { ...hours.rules[0], id: 'p.1' }]);
    expect(
      lintWorld({ policies: [both], rolePolicies: [toRole('user', 'p')], alone: true }).map(({ path, code }) => `${path} ${code}`),
    ).toEqual(['rules.0 conflict']);
  });

  it('are told from both sides where one policy is looked at alone', () => {
    const conflict: TestPolicies = { policies: [p, hours], rolePolicies: [toRole('user', 'p'), toRole('user', 'q')] };
    const copies: TestPolicies = {
      policies: [policyOf('p', [{ ...READ, ...when(drafts) }]), same],
      rolePolicies: conflict.rolePolicies ?? [],
    };
    const toldOf = (world: TestPolicies, id: string, alone: boolean) =>
      lintWorld({ ...world, alone }, id).map(({ code, other }) => `${code} ${other?.rule.id}`);
    expect([toldOf(conflict, 'q', true), toldOf(conflict, 'q', false)]).toEqual([['conflict p.0'], []]);
    expect([toldOf(copies, 'p', true), toldOf(copies, 'p', false)]).toEqual([['duplicate q.0'], []]);
  });
});
