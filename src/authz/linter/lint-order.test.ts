import { describe, expect, it } from 'vitest';
import { definitionsOf, NOW, policyOf, type SomeRule, toRole } from '../../../test/policy-fixtures.ts';
import type { JsonObject } from '../../operators/index.ts';
import { comparison, DENY, drafts, lintAll, lintRules, READ, when } from './lint.fixture.ts';

describe('rules of one policy', () => {
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
    [
      'on the audit log, which a rule on all resources does not include',
      [{ action: 'read' }, { ...DENY, resource: '_Decision', ...when(comparison('environment.hour', 'lt', 6)) }],
      [],
    ],
    [
      'on all resources, which does not include the audit log',
      [
        { ...READ, resource: '_Decision' },
        { ...DENY, priority: 900 },
      ],
      [],
    ],
    [
      'on all resources at the same priority, which does not include the audit log',
      [
        { ...READ, resource: '_Decision' },
        { ...DENY, ...when(comparison('environment.hour', 'lt', 6)) },
      ],
      [],
    ],
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
      'the other effect with the same priorities',
      [READ, { ...READ, ...DENY, ...when(comparison('environment.hour', 'lt', 6)) }],
      ['rules.0 conflict'],
    ],
    ['the other effect on all resources', [READ, { ...DENY, ...when(comparison('environment.hour', 'lt', 6)) }], ['rules.0 conflict']],
    [
      'the other effect on all actions',
      [{ action: 'read' }, { ...READ, ...DENY, action: '*', ...when(comparison('environment.hour', 'lt', 6)) }],
      ['rules.0 conflict'],
    ],
    [
      'the other effect on other actions',
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
      'for other values and more conditions',
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
      'for other values than one',
      [
        { ...READ, ...when(comparison('resource.status', 'ne', 'draft')) },
        { ...READ, ...DENY, ...when({ ...comparison('resource.status', 'eq', 'published'), ifExists: true }) },
      ],
      ['rules.0 conflict'],
    ],
    [
      'for values that are equal now',
      [
        { ...READ, ...when(comparison('resource.createdAt', 'eq', new Date(NOW - 1000).toISOString())) },
        { ...READ, ...DENY, ...when(comparison('resource.createdAt', 'withinLast', '1h')) },
      ],
      ['rules.0 conflict'],
    ],
    [
      'for values of another type, so that the comparison is unknown',
      [
        { ...READ, ...when(comparison('request.data.a', 'eq', 1)) },
        { ...READ, ...DENY, ...when(comparison('request.data.a', 'eq', 'b')) },
      ],
      ['rules.0 conflict', 'rules.1.conditions fires-on-missing'],
    ],
    [
      'conflict with a rule that never fires',
      [
        { ...READ, priority: 50 },
        { ...READ, ...DENY, priority: 50, ...when(comparison('environment.hour', 'lt', 6)) },
        { ...READ, ...DENY },
      ],
      ['rules.0 never-fires', 'rules.1 redundant'],
    ],
  ];
  it.each(rows)('compares rules of one policy: %s', (_, rules, expected) => expect(lintRules(...rules)).toEqual(expected));

  it('reports at most three conflicts of a rule', () => {
    const denials = Array.from(
      { length: 9 },
      (_, index): SomeRule => ({ ...READ, ...DENY, ...when(comparison('environment.hour', 'eq', index)) }),
    );
    expect(lintRules(READ, ...denials)).toEqual(Array(3).fill('rules.0 conflict'));
  });

  it('compares a rule with at most fifty rules of the other effect', () => {
    const denial = (status: string, title: string): SomeRule => ({
      ...READ,
      ...DENY,
      ...when(
        { ...comparison('resource.status', 'eq', status), ifExists: true },
        { ...comparison('resource.title', 'eq', title), ifExists: true },
      ),
    });
    const findingsAfter = (others: number) => {
      const apart = Array.from({ length: others }, (_, index) => denial('published', `title ${index}`));
      // Compared in the order of their ids.
      return lintRules({ ...READ, ...when(drafts) }, ...apart, { id: 'z', ...denial('draft', 'x') });
    };
    expect([findingsAfter(49), findingsAfter(50)]).toEqual([['rules.0 conflict'], []]);
  });

  it('compares values by the definition of the common resource', () => {
    const prices = (type: object): JsonObject => ({ fields: { price: type } }) as JsonObject;
    const definitions = definitionsOf(
      { name: 'Article', ...prices({ type: 'decimal', scale: 2 }) },
      { name: 'Desk', ...prices({ type: 'string' }) },
    );
    const policy = policyOf('p', [
      { ...READ, ...when(comparison('resource.price', 'eq', '1.5')) },
      { resource: '*', action: 'read', ...DENY, ...when({ ...comparison('resource.price', 'eq', '1.50'), ifExists: true }) },
    ]);
    const findings = lintAll({ definitions, policies: [policy], rolePolicies: [toRole('user', 'p')] });
    expect(findings.map(({ path, code }) => `${path} ${code}`)).toEqual(['rules.0 conflict']);
  });

  it('names the other rule and suggests a change', () => {
    const [finding] = lintAll({
      policies: [policyOf('p', [READ, { ...READ, ...DENY, priority: 900, description: 'closed' }])],
      rolePolicies: [toRole('user', 'p')],
    });
    expect(finding).toEqual({
      code: 'never-fires',
      level: 'warning',
      detail: expect.stringMatching(/"closed" of policy "policy p"/),
      todo: expect.stringMatching(/delete.*900.*conditions/),
      policy: { id: 'p', name: 'policy p' },
      rule: { id: 'p.0', description: undefined },
      path: 'rules.0',
      other: { rule: { id: 'p.1', description: 'closed' }, policy: { id: 'p', name: 'policy p' } },
    });
  });
});
