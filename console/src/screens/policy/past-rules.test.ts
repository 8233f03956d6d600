import { describe, expect, it } from 'vitest';
import type { Policy, PolicyDifference } from '../../api/policies.ts';
import { findRestorations, restoreRule } from './past-rules.ts';

const rule = (id: string, parts: object = {}) => ({ id, policyId: 'p', createdAt: 'then', resource: 'Tip', action: 'list', ...parts });
const past = { rules: [rule('changed', { priority: 1 }), rule('removed', { action: 'read' })] } as unknown as Policy;
const draft = { name: 'Tips', rules: [{ id: 'added' }, { id: 'changed', priority: 2 }] };

function difference(parts: Partial<PolicyDifference>): PolicyDifference {
  return { path: 'rules.0', kind: 'changed', meaning: 'm', ...parts };
}

describe('findRestorations', () => {
  it('offers one restoration for each rule, at its first difference', () => {
    const first = difference({ path: 'rules.1.priority', ruleId: 'changed' });
    const second = difference({ path: 'rules.1.action', ruleId: 'changed' });
    const removed = difference({ kind: 'removed', ruleId: 'removed' });
    const added = difference({ kind: 'added', ruleId: 'added' });
    expect([...findRestorations([first, second, removed, added], past)]).toEqual([
      [first, { ruleId: 'changed', kind: 'restore' }],
      [removed, { ruleId: 'removed', kind: 'restore' }],
      [added, { ruleId: 'added', kind: 'remove' }],
    ]);
  });

  it('offers none for other members, for moved rules, and for a rule that had another id', () => {
    const differences = [
      difference({ path: 'name' }),
      difference({ kind: 'moved', ruleId: 'changed' }),
      difference({ kind: 'added', path: 'rules.0.conditions.0', ruleId: 'written again' }),
    ];
    expect(findRestorations(differences, past).size).toBe(0);
  });
});

describe('restoreRule', () => {
  it('replaces the rule with the id, and keeps the others', () => {
    expect(restoreRule(draft, past, { ruleId: 'changed', kind: 'restore' })).toEqual({
      draft: { name: 'Tips', rules: [{ id: 'added' }, { id: 'changed', resource: 'Tip', action: 'list', priority: 1 }] },
      index: 1,
    });
  });

  it('adds a removed rule at its former place without an id, and only once', () => {
    const restored = restoreRule(draft, past, { ruleId: 'removed', kind: 'restore' });
    expect(restored).toEqual({
      draft: { name: 'Tips', rules: [{ id: 'added' }, { resource: 'Tip', action: 'read' }, { id: 'changed', priority: 2 }] },
      index: 1,
    });
    expect(restoreRule(restored.draft, past, { ruleId: 'removed', kind: 'restore' })).toEqual(restored);
  });

  it('removes a rule that the version does not have', () => {
    expect(restoreRule(draft, past, { ruleId: 'added', kind: 'remove' })).toEqual({
      draft: { name: 'Tips', rules: [{ id: 'changed', priority: 2 }] },
      index: undefined,
    });
  });
});
