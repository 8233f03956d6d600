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

describe('smart constructors', () => {
  it('follow Kleene on constants', () => {
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
    ['all of nothing', all([]), ALWAYS],
    ['any of nothing', any([]), NEVER],
    ['true in all says nothing', all([leaf, ALWAYS]), leaf],
    ['false in all decides', all([leaf, constant(null), NEVER]), NEVER],
    ['unknown in all stays: the rest may be false', all([constant(null), leaf]), { type: 'all', of: [leaf, constant(null)] }],
    ['false in any says nothing', any([leaf, NEVER]), leaf],
    ['true in any decides', any([leaf, constant(null), ALWAYS]), ALWAYS],
    [
      'unknown in any stays: the rest may be true',
      any([leaf, constant(null), constant(null)]),
      { type: 'any', of: [leaf, constant(null)] },
    ],
    ['all in all is one', all([all([leaf, leaf]), leaf]), { type: 'all', of: [leaf, leaf, leaf] }],
    ['any in all is kept', all([any([leaf, leaf]), leaf]), { type: 'all', of: [{ type: 'any', of: [leaf, leaf] }, leaf] }],
    ['not of not', not(not(leaf)), leaf],
  ];
  for (const [name, actual, expected] of table) it(name, () => expect(actual).toEqual(expected));
});
