import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { casesOf } from '../../../test/budget.ts';
import { comparePrecedence } from './applicable-rules.ts';
import { DEFAULT_PRIORITY, type Policy, type PolicyRule } from './policy.ts';
import { policyOf } from './policy-diff.fixture.ts';
import { diffPolicies } from './policy-diff.ts';
import { findOrderChanges, type OrderChange, type RuleVersions } from './policy-diff-order.ts';

const { pairs, versions } = createVersions();

/** Creates random versions of a policy with the same rules, and the function that pairs them. */
function createVersions() {
  const content = fc.record({
    effect: fc.constantFrom('ALLOW', 'DENY'),
    priority: fc.integer({ min: 0, max: 6 }),
    isActive: fc.boolean(),
  }) as fc.Arbitrary<Partial<PolicyRule>>;
  const policy = fc
    .array(content, { minLength: 12, maxLength: 12 })
    .map((contents) => policyOf(contents.map((rule, index) => ({ id: `r${String(index).padStart(2, '0')}`, ...rule }))));
  const toPairs = (from: Policy, to: Policy): readonly RuleVersions[] =>
    to.rules.map((after, index) => ({ before: from.rules[index] as PolicyRule, after }));
  return { pairs: toPairs, versions: fc.tuple(policy, policy) };
}

/** Returns true if the first of two rules is evaluated before the second. */
function isFirst(rule: PolicyRule, other: PolicyRule, policy: Policy): boolean {
  const rankOf = (of: PolicyRule) => ({ rule: { ...of, policy }, assignmentPriority: DEFAULT_PRIORITY });
  return comparePrecedence(rankOf(rule), rankOf(other)) < 0;
}

/** Compares a rule with every other one. */
function findEachPassed(from: Policy, to: Policy, { before, after }: RuleVersions): OrderChange {
  const opposite = pairs(from, to).filter((other) => other.after.isActive && other.after.effect !== after.effect);
  const kept = before.effect === after.effect ? opposite.filter((other) => other.before.effect === other.after.effect) : [];
  const passed = (isBefore: boolean) => {
    const rules = kept
      .filter((other) => isFirst(after, other.after, to) === isBefore && isFirst(before, other.before, from) !== isBefore)
      .map((other) => other.after)
      .toSorted((a, b) => (isFirst(a, b, to) ? -1 : 1));
    return { first: rules.slice(0, 3), count: rules.length };
  };
  return { nowBefore: passed(true), nowAfter: passed(false) };
}

describe('the change of the order of rules', () => {
  it('finds the same passed rules as a comparison with every other rule', () => {
    fc.assert(
      fc.property(versions, ([from, to]) => {
        const changed = pairs(from, to).filter(({ before, after }) => before.effect === after.effect);
        const found = findOrderChanges({ from, to, changed });
        for (const pair of changed) expect(found.get(pair.after)).toEqual(findEachPassed(from, to, pair));
      }),
      { numRuns: casesOf(300) },
    );
  });

  it('finds nothing for a rule whose effect has changed', () => {
    const [from, to] = [policyOf([{ id: 'a' }, { id: 'b' }]), policyOf([{ id: 'a', effect: 'DENY', priority: 1 }, { id: 'b' }])];
    expect(findOrderChanges({ from, to, changed: pairs(from, to).slice(0, 1) }).size).toBe(0);
  });

  it('names the first three rules in the order of evaluation, and the number of the others', () => {
    const others = ['e', 'd', 'c', 'b'].map((id, index) => ({ id, description: id, priority: 10 + index }));
    const denial = { id: 'z', description: 'z', effect: 'DENY' } as const;
    const differences = diffPolicies(policyOf([...others, { ...denial, priority: 1 }]), policyOf([...others, { ...denial, priority: 99 }]));
    expect(differences.map(({ meaning }) => meaning)).toEqual([
      'rule "z" has priority 99 instead of 1: it is evaluated before rule "b", rule "c", rule "d", 1 more',
    ]);
  });

  it('compares the order of all rules of a policy of 10,000 rules, in which every priority has changed', () => {
    const rules = (priorityOf: (index: number) => number) =>
      Array.from({ length: 10_000 }, (_, index) => ({
        ...{ id: `r${index}`, description: `${index}`, priority: priorityOf(index) },
        effect: index % 2 === 0 ? ('ALLOW' as const) : ('DENY' as const),
      }));
    const differences = diffPolicies(policyOf(rules((index) => index)), policyOf(rules((index) => 20_000 - index)));
    expect(differences).toHaveLength(10_000);
    expect(differences[0]?.meaning).toBe(
      'rule "0" has priority 20000 instead of 0: it is evaluated before rule "1", rule "3", rule "5", 4997 more',
    );
  });
});
