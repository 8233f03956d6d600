import { describe, expect, it } from 'vitest';
import { LIMITS, NEWSROOM, NOW, policyOf, type SomeRule, scopeOf, stateOf, toRole } from '../../../test/policy-fixtures.ts';
import { evaluate, UNRESOLVED } from '../../conditions/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { ScopeInput } from '../context/index.ts';
import { type ApplicableRules, applicableRules, compilePolicies } from '../policies/index.ts';
import { decide, type RuleStep } from './decide.ts';

const principal = { userId: 'u1', role: 'user' };

function applicableOf(rules: readonly SomeRule[]): ApplicableRules {
  const state = stateOf({ policies: [policyOf('p', rules, { name: 'P' })], rolePolicies: [toRole('user', 'p')] });
  return applicableRules(compilePolicies(state, NEWSROOM, LIMITS), {
    assignments: [],
    role: principal.role,
    resource: 'Article',
    action: 'read',
    now: NOW,
  });
}

function decideOn(rules: readonly SomeRule[], parts: Partial<ScopeInput> = {}) {
  return decide(applicableOf(rules), scopeOf(parts), principal);
}

const when = (field: string, value: string | number): readonly JsonObject[] => [{ field, operator: 'eq', value }];
const TRUE = when('user.id', 'u1');
const FALSE = when('user.id', 'u2');
const UNKNOWN = when('user.missing', 'x');
const draft = when('resource.status', 'draft');
const popular: readonly JsonObject[] = [{ field: 'resource.views', operator: 'gt', value: 100 }];

describe('one rule', () => {
  const rows: readonly [effect: 'ALLOW' | 'DENY', what: string, conditions: readonly JsonObject[], decision: readonly unknown[]][] = [
    ['ALLOW', 'none', [], ['allow', 'p.0']],
    ['ALLOW', 'true', TRUE, ['allow', 'p.0']],
    ['ALLOW', 'unknown', UNKNOWN, ['deny', undefined]],
    ['ALLOW', 'false', FALSE, ['deny', undefined]],
    ['ALLOW', 'true and unknown', [...TRUE, ...UNKNOWN], ['deny', undefined]],
    ['DENY', 'true', TRUE, ['deny', 'p.0']],
    ['DENY', 'unknown', UNKNOWN, ['deny', 'p.0']],
    ['DENY', 'false', FALSE, ['deny', undefined]],
    ['DENY', 'false and unknown', [...FALSE, ...UNKNOWN], ['deny', undefined]],
    ['DENY', 'true and unknown', [...TRUE, ...UNKNOWN], ['deny', 'p.0']],
  ];
  it.each(rows)('decides by one %s rule, condition %s', (effect, _, conditions, decision) => {
    const decided = decideOn([{ effect, conditions }]);
    expect([decided.effect, 'rule' in decided ? decided.rule?.id : undefined]).toEqual(decision);
  });

  it('describes the decision in its reason', () => {
    expect(decideOn([{}]).reason).toBe('allowed by rule "ALLOW * on *" of policy "P"');
    expect(decideOn([{ effect: 'DENY' }]).reason).toBe('denied by rule "DENY * on *" of policy "P"');
    expect(decideOn([{ conditions: UNKNOWN }]).reason).toBe('no rule matched');
  });

  it('names a rule by its description if it has one', () => {
    expect(decideOn([{ description: 'own drafts' }]).reason).toBe('allowed by rule "own drafts" of policy "P"');
  });
});

describe('several rules', () => {
  const rows: readonly [what: string, rules: readonly SomeRule[], effect: string, ruleId: string | undefined][] = [
    ['a higher DENY overrides a lower ALLOW', [{}, { effect: 'DENY', priority: 900 }], 'deny', 'p.1'],
    ['a higher ALLOW overrides a lower DENY', [{ priority: 900 }, { effect: 'DENY' }], 'allow', 'p.0'],
    ['an unknown DENY fires before an ALLOW', [{}, { effect: 'DENY', conditions: UNKNOWN }], 'deny', 'p.1'],
    ['a false DENY does not fire', [{}, { effect: 'DENY', conditions: FALSE }], 'allow', 'p.0'],
    ['an unknown ALLOW does not fire', [{ conditions: UNKNOWN, priority: 900 }, {}], 'allow', 'p.1'],
  ];
  it.each(rows)('decides by several rules: %s', (_, rules, effect, ruleId) => {
    const decision = decideOn(rules);
    expect([decision.effect, 'rule' in decision ? decision.rule?.id : undefined]).toEqual([effect, ruleId]);
  });
});

describe('no policies', () => {
  const none: ApplicableRules = {
    ranked: [],
    rules: [],
    reads: [],
    referencePaths: [],
    countsRelated: false,
    found: false,
    validUntil: Number.POSITIVE_INFINITY,
  };
  it('denies without policies, and names the user and the role in the reason', () => {
    expect(decide(none, scopeOf(), principal)).toEqual({ effect: 'deny', reason: 'no policies found for user u1 or role user' });
    expect(decide(none, scopeOf(), { role: 'anon' })).toEqual({ effect: 'deny', reason: 'no policies found for role anon' });
  });
});

describe('an open record', () => {
  const allow = { priority: 1 };
  const rows: readonly [what: string, rules: readonly SomeRule[], effect: string, ruleIds?: readonly string[]][] = [
    ['allowed for all', [allow], 'allow', ['p.0']],
    ['allowed for all by a later unconditional ALLOW', [{ conditions: draft }, allow], 'allow', ['p.1']],
    ['denied for all', [{ effect: 'DENY' }, { conditions: draft, priority: 1 }], 'deny', ['p.0']],
    ['denied for all if only DENYs are open', [{ effect: 'DENY', conditions: draft }], 'deny', []],
    ['denied for all if no record can make an ALLOW true', [{ conditions: [...draft, ...UNKNOWN] }], 'deny', []],
    [
      'denied for all if no record can make a DENY false',
      [{ effect: 'DENY', conditions: [{ anyOf: [...draft, ...UNKNOWN] }] }, allow],
      'deny',
      ['p.0'],
    ],
    [
      'denied for all by a condition on a secret field',
      [{ conditions: [{ field: 'resource.embargo', operator: 'eq', value: 'x' }] }],
      'deny',
      [],
    ],
    ['allowed where an ALLOW holds', [{ conditions: draft }], 'allow-where', ['p.0']],
    ['allowed where a DENY does not hold', [{ effect: 'DENY', conditions: draft }, allow], 'allow-where', ['p.0', 'p.1']],
    ['denied for all by a conditional DENY without an ALLOW', [{ effect: 'DENY', conditions: draft }, { conditions: FALSE }], 'deny', []],
  ];
  it.each(rows)('decides an open record: %s', (_, rules, effect, ruleIds = []) => {
    const decision = decideOn(rules, { record: UNRESOLVED });
    const involved = decision.effect === 'allow-where' ? decision.rules : decision.rule === undefined ? [] : [decision.rule];
    expect([decision.effect, involved.map(({ id }) => id)]).toEqual([effect, ruleIds]);
  });

  it('combines the rules for an open record into one tree', () => {
    const rules: readonly SomeRule[] = [
      { conditions: popular, priority: 5 },
      { effect: 'DENY', conditions: draft, priority: 4 },
      { conditions: [{ field: 'resource.authorId', operator: 'eq', value: `\${user.id}` }], priority: 3 },
      { conditions: FALSE, priority: 2 },
    ];
    const decision = decideOn(rules, { record: UNRESOLVED });
    expect(decision).toMatchObject({
      effect: 'allow-where',
      where: {
        type: 'any',
        of: [
          { path: { text: 'resource.views' }, operator: 'gt' },
          {
            type: 'all',
            of: [
              { type: 'not', of: { path: { text: 'resource.status' } } },
              { path: { text: 'resource.authorId' }, operator: 'eq', operand: { type: 'literal', value: 'u1' } },
            ],
          },
        ],
      },
    });
  });

  it.each([99, 100, 101, 250, 6000])('gives the same result as deciding each record, for %i alternating rules', (count) => {
    // Each ALLOW allows two numbers of views. Every second DENY denies the first of the next two numbers, and one DENY denies two of the last.
    const viewsOf = (index: number): readonly number[] => {
      if (index % 2 === 0) return [index, index + 1];
      return index === 3 ? [count - 3, count - 4] : index % 4 === 1 ? [index + 1] : [-1];
    };
    const rules = Array.from({ length: count }, (_, index): SomeRule => {
      const conditions = [{ field: 'resource.views', operator: 'in', value: viewsOf(index) }];
      return { priority: count - index, effect: index % 2 === 0 ? 'ALLOW' : 'DENY', conditions };
    });
    const applicable = applicableOf(rules);
    const open = decide(applicable, scopeOf({ record: UNRESOLVED }), principal);
    const isListed = (record: JsonObject): boolean => open.effect === 'allow-where' && evaluate(open.where, scopeOf({ record })) === true;
    const isAllowed = (record: JsonObject): boolean => decide(applicable, scopeOf({ record }), principal).effect === 'allow';
    const records = [0, 48, 96, 144, 196, count - 6].flatMap((first) => [0, 1, 2, 3, 4, 5, 6, 7].map((more) => ({ views: first + more })));
    expect(records.map(isListed)).toEqual(records.map(isAllowed));
    expect(records.filter(isListed).length).toBeGreaterThan(5);
    expect([isListed({}), isAllowed({})]).toEqual([false, false]);
  });

  it('names up to three rules in the reason, and no values', () => {
    const rules = [1, 2, 3, 4, 5].map((views) => ({ description: `above ${views}`, conditions: when('resource.views', views * 1111) }));
    expect(decideOn(rules, { record: UNRESOLVED }).reason).toBe(
      'allowed for the records that pass ALLOW rule "above 1" of policy "P", ALLOW rule "above 2" of policy "P", ALLOW rule "above 3" of policy "P" and 2 more',
    );
  });
});

describe('the trace', () => {
  it('the trace contains each evaluated rule, and none after the rule that fired', () => {
    const steps: RuleStep[] = [];
    const rules: readonly SomeRule[] = [
      { conditions: UNKNOWN, priority: 5 },
      { effect: 'DENY', conditions: FALSE, priority: 4 },
      { conditions: TRUE, priority: 3 },
      { effect: 'DENY', priority: 2 },
    ];
    decide(applicableOf(rules), scopeOf(), { ...principal, trace: (step) => steps.push(step) });
    expect(steps.map(({ rule, truth, fired }) => [rule.id, truth, fired])).toEqual([
      ['p.0', null, false],
      ['p.1', false, false],
      ['p.2', true, true],
    ]);
  });
});
