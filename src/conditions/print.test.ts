import { describe, expect, it } from 'vitest';
import type { Condition } from './condition.ts';
import { printCondition } from './explain-condition.ts';

const leaf: Condition = {
  type: 'comparison',
  path: { group: 'resource', keys: ['size'], text: 'resource.size' },
  operator: 'gte',
  operand: { type: 'literal', value: 0 },
  ifExists: false,
};
const many = (type: 'all' | 'any', of: readonly Condition[]): Condition => ({ type, of });

describe('printCondition', () => {
  it('prints all of it where nothing is said of room', () => {
    expect(printCondition(many('any', [leaf, many('all', [leaf, leaf])]))).toBe(
      'resource.size gte 0 or (resource.size gte 0 and resource.size gte 0)',
    );
  });

  it('prints no more members than there is room for, at any depth', () => {
    const wide = many('any', Array(10_000).fill(many('all', Array(10_000).fill(leaf))));
    const text = printCondition(wide, 100);
    expect(text).toMatch(/^\(resource.size gte 0 and .* and …\) or …$/);
    expect(text.length).toBeLessThan(200);
  });
});
