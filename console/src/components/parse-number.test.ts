import { describe, expect, it } from 'vitest';
import { parseNumber } from './parse-number.ts';

describe('parseNumber', () => {
  it.each([
    ['12', {}, 12],
    [' -1.50 ', {}, -1.5],
    ['0', { min: 0 }, 0],
    ['100', { isInteger: true, max: 100 }, 100],
  ])('parses $0 with the limits $1 as $2', (text, limits, expected) => {
    expect(parseNumber(text, limits)).toBe(expected);
  });

  it.each([
    ['', {}],
    ['-', {}],
    ['1.', {}],
    ['1e3', {}],
    ['0x10', {}],
    ['Infinity', {}],
    ['1,5', {}],
    ['1.5', { isInteger: true }],
    ['9007199254740993', { isInteger: true }],
    ['-1', { min: 0 }],
    ['101', { max: 100 }],
  ])('refuses $0 with the limits $1', (text, limits) => {
    expect(parseNumber(text, limits)).toBeUndefined();
  });
});
