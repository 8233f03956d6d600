import { describe, expect, it } from 'vitest';
import type { Truth } from '../operators/index.ts';
import { ALWAYS, all, any, type Condition, constant, NEVER, not } from './condition.ts';

const leaf: Condition = {
  type: 'comparison',
  path: { group: 'user', keys: ['id'], text: 'user.id' },
  operator: 'eq',
  operand: { type: 'literal', value: 'u1' },
  ifExists: false,
};
const TRUTHS: readonly Truth[] = [true, false, null];

describe('all, any and not', () => {
  it('combines constants by three-valued logic', () => {
    const rank = (truth: Truth): number => (truth === null ? 1 : truth ? 2 : 0);
    for (const a of TRUTHS) {
      expect(not(constant(a))).toEqual(constant(a === null ? null : !a));
      for (const b of TRUTHS) {
        expect(all([constant(a), constant(b)])).toEqual(constant(rank(a) < rank(b) ? a : b));
        expect(any([constant(a), constant(b)])).toEqual(constant(rank(a) > rank(b) ? a : b));
      }
    }
  });

  const table: readonly (readonly [string, Condition, Condition])[] = [
    ['all of no conditions', all([]), ALWAYS],
    ['any of no conditions', any([]), NEVER],
    ['true is dropped from all', all([leaf, ALWAYS]), leaf],
    ['false decides all', all([leaf, constant(null), NEVER]), NEVER],
    ['unknown in all stays: the rest may be false', all([constant(null), leaf]), { type: 'all', of: [leaf, constant(null)] }],
    ['false is dropped from any', any([leaf, NEVER]), leaf],
    ['true decides any', any([leaf, constant(null), ALWAYS]), ALWAYS],
    [
      'unknown in any stays: the rest may be true',
      any([leaf, constant(null), constant(null)]),
      { type: 'any', of: [leaf, constant(null)] },
    ],
    ['all in all is flattened', all([all([leaf, leaf]), leaf]), { type: 'all', of: [leaf, leaf, leaf] }],
    ['any in all is not flattened', all([any([leaf, leaf]), leaf]), { type: 'all', of: [{ type: 'any', of: [leaf, leaf] }, leaf] }],
    ['not of not', not(not(leaf)), leaf],
  ];
  for (const [name, actual, expected] of table) it(`simplifies conditions: ${name}`, () => expect(actual).toEqual(expected));
});
