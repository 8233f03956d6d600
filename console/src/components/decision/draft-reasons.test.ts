import { expect, it } from 'vitest';
import { readableReason } from './draft-reasons.ts';

it.each([
  ['allowed by rule "draft:00000.00004" of policy "Own records"', 'allowed by a new rule of policy "Own records"'],
  ['denied by rule "read drafts" of policy "draft:0"', 'denied by rule "read drafts" of policy "draft:0"'],
  ['no rule matched', 'no rule matched'],
  ['denied by rule "\u202Eread" of policy "P"', 'denied by rule "\u2068\u202Eread\u2069" of policy "P"'],
])('the reason %j is shown as %j', (reason, shown) => {
  expect(readableReason(reason)).toBe(shown);
});
