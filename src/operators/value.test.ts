import { describe, expect, it } from 'vitest';
import { allTruth, anyTruth, notTruth, ownValue, type Truth } from './value.ts';

/** Kleene's truth tables: both operands, then the results of `and` and `or`. */
const TABLE: readonly (readonly [left: Truth, right: Truth, and: Truth, or: Truth])[] = [
  [true, true, true, true],
  [true, null, null, true],
  [true, false, false, true],
  [null, true, null, true],
  [null, null, null, null],
  [null, false, false, null],
  [false, true, false, true],
  [false, null, false, null],
  [false, false, false, false],
];

describe('three-valued logic', () => {
  it.each([
    [true, false],
    [null, null],
    [false, true],
  ])('negates %s to %s', (truth, expected) => expect(notTruth(truth)).toBe(expected));

  it.each(TABLE)('combines %s with %s: "and" is %s, "or" is %s', (left, right, and, or) => {
    expect(allTruth([left, right], (truth) => truth)).toBe(and);
    expect(anyTruth([left, right], (truth) => truth)).toBe(or);
  });

  it('combines no values: "and" is true, "or" is false', () => {
    expect([allTruth([], () => null), anyTruth([], () => null)]).toEqual([true, false]);
  });
});

describe('ownValue', () => {
  it.each([
    ['a value', { a: 1 }, 'a', 1],
    ['null, which is one', { a: null }, 'a', null],
    ['a missing key', { a: 1 }, 'b', undefined],
    ['nothing inherited', {}, 'constructor', undefined],
    ['nothing of the prototype', {}, '__proto__', undefined],
    ['nothing of a text', 'text', 'length', undefined],
    ['nothing of null', null, 'a', undefined],
  ])('reads own values only: %s', (_, of, key, expected) => expect(ownValue(of, key)).toBe(expected));
});
