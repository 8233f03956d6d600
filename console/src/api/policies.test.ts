import { expect, it } from 'vitest';
import { untilCounted } from './policies.ts';

it.each([
  ['all findings are counted', [{ findings: 0 }, { findings: 2 }], 1, false],
  ['one policy is not counted', [{ findings: 0 }, {}], 1, 2000],
  ['one policy is not counted after five more requests', [{ findings: 0 }, {}], 6, false],
  ['there is no policy', [], 1, false],
])('a list of policies is loaded again until its findings are counted: %s', (_, policies, loads, expected) => {
  expect(untilCounted(policies, loads)).toBe(expected);
});
