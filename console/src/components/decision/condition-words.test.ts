import { describe, expect, it } from 'vitest';
import { type ConditionTrace, describeUnmet } from './condition-words.ts';

const comparison = (parts: Partial<ConditionTrace>): ConditionTrace => ({
  type: 'comparison',
  answer: 'false',
  field: 'user.department',
  operator: 'eq',
  ...parts,
});

describe('describeUnmet', () => {
  it('names the path, its value and the value that the rule wants', () => {
    expect(describeUnmet(comparison({ actual: 'sports', expected: 'politics' }))).toBe(
      'user.department is "sports", the rule wants eq "politics"',
    );
  });

  it('names a path without a value', () => {
    expect(describeUnmet(comparison({ missing: true, expected: 'politics' }))).toBe(
      'user.department has no value, the rule wants eq "politics"',
    );
  });

  it('names a reference with its value', () => {
    const trace = comparison({ field: 'resource.authorId', actual: 'u2', expected: 'u1', written: '${user.id}' });
    expect(describeUnmet(trace)).toBe('resource.authorId is "u2", the rule wants eq ${user.id} = "u1"');
  });

  it('names every alternative of a group', () => {
    const of = [comparison({ actual: 1, expected: 2 }), comparison({ actual: 1, expected: 3 })];
    expect(describeUnmet({ type: 'any', answer: 'false', of })).toMatch(/^one of: .*eq 2; .*eq 3$/);
  });

  it('names an expression by its text', () => {
    expect(describeUnmet({ type: 'expression', answer: 'unknown', source: 'user.level > 2' })).toBe('user.level > 2');
  });
});
