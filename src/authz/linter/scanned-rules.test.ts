import fc from 'fast-check';
import { expect, it } from 'vitest';
import { policyOf } from '../../../test/policy-fixtures.ts';
import { comparison, drafts } from './lint.fixture.ts';
import { type IndexedRule, RuleGroups, type RuleIndex, toIndexedRule } from './rule-groups.ts';
import { ScannedRules } from './scanned-rules.ts';

const rule = fc.record({
  resource: fc.constantFrom('Article', 'Desk', '_Decision', '*'),
  action: fc.constantFrom('read', 'list', '*'),
  effect: fc.constantFrom('ALLOW' as const, 'DENY' as const),
  priority: fc.constantFrom(1, 2),
  conditions: fc.constantFrom([], [], [drafts], [comparison('resource.title')], [{ not: drafts }], [drafts, drafts]),
});

const indexed: fc.Arbitrary<readonly IndexedRule[]> = fc
  .array(fc.tuple(rule, fc.constantFrom(1, 2), fc.boolean()), { maxLength: 20 })
  .map((all) =>
    all.map(([given, assignmentPriority, isPermanent], index) => {
      const policy = policyOf(`p${index}`, [given]);
      const [stored] = policy.rules;
      if (stored === undefined) throw new Error('the policy has one rule');
      return { ...toIndexedRule(policy, stored, assignmentPriority), isPermanent };
    }),
  );

it('finds the same rules without groups as with groups', () => {
  const search = (index: RuleIndex, each: IndexedRule) => [index.shadowing(each), index.duplicates(each), [...index.opposing(each)]];
  fc.assert(
    fc.property(indexed, fc.nat(20), (rules, deleted) => {
      const [scanned, grouped] = [new ScannedRules(rules), new RuleGroups(rules)];
      for (const index of [scanned, grouped]) index.delete(rules.slice(0, deleted).map((each) => ({ ...each })));
      for (const each of rules) expect(search(scanned, each)).toEqual(search(grouped, each));
    }),
  );
});
