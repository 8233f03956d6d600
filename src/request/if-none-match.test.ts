import { describe, expect, it } from 'vitest';
import { matchesIfNoneMatch } from './if-none-match.ts';

describe('matchesIfNoneMatch', () => {
  it.each([
    ['"a"', '"a"', true],
    ['W/"a"', '"a"', true],
    ['"a"', 'W/"a"', true],
    ['W/"a"', 'W/"a"', true],
    ['"x", W/"a","y"', '"a"', true],
    [' * ', '"a"', true],
    ['"b,"a"', '"a"', false],
    ['"*"', '"a"', false],
    ['"A"', '"a"', false],
    ['a', '"a"', false],
    ['', '"a"', false],
    [undefined, '"a"', false],
  ])('the header %s names the tag %s: %s', (header, etag, expected) => {
    expect(matchesIfNoneMatch(header, etag)).toBe(expected);
  });
});
