import { describe, expect, it } from 'vitest';
import { NOW, policyOf, type SomeRule, toRole, toUser } from '../../../test/policy-fixtures.ts';
import { comparison, DENY, drafts, lintAll, READ, type TestPolicies, when } from './lint.fixture.ts';

describe('rules of several policies', () => {
  const p = policyOf('p', [READ]);
  const q = policyOf('q', [{ ...READ, ...DENY }]);
  const hours = policyOf('q', [{ ...READ, ...DENY, ...when(comparison('environment.hour', 'lt', 6)) }]);
  const same = policyOf('q', [{ ...READ, ...when(drafts) }]);
  const soon = new Date(NOW + 30 * 24 * 3_600_000).toISOString();
  const past = new Date(NOW - 1).toISOString();
  const ofMany = (policyId: string, count: number) => Array.from({ length: count }, (_, index) => toUser(`u${index}`, policyId));
  const rows: readonly [what: string, policies: TestPolicies, expected: readonly string[]][] = [
    ['of the same role', { policies: [p, q], rolePolicies: [toRole('user', 'p'), toRole('user', 'q')] }, ['p.0 never-fires q.0']],
    ['of another role', { policies: [p, q], rolePolicies: [toRole('user', 'p'), toRole('admin', 'q')] }, []],
    ['of one of two roles', { policies: [p, q], rolePolicies: [toRole('user', 'p'), toRole('admin', 'p'), toRole('user', 'q')] }, []],
    [
      'of both roles',
      { policies: [p, q], rolePolicies: [toRole('user', 'p'), toRole('admin', 'p'), toRole('user', 'q'), toRole('admin', 'q')] },
      ['p.0 never-fires q.0'],
    ],
    [
      'with lower priority of the assignment',
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
      'of the same user with an expiry',
      { policies: [p, q], userPolicies: [toUser('u1', 'p'), toUser('u1', 'q', { expiresAt: soon })] },
      ['p.0 conflict q.0'],
    ],
    [
      'of the same user, with a higher priority by role',
      {
        policies: [p, q],
        userPolicies: [toUser('u1', 'p'), toUser('u1', 'q')],
        rolePolicies: [toRole('user', 'p', { priority: 101 }), toRole('user', 'q')],
      },
      [],
    ],
    [
      'of the role of a user',
      { policies: [p, q], userPolicies: [toUser('u1', 'p')], rolePolicies: [toRole('user', 'p'), toRole('user', 'q')] },
      [],
    ],
    ['of more than the maximum number of users', { policies: [p, q], userPolicies: [...ofMany('p', 201), ...ofMany('q', 201)] }, []],
    [
      'of the maximum number of users',
      { policies: [p, q], userPolicies: [...ofMany('p', 200), ...ofMany('q', 200)] },
      ['p.0 never-fires q.0'],
    ],
    ['of users, if not all are known', { policies: [p, q], userPolicies: [toUser('u1', 'p'), toUser('u1', 'q')], isComplete: false }, []],
    [
      'in conflict with a rule that a third rule shadows',
      {
        policies: [policyOf('p', [{ action: 'read' }]), hours, policyOf('r', [{ ...READ, ...DENY, priority: 900 }])],
        rolePolicies: [toRole('user', 'p'), toRole('user', 'q'), toRole('user', 'r')],
      },
      ['q.0 redundant r.0'],
    ],
    [
      'in conflict with a rule that never fires, with an expiry',
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
      'with different priorities of the assignments',
      { policies: [p, hours], rolePolicies: [toRole('user', 'p'), toRole('user', 'q', { priority: 101 })] },
      [],
    ],
    [
      'in conflict for a user, with an expiry',
      { policies: [p, hours], userPolicies: [toUser('u1', 'p'), toUser('u1', 'q', { expiresAt: soon })] },
      ['p.0 conflict q.0'],
    ],
    [
      'in conflict before an assignment expired',
      { policies: [p, hours], userPolicies: [toUser('u1', 'p'), toUser('u1', 'q', { expiresAt: past })] },
      ['q expired'],
    ],
    [
      'that are equal',
      { policies: [policyOf('p', [{ ...READ, ...when(drafts) }]), same], rolePolicies: [toRole('user', 'p'), toRole('user', 'q')] },
      ['q.0 duplicate p.0'],
    ],
    [
      'that are equal, for different roles',
      { policies: [policyOf('p', [{ ...READ, ...when(drafts) }]), same], rolePolicies: [toRole('user', 'p'), toRole('admin', 'q')] },
      [],
    ],
  ];
  it.each(rows)('compares rules of several policies: %s', (_, policies, expected) => {
    const findings = lintAll(policies).map(({ policy, rule, code, other }) =>
      [rule?.id ?? policy.id, code, other?.rule.id].filter(Boolean).join(' '),
    );
    expect(findings).toEqual(expected);
  });

  it('suggests a change only if the other policy is permanent, because it may be a temporary lock', () => {
    const rolePolicies = [toRole('user', 'p'), toRole('user', 'q')];
    const todosBelow = (above: SomeRule): readonly string[] =>
      lintAll({ policies: [p, policyOf('q', [{ resource: '*', action: '*', priority: 1000, ...above }])], rolePolicies }, 'p').map(
        ({ todo }) => todo,
      );
    expect(todosBelow(DENY)).toEqual([expect.stringMatching(/permanent: delete.*1000.*conditions/)]);
    expect(todosBelow({})).toEqual([expect.stringMatching(/permanent: delete this rule$/)]);
  });

  it('reports two rules of the linted policy once', () => {
    const both = policyOf('p', [...p.rules, { ...hours.rules[0], id: 'p.1' }]);
    expect(
      lintAll({ policies: [both], rolePolicies: [toRole('user', 'p')], isSingle: true }).map(({ path, code }) => `${path} ${code}`),
    ).toEqual(['rules.0 conflict']);
  });

  it('reports a finding for both rules if only one policy is linted', () => {
    const conflict: TestPolicies = { policies: [p, hours], rolePolicies: [toRole('user', 'p'), toRole('user', 'q')] };
    const copies: TestPolicies = {
      policies: [policyOf('p', [{ ...READ, ...when(drafts) }]), same],
      rolePolicies: conflict.rolePolicies ?? [],
    };
    const findingsOf = (policies: TestPolicies, id: string, isSingle: boolean) =>
      lintAll({ ...policies, isSingle }, id).map(({ code, other }) => `${code} ${other?.rule.id}`);
    expect([findingsOf(conflict, 'q', true), findingsOf(conflict, 'q', false)]).toEqual([['conflict p.0'], []]);
    expect([findingsOf(copies, 'p', true), findingsOf(copies, 'p', false)]).toEqual([['duplicate q.0'], []]);
  });
});
