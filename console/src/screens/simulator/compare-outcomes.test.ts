import { expect, it } from 'vitest';
import { compareOutcomes, type Difference, type TestedDecision } from './compare-outcomes.ts';

const allow: TestedDecision = { allowed: true, matchedRule: 'a' };
const deny: TestedDecision = { allowed: false, matchedRule: null };
const open: TestedDecision = { allowed: true, conditional: true, matchedRule: 'a', when: 'x' };

it.each<[TestedDecision, TestedDecision, Difference]>([
  [allow, allow, 'same'],
  [deny, deny, 'same'],
  [open, open, 'same'],
  [deny, allow, 'allows'],
  [deny, open, 'allows'],
  [open, allow, 'allows'],
  [allow, deny, 'denies'],
  [open, deny, 'denies'],
  [allow, open, 'condition'],
  [open, { ...open, when: 'y' }, 'condition'],
  [allow, { ...allow, matchedRule: 'b' }, 'rule'],
  [open, { ...open, matchedRule: 'b' }, 'rule'],
])('the difference from %j to %j is %s', (live, draft, difference) => expect(compareOutcomes(live, draft)).toBe(difference));
