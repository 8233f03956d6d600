import { expect, it } from 'vitest';
import { policyTexts } from './policy.ts';

it('the help of each of the three priorities names their order in the same words as the list of rules', () => {
  const { details, rules, assignments } = policyTexts;
  const order = 'rule priority, then policy priority, then role assignment priority';
  for (const text of [details.priorityHelp, rules.priorityHelp, assignments.priorityHelp, rules.order]) expect(text).toContain(order);
});
