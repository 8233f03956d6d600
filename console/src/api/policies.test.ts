import { expect, it } from 'vitest';
import { untilCounted } from './policies.ts';

it.each([
  ['all findings are counted', [{ findings: 0 }, { findings: 2 }], { dataUpdateCount: 1 }, false],
  ['one policy is not counted', [{ findings: 0 }, {}], { dataUpdateCount: 1 }, 2000],
  ['one policy is not counted after five more requests', [{ findings: 0 }, {}], { dataUpdateCount: 6 }, false],
  ['one policy is not counted, and the last request failed', [{ findings: 0 }, {}], { dataUpdateCount: 1, status: 'error' }, false],
  ['there is no policy', [], { dataUpdateCount: 1 }, false],
] as const)('a list of policies is loaded again until its findings are counted: %s', (_, policies, state, expected) => {
  expect(untilCounted(policies, { status: 'success', ...state })).toBe(expected);
});
