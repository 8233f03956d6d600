import { describe, expect, it } from 'vitest';
import { LIMITS, NEWSROOM, NOW, policyOf, stateOf, toRole } from '../../../test/policy-fixtures.ts';
import { type ApplicableRequest, applicableRules } from './applicable-rules.ts';
import { changePolicies, compilePolicies } from './policy-snapshot.ts';

const request: ApplicableRequest = { assignments: [], role: 'user', resource: 'Article', action: 'read', now: NOW };

describe('the cache after changes', () => {
  it('the cache contains the changes of every revision since the last request', () => {
    const ids = ['p', 'q', 'r'];
    const policies = ids.map((id) => policyOf(id, [{}]));
    let snapshot = compilePolicies(stateOf({ policies, rolePolicies: ids.map((id) => toRole('user', id)) }), NEWSROOM, LIMITS);
    const found = () => applicableRules(snapshot, request).rules.map(({ id, priority }) => `${id} ${priority}`);
    expect(found()).toEqual(['p.0 100', 'q.0 100', 'r.0 100']);
    for (const [id, priority] of [
      ['p', 50],
      ['r', 200],
      ['q', 10],
    ] as const)
      snapshot = changePolicies(snapshot, {
        revision: 2,
        policies: new Map([[id, policyOf(id, [{ priority }])]]),
        rolePolicies: new Map(),
      });
    expect(found()).toEqual(['r.0 200', 'p.0 50', 'q.0 10']);
  });

  it('the cache keeps the rules of a resource that no change concerns', () => {
    const policies = [policyOf('p', [{ resource: 'Article' }]), policyOf('q', [{ resource: 'Desk' }])];
    const rolePolicies = [toRole('user', 'p'), toRole('user', 'q')];
    const before = compilePolicies(stateOf({ policies, rolePolicies }), NEWSROOM, LIMITS);
    const found = applicableRules(before, request);
    const changed = new Map([['q', policyOf('q', [{ resource: 'Desk', priority: 1 }])]]);
    const after = changePolicies(before, { revision: 2, policies: changed, rolePolicies: new Map() });
    expect(applicableRules(after, request)).toBe(found);
    expect(applicableRules(after, { ...request, resource: 'Desk' }).rules.map(({ priority }) => priority)).toEqual([1]);
  });
});
