import { describe, expect, it } from 'vitest';
import {
  assignmentsIn,
  LIMITS,
  NEWSROOM,
  NOW,
  policyOf,
  type SomeRule,
  scopeOf,
  stateOf,
  toRole,
  toUser,
  type WholeState,
} from '../../../test/policy-fixtures.ts';
import { UNRESOLVED } from '../../conditions/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { ScopeInput } from '../context/index.ts';
import { type ApplicableRules, applicableRules, compilePolicies } from '../policies/index.ts';
import { type Explanation, explain } from './explain-decision.ts';

const principal = { userId: 'u1', role: 'user' };

function explainOf(rules: readonly SomeRule[], parts: Partial<ScopeInput> = {}): Explanation {
  return explainState({ policies: [policyOf('p', rules, { name: 'P' })], rolePolicies: [toRole('user', 'p')] }, parts);
}

function explainState(parts: Partial<WholeState>, scope: Partial<ScopeInput> = {}): Explanation {
  const state = stateOf(parts);
  const request = {
    assignments: assignmentsIn(state, principal.userId),
    role: principal.role,
    resource: 'Article',
    action: 'read',
    now: NOW,
  } as const;
  return explain(applicableRules(compilePolicies(state, NEWSROOM, LIMITS), request), scopeOf(scope), principal);
}

const eq = (field: string, value: string): JsonObject => ({ field, operator: 'eq', value });
const [HELD, FAILED, MISSING] = [eq('user.id', 'u1'), eq('user.id', 'u2'), eq('user.missing', 'x')];
const DRAFT = eq('resource.status', 'draft');

describe('the trace', () => {
  it('the trace contains each evaluated rule with the values that its conditions compared', () => {
    const explanation = explainOf([
      { effect: 'DENY', conditions: [eq('user.department', 'culture')], priority: 200 },
      { conditions: [eq('user.department', 'sports')] },
      { priority: 1 },
    ]);
    expect(explanation).toMatchObject({ decision: { effect: 'allow' }, ties: [] });
    expect(Object.keys(explanation)).toEqual(['decision', 'trace', 'ties']);
    expect(explanation.trace.map(({ rule, policy, answer, fired }) => [rule.id, policy.name, answer, fired])).toEqual([
      ['p.0', 'P', 'false', false],
      ['p.1', 'P', 'true', true],
    ]);
    expect(JSON.stringify(explanation.trace[0]?.condition)).toContain('"actual":"sports"');
  });

  it('the trace contains the three priorities of each rule', () => {
    const { trace } = explainState({
      policies: [
        policyOf('a', [{ conditions: [FAILED], priority: 7 }], { priority: 8 }),
        policyOf('b', [{ priority: 6 }], { priority: 5 }),
      ],
      rolePolicies: [toRole('user', 'a', { priority: 9 })],
      userPolicies: [toUser('u1', 'b')],
    });
    expect(trace.map(({ rule, policy, assignment }) => [rule.priority, policy.priority, assignment.priority])).toEqual([
      [7, 8, 9],
      [6, 5, 100],
    ]);
  });

  const reference = (field: string, value: string, others: JsonObject = {}): JsonObject => ({ field, operator: 'eq', value, ...others });
  const missing: readonly [what: string, condition: JsonObject, paths: readonly string[] | undefined][] = [
    ['nothing', eq('user.id', 'u1'), undefined],
    ['the field', eq('user.missing', 'x'), ['user.missing']],
    ['the operand', reference('user.id', `\${resource.authorId}`), ['resource.authorId']],
    ['an operand inside text', reference('user.id', `a-\${resource.title}`), ['resource.title']],
    ['an operand in a list', { field: 'user.id', operator: 'in', value: ['u1', `\${resource.title}`] }, ['resource.title']],
    ['both sides', reference('user.missing', `\${resource.title}`), ['user.missing', 'resource.title']],
    ['a field of a referenced record', eq('resource.authorId.email', 'a@b.c'), ['resource.authorId.email']],
    ['a path in an expression', { expression: 'size(user.missing) > 2' }, ['user.missing']],
    ['a path with ifExists', reference('user.missing', 'x', { ifExists: true }), ['user.missing']],
  ];
  it.each(missing)('lists missing values: %s', (_, condition, paths) => {
    const { trace } = explainOf([{ conditions: [condition] }]);
    expect(trace[0]?.missing).toEqual(paths);
  });

  it('does not list the values of an open record as missing', () => {
    expect(explainOf([{ conditions: [DRAFT] }], { record: UNRESOLVED }).trace[0]).not.toHaveProperty('missing');
  });
});

describe('ties', () => {
  const rows: readonly [what: string, rules: readonly SomeRule[], parts: Partial<ScopeInput>, ties: readonly (readonly string[])[]][] = [
    ['none with another priority', [{}, { priority: 99 }], {}, []],
    ['no rule that would not have fired', [{}, { conditions: [FAILED] }, { conditions: [MISSING] }], {}, []],
    ['an ALLOW after a DENY', [{ effect: 'DENY' }, {}], {}, [['p.1', 'ALLOW', 'true', 'DENY before ALLOW']]],
    ['an unknown DENY too', [{ effect: 'DENY' }, { effect: 'DENY', conditions: [MISSING] }], {}, [['p.1', 'DENY', 'unknown', 'rule id']]],
    ['of the same effect, ordered by id', [{}, {}, {}], {}, [1, 2].map((id) => [`p.${id}`, 'ALLOW', 'true', 'rule id'])],
    ['an open ALLOW', [{ conditions: [DRAFT] }, {}], { record: UNRESOLVED }, [['p.0', 'ALLOW', 'open', 'rule id']]],
    ['an open DENY', [{}, { effect: 'DENY', conditions: [DRAFT] }], { record: UNRESOLVED }, [['p.1', 'DENY', 'open', 'DENY before ALLOW']]],
    ['none if no rule fired', [{ conditions: [FAILED] }], {}, []],
  ];
  it.each(rows)('lists ties of the rule that fired: %s', (_, rules, parts, ties) => {
    const explained = explainOf(rules, parts).ties;
    expect(explained.map(({ rule, answer, brokenBy }) => [rule.id, rule.effect, answer, brokenBy])).toEqual(ties);
  });

  it.each([
    [
      'policy',
      { policies: [policyOf('a', [{}]), policyOf('b', [{}], { priority: 99 })], rolePolicies: [toRole('user', 'a'), toRole('user', 'b')] },
    ],
    [
      'assignment',
      { policies: [policyOf('a', [{}]), policyOf('b', [{}])], rolePolicies: [toRole('user', 'a'), toRole('user', 'b', { priority: 99 })] },
    ],
  ])('lists no tie with another priority of the %s', (_, state) => {
    expect(explainState(state).ties).toEqual([]);
  });

  it('finds ties across policies, role assignments and user assignments; at most twenty', () => {
    const policies = Array.from({ length: 30 }, (_, index) => policyOf(`p${index}`, [{}]));
    const state = { policies, rolePolicies: policies.slice(1).map(({ id }) => toRole('user', id)), userPolicies: [toUser('u1', 'p0')] };
    expect(explainState(state).ties).toHaveLength(20);
    expect(explainState({ ...state, rolePolicies: state.rolePolicies.slice(0, 1) }).ties).toMatchObject([
      { policy: { id: 'p1' }, assignment: { priority: 100 } },
    ]);
  });
});

describe('when', () => {
  it('returns the residual condition in "when"', () => {
    const rules: readonly SomeRule[] = [{ effect: 'DENY', conditions: [DRAFT], priority: 200 }, { conditions: [HELD] }];
    const explanation = explainOf(rules, { record: UNRESOLVED });
    expect(explanation.when).toBe('not resource.status eq "draft"');
    expect(explanation.residual).toMatchObject({ type: 'not', answer: 'open', of: { field: 'resource.status', expected: 'draft' } });
    expect(explainOf(rules)).not.toHaveProperty('when');
    expect(explainOf(rules)).not.toHaveProperty('residual');
  });

  it('limits the length of "when"', () => {
    const conditions = [{ anyOf: Array.from({ length: 150 }, (_, index) => eq('resource.title', `the title number ${index}`)) }];
    const { when } = explainOf([{ conditions }], { record: UNRESOLVED });
    expect(when).toHaveLength(2001);
    expect(when).toMatch(/^resource\.title eq "the title number 0" or .*…$/);
    // The trace would be as long.
    expect(explainOf([{ conditions }], { record: UNRESOLVED })).not.toHaveProperty('residual');
  });
});

/** The unmet conditions of the first rule in `wouldAllow`, as a tree of answers. */
function unmetOf(conditions: readonly JsonObject[], parts: Partial<ScopeInput> = {}): unknown {
  return explainOf([{ conditions }], parts).wouldAllow?.[0]?.unmet.map(outline);
}

function outline(trace: NonNullable<Explanation['trace'][0]>['condition']): unknown {
  if (trace.type === 'not') return { not: outline(trace.of) };
  if (trace.type === 'all' || trace.type === 'any') return { [trace.type]: trace.of.map(outline) };
  const of = trace.type === 'comparison' ? `${trace.field} ${trace.operator}` : trace.type;
  return `${of} ${trace.answer}${'missing' in trace ? ' missing' : ''}`;
}

describe('wouldAllow', () => {
  const rows: readonly [what: string, conditions: readonly JsonObject[], unmet: unknown][] = [
    ['a false comparison', [HELD, FAILED], ['user.id eq false']],
    ['a missing value', [HELD, MISSING], ['user.missing eq unknown missing']],
    ['every alternative', [{ anyOf: [FAILED, MISSING] }], [{ any: ['user.id eq false', 'user.missing eq unknown missing'] }]],
    ['the failed part of an alternative', [{ anyOf: [{ allOf: [HELD, FAILED] }] }], ['user.id eq false']],
    [
      'the failed part of each alternative',
      [{ anyOf: [{ allOf: [HELD, FAILED] }, MISSING] }],
      [{ any: [{ all: ['user.id eq false'] }, 'user.missing eq unknown missing'] }],
    ],
    ['a negated condition', [{ not: HELD }], [{ not: 'user.id eq true' }]],
    ['the true part of a negated condition', [{ not: { anyOf: [HELD, FAILED] } }], [{ not: { any: ['user.id eq true'] } }]],
    [
      'every true part of a negated group',
      [{ not: { allOf: [HELD, eq('user.role', 'user')] } }],
      [{ not: { all: ['user.id eq true', 'user.role eq true'] } }],
    ],
    [
      'an unknown part under a not',
      [{ not: { allOf: [HELD, MISSING] } }],
      [{ not: { all: ['user.id eq true', 'user.missing eq unknown missing'] } }],
    ],
    ['an expression', [{ expression: 'user.id == "u2" && size(user.role) > 9' }], expect.arrayContaining(['expression false'])],
  ];
  it.each(rows)('shows unmet conditions: %s', (_, conditions, unmet) => {
    expect(unmetOf(conditions)).toEqual(unmet);
  });

  it('shows open conditions and failed conditions', () => {
    expect(unmetOf([DRAFT, FAILED], { record: UNRESOLVED })).toEqual(['resource.status eq open', 'user.id eq false']);
  });

  it('sorts rules by the number of comparisons that would have to change', () => {
    const { wouldAllow } = explainOf([
      { conditions: [FAILED, MISSING], priority: 300 },
      { conditions: [{ anyOf: [{ allOf: [FAILED, MISSING] }, { not: { anyOf: [HELD, eq('user.role', 'user'), HELD] } }] }], priority: 250 },
      { conditions: [{ anyOf: [FAILED, { allOf: [FAILED, MISSING] }] }], priority: 200 },
      { conditions: [HELD, MISSING], priority: 100 },
    ]);
    expect(wouldAllow?.map(({ rule, missing }) => [rule.id, missing])).toEqual([
      ['p.2', ['user.missing']],
      ['p.3', ['user.missing']],
      ['p.0', ['user.missing']],
      ['p.1', ['user.missing']],
    ]);
  });

  it('does not count open conditions in the distance', () => {
    const { wouldAllow } = explainOf([{ conditions: [FAILED, MISSING], priority: 200 }, { conditions: [DRAFT, FAILED] }], {
      record: UNRESOLVED,
    });
    expect(wouldAllow?.map(({ rule }) => rule.id)).toEqual(['p.1', 'p.0']);
  });

  it('lists rules last that no value can satisfy', () => {
    // A condition on a removed field is constantly unknown.
    const broken: JsonObject = { field: 'resource.gone', operator: 'noOperator', value: 1 };
    const { wouldAllow } = explainOf([{ conditions: [broken], priority: 200 }, { conditions: [FAILED, MISSING] }]);
    expect(wouldAllow?.map(({ rule }) => rule.id)).toEqual(['p.1', 'p.0']);
    expect(wouldAllow?.[1]?.unmet).toEqual([{ type: 'constant', answer: 'unknown' }]);
  });

  it('names the DENY that would still overrule', () => {
    const { wouldAllow, note } = explainOf([
      {},
      { priority: 950, conditions: [FAILED] },
      { effect: 'DENY', priority: 900, description: 'night' },
    ]);
    expect(wouldAllow).toMatchObject([
      { rule: { id: 'p.0' }, unmet: [], overruledBy: { rule: { id: 'p.2', description: 'night' }, policy: { name: 'P' } } },
      { rule: { id: 'p.1' } },
    ]);
    expect(wouldAllow?.[1]).not.toHaveProperty('overruledBy');
    expect(note).toBeUndefined();
  });

  it('returns a note and no rules if there is no ALLOW', () => {
    expect(explainOf([{ effect: 'DENY' }])).toMatchObject({
      wouldAllow: [],
      note: 'no active ALLOW rule applies to this resource and action',
    });
    const unassigned = explainState({});
    expect(unassigned).toMatchObject({ wouldAllow: [], decision: { reason: 'no policies found for user u1 or role user' } });
    expect(unassigned).not.toHaveProperty('note');
  });

  it('wouldAllow contains at most five rules', () => {
    expect(explainOf(Array.from({ length: 9 }, () => ({ conditions: [FAILED] }))).wouldAllow).toHaveLength(5);
  });
});

describe('explain', () => {
  it('returns the decision of decide, also without ranked rules', () => {
    const bare: ApplicableRules = {
      ranked: [],
      rules: [],
      reads: [],
      referencePaths: [],
      countsRelated: false,
      found: false,
      validUntil: Number.POSITIVE_INFINITY,
    };
    expect(explain(bare, scopeOf(), principal)).toMatchObject({ decision: { effect: 'deny' }, trace: [], ties: [] });
  });
});
