import { describe, expect, it } from 'vitest';
import { LIMITS, NEWSROOM, NOW, policyOf, type SomeRule, scopeOf, stateOf, toRole } from '../../test/policy-fixtures.ts';
import { OPEN } from '../condition/index.ts';
import type { ScopeParts } from '../context/index.ts';
import type { JsonObject } from '../operators/index.ts';
import { applicableRules, compilePolicies } from '../policy/index.ts';
import { explain } from './explain.ts';

const who = { userId: 'u1', role: 'user' };

function explainOf(rules: readonly SomeRule[], parts: Partial<ScopeParts> = {}) {
  const state = stateOf({ policies: [policyOf('p', rules, { name: 'P' })], rolePolicies: [toRole('user', 'p')] });
  const applicable = applicableRules(compilePolicies(state, NEWSROOM, LIMITS), { ...who, resource: 'Article', action: 'read', now: NOW });
  return explain(applicable, scopeOf(parts), who);
}

const eq = (field: string, value: string): JsonObject => ({ field, operator: 'eq', value });

describe('explain', () => {
  it('shows each rule considered with what its conditions met', () => {
    const { decision, trace, wouldAllow } = explainOf([
      { effect: 'DENY', conditions: [eq('user.department', 'culture')], priority: 200 },
      { conditions: [eq('user.department', 'sports')] },
      { priority: 1 },
    ]);
    expect(decision.effect).toBe('allow');
    expect(wouldAllow).toEqual([]);
    expect(trace.map(({ rule, policy, answer, fired }) => [rule.id, policy.name, answer, fired])).toEqual([
      ['p.0', 'P', 'false', false],
      ['p.1', 'P', 'true', true],
    ]);
    expect(JSON.stringify(trace[0]?.condition)).toContain('"actual":"sports"');
  });

  it('says which rules would have allowed, the nearest first, and what stood in their way', () => {
    const { wouldAllow } = explainOf([
      { conditions: [eq('user.department', 'culture'), eq('user.missing', 'x')], priority: 300 },
      { conditions: [eq('user.id', 'u1'), eq('user.missing', 'x')], priority: 200 },
    ]);
    expect(wouldAllow.map(({ rule, unmet, overruled }) => [rule.id, unmet.length, overruled])).toEqual([
      ['p.1', 1, false],
      ['p.0', 2, false],
    ]);
    expect(wouldAllow[0]?.unmet).toMatchObject([{ field: 'user.missing', missing: true, answer: 'unknown' }]);
  });

  it('says where a DENY would still overrule', () => {
    const { wouldAllow } = explainOf([{ conditions: [] }, { effect: 'DENY', priority: 900 }]);
    expect(wouldAllow).toMatchObject([{ rule: { id: 'p.0' }, unmet: [], overruled: true }]);
  });

  it('names five rules at most', () => {
    const rules = Array.from({ length: 9 }, () => ({ conditions: [eq('user.id', 'nobody')] }));
    expect(explainOf(rules).wouldAllow).toHaveLength(5);
  });

  it('explains a denied list', () => {
    const { decision, trace, wouldAllow } = explainOf([{ conditions: [eq('resource.status', 'draft'), eq('user.id', 'u2')] }], {
      record: OPEN,
    });
    expect(decision.effect).toBe('deny');
    expect(trace[0]?.answer).toBe('false');
    expect(wouldAllow[0]?.unmet.map(({ answer }) => answer)).toEqual(['open', 'false']);
  });
});
