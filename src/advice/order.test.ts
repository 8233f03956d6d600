import { describe, expect, it } from 'vitest';
import { NOW, policyOf, type SomeRule, toRole, toUser } from '../../test/policy-fixtures.ts';
import { adviceIn, comparison, DENY, drafts, onRules, READ, type World, when } from './advice.fixture.ts';

describe('rules beside each other in one policy', () => {
  const rows: readonly [what: string, rules: readonly SomeRule[], expected: readonly string[]][] = [
    [
      'a DENY without conditions above',
      [
        { ...READ, priority: 50 },
        { ...READ, ...DENY },
      ],
      ['rules.0 never-fires'],
    ],
    ['at the same priority', [READ, { ...READ, ...DENY }], ['rules.0 never-fires']],
    [
      'below',
      [
        { ...READ, priority: 150 },
        { ...READ, ...DENY },
      ],
      ['rules.1 never-fires'],
    ],
    ['on all resources and actions', [READ, { ...DENY, priority: 900 }], ['rules.0 never-fires']],
    ['on all resources', [READ, { ...DENY, action: 'read' }], ['rules.0 never-fires']],
    ['on all actions', [READ, { ...DENY, resource: 'Article' }], ['rules.0 never-fires']],
    ['on another action', [READ, { ...READ, ...DENY, action: 'list' }], []],
    ['on another resource', [READ, { ...READ, ...DENY, resource: 'Desk' }], []],
    [
      'on less',
      [
        { resource: '*', action: 'read' },
        { ...READ, ...DENY, priority: 900 },
      ],
      [],
    ],
    ['with conditions', [READ, { ...READ, ...DENY, priority: 900, ...when(comparison('environment.hour', 'lt', 6)) }], []],
    ['that is inactive', [READ, { ...READ, ...DENY, isActive: false }], []],
    ['of the same effect', [READ, { resource: '*', action: 'read', priority: 200 }], ['rules.0 redundant']],
    ['the very same', [READ, READ], ['rules.1 duplicate']],
    [
      'the same with conditions',
      [
        { ...READ, ...when(drafts) },
        { ...READ, ...when({ value: 'draft', operator: 'eq', field: 'resource.status' }) },
      ],
      ['rules.1 duplicate'],
    ],
    [
      'the same of another priority',
      [
        { ...READ, ...when(drafts) },
        { ...READ, priority: 900, ...when(drafts) },
      ],
      ['rules.0 duplicate'],
    ],
    [
      'the same on another action',
      [
        { ...READ, ...when(drafts) },
        { ...READ, action: 'list', ...when(drafts) },
      ],
      [],
    ],
    [
      'the other effect in the same place',
      [READ, { ...READ, ...DENY, ...when(comparison('environment.hour', 'lt', 6)) }],
      ['rules.0 conflict'],
    ],
    ['on all resources in the same place', [READ, { ...DENY, ...when(comparison('environment.hour', 'lt', 6)) }], ['rules.0 conflict']],
    [
      'on all actions in the same place',
      [{ action: 'read' }, { ...READ, ...DENY, action: '*', ...when(comparison('environment.hour', 'lt', 6)) }],
      ['rules.0 conflict'],
    ],
    [
      'on other actions in the same place',
      [READ, { ...READ, ...DENY, action: 'list', ...when(comparison('environment.hour', 'lt', 6)) }],
      [],
    ],
    [
      'for other values',
      [
        { ...READ, ...when(drafts) },
        { ...READ, ...DENY, ...when(comparison('resource.status', 'eq', 'published')) },
      ],
      ['rules.1.conditions fires-on-missing'],
    ],
    [
      'for other values beside more',
      [
        { ...READ, ...when(drafts, comparison('environment.hour', 'gt', 6)) },
        { ...READ, ...DENY, ...when({ ...comparison('resource.status', 'in', ['published']), ifExists: true }) },
      ],
      [],
    ],
    [
      'for the same values',
      [
        { ...READ, ...when(drafts) },
        { ...READ, ...DENY, ...when({ ...drafts, ifExists: true }) },
      ],
      ['rules.0 conflict'],
    ],
    [
      'for values of another type, with which comparing is unknown',
      [
        { ...READ, ...when(comparison('request.data.a', 'eq', 1)) },
        { ...READ, ...DENY, ...when(comparison('request.data.a', 'eq', 'b')) },
      ],
      ['rules.0 conflict', 'rules.1.conditions fires-on-missing'],
    ],
    [
      'one of which never fires',
      [
        { ...READ, priority: 50 },
        { ...READ, ...DENY, priority: 50, ...when(comparison('environment.hour', 'lt', 6)) },
        { ...READ, ...DENY },
      ],
      ['rules.0 never-fires', 'rules.1 redundant'],
    ],
  ];
  it.each(rows)('%s', (_, rules, expected) => expect(onRules(...rules)).toEqual(expected));

  it('tells three of many conflicts of one rule', () => {
    const denials = Array.from(
      { length: 9 },
      (_, index): SomeRule => ({ ...READ, ...DENY, ...when(comparison('environment.hour', 'eq', index)) }),
    );
    expect(onRules(READ, ...denials)).toEqual(Array(3).fill('rules.0 conflict'));
  });

  it('names the other rule and says what to do', () => {
    const [advice] = adviceIn({
      policies: [policyOf('p', [READ, { ...READ, ...DENY, priority: 900, description: 'closed' }])],
      rolePolicies: [toRole('user', 'p')],
    });
    expect(advice).toEqual({
      code: 'never-fires',
      detail: 'the rule never fires: rule "closed" of policy "policy p" has no conditions and goes before this ALLOW wherever it applies',
      todo: 'delete the rule, give it a higher priority than 900, or put conditions on the DENY',
      policy: { id: 'p', name: 'policy p' },
      rule: { id: 'p.0', description: undefined },
      path: 'rules.0',
      other: { rule: { id: 'p.1', description: 'closed' }, policy: { id: 'p', name: 'policy p' } },
    });
  });
});

describe('rules beside those of other policies', () => {
  const p = policyOf('p', [READ]);
  const q = policyOf('q', [{ ...READ, ...DENY }]);
  const hours = policyOf('q', [{ ...READ, ...DENY, ...when(comparison('environment.hour', 'lt', 6)) }]);
  const same = policyOf('q', [{ ...READ, ...when(drafts) }]);
  const soon = new Date(NOW + 30 * 24 * 3_600_000).toISOString();
  const past = new Date(NOW - 1).toISOString();
  const rows: readonly [what: string, world: World, expected: readonly string[]][] = [
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
    const told = adviceIn(world).map(({ policy, rule, code, other }) =>
      [rule?.id ?? policy.id, code, other?.rule.id].filter(Boolean).join(' '),
    );
    expect(told).toEqual(expected);
  });

  it('are told once where both are of the one policy that is looked at', () => {
    const both = policyOf('p', [...p.rules, { ...hours.rules[0], id: 'p.1' }]);
    expect(
      adviceIn({ policies: [both], rolePolicies: [toRole('user', 'p')], alone: true }).map(({ path, code }) => `${path} ${code}`),
    ).toEqual(['rules.0 conflict']);
  });

  it('are told from both sides where one policy is looked at alone', () => {
    const conflict: World = { policies: [p, hours], rolePolicies: [toRole('user', 'p'), toRole('user', 'q')] };
    const copies: World = { policies: [policyOf('p', [{ ...READ, ...when(drafts) }]), same], rolePolicies: conflict.rolePolicies ?? [] };
    const toldOf = (world: World, id: string, alone: boolean) =>
      adviceIn({ ...world, alone }, id).map(({ code, other }) => `${code} ${other?.rule.id}`);
    expect([toldOf(conflict, 'q', true), toldOf(conflict, 'q', false)]).toEqual([['conflict p.0'], []]);
    expect([toldOf(copies, 'p', true), toldOf(copies, 'p', false)]).toEqual([['duplicate q.0'], []]);
  });
});
