import { describe, expect, it } from 'vitest';
import { createRangeExtractor, createRowKeys, createSkimDetector } from './rendered-rows.ts';

const rangeOf = (startIndex: number, endIndex: number) => ({ startIndex, endIndex, overscan: 2, count: 1000 });

describe('createRangeExtractor', () => {
  it('returns rows around those in view, except after a jump', () => {
    const extract = createRangeExtractor();
    expect(extract(rangeOf(0, 2))).toEqual([0, 1, 2, 3, 4]);
    expect(extract(rangeOf(2, 4))).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(extract(rangeOf(500, 502))).toEqual([500, 501, 502]);
    expect(extract(rangeOf(100, 102))).toEqual([100, 101, 102]);
    expect(extract(rangeOf(101, 103))).toEqual([99, 100, 101, 102, 103, 104, 105]);
  });
});

describe('createRowKeys', () => {
  it('a row keeps its key while it is rendered, and a new row beside it gets a new key', () => {
    const { assign } = createRowKeys();
    const [, second, third] = assign([0, 1, 2]);
    const after = assign([1, 2, 3]);
    expect(after.slice(0, 2)).toEqual([second, third]);
    expect(new Set([...assign([0, 1, 2, 3])]).size).toBe(4);
  });

  it('after a jump, the rows have the keys of the rows before it, in the same order', () => {
    const { assign } = createRowKeys();
    const before = assign([0, 1, 2]);
    expect(assign([500, 501])).toEqual(before.slice(0, 2));
    const more = assign([10, 11, 12, 13]);
    expect(more.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(new Set(more).size).toBe(4);
  });
});

describe('createSkimDetector', () => {
  const scroll = (firsts: readonly number[]): readonly boolean[] => {
    const isSkimming = createSkimDetector();
    return firsts.map((first) => isSkimming({ first, isScrolling: true }));
  };

  it('is true from the second of several jumps on, and ends when the scroll slows down', () => {
    expect(scroll([0, 500, 1000, 1500, 1500, 1520])).toEqual([false, false, true, true, true, false]);
    expect(scroll([2000, 1500, 1000])).toEqual([false, false, true]);
  });

  it('is false for a wheel, and for a single jump', () => {
    expect(scroll([0, 3, 6, 9, 30])).toEqual([false, false, false, false, false]);
    expect(scroll([0, 99_990, 99_990, 99_985])).toEqual([false, false, false, false]);
  });

  it('ends when the scroll rests', () => {
    const isSkimming = createSkimDetector();
    expect([0, 500, 1000].map((first) => isSkimming({ first, isScrolling: true })).at(-1)).toBe(true);
    expect(isSkimming({ first: 1000, isScrolling: false })).toBe(false);
    expect(isSkimming({ first: 2000, isScrolling: true })).toBe(false);
  });
});
