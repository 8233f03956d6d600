import { expect, it } from 'vitest';
import { compareOutcomes, type Difference, type Outcome } from './compare-outcomes.ts';

const allow: Outcome = { allowed: true, matchedRule: 'a' };
const deny: Outcome = { allowed: false, matchedRule: null };
const open: Outcome = { allowed: true, conditional: true, matchedRule: 'a', when: 'x' };

it.each<[Outcome, Outcome, Difference]>([
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
